package org.traceetl.server.series;

import java.util.Comparator;
import java.util.List;

/**
 * Shows why an application has many series on a queue.
 *
 * @param limit key of the limit that it is at or near, below {@code trace-etl.series}; {@value
 *     #OF_TENANT} for that of its tenant
 * @param max value of that limit
 * @param series number of its series
 * @param overflowed spans in its overflow series, in the window that ended
 * @param overflowedEvents events in its overflow series, in the window that ended
 * @param dimensions dimensions of its series: those of all series, then those that only the rules
 *     of the application have; never empty
 * @param atMillis time of the survey, milliseconds since 1970
 */
public record Cardinality(
    String application,
    String limit,
    long max,
    int series,
    long overflowed,
    long overflowedEvents,
    List<Dimension> dimensions,
    long atMillis) {
  /** The limit of a tenant, in the file of tenants. */
  public static final String OF_TENANT = "max-series-per-queue of its tenant";

  /**
   * A dimension of the series.
   *
   * @param values number of distinct values among the application's series
   * @param examples some of the values, truncated; only for the {@link #culprit}
   */
  public record Dimension(String name, int values, List<String> examples) {}

  /** Returns whether any span or event overflowed. */
  public boolean isOverflowing() {
    return overflowed > 0 || overflowedEvents > 0;
  }

  /** Returns the dimension with most values. */
  public Dimension culprit() {
    return dimensions.stream().max(Comparator.comparingInt(Dimension::values)).orElseThrow();
  }
}
