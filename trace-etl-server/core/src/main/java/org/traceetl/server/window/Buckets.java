package org.traceetl.server.window;

import java.util.Arrays;

/**
 * Finds the histogram bucket of a duration: the first whose bound is not below it. Immutable.
 *
 * <p>A duration's power of two and its next {@value #BITS} bits tell the first bucket that such
 * durations have. Where not more than one bound lies among them, as is usual, one comparison
 * without a branch tells the rest.
 */
public final class Buckets {
  private static final int BITS = 3;

  private final int finiteBounds;

  /** With one above all durations at the end. */
  private final long[] boundsNanos;

  private final int[] firstOf = new int[Long.SIZE << BITS];

  /**
   * @param boundsNanos finite upper bounds, rising, above 0
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

  /** Buckets, with the one for everything above the last bound. */
  public int count() {
    return finiteBounds + 1;
  }

  /**
   * The bucket of a duration.
   *
   * @param nanos at least 0
   */
  public int of(long nanos) {
    int zeros = Long.numberOfLeadingZeros(nanos);
    int first =
        firstOf[(Long.SIZE - zeros) << BITS | (int) (nanos << zeros << 1 >>> (Long.SIZE - BITS))];
    // 1 more where the difference is below 0: a branch would be guessed wrong every other time.
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
