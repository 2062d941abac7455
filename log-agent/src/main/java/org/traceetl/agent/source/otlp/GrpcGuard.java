package org.traceetl.agent.source.otlp;

import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.access.BearerTokens;

/**
 * Refuses calls before they are read, and ends calls that are not complete in time. Safe for any
 * thread.
 */
final class GrpcGuard implements ServerInterceptor {
  private static final Logger log = LoggerFactory.getLogger(GrpcGuard.class);
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  /** The text for both bounds; the guard does not know which one was reached. */
  static final String NO_ROOM = ReadBudget.EXHAUSTED + ", or " + Clients.FULL;

  private final BearerTokens tokens;
  private final BooleanSupplier room;
  private final long timeoutNanos;
  private final LongSupplier nanoClock;
  private final OtlpMetrics metrics;
  // At most connections times calls per connection.
  private final Set<Reading<?>> beingRead = ConcurrentHashMap.newKeySet();

  /**
   * @param room takes what the current call costs before its message; if it returns false, the
   *     refusal is already counted
   */
  GrpcGuard(
      BearerTokens tokens,
      BooleanSupplier room,
      int timeoutMillis,
      LongSupplier nanoClock,
      OtlpMetrics metrics) {
    this.tokens = tokens;
    this.room = room;
    this.timeoutNanos = TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    this.nanoClock = nanoClock;
    this.metrics = metrics;
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    if (!tokens.admit(headers.get(AUTHORIZATION))) {
      metrics.requestRefused(OtlpMetrics.Refusal.UNAUTHENTICATED);
      call.close(Status.UNAUTHENTICATED.withDescription(BearerTokens.REFUSED), new Metadata());
      return new ServerCall.Listener<>() {};
    }
    if (!room.getAsBoolean()) {
      call.close(Status.UNAVAILABLE.withDescription(NO_ROOM), new Metadata());
      return new ServerCall.Listener<>() {};
    }
    Reading<Q> reading = new Reading<>(call, next.startCall(call, headers));
    beingRead.add(reading);
    return reading;
  }

  /** Ends calls that exceed the timeout. Call this periodically. */
  void endLate() {
    long now = nanoClock.getAsLong();
    for (Reading<?> reading : beingRead) {
      if (now - reading.sinceNanos > timeoutNanos) {
        try {
          reading.end();
        } catch (RuntimeException e) {
          // The call was closed for another reason; continue with the next call.
          log.debug("Could not cancel a call that exceeded its time", e);
        }
      }
    }
  }

  /** A call that is not completely read. */
  private final class Reading<Q> extends SimpleForwardingServerCallListener<Q> {
    private final ServerCall<Q, ?> call;
    private final long sinceNanos = nanoClock.getAsLong();
    // Set once: by the end of the request, which is then handled, or by the timeout.
    private final AtomicBoolean decided = new AtomicBoolean();

    Reading(ServerCall<Q, ?> call, ServerCall.Listener<Q> handler) {
      super(handler);
      this.call = call;
    }

    @Override
    public void onMessage(Q message) {
      if (!decided.get()) {
        super.onMessage(message);
      }
    }

    @Override
    public void onHalfClose() {
      beingRead.remove(this);
      if (decided.compareAndSet(false, true)) {
        super.onHalfClose();
      }
    }

    @Override
    public void onCancel() {
      beingRead.remove(this);
      super.onCancel();
    }

    @Override
    public void onComplete() {
      beingRead.remove(this);
      super.onComplete();
    }

    private void end() {
      beingRead.remove(this);
      if (decided.compareAndSet(false, true)) {
        call.close(
            Status.UNAVAILABLE.withDescription(
                "the request was not complete within "
                    + TimeUnit.NANOSECONDS.toMillis(timeoutNanos)
                    + " ms"),
            new Metadata());
        metrics.requestRefused(OtlpMetrics.Refusal.TIMEOUT);
      }
    }
  }
}
