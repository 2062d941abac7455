package org.traceetl.perf.bench.edges;

import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.traceetl.server.config.HistogramConfig;

/**
 * A histogram of durations as a page shows it. The bounds are the defaults of trace-etl and of the
 * Collector, which are equal.
 */
final class Durations {
  private static final List<Double> BOUNDS_MILLIS = new HistogramConfig(null).boundsMillis();
  private static final double INFINITE = Double.POSITIVE_INFINITY;

  /** Relative difference of equal sums: each system adds in another order. */
  private static final double TOLERANCE = 1e-6;

  /** By inclusive upper bound in seconds: the number of durations up to it, if above 0. */
  private final SortedMap<Double, Long> buckets = new TreeMap<>();

  private double seconds;

  void add(long nanos, int times) {
    for (double bound : BOUNDS_MILLIS) {
      if (nanos <= bound * 1e6) {
        bucket(bound / 1e3, times);
      }
    }
    bucket(INFINITE, times);
    sum(nanos / 1e9 * times);
  }

  /** Adds durations up to a bound, in seconds. */
  void bucket(double bound, long more) {
    if (more > 0) {
      buckets.merge(bound, more, Long::sum);
    }
  }

  void sum(double more) {
    seconds += more;
  }

  void add(Durations other) {
    other.buckets.forEach(this::bucket);
    sum(other.seconds);
  }

  long count() {
    return buckets.getOrDefault(INFINITE, 0L);
  }

  boolean equal(Durations other) {
    return buckets.equals(other.buckets)
        && Math.abs(seconds - other.seconds) <= TOLERANCE * Math.max(seconds, other.seconds);
  }
}
