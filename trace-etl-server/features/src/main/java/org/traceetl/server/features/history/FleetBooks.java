package org.traceetl.server.features.history;

import com.google.common.math.LongMath;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.traceetl.proto.Rejection;
import org.traceetl.server.minutes.MinuteColumns;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.TraceDocument;

/**
 * The books of the fleet and of each application by minute. Not thread-safe.
 *
 * <p>Bounded: applications above the limit are added up as {@link Books#OTHER}. One without spans
 * for an hour is removed. The books of the fleet are exact in any case.
 */
final class FleetBooks {
  private static final int RECEIVED = 0;
  private static final int RECORDED = 1;
  private static final int OVERFLOWED = 2;
  private static final int FILTERED = 3;
  private static final int DUPLICATE = 4;
  private static final int HELD_BACK = 5;
  private static final int BYTES = 6;
  private static final int DOCUMENTS = 7;

  /** Live series times milliseconds. */
  private static final int SERIES_MILLIS = 8;

  private static final int REJECTED = 9;
  private static final Rejection[] REASONS = Rejection.values();

  /** The last reason collects reasons of servers of a later version. */
  private static final int COLUMNS = REJECTED + REASONS.length + 1;

  private static final String OTHER_REASON = "other";

  private final int maxApplications;
  private final MinuteColumns columns = new MinuteColumns(COLUMNS);
  private final MinuteColumns.Minutes fleet = new MinuteColumns.Minutes();
  private final Map<String, MinuteColumns.Minutes> applications = new HashMap<>();

  FleetBooks(int maxApplications) {
    this.maxApplications = maxApplications;
  }

  /**
   * Adds what a window has of each application.
   *
   * @param liveSeries series of its queue, by application
   */
  void add(SealedWindow window, Map<String, Integer> liveSeries, long minute, long now) {
    addBooks(window.books(), minute, now);
    long[] values = new long[COLUMNS];
    Map<String, Long> documents = new HashMap<>();
    for (TraceDocument document : window.documents()) {
      documents.merge(document.application(), 1L, Long::sum);
    }
    documents.forEach((application, count) -> {
      values[DOCUMENTS] = count;
      columns.add(minutes(application), minute, values, now);
    });
    values[DOCUMENTS] = 0;
    long millis = Math.max(0, window.sealedMillis() - window.openedMillis());
    liveSeries.forEach((application, series) -> {
      values[SERIES_MILLIS] = series * millis;
      columns.add(minutes(application), minute, values, now);
    });
  }

  private void addBooks(List<Books> window, long minute, long now) {
    long[] all = new long[COLUMNS];
    for (Books books : window) {
      long[] values = values(books);
      for (int column = 0; column < COLUMNS; column++) {
        all[column] = LongMath.saturatedAdd(all[column], values[column]);
      }
      columns.add(minutes(books.application()), minute, values, now);
    }
    if (!window.isEmpty()) {
      columns.add(fleet, minute, all, now);
    }
  }

  private MinuteColumns.Minutes minutes(String name) {
    MinuteColumns.Minutes minutes = applications.get(name);
    if (minutes == null) {
      boolean room = applications.size() < maxApplications;
      minutes =
          applications.computeIfAbsent(
              room ? name : Books.OTHER, absent -> new MinuteColumns.Minutes());
    }
    return minutes;
  }

  private static long[] values(Books books) {
    long[] values = new long[COLUMNS];
    values[RECEIVED] = Math.max(0, books.received());
    values[RECORDED] = Math.max(0, books.recorded());
    values[OVERFLOWED] = Math.max(0, books.overflowed());
    values[FILTERED] = Math.max(0, books.filtered());
    values[DUPLICATE] = Math.max(0, books.duplicate());
    values[HELD_BACK] = Math.max(0, books.heldBack());
    values[BYTES] = Math.max(0, books.bytes());
    books
        .rejected()
        .forEach((reason, spans) -> {
          int column = column(reason);
          values[column] = LongMath.saturatedAdd(values[column], Math.max(0, spans));
        });
    return values;
  }

  private static int column(String reason) {
    for (Rejection known : REASONS) {
      if (known.label().equals(reason)) {
        return REJECTED + known.ordinal();
      }
    }
    return COLUMNS - 1;
  }

  void sweep(long oldest) {
    applications.values().removeIf(minutes -> minutes.endedBefore(oldest));
  }

  /** Returns the books of the fleet in some minutes, both ends inclusive, without a name. */
  Books fleet(long from, long to) {
    return books("", fleet, from, to);
  }

  /** Returns the books of each application with spans in these minutes. */
  List<Books> applications(long from, long to) {
    List<Books> all = new ArrayList<>();
    applications.forEach((name, minutes) -> {
      if (!minutes.endedBefore(from)) {
        Books its = books(name, minutes, from, to);
        // An application without spans may still have series.
        if (its.received() > 0 || its.heldBack() > 0) {
          all.add(its);
        }
      }
    });
    return all;
  }

  private Books books(String name, MinuteColumns.Minutes minutes, long from, long to) {
    long[] sum = new long[COLUMNS];
    columns.sum(minutes, from, to, sum);
    Map<String, Long> rejected = new TreeMap<>();
    for (int column = REJECTED; column < COLUMNS; column++) {
      if (sum[column] > 0) {
        rejected.put(
            column == COLUMNS - 1 ? OTHER_REASON : REASONS[column - REJECTED].label(), sum[column]);
      }
    }
    return new Books(
        name,
        sum[RECEIVED],
        sum[RECORDED],
        sum[OVERFLOWED],
        sum[FILTERED],
        sum[DUPLICATE],
        rejected,
        sum[HELD_BACK],
        sum[BYTES]);
  }

  /** Returns the usage of each application in some minutes, both ends inclusive, in no order. */
  List<Usage> usage(long from, long to) {
    List<Usage> all = new ArrayList<>();
    long[] sum = new long[COLUMNS];
    applications.forEach((name, minutes) -> {
      Arrays.fill(sum, 0);
      columns.sum(minutes, from, to, sum);
      Usage usage =
          new Usage(
              name, sum[RECEIVED] - sum[DUPLICATE], sum[BYTES], sum[SERIES_MILLIS], sum[DOCUMENTS]);
      if (!usage.isEmpty()) {
        all.add(usage);
      }
    });
    return all;
  }
}
