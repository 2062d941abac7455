package org.traceetl.server.features.backfill;

import java.util.Arrays;
import java.util.function.Function;
import org.traceetl.server.window.OpenPanes;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowPanes;

/**
 * Adds the counts of one queue's windows to the sums of all queues, or takes them away. Late spans,
 * whose pane is closed, count in the first pane that is not. For one thread at a time.
 */
final class WindowSums {
  private final OpenSums sums;
  private final boolean isTaken;
  private final Function<SeriesDefinition, SeriesKey> keyOf;

  /** By number of the series; null for none, and for one that does not count. */
  private SeriesKey[] keys = new SeriesKey[64];

  private long closedMillis = SealedWindow.UNKNOWN_CLOSED;
  private long lateSpans;
  private long mergedSpans;

  /**
   * @param isTaken whether counts are taken away
   * @param keyOf returns null for a series that does not count
   */
  WindowSums(OpenSums sums, boolean isTaken, Function<SeriesDefinition, SeriesKey> keyOf) {
    this.sums = sums;
    this.isTaken = isTaken;
    this.keyOf = keyOf;
  }

  /** Adds the queue's next window. */
  void add(SealedWindow window) {
    window.created().forEach(this::create);
    WindowPanes panes = window.panes();
    if (window.rows() > 0) {
      for (WindowPanes.Pane pane : panes.others()) {
        add(window, pane);
      }
      add(window, panes.main(window));
      mergedSpans += panes.mergedSpans();
    }
    for (int series : window.evicted()) {
      if (series < keys.length) {
        keys[series] = null;
      }
    }
    // It is below all times if it is unknown.
    closedMillis = Math.max(closedMillis, window.closedMillis());
  }

  /** Adds a series that exists before the next window. */
  void create(SeriesDefinition definition) {
    int series = definition.series();
    if (series >= keys.length) {
      keys = Arrays.copyOf(keys, Math.max(series + 1, 2 * keys.length));
    }
    keys[series] = keyOf.apply(definition);
  }

  private void add(SealedWindow window, WindowPanes.Pane pane) {
    long paneMillis = window.panes().lengthMillis();
    long endMillis = OpenPanes.countedUntil(pane.startMillis(), paneMillis, closedMillis);
    if (!sums.contains(endMillis)) {
      return;
    }
    boolean isLate = endMillis > pane.startMillis() + paneMillis;
    int stride = window.stride();
    for (int row = 0; row < pane.rows().length; row++) {
      int series = window.series()[pane.rows()[row]];
      SeriesKey key = series < keys.length ? keys[series] : null;
      if (key == null) {
        continue;
      }
      long nanos = pane.durationNanos()[row];
      if (isTaken) {
        sums.take(endMillis, key, pane.counts(), row * stride, nanos);
      } else {
        sums.add(endMillis, key, pane.counts(), row * stride, nanos);
      }
      sums.addNatives(endMillis, key, pane.natives(), row, isTaken);
      if (isLate && key.isOfSpans()) {
        lateSpans +=
            Arrays.stream(pane.counts(), row * stride, row * stride + window.buckets()).sum();
      }
    }
  }

  /**
   * Returns until when panes are closed, milliseconds since 1970; {@link
   * SealedWindow#UNKNOWN_CLOSED} if none is.
   */
  long closedMillis() {
    return closedMillis;
  }

  /** Returns how many spans were counted in a later pane because theirs was closed. */
  long lateSpans() {
    return lateSpans;
  }

  /** Returns how many spans were counted in a later pane because a window had too many panes. */
  long mergedSpans() {
    return mergedSpans;
  }
}
