package org.traceetl.server.features.history;

import com.google.common.math.LongMath;
import java.util.Arrays;
import org.traceetl.server.minutes.MinuteColumns;
import org.traceetl.server.minutes.Quantiles;

/**
 * Sums of spans: calls, errors, nanoseconds, variance of the calls and calls by bucket, as columns
 * of {@link MinuteColumns}. Numbers stay between 0 and the highest one. Not thread-safe.
 *
 * <p>Spans with unknown buckets (counted under other bounds than this server's) are in the sums,
 * but not in the buckets: quantiles are those of the other spans. Spans of a series with bounds of
 * its own are in the bucket that contains its bucket's upper bound.
 */
final class SpanSums {
  static final int CALLS = 0;
  static final int ERRORS = 1;
  static final int NANOS = 2;

  /** Column of the variance of the calls, where spans were sampled. */
  static final int VARIANCE = 3;

  /** Column of the first bucket. */
  static final int BUCKETS = 4;

  private static final double NANOS_PER_MILLI = 1e6;

  private final long[] columns;

  /**
   * @param buckets number of buckets of a series
   */
  SpanSums(int buckets) {
    columns = new long[BUCKETS + buckets];
  }

  /**
   * Adds spans.
   *
   * @param counts spans by bucket, starting at {@code at}
   * @param buckets number of these buckets
   * @param places by bucket, the bucket of the sums in which its spans count; null for none
   */
  void add(boolean failed, long nanos, long[] counts, int at, int buckets, int[] places) {
    long spans = 0;
    for (int bucket = 0; bucket < buckets; bucket++) {
      long count = Math.max(0, counts[at + bucket]);
      spans = LongMath.saturatedAdd(spans, count);
      if (places != null && bucket < places.length) {
        add(BUCKETS + places[bucket], count);
      }
    }
    add(CALLS, spans);
    if (failed) {
      add(ERRORS, spans);
    }
    add(NANOS, Math.max(0, nanos));
  }

  void addVariance(long more) {
    add(VARIANCE, Math.max(0, more));
  }

  void add(SpanSums other) {
    for (int column = 0; column < columns.length; column++) {
      add(column, other.columns[column]);
    }
  }

  private void add(int column, long value) {
    columns[column] = LongMath.saturatedAdd(columns[column], value);
  }

  /** Returns the numbers themselves, which the caller may increase. */
  long[] columns() {
    return columns;
  }

  /** Calls by bucket. */
  long[] buckets() {
    return Arrays.copyOfRange(columns, BUCKETS, columns.length);
  }

  long calls() {
    return columns[CALLS];
  }

  /** Returns the calls with status ERROR. */
  long errors() {
    return columns[ERRORS];
  }

  /** Returns the variance of the calls divided by the calls; 0 if all were counted. */
  double variancePerCall() {
    return calls() == 0 ? 0 : (double) columns[VARIANCE] / calls();
  }

  /** Returns the sum of the durations in milliseconds. */
  double durationMillis() {
    return columns[NANOS] / NANOS_PER_MILLI;
  }

  /**
   * Returns a quantile of the durations in milliseconds, as {@link Quantiles#millis}.
   *
   * @param boundsMillis upper bounds of the finite buckets
   * @param quantile above 0, below 1
   */
  double quantileMillis(double[] boundsMillis, double quantile) {
    return Quantiles.millis(columns, BUCKETS, boundsMillis, quantile);
  }
}
