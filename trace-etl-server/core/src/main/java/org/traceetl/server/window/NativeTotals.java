package org.traceetl.server.window;

import java.util.Arrays;

/**
 * The sum of windows' native histograms, by row. A row's buckets and their counts are in two arrays
 * of exactly that length, which are only replaced for new buckets. Rows without buckets need no
 * memory. For one thread at a time.
 *
 * <p>A row has at most {@link #MAX_BUCKETS}. If a window has more new buckets than there is room
 * for, an evenly spaced part of them is added. Other spans count in the nearest bucket of the row,
 * the lower of two. So counts always add up to the calls, and the same windows in the same order
 * always give the same buckets.
 */
public final class NativeTotals {
  /** Maximum number of buckets that windows add to a row: all that exist up to schema 3. */
  public static final int MAX_BUCKETS = 512;

  private static final char[] NO_BUCKETS = {};
  private static final long[] NO_COUNTS = {};

  /** By row: numbers of buckets, ascending; null for none. */
  private char[][] buckets = {};

  private long[][] counts = {};

  /** Returns the number of buckets of a row. */
  public int size(int row) {
    return row < buckets.length && buckets[row] != null ? buckets[row].length : 0;
  }

  /** Returns the number of a row's i-th bucket. */
  public int bucket(int row, int i) {
    return buckets[row][i];
  }

  /** Returns the spans in a row's i-th bucket. */
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

  /** Adds a row of other totals. */
  public void add(int row, NativeTotals other, int from) {
    int size = other.size(from);
    if (size > 0) {
      int[] ofOther = new int[size];
      Arrays.setAll(ofOther, i -> other.bucket(from, i));
      add(row, new NativeCounts(new int[] {size}, ofOther, other.counts[from]), 0);
    }
  }

  /**
   * Subtracts a row of other totals, which is a part of this row. Buckets that become empty are
   * removed.
   */
  public void subtract(int row, NativeTotals other, int from) {
    int size = size(row);
    int at = 0;
    int left = 0;
    for (int i = 0; i < other.size(from) && size > 0; i++) {
      while (at < size && buckets[row][at] < other.bucket(from, i)) {
        at++;
      }
      int nearest = nearest(buckets[row], at, other.bucket(from, i));
      // Spans of a bucket that had no room may be in several buckets near it.
      counts[row][nearest] = Math.max(0, counts[row][nearest] - other.count(from, i));
    }
    for (int i = 0; i < size; i++) {
      left += counts[row][i] > 0 ? 1 : 0;
    }
    if (left < size) {
      keepFilled(row, left);
    }
  }

  private void keepFilled(int row, int left) {
    char[] filled = new char[left];
    long[] spans = new long[left];
    int kept = 0;
    for (int i = 0; kept < left; i++) {
      if (counts[row][i] > 0) {
        filled[kept] = buckets[row][i];
        spans[kept++] = counts[row][i];
      }
    }
    set(row, filled, spans);
  }

  /** Returns how many of the buckets [begin, end) are new. */
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

  /** Adds the given number of new buckets of [begin, end) to a row, without spans. */
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
   * Returns the position of the bucket, or of the nearest one.
   *
   * @param at position of the first bucket that is not below it
   */
  private static int nearest(char[] known, int at, int bucket) {
    boolean isBelow = at == known.length || at > 0 && bucket - known[at - 1] <= known[at] - bucket;
    return isBelow ? at - 1 : at;
  }

  /**
   * Sets the buckets of a row.
   *
   * @param ofRow ascending, below {@link NativeBuckets#MAX_COUNT}; the arrays are not copied
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

  /** Copies a row of other totals. */
  public void copy(int row, NativeTotals other, int from) {
    if (other.size(from) == 0) {
      clear(row);
    } else {
      set(row, other.buckets[from].clone(), other.counts[from].clone());
    }
  }

  /** Moves the buckets of a row to another row. */
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

  /** Removes all buckets from a row. */
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
