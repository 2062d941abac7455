package org.traceetl.server.consume;

import java.time.Duration;

/** Schedules retries, with a pause that doubles with each failure. For one thread. */
final class BackOff {
  private final long firstNanos;
  private final long lastNanos;
  private long pauseNanos;
  private long sinceNanos;
  private boolean pausing;

  /** Creates a back-off with pauses for a broker that does not answer. */
  BackOff() {
    this(Duration.ofSeconds(1), Duration.ofSeconds(30));
  }

  BackOff(Duration first, Duration last) {
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
