package org.traceetl.server.journal.format;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.WindowPanes;

/**
 * The format of the panes of a window, in the types of {@link RecordWriter}. A pane's number is its
 * begin divided by its length.
 *
 * <pre>
 *   unsigned  length of a pane, milliseconds: 1 to 3,600,000
 *   signed    number of the pane that has the time opened - number of the main pane
 *   unsigned  spans that count in a pane later than their own
 *   unsigned  other panes n, at most 255, n times in their order, without the main pane:
 *     the first: signed  number - number of the main pane
 *     all after it: unsigned  number - number of the one before - 1
 *     unsigned  rows n, at least 1, n times in their order:
 *       unsigned  row - row before - 1; the window's rows count in the order of the record
 *       sparse    counts
 *       if the window's rows have them: {@link NativeFormat}
 *       unsigned  sum of durations, nanoseconds
 * </pre>
 *
 * <p>A pane begins at most about 10 years from its window's begin.
 */
final class PanesFormat {
  static final long MAX_LENGTH_MILLIS = TimeUnit.HOURS.toMillis(1);
  static final int MAX_OTHERS = 255;

  /** Limit of the time between a pane and the begin of its window: about 10 years. */
  private static final long MAX_DISTANCE_MILLIS = TimeUnit.DAYS.toMillis(3_653);

  /** Limit of times, so that no sum with the distance overflows. */
  private static final long MAX_MILLIS = 1L << 62;

  private static final int MIN_ROW_BYTES = 2;

  private PanesFormat() {}

  /**
   * Writes the panes of a window.
   *
   * @param positions by row: its place in the record
   */
  static void write(SealedWindow window, int[] positions, RecordWriter out) {
    WindowPanes panes = window.panes();
    long lengthMillis = panes.lengthMillis();
    long main = number(panes.mainMillis(), lengthMillis);
    out.unsigned(lengthMillis);
    out.signed(Math.floorDiv(window.openedMillis(), lengthMillis) - main);
    out.unsigned(panes.mergedSpans());
    out.unsigned(panes.others().size());
    long before = main;
    for (WindowPanes.Pane pane : panes.others()) {
      long number = number(pane.startMillis(), lengthMillis);
      if (before == main) {
        out.signed(number - main);
      } else {
        out.unsigned(number - before - 1);
      }
      writeRows(pane, window, positions, out);
      before = number;
    }
  }

  private static long number(long startMillis, long lengthMillis) {
    if (startMillis % lengthMillis != 0) {
      throw new IllegalArgumentException(
          "a pane of " + lengthMillis + " ms begins at " + startMillis);
    }
    return startMillis / lengthMillis;
  }

  private static void writeRows(
      WindowPanes.Pane pane, SealedWindow window, int[] positions, RecordWriter out) {
    // Place in the record in the high bits, row of the pane in the low bits.
    long[] order = new long[pane.rows().length];
    for (int row = 0; row < order.length; row++) {
      order[row] = (long) positions[pane.rows()[row]] << Integer.SIZE | row;
    }
    Arrays.sort(order);
    out.unsigned(order.length);
    int before = -1;
    for (long entry : order) {
      int row = (int) entry;
      int position = (int) (entry >>> Integer.SIZE);
      out.unsigned(position - before - 1L);
      out.sparse(pane.counts(), row * window.stride(), window.stride());
      if (!window.natives().isEmpty()) {
        NativeFormat.write(pane.natives(), row, out);
      }
      out.unsigned(pane.durationNanos()[row]);
      before = position;
    }
  }

  /**
   * Reads the panes of a window.
   *
   * @param rows number of the window's rows
   * @param hasNative whether the window's rows have native histograms
   */
  static WindowPanes read(
      RecordReader in, long openedMillis, int rows, int stride, boolean hasNative)
      throws MalformedRecordException {
    long lengthMillis = in.upTo(MAX_LENGTH_MILLIS, "length of panes");
    if (lengthMillis == 0 || !isTime(openedMillis)) {
      throw in.malformed(
          "has panes of " + lengthMillis + " ms in a window opened at " + openedMillis);
    }
    long maxDistance = MAX_DISTANCE_MILLIS / lengthMillis;
    long opened = Math.floorDiv(openedMillis, lengthMillis);
    long main = opened - within(in, in.signed(), maxDistance);
    long mergedSpans = in.amount("spans merged into another pane");
    int size = (int) in.upTo(MAX_OTHERS, "panes");
    List<WindowPanes.Pane> others = new ArrayList<>();
    long before = main;
    for (int i = 0; i < size; i++) {
      long step =
          i == 0
              ? within(in, in.signed(), 2 * maxDistance)
              : 1 + in.upTo(2 * maxDistance, "step of panes");
      long number = before + step;
      within(in, number - opened, maxDistance);
      if (number == main) {
        throw in.malformed("has the main pane among the others");
      }
      others.add(pane(in, number * lengthMillis, rows, stride, hasNative));
      before = number;
    }
    return new WindowPanes(lengthMillis, main * lengthMillis, mergedSpans, List.copyOf(others));
  }

  /** Returns whether a window with panes may have this time, milliseconds since 1970. */
  static boolean isTime(long millis) {
    return millis >= -MAX_MILLIS && millis <= MAX_MILLIS;
  }

  /** Returns whether a pane of this window may begin at this time. */
  static boolean isPlace(long startMillis, SealedWindow window) {
    long lengthMillis = window.panes().lengthMillis();
    return isTime(window.openedMillis())
        && isTime(startMillis)
        && startMillis % lengthMillis == 0
        && Math.abs(startMillis / lengthMillis - Math.floorDiv(window.openedMillis(), lengthMillis))
            <= MAX_DISTANCE_MILLIS / lengthMillis;
  }

  private static long within(RecordReader in, long panes, long max)
      throws MalformedRecordException {
    if (panes < -max || panes > max) {
      throw in.malformed("has a step of " + panes + " panes: must be at most " + max);
    }
    return panes;
  }

  private static WindowPanes.Pane pane(
      RecordReader in, long startMillis, int rows, int stride, boolean hasNative)
      throws MalformedRecordException {
    int minBytes = MIN_ROW_BYTES + RecordWriter.sparseBytes(stride) + (hasNative ? 1 : 0);
    int size = in.count(minBytes, "rows of a pane");
    if (size == 0 || size > rows) {
      throw in.malformed("has a pane of " + size + " rows in a window of " + rows);
    }
    int[] indexes = new int[size];
    long[] counts = new long[size * stride];
    long[] durationNanos = new long[size];
    NativeCounts.Builder buckets = hasNative ? new NativeCounts.Builder(size) : null;
    int before = -1;
    for (int row = 0; row < size; row++) {
      before += 1 + (int) in.upTo(rows - 2L - before, "step of a pane's rows");
      indexes[row] = before;
      in.sparse(counts, row * stride, stride, "counts of a pane");
      if (buckets != null) {
        NativeFormat.read(in, buckets);
      }
      durationNanos[row] = in.amount("sum of durations of a pane");
    }
    NativeCounts natives = buckets == null ? NativeCounts.NONE : buckets.build();
    return new WindowPanes.Pane(
        startMillis,
        indexes,
        counts,
        durationNanos,
        natives.isEmpty() ? NativeCounts.NONE : natives);
  }
}
