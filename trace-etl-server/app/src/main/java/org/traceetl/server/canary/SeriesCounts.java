package org.traceetl.server.canary;

import java.util.HashMap;
import java.util.Map;

/**
 * The sum of counters that several servers show. While a queue moves, two servers may show a series
 * or none, so the highest value of each series counts. A series that ended and started again is
 * another one, by its creation time.
 *
 * <p>Confined to one thread.
 */
final class SeriesCounts {
  private final Map<String, Long> highest = new HashMap<>();

  /** Adds the values of one page. */
  void add(Map<String, Long> page) {
    page.forEach((series, value) -> highest.merge(series, value, Math::max));
  }

  long sum() {
    return highest.values().stream().mapToLong(value -> value).sum();
  }

  /** Counters without creation times: a lower value than before is that of a new series. */
  static final class Restarting {
    private final Map<String, Long> ended = new HashMap<>();
    private final Map<String, Long> last = new HashMap<>();

    /** Adds the values of one answer. */
    void add(Map<String, Long> answer) {
      answer.forEach((series, value) -> {
        Long before = last.put(series, value);
        if (before != null && value < before) {
          ended.merge(series, before, Long::sum);
        }
      });
    }

    long sum() {
      return last.values().stream().mapToLong(value -> value).sum()
          + ended.values().stream().mapToLong(value -> value).sum();
    }
  }
}
