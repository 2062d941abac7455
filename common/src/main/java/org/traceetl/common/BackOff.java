package org.traceetl.common;

import java.util.random.RandomGenerator;

/** Determines how long a sender pauses after failures. Not safe for threads. */
public final class BackOff {
  private final long firstNanos;
  private final long maxNanos;
  private final RandomGenerator random;

  /**
   * @param firstNanos pause after the first failure
   * @param maxNanos longest pause
   * @param random varies the pauses
   */
  public BackOff(long firstNanos, long maxNanos, RandomGenerator random) {
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
  public long nanos(int failures) {
    long nanos = Math.min(maxNanos, firstNanos << Math.min(failures - 1, 20));
    return nanos - (long) (random.nextDouble() * 0.2 * nanos);
  }
}
