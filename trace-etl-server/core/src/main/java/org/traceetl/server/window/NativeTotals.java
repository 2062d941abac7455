package org.traceetl.server.window;

import java.util.Arrays;

/**
 * What the native histograms of windows add up to, by row: a row's buckets and their counts are in
 * two arrays of just that length, which only a bucket seen for the first time makes anew. Rows
 * without any take no memory. One thread at a time.
 *
 * <p>A row has at most {@link #MAX_BUCKETS}. Where a window has more new ones than there is room
 * for, those of them stay that divide them evenly; the spans of the others count in the nearest
 * bucket that the row then has, of two the lower one. So counts always add up to the calls, and the
 * same windows in the same order always make the same buckets.
 */
public final class NativeTotals {
  /** Most buckets that windows make for a row: all that there are up to schema 3. */
  public static final int MAX_BUCKETS = 512;

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
    if (buckets[row] == null) {
      buckets[row] = NO_BUCKETS;
      counts[row] = NO_COUNTS;
    }
    int missing = missing(buckets[row], window.buckets(), begin, end);
    int room = Math.min(missing, Math.max(0, MAX_BUCKETS - buckets[row].length));
    if (room > 0) {
      widen(row, window.buckets(), begin, end, missing, room);
    }
    char[] known = buckets[row];
    long[] totals = counts[row];
    int at = 0;
    for (int i = begin; i < end; i++) {
      int bucket = window.buckets()[i];
      while (at < known.length && known[at] < bucket) {
        at++;
      }
      totals[nearest(known, at, bucket)] += window.counts()[i];
    }
  }

  /** How many of the buckets [begin, end) are not known. */
  private static int missing(char[] known, int[] ofWindow, int begin, int end) {
    int missing = 0;
    int at = 0;
    for (int i = begin; i < end; i++) {
      while (at < known.length && known[at] < ofWindow[i]) {
        at++;
      }
      missing += at < known.length && known[at] == ofWindow[i] ? 0 : 1;
    }
    return missing;
  }

  /** Gives a row so many of the buckets [begin, end) that it does not have, and no spans yet. */
  private void widen(int row, int[] ofWindow, int begin, int end, int missing, int room) {
    char[] known = buckets[row];
    long[] totals = counts[row];
    char[] wider = new char[known.length + room];
    long[] widerTotals = new long[wider.length];
    int at = 0;
    int seen = 0;
    int taken = 0;
    for (int i = begin; i < end; i++) {
      while (at < known.length && known[at] < ofWindow[i]) {
        wider[at + taken] = known[at];
        widerTotals[at + taken] = totals[at];
        at++;
      }
      if (at == known.length || known[at] != ofWindow[i]) {
        seen++;
        if (seen * room / missing > taken) {
          wider[at + taken] = (char) ofWindow[i];
          taken++;
        }
      }
    }
    System.arraycopy(known, at, wider, at + taken, known.length - at);
    System.arraycopy(totals, at, widerTotals, at + taken, known.length - at);
    buckets[row] = wider;
    counts[row] = widerTotals;
  }

  /**
   * Where the bucket is, or else the nearest to it.
   *
   * @param at of the first one that is not below it
   */
  private static int nearest(char[] known, int at, int bucket) {
    boolean isBelow = at == known.length || at > 0 && bucket - known[at - 1] <= known[at] - bucket;
    return isBelow ? at - 1 : at;
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
