package org.traceetl.server.index;

import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;

/** Lets one line in an interval pass; what it holds back has been counted elsewhere. */
final class LogThrottle {
  private final InstantSource clock;
  private final long intervalMillis;
  private final AtomicLong nextMillis = new AtomicLong(Long.MIN_VALUE);

  LogThrottle(InstantSource clock, Duration interval) {
    this.clock = clock;
    this.intervalMillis = interval.toMillis();
  }

  boolean permits() {
    long nowMillis = clock.millis();
    long next = nextMillis.get();
    return nowMillis >= next && nextMillis.compareAndSet(next, nowMillis + intervalMillis);
  }
}
