package org.traceetl.perf.systest.ozhera;

import static org.apache.commons.math3.stat.descriptive.rank.Percentile.EstimationType.R_1;

import org.apache.commons.math3.stat.descriptive.rank.Percentile;

/** Computes quantiles from a histogram's buckets, as Prometheus does, and the exact ones. */
final class Quantile {
  private Quantile() {}

  /**
   * Computes a quantile as {@code histogram_quantile} does.
   *
   * @param bounds the finite bucket bounds, ascending
   * @param atMost how many values are at most each bound
   * @param all the number of values, above 0
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

  /**
   * Returns whether a value is in the bucket of the exact quantile; all buckets above the last
   * bound count as one.
   */
  static boolean isInBucketOf(double q, double[] bounds, double[] values, double answer) {
    double quantile = new Percentile(100 * q).withEstimationType(R_1).evaluate(values);
    for (int bucket = 0; bucket < bounds.length; bucket++) {
      if (quantile <= bounds[bucket]) {
        return answer >= (bucket == 0 ? 0 : bounds[bucket - 1]) && answer <= bounds[bucket];
      }
    }
    return answer == bounds[bounds.length - 1];
  }
}
