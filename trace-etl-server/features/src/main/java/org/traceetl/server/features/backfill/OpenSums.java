package org.traceetl.server.features.backfill;

import java.util.HashMap;
import java.util.Map;
import org.traceetl.server.window.NativeCounts;

/**
 * The sums of the panes that are not closed in all queues yet, over all queues. Panes outside the
 * range of the backfill are left out.
 *
 * <p>What live series count is taken away. Where that exceeds the sum, because a late span counts
 * in another pane, the rest is taken from later panes. For one thread at a time.
 */
final class OpenSums {
  private final int stride;
  private final boolean hasNatives;
  private final long sinceMillis;
  private final long untilMillis;

  /** By end of the pane. */
  private final Map<Long, Map<SeriesKey, Totals>> panes = new HashMap<>();

  /** What is still to be taken away: numbers of 0 and below. */
  private final Map<SeriesKey, Totals> owed = new HashMap<>();

  /**
   * @param stride numbers of a series
   * @param hasNatives whether native buckets are kept
   * @param sinceMillis begin of the first pane, milliseconds since 1970
   * @param untilMillis end of the last one
   */
  OpenSums(int stride, boolean hasNatives, long sinceMillis, long untilMillis) {
    this.stride = stride;
    this.hasNatives = hasNatives;
    this.sinceMillis = sinceMillis;
    this.untilMillis = untilMillis;
  }

  /** Returns whether a pane is in the range. */
  boolean contains(long endMillis) {
    return endMillis > sinceMillis && endMillis <= untilMillis;
  }

  /**
   * Adds the counts of a series in a pane of the range.
   *
   * @param counts have the series' numbers from an index on
   */
  void add(long endMillis, SeriesKey series, long[] counts, int at, long durationNanos) {
    panes
        .computeIfAbsent(endMillis, absent -> new HashMap<>())
        .computeIfAbsent(series, absent -> new Totals(stride))
        .add(counts, at, durationNanos);
  }

  /**
   * Adds the native buckets of a series in a pane of the range, after its counts.
   *
   * @param isTaken whether they are taken away
   */
  void addNatives(
      long endMillis, SeriesKey series, NativeCounts natives, int row, boolean isTaken) {
    if (hasNatives) {
      panes.get(endMillis).get(series).addNatives(natives, row, isTaken ? -1 : 1);
    }
  }

  /** Takes away counts as {@link #add} adds them. */
  void take(long endMillis, SeriesKey series, long[] counts, int at, long durationNanos) {
    panes
        .computeIfAbsent(endMillis, absent -> new HashMap<>())
        .computeIfAbsent(series, absent -> new Totals(stride))
        .take(counts, at, durationNanos);
  }

  /** Removes and returns the sums of a pane, none of them 0; empty if it has none. */
  Map<SeriesKey, Totals> take(long endMillis) {
    Map<SeriesKey, Totals> removed = panes.remove(endMillis);
    Map<SeriesKey, Totals> sums = removed == null ? new HashMap<>() : removed;
    owed.forEach(
        (series, rest) -> sums.computeIfAbsent(series, absent -> new Totals(stride)).add(rest));
    owed.clear();
    sums.forEach((series, sum) -> {
      Totals rest = sum.splitNegative();
      if (rest != null) {
        owed.put(series, rest);
      }
    });
    sums.values().removeIf(Totals::isZero);
    return sums;
  }

  /** Returns how many spans were taken away that no pane so far has. */
  long owedSpans(int buckets) {
    return -owed.values().stream().mapToLong(rest -> rest.spans(buckets)).sum();
  }
}
