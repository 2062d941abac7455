package org.traceetl.server.features.history;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.Predicate;
import org.traceetl.server.http.Parameters;

/**
 * Part of a list, by the parameters of a request.
 *
 * @param total before it was searched
 * @param matching those that the search let pass
 * @param items those asked for
 */
record ListPage<T>(int total, int matching, List<T> items) {
  private static final int DEFAULT_LIMIT = 100;
  private static final int MAX_LIMIT = 10_000;
  private static final String NAME = "name";
  private static final List<String> SORTS =
      List.of("calls", "errors", "error-ratio", "p50", "p95", "p99", NAME);
  private static final List<String> ORDERS = List.of("asc", "desc");

  /** The part that {@code limit} and {@code offset} ask for, of those that match, in this order. */
  static <T> ListPage<T> of(
      Parameters given, List<T> all, Predicate<T> matches, Comparator<? super T> order) {
    int offset = given.offset();
    int limit = given.number("limit", MAX_LIMIT, DEFAULT_LIMIT);
    List<T> matching = all.stream().filter(matches).sorted(order).toList();
    int from = Math.min(offset, matching.size());
    return new ListPage<>(
        all.size(),
        matching.size(),
        matching.subList(from, Math.min(from + limit, matching.size())));
  }

  /** Whether a name has what {@code search} asks for in it. */
  static <T> Predicate<T> searched(Parameters given, Function<T, String> name) {
    String sought = given.search().toLowerCase(Locale.ROOT);
    return sought.isEmpty()
        ? any -> true
        : item -> name.apply(item).toLowerCase(Locale.ROOT).contains(sought);
  }

  /**
   * The order that {@code sort} and {@code order} ask for: what is not known comes last either way,
   * and what is the same goes by its name.
   *
   * @param byName rising
   */
  static <T> Comparator<T> order(
      Parameters given, Function<T, Interval> interval, Comparator<T> byName) {
    String sort = given.choice("sort", SORTS, "calls");
    boolean rising =
        given.choice("order", ORDERS, sort.equals(NAME) ? "asc" : "desc").equals("asc");
    if (sort.equals(NAME)) {
      return rising ? byName : byName.reversed();
    }
    Comparator<T> byNumber =
        (one, other) -> {
          double a = number(interval.apply(one), sort);
          double b = number(interval.apply(other), sort);
          boolean known = !Double.isNaN(a) && !Double.isNaN(b);
          // NaN is above all.
          return known && !rising ? Double.compare(b, a) : Double.compare(a, b);
        };
    return byNumber.thenComparing(byName);
  }

  private static double number(Interval interval, String sort) {
    return switch (sort) {
      case "errors" -> interval.errors();
      case "error-ratio" -> interval.errorRatio();
      case "p50" -> interval.p50Millis();
      case "p95" -> interval.p95Millis();
      case "p99" -> interval.p99Millis();
      default -> interval.calls();
    };
  }
}
