package org.traceetl.server.window;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The sum of the panes of a window that is being sealed. It is made in the rows of the main pane,
 * which is the one with the most rows; copies are made of the others. Counts do not saturate, so
 * that those of the main pane are the rest.
 */
final class PaneSum {
  private static final long LOW_HALF = 0xFFFF_FFFFL;

  private final int stride;
  private final WindowRows sum;
  private final List<WindowPanes.Pane> others = new ArrayList<>();

  /**
   * Adds up panes.
   *
   * @param panes ascending by begin; the rows of one of them become the sum
   * @param count number of panes
   * @param stride numbers of a series in the counts
   */
  PaneSum(WindowRows[] panes, int count, int stride) {
    this.stride = stride;
    if (count == 0) {
      sum = new WindowRows(stride, false, false);
      return;
    }
    int main = 0;
    for (int i = 1; i < count; i++) {
      main = panes[i].size() > panes[main].size() ? i : main;
    }
    sum = panes[main];
    NativeCounts[] natives = new NativeCounts[count];
    // In this order, a series has the exemplar of its newest pane with one.
    for (int i = main - 1; i >= 0; i--) {
      natives[i] = panes[i].sealNatives();
      sum.addAll(panes[i], natives[i], false, Long.MAX_VALUE);
    }
    for (int i = main + 1; i < count; i++) {
      natives[i] = panes[i].sealNatives();
      sum.addAll(panes[i], natives[i], true, Long.MAX_VALUE);
    }
    long[] restNanos = count == 1 ? new long[0] : durationNanos(sum);
    for (int i = 0; i < count; i++) {
      if (i != main && panes[i].size() > 0) {
        others.add(copy(panes[i], natives[i], restNanos));
      }
    }
  }

  private static long[] durationNanos(WindowRows rows) {
    long[] durationNanos = new long[rows.size()];
    for (int row = 0; row < durationNanos.length; row++) {
      durationNanos[row] = rows.durationNanos(row);
    }
    return durationNanos;
  }

  /**
   * Copies a pane.
   *
   * @param restNanos by row of the sum: its sum of durations less those of the panes copied before.
   *     It limits the pane's, because the sum may be saturated
   */
  private WindowPanes.Pane copy(WindowRows pane, NativeCounts its, long[] restNanos) {
    int size = pane.size();
    long[] order = new long[size];
    for (int row = 0; row < size; row++) {
      order[row] = (long) sum.row(pane.series(row)) << Integer.SIZE | row;
    }
    Arrays.sort(order);
    int[] rows = new int[size];
    long[] counts = new long[size * stride];
    long[] durationNanos = new long[size];
    NativeCounts.Builder natives = new NativeCounts.Builder(size);
    for (int i = 0; i < size; i++) {
      int row = (int) (order[i] & LOW_HALF);
      rows[i] = (int) (order[i] >>> Integer.SIZE);
      pane.counts(row, counts, i * stride);
      durationNanos[i] = Math.min(pane.durationNanos(row), restNanos[rows[i]]);
      restNanos[rows[i]] -= durationNanos[i];
      for (int at = its.begin(row); at < its.end(row); at++) {
        natives.add(its.buckets()[at], its.counts()[at]);
      }
      natives.endRow();
    }
    return new WindowPanes.Pane(
        pane.startMillis(),
        rows,
        counts,
        durationNanos,
        its.ends().length == 0 ? NativeCounts.NONE : natives.build());
  }

  /** Returns the rows of the sum. */
  WindowRows rows() {
    return sum;
  }

  /** Returns the begin of the main pane. */
  long mainMillis() {
    return sum.startMillis();
  }

  /** Returns the other panes with rows, ascending by begin. */
  List<WindowPanes.Pane> others() {
    return List.copyOf(others);
  }
}
