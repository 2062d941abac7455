package org.traceetl.server.journal.format;

import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.WindowPanes;

/** The part of {@link WindowInvariants} for the panes of a window whose rows are consistent. */
final class PaneInvariants {
  private PaneInvariants() {}

  /** Returns what a window must not have; null if its panes are consistent. */
  static String violated(SealedWindow window) {
    WindowPanes panes = window.panes();
    if (panes.isEmpty()) {
      return panes.others().isEmpty() ? null : "panes without a length";
    }
    if (panes.lengthMillis() < 0 || panes.lengthMillis() > PanesFormat.MAX_LENGTH_MILLIS) {
      return "panes of " + panes.lengthMillis() + " ms";
    }
    if (panes.mergedSpans() < 0 || panes.others().size() > PanesFormat.MAX_OTHERS) {
      return panes.others().size() + " panes, with " + panes.mergedSpans() + " merged spans";
    }
    if (!PanesFormat.isPlace(panes.mainMillis(), window)) {
      return "a main pane at " + panes.mainMillis();
    }
    long before = Long.MIN_VALUE;
    for (WindowPanes.Pane pane : panes.others()) {
      if (!PanesFormat.isPlace(pane.startMillis(), window)
          || pane.startMillis() <= before
          || pane.startMillis() == panes.mainMillis()) {
        return "a pane at " + pane.startMillis();
      }
      if (!inShape(pane, window)) {
        return "arrays that do not fit the rows of a pane";
      }
      String violated = ofNumbers(pane, window);
      if (violated != null) {
        return violated;
      }
      before = pane.startMillis();
    }
    return panes.others().isEmpty() ? null : ofNumbers(panes.main(window), window);
  }

  private static boolean inShape(WindowPanes.Pane pane, SealedWindow window) {
    int rows = pane.rows().length;
    boolean hasNative = !pane.natives().isEmpty();
    if (rows == 0
        || pane.counts().length != (long) rows * window.stride()
        || pane.durationNanos().length != rows
        || hasNative && (window.natives().isEmpty() || pane.natives().ends().length != rows)) {
      return false;
    }
    int before = -1;
    for (int row : pane.rows()) {
      if (row <= before || row >= window.rows()) {
        return false;
      }
      before = row;
    }
    return true;
  }

  private static String ofNumbers(WindowPanes.Pane pane, SealedWindow window) {
    for (int row = 0; row < pane.rows().length; row++) {
      long spans = WindowInvariants.spans(pane.counts(), row, window);
      if (spans < 0
          || pane.durationNanos()[row] < 0
          || WindowInvariants.size(pane.counts(), row, window) < 0) {
        return "a negative number in the pane at " + pane.startMillis();
      }
      long inNative = nativeSpans(pane.natives(), row);
      if (inNative != (WindowInvariants.hasNative(window, pane.rows()[row]) ? spans : 0)) {
        return "a native histogram of "
            + inNative
            + " spans in a row of "
            + spans
            + " of the pane at "
            + pane.startMillis();
      }
    }
    return null;
  }

  /** Returns the spans of a native histogram, or a negative number if a bucket has one. */
  private static long nativeSpans(NativeCounts natives, int row) {
    return WindowInvariants.sum(natives.counts(), natives.begin(row), natives.end(row));
  }
}
