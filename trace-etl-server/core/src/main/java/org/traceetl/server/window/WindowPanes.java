package org.traceetl.server.window;

import java.util.List;

/**
 * The deltas of a window by pane. A pane is an interval of the time at which agents accepted spans,
 * as long as {@code lengthMillis} and beginning at a multiple of it. The deltas of the main pane
 * are the rest of the window's rows: its rows less those of all other panes. Immutable by contract.
 *
 * @param lengthMillis of each pane; 0 if the window does not know the panes of its rows
 * @param mainMillis begin of the main pane, milliseconds since 1970
 * @param mergedSpans spans that count in a pane later than their own
 * @param others ascending by begin, without the main pane; each has a row
 */
public record WindowPanes(long lengthMillis, long mainMillis, long mergedSpans, List<Pane> others) {
  /** The window does not know the panes of its rows. */
  public static final WindowPanes NONE = new WindowPanes(0, 0, 0, List.of());

  /**
   * The deltas of one pane. Its row i belongs to the window's row {@code rows[i]} and has {@code
   * counts[i * stride, (i + 1) * stride)}.
   *
   * @param startMillis its begin, milliseconds since 1970
   * @param rows ascending indexes of the window's rows
   * @param counts adjusted spans by bucket, as in {@link SealedWindow}
   * @param durationNanos sum of the durations of each row
   * @param natives native histograms of the rows; {@link NativeCounts#NONE} if not kept
   */
  public record Pane(
      long startMillis, int[] rows, long[] counts, long[] durationNanos, NativeCounts natives) {}

  /** Returns whether the window does not know the panes of its rows. */
  public boolean isEmpty() {
    return lengthMillis == 0;
  }

  /**
   * Returns the main pane of the window that has these panes: its rows less those of all other
   * panes, without rows of which nothing remains. A number is below 0 if the panes have more than
   * the window. Without other panes it shares the window's arrays.
   */
  public Pane main(SealedWindow window) {
    return MainPane.of(window);
  }
}
