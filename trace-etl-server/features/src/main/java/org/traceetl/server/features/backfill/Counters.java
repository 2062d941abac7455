package org.traceetl.server.features.backfill;

import java.util.Map;
import java.util.TreeMap;

/**
 * The counters of all series, which begin at 0 and go up with each pane. Samples are in the order
 * of time, then of labels:
 *
 * <ul>
 *   <li>0 in the middle of the first pane of a series, so that its first increase is visible, and
 *       no other backfill ends with a sample at this time;
 *   <li>the counter at the end of each pane with spans of the series;
 *   <li>the same counter again once a minute, so that receivers do not take the series for ended.
 * </ul>
 *
 * <p>A series without spans for the idle time ends; later spans begin it at 0 again. For one thread
 * at a time.
 */
final class Counters {
  private static final long REPEAT_MILLIS = 60_000;

  private final SampleFiles files;
  private final int buckets;
  private final Totals zero;
  private final long paneMillis;
  private final long idleMillis;
  private final Map<SeriesKey, Counter> live = new TreeMap<>();

  private long series;
  private long spans;
  private long overflowSpans;
  private long lackingSpans;

  private static final class Counter {
    final Totals totals;
    long changedMillis;
    long sampledMillis;

    Counter(int stride) {
      totals = new Totals(stride);
    }
  }

  /**
   * @param stride numbers of a series
   * @param buckets the first of them
   * @param idleMillis time without spans after which a series ends
   */
  Counters(SampleFiles files, int stride, int buckets, long paneMillis, long idleMillis) {
    this.files = files;
    this.buckets = buckets;
    this.paneMillis = paneMillis;
    this.idleMillis = idleMillis;
    zero = new Totals(stride);
  }

  /**
   * Ends the next pane.
   *
   * @param endMillis its end, milliseconds since 1970
   * @param sums of the pane by series
   */
  void endPane(long endMillis, Map<SeriesKey, Totals> sums) {
    // Before the samples, so that a series that begins again has none at the time of its zero.
    live.entrySet()
        .removeIf(entry ->
            endMillis - entry.getValue().changedMillis >= idleMillis
                && !sums.containsKey(entry.getKey()));
    Map<SeriesKey, Totals> ordered = new TreeMap<>(sums);
    ordered.forEach((key, sum) -> {
      if (!live.containsKey(key)) {
        files.sample(key, endMillis - paneMillis / 2, zero);
      }
    });
    ordered.forEach((key, sum) -> add(key, sum, endMillis));
    live.forEach((key, counter) -> {
      if (counter.changedMillis == endMillis
          || endMillis - counter.sampledMillis >= REPEAT_MILLIS) {
        files.sample(key, endMillis, counter.totals);
        counter.sampledMillis = endMillis;
      }
    });
  }

  private void add(SeriesKey key, Totals sum, long endMillis) {
    Counter counter = live.get(key);
    if (counter == null) {
      counter = new Counter(zero.stride());
      live.put(key, counter);
      series++;
    }
    counter.totals.add(sum);
    counter.changedMillis = endMillis;
    if (key.isOfSpans()) {
      long more = sum.spans(buckets);
      spans += more;
      overflowSpans += key.isOverflow() ? more : 0;
      lackingSpans += key.lacksDimension() ? more : 0;
    }
  }

  /** Returns the number of series; one that ended and began again counts twice. */
  long series() {
    return series;
  }

  long spans() {
    return spans;
  }

  /** Returns how many of the spans are in overflow series. */
  long overflowSpans() {
    return overflowSpans;
  }

  /** Returns how many of the spans have a dimension that agents did not send. */
  long lackingSpans() {
    return lackingSpans;
  }
}
