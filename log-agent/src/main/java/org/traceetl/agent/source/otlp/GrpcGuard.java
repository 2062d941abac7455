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
 * Turns calls away before they are read, and ends those that are not sent whole in time. Safe for
 * any thread.
 */
final class GrpcGuard implements ServerInterceptor {
  private static final Logger log = LoggerFactory.getLogger(GrpcGuard.class);
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  /** It is not known by then which of the two bounds it was. */
  static final String NO_ROOM = ReadBudget.EXHAUSTED + ", or " + Clients.FULL;

  private final BearerTokens tokens;
  private final BooleanSupplier room;
  private final long timeoutNanos;
  private final LongSupplier nanoClock;
  private final OtlpCounters counters;
  // No more than connections times calls of each.
  private final Set<Reading<?>> beingRead = ConcurrentHashMap.newKeySet();

  /**
   * @param room takes what the current call costs before its message; false if there is none, which
   *     is counted by then
   */
  GrpcGuard(
      BearerTokens tokens,
      BooleanSupplier room,
      int timeoutMillis,
      LongSupplier nanoClock,
      OtlpCounters counters) {
    this.tokens = tokens;
    this.room = room;
    this.timeoutNanos = TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    this.nanoClock = nanoClock;
    this.counters = counters;
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    if (!tokens.admit(headers.get(AUTHORIZATION))) {
      counters.requestRefused(OtlpCounters.Refusal.UNAUTHENTICATED);
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

  /** Ends the calls that take too long. To be called now and then. */
  void endLate() {
    long now = nanoClock.getAsLong();
    for (Reading<?> reading : beingRead) {
      if (now - reading.sinceNanos > timeoutNanos) {
        try {
          reading.end();
        } catch (RuntimeException e) {
          // It was closed for another reason meanwhile: the others' turn comes all the same.
          log.debug("Could not cancel a call that exceeded its time", e);
        }
      }
    }
  }

  /** A call until it is read whole. */
  private final class Reading<Q> extends SimpleForwardingServerCallListener<Q> {
    private final ServerCall<Q, ?> call;
    private final long sinceNanos = nanoClock.getAsLong();
    // Who sets it decides what becomes of the call: it is handled, or it was too late.
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
                "not sent whole within " + TimeUnit.NANOSECONDS.toMillis(timeoutNanos) + " ms"),
            new Metadata());
        counters.requestRefused(OtlpCounters.Refusal.TIMEOUT);
      }
    }
  }
}
