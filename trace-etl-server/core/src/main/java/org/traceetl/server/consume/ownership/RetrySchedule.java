package org.traceetl.server.consume.ownership;

import java.time.Duration;

/** Schedules retries, with a pause that doubles with each failure. For one thread. */
public final class RetrySchedule {
  private final long firstNanos;
  private final long lastNanos;
  private long pauseNanos;
  private long sinceNanos;
  private boolean pausing;

  /** Creates a schedule with pauses for a broker that does not answer. */
  public RetrySchedule() {
    this(Duration.ofSeconds(1), Duration.ofSeconds(30));
  }

  public RetrySchedule(Duration first, Duration last) {
    firstNanos = first.toNanos();
    lastNanos = last.toNanos();
    pauseNanos = firstNanos;
  }

  public boolean permits(long nowNanos) {
    return leftNanos(nowNanos) <= 0;
  }

  /** Returns nanoseconds until the next attempt; 0 or less if it is due. */
  public long leftNanos(long nowNanos) {
    return pausing ? pauseNanos - (nowNanos - sinceNanos) : 0;
  }

  public void failed(long nowNanos) {
    pauseNanos = pausing ? Math.min(pauseNanos * 2, lastNanos) : firstNanos;
    sinceNanos = nowNanos;
    pausing = true;
  }

  public void succeeded() {
    pausing = false;
  }
}
