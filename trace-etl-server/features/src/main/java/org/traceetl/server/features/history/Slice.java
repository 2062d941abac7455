package org.traceetl.server.features.history;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.Predicate;
import org.traceetl.server.http.Allowed;

/** The parameters that ask for a part of a list. */
record Slice(
    @Allowed(max = Slice.MAX_LIMIT) Integer limit,
    @Allowed(min = 0, max = Slice.MAX_OFFSET) Integer offset) {
  static final int MAX_LIMIT = 10_000;
  static final int MAX_OFFSET = 1_000_000;
  private static final int DEFAULT_LIMIT = 100;

  Slice {
    limit = limit == null ? (Integer) DEFAULT_LIMIT : limit;
    offset = offset == null ? (Integer) 0 : offset;
  }

  /** Returns this part of the items that match, in this order. */
  <T> ListPage<T> of(List<T> all, Predicate<T> matches, Comparator<? super T> order) {
    List<T> matching = all.stream().filter(matches).sorted(order).toList();
    int from = Math.min(offset, matching.size());
    return new ListPage<>(
        all.size(),
        matching.size(),
        matching.subList(from, Math.min(from + limit, matching.size())));
  }

  /** Passes the items whose name contains the text, in whatever case; all if it is null. */
  static <T> Predicate<T> searched(String text, Function<T, String> name) {
    if (text == null) {
      return any -> true;
    }
    String sought = text.toLowerCase(Locale.ROOT);
    return item -> name.apply(item).toLowerCase(Locale.ROOT).contains(sought);
  }
}
