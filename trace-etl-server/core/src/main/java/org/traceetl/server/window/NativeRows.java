package org.traceetl.server.window;

import java.util.Arrays;

/**
 * The native histograms of an open window, by row. A row has {@value #WIDTH} chars: the start of
 * its buckets, which the first span determines, and counts of {@value #BUCKETS} neighbouring
 * buckets, because a series' durations are close together. Other buckets, and counts that overflow
 * a char, are in {@link NativeCells}.
 *
 * <p>Memory is reused for each window. One owner at a time, as for {@link WindowRows}.
 */
final class NativeRows {
  private static final int BLOCK_BITS = 8;
  private static final int BLOCK_ROWS = 1 << BLOCK_BITS;
  private static final int WIDTH_BITS = 6;
  private static final int WIDTH = 1 << WIDTH_BITS;
  private static final int BUCKETS = WIDTH - 1;

  private char[][] blocks = new char[1][];
  private int blockCount;
  private final NativeCells cells = new NativeCells();

  /** Makes room for a row. Rows are opened in order. */
  void open(int row) {
    if (row >>> BLOCK_BITS == blockCount) {
      add(new char[BLOCK_ROWS << WIDTH_BITS]);
    }
  }

  /** Takes a block from the rows of an empty window, if they have one. */
  void takeBlock(NativeRows empty) {
    if (empty.blockCount > 0) {
      empty.blockCount--;
      add(empty.blocks[empty.blockCount]);
      empty.blocks[empty.blockCount] = null;
    }
  }

  private void add(char[] block) {
    if (blockCount == blocks.length) {
      blocks = Arrays.copyOf(blocks, blockCount * 2);
    }
    blocks[blockCount++] = block;
  }

  private static int at(int row) {
    return (row & BLOCK_ROWS - 1) << WIDTH_BITS;
  }

  /**
   * Adds spans.
   *
   * @param row below 2^24. Rows that were not opened get memory here, with those before them
   * @param bucket below {@link NativeBuckets#MAX_COUNT}
   * @param spans 0 or more
   */
  void add(int row, int bucket, long spans) {
    while (row >>> BLOCK_BITS >= blockCount) {
      add(new char[BLOCK_ROWS << WIDTH_BITS]);
    }
    char[] block = blocks[row >>> BLOCK_BITS];
    int at = at(row);
    // A row without spans has 0 here, which is far from any bucket.
    int place = bucket - block[at] + WIDTH;
    if (place < 0 || place >= BUCKETS) {
      addBeside(block, at, row, bucket, spans);
      return;
    }
    long count = block[at + 1 + place] + spans;
    if (count > Character.MAX_VALUE) {
      cells.add(row, bucket, spans);
    } else {
      block[at + 1 + place] = (char) count;
    }
  }

  /** Returns whether a row has a first bucket, or nothing in the middle of its counts. */
  boolean isSound(int row) {
    if (row >>> BLOCK_BITS >= blockCount) {
      return true;
    }
    char[] block = blocks[row >>> BLOCK_BITS];
    int at = at(row);
    // Reads both unconditionally, because they are in two cache lines.
    return block[at] != 0 | block[at + WIDTH / 2] == 0;
  }

  private void addBeside(char[] block, int at, int row, int bucket, long spans) {
    if (block[at] == 0) {
      block[at] = (char) (Math.max(0, bucket - BUCKETS / 2) + WIDTH);
      add(row, bucket, spans);
    } else {
      cells.add(row, bucket, spans);
    }
  }

  /** Returns the counts in new arrays. */
  NativeCounts seal(int rows) {
    NativeCounts beside = cells.seal(rows);
    NativeCounts.Builder sealed = new NativeCounts.Builder(rows);
    for (int row = 0; row < rows; row++) {
      if (row >>> BLOCK_BITS >= blockCount) {
        sealed.endRow();
        continue;
      }
      char[] block = blocks[row >>> BLOCK_BITS];
      int at = at(row);
      int first = block[at] - WIDTH;
      int next = beside.begin(row);
      int end = beside.end(row);
      for (int place = 0; place < BUCKETS; place++) {
        int count = block[at + 1 + place];
        if (count == 0) {
          continue;
        }
        int bucket = first + place;
        while (next < end && beside.buckets()[next] < bucket) {
          sealed.add(beside.buckets()[next], beside.counts()[next]);
          next++;
        }
        if (next < end && beside.buckets()[next] == bucket) {
          sealed.add(bucket, count + beside.counts()[next]);
          next++;
        } else {
          sealed.add(bucket, count);
        }
      }
      for (; next < end; next++) {
        sealed.add(beside.buckets()[next], beside.counts()[next]);
      }
      sealed.endRow();
    }
    return sealed.build();
  }

  /**
   * Clears the rows.
   *
   * @param rows number of opened rows
   */
  void clear(int rows) {
    int last = Math.min(rows, blockCount << BLOCK_BITS);
    for (int first = 0; first < last; first += BLOCK_ROWS) {
      int used = Math.min(BLOCK_ROWS, rows - first);
      Arrays.fill(blocks[first >>> BLOCK_BITS], 0, used << WIDTH_BITS, (char) 0);
    }
    cells.clear();
  }
}
