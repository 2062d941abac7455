package org.traceetl.server.window;

import com.google.common.math.LongMath;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * The deltas of a pane that is not closed yet, by series: a row for each series with spans in it.
 * For one thread at a time.
 */
public final class OpenPane {
  private static final int INITIAL_ROWS = 16;
  private static final int NONE = -1;
  private static final int HASH = 0x9E37_79B9;
  private static final long NANOS_PER_MILLI = 1_000_000;

  private final long endMillis;
  private final int stride;

  /** Row + 1 by hash of its series; 0 for none. At most half of them are used. */
  private int[] slots = new int[INITIAL_ROWS * 2];

  /** Number of rows, including removed ones. */
  private int rows;

  private int size;

  /** By row; {@link #NONE} for a removed row. */
  private int[] series = new int[INITIAL_ROWS];

  private long[] counts;

  // In two parts: nanoseconds would overflow after 292 years of spans.
  private long[] sumMillis = new long[INITIAL_ROWS];
  private int[] sumNanos = new int[INITIAL_ROWS];

  private final NativeTotals natives = new NativeTotals();

  OpenPane(long endMillis, int stride) {
    this.endMillis = endMillis;
    this.stride = stride;
    counts = new long[INITIAL_ROWS * stride];
  }

  /** Returns its end, milliseconds since 1970. */
  public long endMillis() {
    return endMillis;
  }

  /** Returns the number of its rows. */
  public int size() {
    return size;
  }

  /** Returns its rows in the order of their series. */
  public int[] rows() {
    // Series in the high bits, row in the low bits.
    return IntStream.range(0, rows)
        .filter(row -> series[row] != NONE)
        .mapToLong(row -> (long) series[row] << Integer.SIZE | row)
        .sorted()
        .mapToInt(entry -> (int) entry)
        .toArray();
  }

  /** Returns the series of a row. */
  public int series(int row) {
    return series[row];
  }

  /** Returns the row of a series; -1 if it has none. */
  public int row(int ofSeries) {
    return slots[slot(ofSeries)] - 1;
  }

  /** Returns the row of a series, which is created if it has none. */
  public int open(int ofSeries) {
    int slot = slot(ofSeries);
    if (slots[slot] > 0) {
      return slots[slot] - 1;
    }
    if (rows == series.length) {
      grow();
      slot = slot(ofSeries);
    }
    slots[slot] = rows + 1;
    series[rows] = ofSeries;
    size++;
    return rows++;
  }

  /** Returns the slot of a series, or the empty slot for it. */
  private int slot(int ofSeries) {
    int slot = ofSeries * HASH & slots.length - 1;
    while (slots[slot] > 0 && series[slots[slot] - 1] != ofSeries) {
      slot = slot + 1 & slots.length - 1;
    }
    return slot;
  }

  private void grow() {
    int capacity = series.length + series.length / 2;
    series = Arrays.copyOf(series, capacity);
    counts = Arrays.copyOf(counts, Math.multiplyExact(capacity, stride));
    sumMillis = Arrays.copyOf(sumMillis, capacity);
    sumNanos = Arrays.copyOf(sumNanos, capacity);
    slots = new int[Integer.highestOneBit(capacity * 2 - 1) * 2];
    for (int row = 0; row < rows; row++) {
      if (series[row] != NONE) {
        slots[slot(series[row])] = row + 1;
      }
    }
  }

  /** Returns spans by row, then bucket, not cumulative; void after a new row. */
  public long[] counts() {
    return counts;
  }

  /** Returns native histograms by row. */
  public NativeTotals natives() {
    return natives;
  }

  /** Returns the sum of durations of a row, in whole milliseconds. */
  public long sumMillis(int row) {
    return sumMillis[row];
  }

  /** Returns the nanoseconds of the sum beyond {@link #sumMillis}. */
  public int sumNanos(int row) {
    return sumNanos[row];
  }

  /** Adds to the sum of durations of a row. */
  public void addDuration(int row, long millis, long nanos) {
    long all = sumNanos[row] + nanos % NANOS_PER_MILLI;
    sumMillis[row] += millis + nanos / NANOS_PER_MILLI + all / NANOS_PER_MILLI;
    sumNanos[row] = (int) (all % NANOS_PER_MILLI);
  }

  /** Adds a row of a window's pane. */
  void add(int ofSeries, WindowPanes.Pane pane, int from) {
    int row = open(ofSeries);
    addCounts(row, pane.counts(), from);
    addDuration(row, 0, pane.durationNanos()[from]);
    natives.add(row, pane.natives(), from);
  }

  /** Adds all rows of another pane. */
  void add(OpenPane other) {
    for (int from = 0; from < other.rows; from++) {
      if (other.series[from] != NONE) {
        int row = open(other.series[from]);
        addCounts(row, other.counts, from);
        addDuration(row, other.sumMillis[from], other.sumNanos[from]);
        natives.add(row, other.natives, from);
      }
    }
  }

  private void addCounts(int row, long[] others, int from) {
    for (int bucket = 0; bucket < stride; bucket++) {
      int at = row * stride + bucket;
      counts[at] = LongMath.saturatedAdd(counts[at], others[from * stride + bucket]);
    }
  }

  /** Removes the row of a series, if it has one. Its slot stays in use. */
  void remove(int ofSeries) {
    int row = row(ofSeries);
    if (row >= 0) {
      series[row] = NONE;
      size--;
      natives.clear(row);
    }
  }
}
