package org.traceetl.server.log;

import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;

/** Lets a line through every ten seconds; what it holds back has been counted elsewhere. */
public final class LogThrottle {
  private static final long PAUSE_MILLIS = 10_000;

  private final InstantSource clock;
  private final AtomicLong nextMillis = new AtomicLong(Long.MIN_VALUE);

  public LogThrottle(InstantSource clock) {
    this.clock = clock;
  }

  /** Whether to log now. Any thread may ask; of those at the same time one is told yes. */
  public boolean permits() {
    long nowMillis = clock.millis();
    long next = nextMillis.get();
    return nowMillis >= next && nextMillis.compareAndSet(next, nowMillis + PAUSE_MILLIS);
  }
}
