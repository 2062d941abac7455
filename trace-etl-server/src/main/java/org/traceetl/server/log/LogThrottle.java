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
    // After a step back of the clock the next line may be far ahead.
    boolean due = nowMillis >= next || nowMillis < next - PAUSE_MILLIS;
    return due && nextMillis.compareAndSet(next, nowMillis + PAUSE_MILLIS);
  }
}
