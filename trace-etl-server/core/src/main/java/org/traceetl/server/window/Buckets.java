package org.traceetl.server.window;

import java.util.Arrays;

/**
 * Finds the histogram bucket of a duration: the first whose bound is not below it. Immutable.
 *
 * <p>A duration's power of two and its next {@value #BITS} bits determine the first possible
 * bucket. If at most one bound is among such durations, as usual, one comparison without a branch
 * finds the bucket.
 */
public final class Buckets {
  private static final int BITS = 3;

  private final int finiteBounds;

  /** The bounds, followed by one above all durations. */
  private final long[] boundsNanos;

  private final int[] firstOf = new int[Long.SIZE << BITS];

  /**
   * @param boundsNanos finite upper bounds, ascending, above 0
   */
  public Buckets(long[] boundsNanos) {
    finiteBounds = boundsNanos.length;
    this.boundsNanos = Arrays.copyOf(boundsNanos, finiteBounds + 1);
    this.boundsNanos[finiteBounds] = Long.MAX_VALUE;
    for (int entry = 0; entry < firstOf.length; entry++) {
      firstOf[entry] = scan(0, leastNanos(entry));
    }
  }

  private static long leastNanos(int entry) {
    int power = (entry >> BITS) - 1;
    if (power < 0) {
      return 0;
    }
    long behind = entry & ((1L << BITS) - 1);
    return 1L << power | (power < BITS ? behind >> (BITS - power) : behind << (power - BITS));
  }

  /** Returns the number of buckets, including the one above the last bound. */
  public int count() {
    return finiteBounds + 1;
  }

  /**
   * Returns the bucket of a duration.
   *
   * @param nanos at least 0
   */
  public int of(long nanos) {
    int zeros = Long.numberOfLeadingZeros(nanos);
    int first =
        firstOf[(Long.SIZE - zeros) << BITS | (int) (nanos << zeros << 1 >>> (Long.SIZE - BITS))];
    // Adds 1 if the difference is negative: a branch would be mispredicted half of the time.
    return scan(first + (int) (boundsNanos[first] - nanos >>> Long.SIZE - 1), nanos);
  }

  private int scan(int from, long nanos) {
    int bucket = from;
    while (nanos > boundsNanos[bucket]) {
      bucket++;
    }
    return bucket;
  }
}
