package org.traceetl.server.consume;

import java.time.Duration;

/** Schedules retries, with a pause that doubles with each failure. For one thread. */
final class RetrySchedule {
  private final long firstNanos;
  private final long lastNanos;
  private long pauseNanos;
  private long sinceNanos;
  private boolean pausing;

  /** Creates a schedule with pauses for a broker that does not answer. */
  RetrySchedule() {
    this(Duration.ofSeconds(1), Duration.ofSeconds(30));
  }

  RetrySchedule(Duration first, Duration last) {
    firstNanos = first.toNanos();
    lastNanos = last.toNanos();
    pauseNanos = firstNanos;
  }

  boolean permits(long nowNanos) {
    return leftNanos(nowNanos) <= 0;
  }

  /** Returns nanoseconds until the next attempt; 0 or less if it is due. */
  long leftNanos(long nowNanos) {
    return pausing ? pauseNanos - (nowNanos - sinceNanos) : 0;
  }

  void failed(long nowNanos) {
    pauseNanos = pausing ? Math.min(pauseNanos * 2, lastNanos) : firstNanos;
    sinceNanos = nowNanos;
    pausing = true;
  }

  void succeeded() {
    pausing = false;
  }
}
