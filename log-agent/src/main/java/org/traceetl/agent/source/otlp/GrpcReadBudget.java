package org.traceetl.agent.source.otlp;

import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Takes the bytes of each gRPC call from the budget while they arrive, and ends calls beyond it.
 */
final class GrpcReadBudget extends ServerStreamTracer.Factory {
  private static final Context.Key<Call> CALL = Context.key("read-budget");

  private final ReadBudget budget;
  private final OtlpCounters counters;

  GrpcReadBudget(ReadBudget budget, OtlpCounters counters) {
    this.budget = budget;
    this.counters = counters;
  }

  /** Gives back what the current call has taken; someone else counts its bytes from now on. */
  static void giveBack() {
    CALL.get().giveBackAll();
  }

  @Override
  public ServerStreamTracer newServerStreamTracer(String fullMethodName, Metadata headers) {
    return new Call();
  }

  private final class Call extends ServerStreamTracer {
    private final AtomicLong taken = new AtomicLong();
    // Called by the connection's event loop only, as are the two that count.
    private long wireBytes;
    private long uncompressedBytes;

    @Override
    public Context filterContext(Context context) {
      return context.withValue(CALL, this);
    }

    @Override
    public void inboundWireSize(long bytes) {
      wireBytes += bytes;
      hold();
    }

    @Override
    public void inboundUncompressedSize(long bytes) {
      uncompressedBytes += bytes;
      hold();
    }

    @Override
    public void streamClosed(Status status) {
      giveBackAll();
    }

    /** A request is held either as it came or decompressed. */
    private void hold() {
      long more = Math.max(wireBytes, uncompressedBytes) - taken.get();
      if (more <= 0) {
        return;
      }
      if (!budget.take(more)) {
        counters.requestRefused(OtlpCounters.Refusal.NO_ROOM);
        // Senders repeat this one without being told when. Thrown on, it ends the call.
        throw Status.UNAVAILABLE.withDescription(ReadBudget.EXHAUSTED).asRuntimeException();
      }
      taken.addAndGet(more);
    }

    private void giveBackAll() {
      budget.giveBack(taken.getAndSet(0));
    }
  }
}
