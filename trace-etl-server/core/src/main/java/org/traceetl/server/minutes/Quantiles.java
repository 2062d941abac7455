package org.traceetl.server.minutes;

import com.google.common.math.LongMath;
import java.util.Arrays;

/** Quantiles of durations that were counted in buckets. */
public final class Quantiles {
  private static final double NANOS_PER_MILLI = 1e6;

  private Quantiles() {}

  /** Returns upper bounds of buckets in milliseconds. */
  public static double[] boundsMillis(long[] boundsNanos) {
    return Arrays.stream(boundsNanos).mapToDouble(nanos -> nanos / NANOS_PER_MILLI).toArray();
  }

  /**
   * Returns a quantile in milliseconds, assuming an even distribution within a bucket; the highest
   * bound if the quantile is above it, NaN without durations or bounds.
   *
   * @param counts durations by bucket, from {@code at} on, one bucket more than bounds; not
   *     cumulative, not below 0
   * @param boundsMillis upper bounds of the finite buckets, ascending
   * @param quantile above 0, below 1
   */
  public static double millis(long[] counts, int at, double[] boundsMillis, double quantile) {
    long all = 0;
    for (int bucket = 0; bucket <= boundsMillis.length; bucket++) {
      all = LongMath.saturatedAdd(all, counts[at + bucket]);
    }
    double rank = quantile * all;
    double below = 0;
    for (int bucket = 0; bucket < boundsMillis.length; bucket++) {
      long count = counts[at + bucket];
      if (count > 0 && below + count >= rank) {
        double from = bucket == 0 ? 0 : boundsMillis[bucket - 1];
        return from + (boundsMillis[bucket] - from) * Math.max(0, rank - below) / count;
      }
      below += count;
    }
    return all == 0 || boundsMillis.length == 0
        ? Double.NaN
        : boundsMillis[boundsMillis.length - 1];
  }
}
