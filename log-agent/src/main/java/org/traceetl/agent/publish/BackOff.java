package org.traceetl.agent.publish;

import java.util.random.RandomGenerator;

/** Determines how long a queue pauses after failures. Confined to the publisher thread. */
final class BackOff {
  private final long firstNanos;
  private final long maxNanos;
  private final RandomGenerator random;

  BackOff(long firstNanos, long maxNanos, RandomGenerator random) {
    this.firstNanos = firstNanos;
    this.maxNanos = maxNanos;
    this.random = random;
  }

  /**
   * Returns a pause that doubles with each failure up to the maximum, less up to 20 % at random, so
   * that agents spread.
   *
   * @param failures consecutive failures, at least 1
   */
  long nanos(int failures) {
    long nanos = Math.min(maxNanos, firstNanos << Math.min(failures - 1, 20));
    return nanos - (long) (random.nextDouble() * 0.2 * nanos);
  }
}
