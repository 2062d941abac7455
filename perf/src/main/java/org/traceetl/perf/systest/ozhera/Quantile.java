package org.traceetl.perf.systest.ozhera;

import java.util.Arrays;

/** Quantiles of a histogram's buckets, as Prometheus reckons them, and the true ones. */
final class Quantile {
  private Quantile() {}

  /**
   * As {@code histogram_quantile} has it.
   *
   * @param bounds of the finite buckets, rising
   * @param atMost how many values are at most a bound, for each
   * @param all how many values there are: more than none
   */
  static double ofBuckets(double q, double[] bounds, double[] atMost, double all) {
    double rank = q * all;
    int bucket = 0;
    while (bucket < bounds.length && atMost[bucket] < rank) {
      bucket++;
    }
    if (bucket == bounds.length) {
      return bounds[bounds.length - 1];
    }
    double from = bucket == 0 ? 0 : bounds[bucket - 1];
    double before = bucket == 0 ? 0 : atMost[bucket - 1];
    return from + (bounds[bucket] - from) * (rank - before) / (atMost[bucket] - before);
  }

  /** Whether a value is in the bucket that the true quantile is in; any above the last bound is. */
  static boolean isInBucketOf(double q, double[] bounds, double[] values, double answer) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    double quantile = sorted[Math.max(0, (int) Math.ceil(q * sorted.length) - 1)];
    for (int bucket = 0; bucket < bounds.length; bucket++) {
      if (quantile <= bounds[bucket]) {
        return answer >= (bucket == 0 ? 0 : bounds[bucket - 1]) && answer <= bounds[bucket];
      }
    }
    return answer == bounds[bounds.length - 1];
  }
}
