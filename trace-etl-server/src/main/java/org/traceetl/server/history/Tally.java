package org.traceetl.server.history;

/**
 * What some spans add up to. One thread at a time.
 *
 * <p>Spans whose buckets are not known (counted under other bounds than this server's) are in the
 * sums, but not in the buckets: quantiles are those of the others.
 */
public final class Tally {
  private static final double NANOS_PER_MILLI = 1e6;

  private long calls;
  private long errors;
  private long durationNanos;
  private final long[] buckets;

  /**
   * @param buckets of a series
   */
  Tally(int buckets) {
    this.buckets = new long[buckets];
  }

  /**
   * Adds spans.
   *
   * @param counts spans by bucket, from {@code at} on
   * @param stride buckets there
   * @param bucketsKnown whether these buckets are those of this tally
   */
  void add(boolean failed, long nanos, long[] counts, int at, int stride, boolean bucketsKnown) {
    long spans = 0;
    for (int bucket = 0; bucket < stride; bucket++) {
      spans += counts[at + bucket];
    }
    if (bucketsKnown) {
      for (int bucket = 0; bucket < stride; bucket++) {
        buckets[bucket] += counts[at + bucket];
      }
    }
    calls += spans;
    errors += failed ? spans : 0;
    addNanos(nanos);
  }

  void add(Tally other) {
    calls += other.calls;
    errors += other.errors;
    addNanos(other.durationNanos);
    for (int bucket = 0; bucket < buckets.length; bucket++) {
      buckets[bucket] += other.buckets[bucket];
    }
  }

  /** Saturates. */
  private void addNanos(long nanos) {
    long sum = durationNanos + nanos;
    durationNanos = sum < 0 ? Long.MAX_VALUE : sum;
  }

  public long calls() {
    return calls;
  }

  /** Those of the calls that have the status ERROR. */
  public long errors() {
    return errors;
  }

  /** Sum of the durations, milliseconds. */
  public double durationMillis() {
    return durationNanos / NANOS_PER_MILLI;
  }

  /**
   * A quantile of the durations, milliseconds, taken as evenly spread within a bucket; the highest
   * bound if it is above that, NaN without spans.
   *
   * @param boundsMillis upper bounds of the finite buckets
   * @param quantile above 0, below 1
   */
  double quantileMillis(double[] boundsMillis, double quantile) {
    long spans = 0;
    for (long count : buckets) {
      spans += count;
    }
    double rank = quantile * spans;
    long below = 0;
    for (int bucket = 0; bucket < boundsMillis.length; bucket++) {
      long count = buckets[bucket];
      if (count > 0 && below + count >= rank) {
        double from = bucket == 0 ? 0 : boundsMillis[bucket - 1];
        return from + (boundsMillis[bucket] - from) * (rank - below) / count;
      }
      below += count;
    }
    return spans == 0 || boundsMillis.length == 0
        ? Double.NaN
        : boundsMillis[boundsMillis.length - 1];
  }
}
