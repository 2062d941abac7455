package org.traceetl.server.features.history;

import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.traceetl.server.config.ObjectiveConfig;
import org.traceetl.server.window.Form;
import org.traceetl.server.window.SeriesDefinition;

/**
 * How the history reads series.
 *
 * @param schema schema of series with this server's buckets
 * @param boundsNanos upper bounds of their finite buckets
 * @param columns number of values of a series before its own labels
 * @param countsEvents whether events have series; these are not calls
 * @param bucketsOfHistory whether a series of that schema has the history's buckets; others add
 *     only calls, errors and durations
 * @param kinds returns the name of a kind
 */
public record SeriesRules(
    long schema,
    long[] boundsNanos,
    int columns,
    boolean countsEvents,
    Predicate<SeriesDefinition> bucketsOfHistory,
    IntFunction<String> kinds) {
  /** Returns the number of buckets, including the one above the last bound. */
  int buckets() {
    return boundsNanos.length + 1;
  }

  /**
   * Returns, by bucket of a series, the bucket of the history in which its spans count: the one
   * that contains the upper bound. Null if the series has none that can be mapped.
   */
  int[] places(SeriesDefinition definition) {
    List<String> values = definition.values();
    if (values.size() <= columns + 1 || !Form.KEY.equals(values.get(columns))) {
      return bucketsOfHistory.test(definition) ? IntStream.range(0, buckets()).toArray() : null;
    }
    Form form = Form.parse(values.get(columns + 1));
    return form == null || !form.isClassic()
        ? null
        : LongStream.concat(Arrays.stream(form.boundsNanos()), LongStream.of(Long.MAX_VALUE))
            .mapToInt(this::bucket)
            .toArray();
  }

  /**
   * Returns the objective whose good events a series counts. Null if it counts others: the series
   * has a row for each event, so those of all events are not needed.
   */
  String objective(SeriesDefinition definition) {
    List<String> values = definition.values();
    if (!countsEvents
        || !definition.isOfMeasure()
        || !ObjectiveConfig.GOOD.equals(values.get(SeriesDefinition.SPAN_NAME))) {
      return null;
    }
    for (int i = columns; i + 1 < values.size(); i += 2) {
      if (ObjectiveConfig.LABEL.equals(values.get(i))) {
        return values.get(i + 1);
      }
    }
    return null;
  }

  private int bucket(long nanos) {
    int found = Arrays.binarySearch(boundsNanos, nanos);
    return found < 0 ? ~found : found;
  }
}
