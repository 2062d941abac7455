package org.traceetl.server.config;

import static org.traceetl.server.config.ConfigException.check;
import static org.traceetl.server.config.ConfigException.orElse;

import java.util.List;

/**
 * The histogram: {@code trace-etl.histogram}. A missing value is its default.
 *
 * @param boundsMillis upper bounds of the finite buckets, each included in its bucket; fractions
 *     down to the nanosecond
 */
public record HistogramConfig(List<Double> boundsMillis) {
  private static final String NAME = "trace-etl.histogram.bounds-millis";
  private static final int MAX_BOUNDS = 256;
  private static final double NANOS_PER_MILLI = 1e6;
  private static final double MAX_MILLIS = 365 * 86_400e3;

  public HistogramConfig {
    boundsMillis =
        List.copyOf(
            orElse(
                boundsMillis,
                List.of(
                    2.0, 4.0, 6.0, 8.0, 10.0, 50.0, 100.0, 200.0, 400.0, 800.0, 1_000.0, 1_400.0,
                    2_000.0, 5_000.0, 10_000.0, 15_000.0)));
    check(
        !boundsMillis.isEmpty() && boundsMillis.size() <= MAX_BOUNDS,
        NAME,
        boundsMillis.size() + " of them",
        "must be 1 to " + MAX_BOUNDS);
    long previousNanos = 0;
    for (double millis : boundsMillis) {
      long nanos = nanos(millis);
      check(
          nanos > previousNanos && millis <= MAX_MILLIS,
          NAME,
          boundsMillis,
          "must rise, from above 0 to at most a year, by at least a nanosecond");
      previousNanos = nanos;
    }
  }

  /** The bounds in nanoseconds. */
  public long[] boundsNanos() {
    return boundsMillis.stream().mapToLong(HistogramConfig::nanos).toArray();
  }

  private static long nanos(double millis) {
    return Math.round(millis * NANOS_PER_MILLI);
  }
}
