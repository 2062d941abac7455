package org.traceetl.server.features.history;

import java.util.Comparator;
import java.util.function.Function;
import org.traceetl.server.http.Order;

/** The parameters that sort a list. */
record Sorting(Sort sort, Order order) {
  /** The columns to sort by. */
  enum Sort {
    CALLS,
    ERRORS,
    ERROR_RATIO,
    P50,
    P95,
    P99,
    NAME;

    private double of(Interval interval) {
      return switch (this) {
        case CALLS, NAME -> interval.calls();
        case ERRORS -> interval.errors();
        case ERROR_RATIO -> interval.errorRatio();
        case P50 -> interval.p50Millis();
        case P95 -> interval.p95Millis();
        case P99 -> interval.p99Millis();
      };
    }
  }

  Sorting {
    sort = sort == null ? Sort.CALLS : sort;
    order = order != null ? order : sort == Sort.NAME ? Order.ASC : Order.DESC;
  }

  /**
   * Returns the order: unknown numbers come last in both directions, and equal ones by their name.
   *
   * @param byName ascending
   */
  <T> Comparator<T> by(Function<T, Interval> interval, Comparator<T> byName) {
    return sort == Sort.NAME
        ? order.byName(byName)
        : order.<T>byNumber(one -> sort.of(interval.apply(one))).thenComparing(byName);
  }
}
