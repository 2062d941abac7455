package org.traceetl.agent.telemetry;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** Lets one log line through per interval, so that a fault is told and does not flood the log. */
public final class LogThrottle {
  private final long intervalNanos;
  private final LongSupplier nanoClock;
  private final AtomicLong nextNanos;

  /** The first line passes at once. */
  public LogThrottle(long interval, TimeUnit unit, LongSupplier nanoClock) {
    this.intervalNanos = unit.toNanos(interval);
    this.nanoClock = nanoClock;
    this.nextNanos = new AtomicLong(nanoClock.getAsLong());
  }

  /** True when a line may be written now. */
  public boolean permits() {
    long now = nanoClock.getAsLong();
    long next = nextNanos.get();
    return now - next >= 0 && nextNanos.compareAndSet(next, now + intervalNanos);
  }
}
