package org.traceetl.server.window;

import java.util.Arrays;

/**
 * What the native histograms of windows add up to, by row: a row's buckets and their counts are in
 * two arrays of just that length, which only a bucket seen for the first time makes anew. Rows
 * without any take no memory. One thread at a time.
 */
public final class NativeTotals {
  private static final char[] NO_BUCKETS = {};
  private static final long[] NO_COUNTS = {};

  /** By row: numbers of buckets, rising; null without any. */
  private char[][] buckets = {};

  private long[][] counts = {};

  /** Buckets that a row has. */
  public int size(int row) {
    return row < buckets.length && buckets[row] != null ? buckets[row].length : 0;
  }

  /** The number of a row's i-th bucket. */
  public int bucket(int row, int i) {
    return buckets[row][i];
  }

  /** The spans in a row's i-th bucket. */
  public long count(int row, int i) {
    return counts[row][i];
  }

  /** Adds a row of a window. */
  public void add(int row, NativeCounts window, int from) {
    int begin = window.begin(from);
    int end = window.end(from);
    if (begin == end) {
      return;
    }
    reserve(row);
    char[] known = buckets[row] == null ? NO_BUCKETS : buckets[row];
    long[] totals = counts[row] == null ? NO_COUNTS : counts[row];
    int missing = 0;
    int at = 0;
    for (int i = begin; i < end; i++) {
      while (at < known.length && known[at] < window.buckets()[i]) {
        at++;
      }
      missing += at < known.length && known[at] == window.buckets()[i] ? 0 : 1;
    }
    if (missing > 0) {
      // The greatest first: what moves up does not overwrite what is still to move.
      int old = known.length;
      known = Arrays.copyOf(known, old + missing);
      totals = Arrays.copyOf(totals, old + missing);
      int to = known.length;
      int i = end;
      while (i > begin) {
        int next = window.buckets()[i - 1];
        boolean fromKnown = old > 0 && known[old - 1] >= next;
        to--;
        if (fromKnown) {
          i -= known[old - 1] == next ? 1 : 0;
          old--;
          known[to] = known[old];
          totals[to] = totals[old];
        } else {
          known[to] = (char) next;
          totals[to] = 0;
          i--;
        }
      }
      buckets[row] = known;
      counts[row] = totals;
    }
    at = 0;
    for (int i = begin; i < end; i++) {
      while (known[at] < window.buckets()[i]) {
        at++;
      }
      totals[at] += window.counts()[i];
    }
  }

  /**
   * Gives a row these buckets.
   *
   * @param ofRow rising, below {@link NativeBuckets#MAX_COUNT}; theirs from now on, as the counts
   */
  public void set(int row, char[] ofRow, long[] theirCounts) {
    if (ofRow.length == 0) {
      clear(row);
      return;
    }
    reserve(row);
    buckets[row] = ofRow;
    counts[row] = theirCounts;
  }

  /** Gives a row what another one of other totals has. */
  public void copy(int row, NativeTotals other, int from) {
    if (other.size(from) == 0) {
      clear(row);
    } else {
      set(row, other.buckets[from].clone(), other.counts[from].clone());
    }
  }

  /** Gives a row what another one has, which then has none. */
  public void move(int from, int to) {
    if (size(from) == 0) {
      clear(to);
      return;
    }
    reserve(to);
    buckets[to] = buckets[from];
    counts[to] = counts[from];
    clear(from);
  }

  /** Takes all buckets from a row. */
  public void clear(int row) {
    if (row < buckets.length) {
      buckets[row] = null;
      counts[row] = null;
    }
  }

  private void reserve(int row) {
    if (row >= buckets.length) {
      int capacity = Math.max(row + 1, buckets.length + buckets.length / 2);
      buckets = Arrays.copyOf(buckets, capacity);
      counts = Arrays.copyOf(counts, capacity);
    }
  }
}
