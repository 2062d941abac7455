package org.traceetl.agent.source.otlp;

import io.grpc.Context;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Takes the bytes of each gRPC call from the budget and from its sender's share while they arrive,
 * and ends calls beyond either.
 */
final class GrpcReadBudget extends ServerStreamTracer.Factory {
  private static final Context.Key<Call> CALL = Context.key("read-budget");

  /** What a call counts for besides its message: its head, and what stands for it. */
  private static final int CALL_BYTES = 4 * 1_024;

  private final ReadBudget budget;
  private final Clients clients;
  private final OtlpCounters counters;

  GrpcReadBudget(ReadBudget budget, Clients clients, OtlpCounters counters) {
    this.budget = budget;
    this.clients = clients;
    this.counters = counters;
  }

  /**
   * Takes what the current call costs before anything of its message has come. To be called once.
   *
   * @return false if there is no room for it: then it is counted, and to be closed
   */
  static boolean admit() {
    return CALL.get().admit();
  }

  /** What a call has taken of its sender's share. */
  record Taken(Clients.Client client, long bytes) {
    /** To be called once. */
    void giveBack() {
      client.giveBack(bytes);
    }
  }

  /**
   * Gives back what the current call has taken of the budget: someone else counts its bytes from
   * now on. What it has taken of its sender's share is the caller's to give back.
   */
  static Taken handOver() {
    return CALL.get().handOver();
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
    // Null for a method that is not served.
    private Clients.Client client;

    @Override
    public Context filterContext(Context context) {
      return context.withValue(CALL, this);
    }

    @Override
    public void serverCallStarted(ServerCallInfo<?, ?> call) {
      // Before anything of its message.
      client = clients.of(call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
    }

    @Override
    public void inboundWireSize(long bytes) {
      wireBytes += ReadBudget.charge((int) Math.min(bytes, Integer.MAX_VALUE));
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

    private boolean admit() {
      try {
        hold();
        return true;
      } catch (StatusRuntimeException e) {
        return false;
      }
    }

    /** A request is held either as it came or decompressed. */
    private void hold() {
      long more = CALL_BYTES + Math.max(wireBytes, uncompressedBytes) - taken.get();
      if (more <= 0) {
        return;
      }
      if (!budget.take(more)) {
        throw refused(OtlpCounters.Refusal.NO_ROOM, ReadBudget.EXHAUSTED);
      }
      if (client != null && !client.take(more)) {
        budget.giveBack(more);
        throw refused(OtlpCounters.Refusal.CLIENT_FULL, Clients.FULL);
      }
      taken.addAndGet(more);
    }

    /** Senders repeat this one without being told when. Thrown on, it ends the call. */
    private StatusRuntimeException refused(OtlpCounters.Refusal reason, String text) {
      counters.requestRefused(reason);
      return Status.UNAVAILABLE.withDescription(text).asRuntimeException();
    }

    private Taken handOver() {
      long bytes = taken.getAndSet(0);
      budget.giveBack(bytes);
      return new Taken(client, bytes);
    }

    private void giveBackAll() {
      long bytes = taken.getAndSet(0);
      if (bytes > 0) {
        budget.giveBack(bytes);
        if (client != null) {
          client.giveBack(bytes);
        }
      }
    }
  }
}
