package org.traceetl.server.features.graph;

import com.google.common.math.LongMath;
import org.traceetl.server.edge.EdgeMeasure;
import org.traceetl.server.minutes.MinuteColumns;
import org.traceetl.server.minutes.Quantiles;

/**
 * Sums of an edge as columns of {@link MinuteColumns}: the count of each measure, then requests by
 * duration at the client, at the server, and between them. Numbers stay between 0 and the highest
 * one. Not thread-safe.
 *
 * <p>Requests with unknown buckets (counted under other bounds than this server's) are in the
 * counts, but not in the buckets: quantiles are those of the other requests.
 */
final class EdgeSums {
  private static final int COUNTS = EdgeMeasure.values().length;

  // Histograms.
  private static final int CLIENT = 0;
  private static final int SERVER = 1;
  private static final int BETWEEN = 2;
  private static final int HISTOGRAMS = 3;

  /** A measure without durations has none. */
  private static final int NO_HISTOGRAM = -1;

  private final int buckets;
  private final long[] columns;

  /**
   * @param buckets number of buckets of a series
   */
  EdgeSums(int buckets) {
    this.buckets = buckets;
    columns = new long[columns(buckets)];
  }

  /** Returns the number of columns. */
  static int columns(int buckets) {
    return COUNTS + HISTOGRAMS * buckets;
  }

  /**
   * Adds a row.
   *
   * @param counts requests by bucket, starting at {@code at}
   * @param counted number of these buckets
   * @param bucketsKnown whether these buckets are those of the sums
   */
  void add(EdgeMeasure measure, long[] counts, int at, int counted, boolean bucketsKnown) {
    int histogram = bucketsKnown ? histogram(measure) : NO_HISTOGRAM;
    for (int bucket = 0; bucket < counted; bucket++) {
      long count = counts[at + bucket];
      if (count > 0) {
        add(measure.ordinal(), count);
        if (histogram != NO_HISTOGRAM) {
          add(first(histogram) + bucket, count);
        }
      }
    }
  }

  private void add(int column, long value) {
    columns[column] = LongMath.saturatedAdd(columns[column], value);
  }

  /** Returns the histogram of a measure. Messages have no measure for which calls have one. */
  private static int histogram(EdgeMeasure measure) {
    return switch (measure) {
      case CLIENT -> CLIENT;
      case SERVER -> SERVER;
      case LATENCY, MESSAGING -> BETWEEN;
      case REQUESTS,
          FAILED,
          UNPAIRED_CLIENT,
          UNPAIRED_SERVER,
          DROPPED_CLIENT,
          DROPPED_SERVER,
          MOVED_CLIENT,
          MOVED_SERVER ->
          NO_HISTOGRAM;
    };
  }

  private int first(int histogram) {
    return COUNTS + histogram * buckets;
  }

  /** Returns the numbers themselves, which the caller may increase. */
  long[] columns() {
    return columns;
  }

  long count(EdgeMeasure measure) {
    return columns[measure.ordinal()];
  }

  /** Returns the requests of which both ends sent spans. */
  long pairs() {
    return Math.min(count(EdgeMeasure.CLIENT), count(EdgeMeasure.SERVER));
  }

  /** Returns the p95 at the server; at the client if it is unknown there; NaN if both are. */
  double p95Millis(double[] boundsMillis) {
    double atServer = quantile(SERVER, boundsMillis, 0.95);
    return Double.isNaN(atServer) ? quantile(CLIENT, boundsMillis, 0.95) : atServer;
  }

  /**
   * Returns the mean duration at the client, as if all requests of a bucket took the middle of it;
   * at the server if it is unknown there; NaN if both are.
   */
  double meanMillis(double[] boundsMillis) {
    double atClient = mean(CLIENT, boundsMillis);
    return Double.isNaN(atClient) ? mean(SERVER, boundsMillis) : atClient;
  }

  private double mean(int histogram, double[] boundsMillis) {
    double sum = 0;
    double all = 0;
    for (int bucket = 0; bucket < buckets; bucket++) {
      double count = columns[first(histogram) + bucket];
      double from = bucket == 0 ? 0 : boundsMillis[bucket - 1];
      double to = bucket < boundsMillis.length ? boundsMillis[bucket] : from;
      sum += count * (from + to) / 2;
      all += count;
    }
    return sum / all;
  }

  /** Returns the durations at the client; null if none is known, like the others. */
  Durations atClient(double[] boundsMillis) {
    return durations(CLIENT, boundsMillis);
  }

  /** Returns the durations at the server. */
  Durations atServer(double[] boundsMillis) {
    return durations(SERVER, boundsMillis);
  }

  /**
   * Returns the durations at the client less those at the server; of messages, the time between
   * producer and consumer.
   */
  Durations between(double[] boundsMillis) {
    return durations(BETWEEN, boundsMillis);
  }

  private Durations durations(int histogram, double[] boundsMillis) {
    double median = quantile(histogram, boundsMillis, 0.5);
    return Double.isNaN(median)
        ? null
        : new Durations(
            median,
            quantile(histogram, boundsMillis, 0.95),
            quantile(histogram, boundsMillis, 0.99));
  }

  private double quantile(int histogram, double[] boundsMillis, double quantile) {
    return Quantiles.millis(columns, first(histogram), boundsMillis, quantile);
  }
}
