package org.traceetl.server.config;

import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.checkRange;
import static org.traceetl.common.ConfigException.orElse;

import java.util.List;

/**
 * The histogram: {@code trace-etl.histogram}. A missing value is its default.
 *
 * @param boundsMillis inclusive upper bounds of the finite classic buckets in milliseconds; 1 to
 *     256 ascending numbers; {@code tempo} has other defaults
 * @param kind which buckets a series has; a change restarts its counters
 * @param nativeSchema resolution of native buckets: 2^schema per power of two; -4 to 8; a change
 *     restarts counters
 */
public record HistogramConfig(List<Double> boundsMillis, Kind kind, Integer nativeSchema) {
  private static final String PREFIX = "trace-etl.histogram.";
  private static final String NAME = PREFIX + "bounds-millis";
  private static final int MAX_BOUNDS = 256;
  private static final double NANOS_PER_MILLI = 1e6;
  private static final double MAX_MILLIS = 365 * 86_400e3;

  /** The lowest and the highest schema that Prometheus supports. */
  private static final int MIN_SCHEMA = -4;

  private static final int MAX_SCHEMA = 8;
  private static final int DEFAULT_SCHEMA = 3;

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
          "must be ascending, above 0 and at most one year, with at least one nanosecond"
              + " between two bounds");
      previousNanos = nanos;
    }
    kind = orElse(kind, Kind.CLASSIC);
    nativeSchema = orElse(nativeSchema, DEFAULT_SCHEMA);
    checkRange(PREFIX + "native-schema", nativeSchema, MIN_SCHEMA, MAX_SCHEMA);
  }

  /**
   * Returns a configuration of classic histograms.
   *
   * @param boundsMillis null for the default
   */
  public HistogramConfig(List<Double> boundsMillis) {
    this(boundsMillis, null, null);
  }

  /** Returns the bounds of the classic buckets in nanoseconds; none for native buckets only. */
  public long[] boundsNanos() {
    return kind == Kind.NATIVE
        ? new long[0]
        : boundsMillis.stream().mapToLong(HistogramConfig::nanos).toArray();
  }

  /** Returns whether native buckets exist. */
  public boolean hasNative() {
    return kind != Kind.CLASSIC;
  }

  private static long nanos(double millis) {
    return Math.round(millis * NANOS_PER_MILLI);
  }

  /** The buckets of a series. */
  public enum Kind {
    /** Buckets with the configured bounds. */
    CLASSIC,
    /** Exponential buckets; text pages contain only their sum and count. */
    NATIVE,
    /** Both, so that dashboards can migrate from one to the other. */
    BOTH
  }
}
