package org.traceetl.server.features.backfill;

import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.traceetl.server.window.NativeCounts;

/** Counts of a series, and its sum of durations. For one thread at a time. */
final class Totals {
  private static final int NANOS_PER_MILLI = 1_000_000;

  private final long[] counts;

  // In two parts: nanoseconds would overflow after 292 years of spans.
  private long sumMillis;
  private int sumNanos;

  /** Spans by native bucket; null without any. */
  private NavigableMap<Integer, Long> natives;

  /**
   * @param stride numbers of a series: its buckets, and its size if sizes are kept
   */
  Totals(int stride) {
    counts = new long[stride];
  }

  /** Adds a row of counts, which begins at an index, and its sum of durations. */
  void add(long[] row, int at, long durationNanos) {
    for (int i = 0; i < counts.length; i++) {
      counts[i] += row[at + i];
    }
    addDuration(durationNanos / NANOS_PER_MILLI, (int) (durationNanos % NANOS_PER_MILLI));
  }

  /** Takes away a row, so that numbers may be below 0. */
  void take(long[] row, int at, long durationNanos) {
    for (int i = 0; i < counts.length; i++) {
      counts[i] -= row[at + i];
    }
    addDuration(-(durationNanos / NANOS_PER_MILLI), (int) -(durationNanos % NANOS_PER_MILLI));
  }

  /**
   * Adds native buckets.
   *
   * @param sign -1 to take them away
   */
  void addNatives(NativeCounts of, int row, int sign) {
    for (int i = of.begin(row); i < of.end(row); i++) {
      addNative(of.buckets()[i], sign * of.counts()[i]);
    }
  }

  private void addNative(int bucket, long spans) {
    if (natives == null) {
      natives = new TreeMap<>();
    }
    // A bucket without spans is removed.
    natives.merge(bucket, spans, (one, more) -> one + more == 0 ? null : (Long) (one + more));
  }

  void add(Totals other) {
    for (int i = 0; i < counts.length; i++) {
      counts[i] += other.counts[i];
    }
    addDuration(other.sumMillis, other.sumNanos);
    if (other.natives != null) {
      other.natives.forEach(this::addNative);
    }
  }

  private void addDuration(long millis, int nanos) {
    int all = sumNanos + nanos;
    sumMillis += millis + Math.floorDiv(all, NANOS_PER_MILLI);
    sumNanos = Math.floorMod(all, NANOS_PER_MILLI);
  }

  /** Removes and returns the numbers below 0; null if none is. */
  Totals splitNegative() {
    Totals negative = null;
    for (int i = 0; i < counts.length; i++) {
      if (counts[i] < 0) {
        negative = negative == null ? new Totals(counts.length) : negative;
        negative.counts[i] = counts[i];
        counts[i] = 0;
      }
    }
    // The sum has a sign of its own, because spans of a late batch may be in another pane.
    if (sumMillis < 0) {
      negative = negative == null ? new Totals(counts.length) : negative;
      negative.addDuration(sumMillis, sumNanos);
      sumMillis = 0;
      sumNanos = 0;
    }
    for (Map.Entry<Integer, Long> each :
        Map.copyOf(natives == null ? Map.of() : natives).entrySet()) {
      if (each.getValue() < 0) {
        negative = negative == null ? new Totals(counts.length) : negative;
        negative.addNative(each.getKey(), each.getValue());
        natives.remove(each.getKey());
      }
    }
    return negative;
  }

  /** Returns whether all numbers are 0. */
  boolean isZero() {
    long all = sumMillis | sumNanos;
    for (long count : counts) {
      all |= count;
    }
    return all == 0 && (natives == null || natives.isEmpty());
  }

  /** Returns the native buckets in new arrays, as the only row. */
  NativeCounts natives() {
    NativeCounts.Builder row = new NativeCounts.Builder(1);
    if (natives != null) {
      natives.forEach(row::add);
    }
    row.endRow();
    return row.build();
  }

  /** Returns the numbers of the series. Must not be modified. */
  long[] counts() {
    return counts;
  }

  /** Returns the numbers of the series. */
  int stride() {
    return counts.length;
  }

  /** Returns a number of the series. */
  long count(int i) {
    return counts[i];
  }

  /**
   * Returns the spans of all buckets.
   *
   * @param buckets the first of the numbers
   */
  long spans(int buckets) {
    long spans = 0;
    for (int i = 0; i < buckets; i++) {
      spans += counts[i];
    }
    return spans;
  }

  /** Returns the sum of durations in whole milliseconds. */
  long sumMillis() {
    return sumMillis;
  }

  /** Returns the nanoseconds of the sum beyond {@link #sumMillis}. */
  int sumNanos() {
    return sumNanos;
  }
}
