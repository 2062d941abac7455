package org.traceetl.common;

import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Permits one log line per interval, so that a lasting fault is reported and does not flood the
 * log. Suppressed events must be counted elsewhere. Safe for any thread.
 */
public final class LogThrottle {
  private static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(10);

  private final long intervalNanos;
  private final LongSupplier nanoClock;
  private final AtomicLong nextNanos;

  /** Permits the first line at once, and one every ten seconds. */
  public LogThrottle(LongSupplier nanoClock) {
    this(DEFAULT_INTERVAL, nanoClock);
  }

  /** Permits the first line at once, and one every ten seconds of a wall clock. */
  public LogThrottle(InstantSource clock) {
    this(() -> TimeUnit.MILLISECONDS.toNanos(clock.millis()));
  }

  /** Permits the first line at once, and one per interval. */
  public LogThrottle(Duration interval, LongSupplier nanoClock) {
    this.intervalNanos = interval.toNanos();
    this.nanoClock = nanoClock;
    this.nextNanos = new AtomicLong(nanoClock.getAsLong());
  }

  /** Returns whether to log now; of concurrent calls only one returns true. */
  public boolean permits() {
    long now = nanoClock.getAsLong();
    long next = nextNanos.get();
    // A wall clock that was set back may be far before the next line.
    boolean due = now - next >= 0 || next - now > intervalNanos;
    return due && nextNanos.compareAndSet(next, now + intervalNanos);
  }
}
