package org.traceetl.server.series;

import java.util.Comparator;
import java.util.List;

/**
 * Why an application has as many series on a queue as it has.
 *
 * @param limit key of the limit that it is at or near, below {@code trace-etl.series}
 * @param max value of that limit
 * @param series that it has
 * @param overflowed spans of it that found no room, in the window that ended
 * @param overflowedEvents events of its spans that did not
 * @param dimensions what distinguishes its series, as configured; never empty
 * @param atMillis when it was looked at, milliseconds since 1970
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

  /**
   * What distinguishes series.
   *
   * @param values different ones among the application's series
   * @param examples a few of them, cut short; of the {@link #culprit} alone
   */
  public record Dimension(String name, int values, List<String> examples) {}

  /** Whether something of it found no room. */
  public boolean isOverflowing() {
    return overflowed > 0 || overflowedEvents > 0;
  }

  /** The dimension with most values. */
  public Dimension culprit() {
    return dimensions.stream().max(Comparator.comparingInt(Dimension::values)).orElseThrow();
  }
}
