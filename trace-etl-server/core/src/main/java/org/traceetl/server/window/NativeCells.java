package org.traceetl.server.window;

import java.util.Arrays;

/**
 * Counts by row and native bucket that do not fit into {@link NativeRows}. It is a table with
 * linear probing, at most half full, with one long per cell: row, bucket, count. A series'
 * durations are close together, so searches for neighbouring buckets begin at adjacent cells. If a
 * cell's count would overflow, the row and bucket get another cell; {@link #seal} adds them up.
 *
 * <p>The table is reused for each window, so clearing takes time in proportion to its capacity. It
 * halves after a window that used less than an eighth of it. It has at most as many cells as spans
 * were added. One owner at a time, as for {@link WindowMetrics}.
 */
final class NativeCells {
  private static final int BUCKET_BITS = 14;
  private static final int COUNT_BITS = 26;
  private static final long MAX_CELL = (1L << COUNT_BITS) - 1;
  private static final int NEIGHBOUR_BITS = 3;
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;
  private static final int INITIAL_CELLS = 1_024;

  /** 0 for a free cell. */
  private long[] cells = new long[INITIAL_CELLS];

  private int used;

  /**
   * Adds spans.
   *
   * @param row below 2^24
   * @param bucket below {@link NativeBuckets#MAX_COUNT}
   * @param spans 0 or more. An event of a group of spans, each of which represents many, counts
   *     more than fits into a cell: up to 2^36.
   */
  void add(int row, int bucket, long spans) {
    long left = spans;
    while (left > 0) {
      long piece = Math.min(left, MAX_CELL);
      addPiece(row, bucket, piece);
      left -= piece;
    }
  }

  private void addPiece(int row, int bucket, long spans) {
    long key = (long) row << BUCKET_BITS | bucket;
    long[] table = cells;
    int mask = table.length - 1;
    int slot = home(key, mask);
    long cell = table[slot];
    while (cell != 0) {
      if (cell >>> COUNT_BITS == key && (cell & MAX_CELL) + spans <= MAX_CELL) {
        table[slot] = cell + spans;
        return;
      }
      slot = slot + 1 & mask;
      cell = table[slot];
    }
    table[slot] = key << COUNT_BITS | spans;
    if (++used > table.length / 2) {
      grow();
    }
  }

  private static int home(long key, int mask) {
    long neighbours = key >>> NEIGHBOUR_BITS;
    int place = (int) (neighbours * MIX >>> Integer.SIZE) << NEIGHBOUR_BITS;
    return (place | (int) key & (1 << NEIGHBOUR_BITS) - 1) & mask;
  }

  private void grow() {
    long[] old = cells;
    cells = new long[old.length * 2];
    int mask = cells.length - 1;
    for (long cell : old) {
      if (cell != 0) {
        int slot = home(cell >>> COUNT_BITS, mask);
        while (cells[slot] != 0) {
          slot = slot + 1 & mask;
        }
        cells[slot] = cell;
      }
    }
  }

  /** Returns the counts in new arrays. */
  NativeCounts seal(int rows) {
    int[] ends = new int[rows];
    for (long cell : cells) {
      if (cell != 0) {
        ends[row(cell)]++;
      }
    }
    int all = 0;
    for (int row = 0; row < rows; row++) {
      all += ends[row];
      ends[row] = all - ends[row];
    }
    // First the start of each row's cells; advances to their end as they are inserted.
    long[] sorted = new long[all];
    for (long cell : cells) {
      if (cell != 0) {
        sorted[ends[row(cell)]++] = cell;
      }
    }
    int[] buckets = new int[all];
    long[] counts = new long[all];
    int size = 0;
    int from = 0;
    for (int row = 0; row < rows; row++) {
      // The cells of one row have the same sign, so they sort correctly.
      Arrays.sort(sorted, from, ends[row]);
      int begin = size;
      for (int i = from; i < ends[row]; i++) {
        int bucket = bucket(sorted[i]);
        if (size == begin || buckets[size - 1] != bucket) {
          buckets[size++] = bucket;
        }
        counts[size - 1] += sorted[i] & MAX_CELL;
      }
      from = ends[row];
      ends[row] = size;
    }
    return size == all
        ? new NativeCounts(ends, buckets, counts)
        : new NativeCounts(ends, Arrays.copyOf(buckets, size), Arrays.copyOf(counts, size));
  }

  private static int row(long cell) {
    return (int) (cell >>> BUCKET_BITS + COUNT_BITS);
  }

  private static int bucket(long cell) {
    return (int) (cell >>> COUNT_BITS) & NativeBuckets.MAX_COUNT - 1;
  }

  /** Returns the capacity of the table in cells. */
  int capacity() {
    return cells.length;
  }

  /** Clears the table. A window like the last one never makes it grow again. */
  void clear() {
    if (cells.length > INITIAL_CELLS && used < cells.length / 8) {
      cells = new long[cells.length / 2];
    } else if (used > 0) {
      Arrays.fill(cells, 0);
    }
    used = 0;
  }
}
