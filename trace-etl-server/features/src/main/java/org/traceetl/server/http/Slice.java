package org.traceetl.server.http;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The parameters that ask for a part of a list.
 *
 * @param limit maximum number of items; 100 if it is null
 * @param offset number of items to skip at the beginning; 0 if it is null
 */
public record Slice(
    @Allowed(max = Slice.MAX_LIMIT) Integer limit,
    @Allowed(min = 0, max = Slice.MAX_OFFSET) Integer offset) {
  /** The highest offset. */
  public static final int MAX_OFFSET = 1_000_000;

  static final int MAX_LIMIT = 10_000;
  private static final int DEFAULT_LIMIT = 100;

  public Slice {
    limit = limit == null ? (Integer) DEFAULT_LIMIT : limit;
    offset = offset == null ? (Integer) 0 : offset;
  }

  /** Returns this part of the items that match, in this order. */
  public <T> ListPage<T> of(List<T> all, Predicate<T> matches, Comparator<? super T> order) {
    List<T> matching = all.stream().filter(matches).sorted(order).toList();
    int from = Math.min(offset, matching.size());
    return new ListPage<>(
        all.size(),
        matching.size(),
        matching.subList(from, Math.min(from + limit, matching.size())));
  }

  /** Passes the items whose name contains the text, in whatever case; all if it is null. */
  public static <T> Predicate<T> searched(String text, Function<T, String> name) {
    if (text == null) {
      return any -> true;
    }
    String sought = text.toLowerCase(Locale.ROOT);
    return item -> name.apply(item).toLowerCase(Locale.ROOT).contains(sought);
  }
}
