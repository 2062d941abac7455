package org.traceetl.server.window;

import java.util.Arrays;

/**
 * The rows of numbers of one pane of an open window, one for each series with spans in it. Memory
 * is reused for each window; clearing takes time in proportion to its use.
 *
 * <p>Rows are in blocks of {@value #BLOCK_ROWS}, so that growth copies nothing. A row is {@code
 * stride + 4} ints:
 *
 * <pre>
 *   0            series
 *   1            number in {@link RowExtras} + 1; 0 without
 *   2, 3         sum of durations, nanoseconds: low half, high half
 *   4 ...        spans by bucket, then the sum of their sizes if they are kept
 * </pre>
 *
 * <p>Counts and sizes that exceed an int continue in the extras. They saturate slightly above
 * {@link #MAX_COUNT}, which only forged batches reach, so that the sum of a window's panes cannot
 * overflow.
 *
 * <p>Concurrency: belongs to its {@link WindowMetrics}, and has the same owner.
 */
public final class WindowRows {
  /** Where counts and sizes of a row saturate. */
  public static final long MAX_COUNT = 1L << 48;

  private static final int BLOCK_BITS = 8;
  private static final int BLOCK_ROWS = 1 << BLOCK_BITS;

  private static final int SERIES = 0;
  private static final int EXTRAS = 1;
  private static final int DURATION_LOW = 2;
  private static final int DURATION_HIGH = 3;
  private static final int COUNTS = 4;

  /** Bytes of a row's native histogram. */
  private static final int NATIVE_BYTES = 128;

  private static final long LOW_HALF = 0xFFFF_FFFFL;

  private final int stride;
  private final int buckets;
  private final int width;

  /** By series, in blocks: row + 1; 0 without a row. Null for a block without rows. */
  private int[][] rowsOf = new int[1][];

  /** The first {@link #blockCount} exist; unopened rows are all 0. */
  private int[][] blocks = new int[1][];

  private int blockCount;

  /** Number of blocks in {@link #rowsOf}. */
  private int indexBlocks;

  private int rows;
  private long startMillis;
  private long spans;
  private int turn;
  private final RowExtras extras;

  /** Whether all rows have native histograms, not only those of some series. */
  private final boolean hasNative;

  /** Null while no row has a native histogram. */
  private NativeRows natives;

  /**
   * @param stride buckets of a series, and its size if sizes are kept
   * @param hasNative whether all rows have native histograms; otherwise they get memory when used
   */
  WindowRows(int stride, boolean hasNative, boolean hasSizes) {
    this.stride = stride;
    buckets = hasSizes ? stride - 1 : stride;
    width = COUNTS + stride;
    extras = new RowExtras(stride);
    this.hasNative = hasNative;
    natives = hasNative ? new NativeRows() : null;
  }

  /** Returns the row of a series, or -1 if it has none. */
  public int row(int series) {
    int block = series >>> BLOCK_BITS;
    if (block >= rowsOf.length || rowsOf[block] == null) {
      return -1;
    }
    return rowsOf[block][series & BLOCK_ROWS - 1] - 1;
  }

  /** Returns the series of a row. */
  public int series(int row) {
    return blocks[row >>> BLOCK_BITS][at(row) + SERIES];
  }

  /** Returns the number of open rows. */
  public int size() {
    return rows;
  }

  /** Returns whether {@link #open} would allocate a block. */
  public boolean isFull() {
    return rows == blockCount << BLOCK_BITS;
  }

  /** Dates the rows, also those of two panes that were merged. No spans are counted yet. */
  void begin(long paneMillis) {
    startMillis = paneMillis;
    spans = 0;
  }

  /** Returns the begin of the pane, milliseconds since 1970. */
  public long startMillis() {
    return startMillis;
  }

  /** Sets the number of times that the window has turned to a pane, before it adds to this one. */
  void turn(int number) {
    turn = number;
  }

  /**
   * Returns the number of this turn in the window, 1 for the first. While it is the same, rows keep
   * their series.
   */
  public int turn() {
    return turn;
  }

  /** Returns the spans of batches of this pane, each counted once. */
  long ownSpans() {
    return spans;
  }

  /** Counts spans of a batch of this pane. */
  void addOwnSpans(long added) {
    spans += added;
  }

  /** Returns the number of blocks, used and empty. */
  int blocks() {
    return blockCount;
  }

  /** Returns the bytes of a row. */
  long rowBytes() {
    return (long) width * Integer.BYTES + (natives == null ? 0 : NATIVE_BYTES);
  }

  /** Returns the bytes of the rows, and of what finds them. */
  long bytes() {
    return rows * rowBytes() + (long) indexBlocks * BLOCK_ROWS * Integer.BYTES;
  }

  /**
   * Takes a block, and one of native histograms, from other rows that are empty.
   *
   * @return false if they have none
   */
  boolean takeBlock(WindowRows empty) {
    if (empty.blockCount > 0) {
      empty.blockCount--;
      add(empty.blocks[empty.blockCount]);
      empty.blocks[empty.blockCount] = null;
      if (natives != null && empty.natives != null) {
        natives.takeBlock(empty.natives);
      }
      return true;
    }
    return false;
  }

  private void add(int[] block) {
    if (blockCount == blocks.length) {
      blocks = Arrays.copyOf(blocks, blockCount * 2);
    }
    blocks[blockCount++] = block;
  }

  /** Opens a row for a series without one; returns its number. */
  public int open(int series) {
    if (isFull()) {
      add(new int[BLOCK_ROWS * width]);
    }
    int row = rows++;
    int block = series >>> BLOCK_BITS;
    if (block >= rowsOf.length) {
      rowsOf = Arrays.copyOf(rowsOf, Math.max(block + 1, rowsOf.length * 2));
    }
    if (rowsOf[block] == null) {
      rowsOf[block] = new int[BLOCK_ROWS];
      indexBlocks++;
    }
    rowsOf[block][series & BLOCK_ROWS - 1] = row + 1;
    blocks[row >>> BLOCK_BITS][at(row) + SERIES] = series;
    if (hasNative) {
      natives.open(row);
    }
    return row;
  }

  /** Returns the start of a row in its block. */
  private int at(int row) {
    return (row & BLOCK_ROWS - 1) * width;
  }

  /**
   * Adds a span. The count and the sum of durations saturate.
   *
   * @param weight number of spans it represents, 0 to {@link #MAX_COUNT}
   * @param weightedNanos its duration times its weight, at least 0
   */
  public void add(int row, int bucket, long weight, long weightedNanos) {
    add(row, bucket, weight, weightedNanos, MAX_COUNT);
  }

  private void add(int row, int bucket, long weight, long weightedNanos, long maxCount) {
    int[] block = blocks[row >>> BLOCK_BITS];
    int at = at(row);
    long count = block[at + COUNTS + bucket] + weight;
    if (count > Integer.MAX_VALUE) {
      extras.spill(openExtras(row), bucket, count, maxCount);
      count = 0;
    }
    block[at + COUNTS + bucket] = (int) count;
    long sum = durationNanos(block, at) + weightedNanos;
    sum = sum < 0 ? Long.MAX_VALUE : sum;
    block[at + DURATION_LOW] = (int) sum;
    block[at + DURATION_HIGH] = (int) (sum >>> Integer.SIZE);
  }

  /**
   * Adds the size of spans to a row; sizes must be kept.
   *
   * @param bytes at least 0
   */
  public void addSize(int row, long bytes) {
    add(row, buckets, bytes, 0);
  }

  /** Returns the spans of a row. */
  public long spans(int row) {
    int[] block = blocks[row >>> BLOCK_BITS];
    int at = at(row) + COUNTS;
    long spans = 0;
    for (int bucket = 0; bucket < buckets; bucket++) {
      spans += block[at + bucket];
    }
    int number = extras(row);
    return number >= 0 ? spans + extras.spilled(number, buckets) : spans;
  }

  private static long durationNanos(int[] block, int at) {
    return (long) block[at + DURATION_HIGH] << Integer.SIZE | block[at + DURATION_LOW] & LOW_HALF;
  }

  /** Sets by which fraction of a span a row's series is below the exact sum. */
  public void carry(int row, long fraction) {
    extras.carry(openExtras(row), fraction, turn);
  }

  /**
   * Adds a span to its row's native histogram.
   *
   * @param bucket number from {@link NativeBuckets}
   * @param weight number of spans it represents
   */
  public void addNative(int row, int bucket, long weight) {
    if (natives == null) {
      natives = new NativeRows();
    }
    natives.add(row, bucket, weight);
  }

  /**
   * Returns whether a row's native histogram is valid. Reads the memory that {@link #addNative}
   * writes.
   */
  public boolean isNativeSound(int row) {
    return natives == null || natives.isSound(row);
  }

  RowExtras extras() {
    return extras;
  }

  /** Returns the number of a row's extras, or -1. */
  int extras(int row) {
    return blocks[row >>> BLOCK_BITS][at(row) + EXTRAS] - 1;
  }

  /** Returns the number of a row's extras, which it gets if it has none. */
  int openExtras(int row) {
    int number = extras(row);
    if (number < 0) {
      number = extras.open();
      blocks[row >>> BLOCK_BITS][at(row) + EXTRAS] = number + 1;
    }
    return number;
  }

  /** Returns the native histograms in new arrays. */
  NativeCounts sealNatives() {
    return natives == null ? NativeCounts.NONE : natives.seal(rows);
  }

  /** Returns the sum of a row's durations, nanoseconds. */
  long durationNanos(int row) {
    return durationNanos(blocks[row >>> BLOCK_BITS], at(row));
  }

  /** Writes a row's counts into an array. */
  void counts(int row, long[] to, int at) {
    int[] block = blocks[row >>> BLOCK_BITS];
    int from = at(row) + COUNTS;
    for (int bucket = 0; bucket < stride; bucket++) {
      to[at + bucket] = block[from + bucket];
    }
    int number = extras(row);
    if (number >= 0) {
      extras.addSpilled(number, to, at);
    }
  }

  /**
   * Adds all rows of another pane.
   *
   * @param itsNatives the native histograms of its rows
   * @param isNewer whether the other pane is newer, so that its exemplars are preferred
   * @param maxCount where counts saturate
   */
  void addAll(WindowRows other, NativeCounts itsNatives, boolean isNewer, long maxCount) {
    long[] counts = new long[stride];
    for (int from = 0; from < other.rows; from++) {
      int series = other.series(from);
      int known = row(series);
      int row = known < 0 ? open(series) : known;
      Arrays.fill(counts, 0);
      other.counts(from, counts, 0);
      for (int bucket = 0; bucket < stride; bucket++) {
        if (counts[bucket] > 0) {
          add(row, bucket, counts[bucket], 0, maxCount);
        }
      }
      add(row, 0, 0, other.durationNanos(from));
      int number = other.extras(from);
      if (number >= 0) {
        extras.addAll(openExtras(row), other.extras, number, isNewer);
      }
      for (int i = itsNatives.begin(from); i < itsNatives.end(from); i++) {
        addNative(row, itsNatives.buckets()[i], itsNatives.counts()[i]);
      }
    }
  }

  /** Removes all rows. */
  void clear() {
    for (int row = 0; row < rows; row++) {
      int series = series(row);
      rowsOf[series >>> BLOCK_BITS][series & BLOCK_ROWS - 1] = 0;
    }
    for (int first = 0; first < rows; first += BLOCK_ROWS) {
      int used = Math.min(BLOCK_ROWS, rows - first);
      Arrays.fill(blocks[first >>> BLOCK_BITS], 0, used * width, 0);
    }
    if (natives != null) {
      natives.clear(rows);
    }
    rows = 0;
    extras.clear();
  }
}
