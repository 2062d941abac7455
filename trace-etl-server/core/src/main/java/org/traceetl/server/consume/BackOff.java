package org.traceetl.server.consume;

import java.time.Duration;

/**
 * When to try again what failed: after a pause that doubles from failure to failure. One thread.
 */
final class BackOff {
  private static final long FIRST_NANOS = Duration.ofSeconds(1).toNanos();
  private static final long LAST_NANOS = Duration.ofSeconds(30).toNanos();

  private long pauseNanos = FIRST_NANOS;
  private long sinceNanos;
  private boolean pausing;

  boolean permits(long nowNanos) {
    return !pausing || nowNanos - sinceNanos >= pauseNanos;
  }

  void failed(long nowNanos) {
    pauseNanos = pausing ? Math.min(pauseNanos * 2, LAST_NANOS) : FIRST_NANOS;
    sinceNanos = nowNanos;
    pausing = true;
  }

  void succeeded() {
    pausing = false;
  }
}
