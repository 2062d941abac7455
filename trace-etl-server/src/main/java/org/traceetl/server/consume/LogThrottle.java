package org.traceetl.server.consume;

import java.time.Clock;
import java.util.concurrent.atomic.AtomicLong;

/** Lets a message through now and then, so that a fault that repeats does not fill the log. */
final class LogThrottle {
  private static final long PAUSE_MILLIS = 10_000;

  private final Clock clock;
  private final AtomicLong nextMillis = new AtomicLong(Long.MIN_VALUE);

  LogThrottle(Clock clock) {
    this.clock = clock;
  }

  /** Whether to log now. */
  boolean permits() {
    long nowMillis = clock.millis();
    long next = nextMillis.get();
    return nowMillis >= next && nextMillis.compareAndSet(next, nowMillis + PAUSE_MILLIS);
  }
}
