package org.traceetl.server.features.backfill;

/** Counts of a series, and its sum of durations. For one thread at a time. */
final class Totals {
  private static final int NANOS_PER_MILLI = 1_000_000;

  private final long[] counts;

  // In two parts: nanoseconds would overflow after 292 years of spans.
  private long sumMillis;
  private int sumNanos;

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

  void add(Totals other) {
    for (int i = 0; i < counts.length; i++) {
      counts[i] += other.counts[i];
    }
    addDuration(other.sumMillis, other.sumNanos);
  }

  private void addDuration(long millis, int nanos) {
    int all = sumNanos + nanos;
    sumMillis += millis + all / NANOS_PER_MILLI;
    sumNanos = all % NANOS_PER_MILLI;
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
