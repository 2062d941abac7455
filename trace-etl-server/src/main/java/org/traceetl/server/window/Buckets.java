package org.traceetl.server.window;

/**
 * Finds the histogram bucket of a duration: the first whose bound is not below it. Immutable.
 *
 * <p>A duration's number of leading zeros tells its power of two; the search starts at the first
 * bucket that this power can reach and is over after the few bounds within it.
 */
public final class Buckets {
  private final long[] boundsNanos;
  private final int[] firstByLeadingZeros = new int[Long.SIZE + 1];

  /**
   * @param boundsNanos finite upper bounds, rising, above 0
   */
  public Buckets(long[] boundsNanos) {
    this.boundsNanos = boundsNanos.clone();
    for (int zeros = 1; zeros < Long.SIZE; zeros++) {
      firstByLeadingZeros[zeros] = scan(0, Long.MIN_VALUE >>> zeros);
    }
  }

  /** Buckets, with the one for everything above the last bound. */
  public int count() {
    return boundsNanos.length + 1;
  }

  /**
   * The bucket of a duration.
   *
   * @param nanos at least 0
   */
  public int of(long nanos) {
    return scan(firstByLeadingZeros[Long.numberOfLeadingZeros(nanos)], nanos);
  }

  private int scan(int from, long nanos) {
    int bucket = from;
    while (bucket < boundsNanos.length && nanos > boundsNanos[bucket]) {
      bucket++;
    }
    return bucket;
  }
}
