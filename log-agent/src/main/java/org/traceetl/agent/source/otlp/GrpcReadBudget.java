package org.traceetl.agent.source.otlp;

import io.grpc.Context;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Takes the bytes of each gRPC call, as they arrive, from the budget and the sender's share. Ends
 * calls that exceed either.
 */
final class GrpcReadBudget extends ServerStreamTracer.Factory {
  private static final Context.Key<Call> CALL = Context.key("read-budget");

  /** Charge of a call beyond its message: its head and its objects. */
  private static final int CALL_BYTES = 4 * 1_024;

  private final ReadBudget budget;
  private final Clients clients;
  private final OtlpMetrics metrics;

  GrpcReadBudget(ReadBudget budget, Clients clients, OtlpMetrics metrics) {
    this.budget = budget;
    this.clients = clients;
    this.metrics = metrics;
  }

  /**
   * Takes what the current call costs before its message. Call this once per call.
   *
   * @return false if there is no room; the refusal is counted, and the caller closes the call
   */
  static boolean admit() {
    return CALL.get().admit();
  }

  /** The bytes that a call has taken from its sender's share. */
  record Taken(Clients.Client client, long bytes) {
    /** Call this once. */
    void giveBack() {
      client.giveBack(bytes);
    }
  }

  /**
   * Returns the current call's bytes to the budget because another component counts them from now
   * on. The caller must give back the bytes of the sender's share.
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
    // Used only by the connection's event loop, which also calls the two counting methods.
    private long wireBytes;
    private long uncompressedBytes;
    // Null if the method is not served.
    private Clients.Client client;

    @Override
    public Context filterContext(Context context) {
      return context.withValue(CALL, this);
    }

    @Override
    public void serverCallStarted(ServerCallInfo<?, ?> call) {
      // Runs before any byte of the message arrives.
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

    /** Charges the larger size, encoded or decompressed; memory holds only one. */
    private void hold() {
      long more = CALL_BYTES + Math.max(wireBytes, uncompressedBytes) - taken.get();
      if (more <= 0) {
        return;
      }
      if (!budget.take(more)) {
        throw refused(OtlpMetrics.Refusal.NO_ROOM, ReadBudget.EXHAUSTED);
      }
      if (client != null && !client.take(more)) {
        budget.giveBack(more);
        throw refused(OtlpMetrics.Refusal.CLIENT_FULL, Clients.FULL);
      }
      taken.addAndGet(more);
    }

    /** Returns an error that ends the call; senders retry it without a given delay. */
    private StatusRuntimeException refused(OtlpMetrics.Refusal reason, String text) {
      metrics.requestRefused(reason);
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
