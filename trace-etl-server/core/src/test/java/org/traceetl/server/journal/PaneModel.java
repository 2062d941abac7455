package org.traceetl.server.journal;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.OpenPanes;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowPanes;

/** The definition of open panes and their closing, with plain maps. */
public final class PaneModel {
  /** The numbers of a series in a pane. */
  public record Delta(List<Long> counts, long nanos, Map<Integer, Long> natives) {
    public Delta plus(Delta other) {
      List<Long> sums = new ArrayList<>(other.counts);
      for (int bucket = 0; bucket < counts.size(); bucket++) {
        sums.set(bucket, sums.get(bucket) + counts.get(bucket));
      }
      Map<Integer, Long> ofBoth = new TreeMap<>(natives);
      other.natives.forEach((bucket, spans) -> ofBoth.merge(bucket, spans, Long::sum));
      return new Delta(sums, nanos + other.nanos, ofBoth);
    }
  }

  private static final long PANE = 15_000;

  /** Deltas of open panes by end, then series. */
  final TreeMap<Long, Map<Integer, Delta>> panes = new TreeMap<>();

  private final Map<Integer, Long> starts = new TreeMap<>();
  private final TreeMap<Long, Map<Integer, Delta>> closedPanes = new TreeMap<>();
  private final Map<Integer, Delta> ended = new TreeMap<>();
  private long closed = SealedWindow.UNKNOWN_CLOSED;
  private boolean panesKnown;

  /** Returns since when the live series count. */
  public Map<Integer, Long> starts() {
    return starts;
  }

  /** Returns until when panes are closed. */
  public long closed() {
    return closed;
  }

  /** Returns the panes that the last window closed. */
  public TreeMap<Long, Map<Integer, Delta>> closedPanes() {
    return closedPanes;
  }

  /** Returns what open panes had of the series that ended with the last window. */
  public Map<Integer, Delta> ended() {
    return ended;
  }

  /** Makes durations so short that the sums of a few windows do not exceed a long. */
  public static SealedWindow withShortDurations(SealedWindow window) {
    shorten(window.durationNanos());
    window.panes().others().forEach(pane -> shorten(pane.durationNanos()));
    return window;
  }

  private static void shorten(long[] nanos) {
    for (int row = 0; row < nanos.length; row++) {
      nanos[row] >>>= 8;
    }
  }

  /** Adds the next window. */
  public void apply(SealedWindow window) {
    closedPanes.clear();
    ended.clear();
    WindowPanes panes = window.panes();
    for (SeriesDefinition definition : window.created()) {
      starts.put(definition.series(), definition.createdMillis());
    }
    long length = panes.isEmpty() ? PANE : panes.lengthMillis();
    long opened = Math.floorDiv(window.openedMillis(), length) * length;
    if (window.rows() > 0) {
      panes.others().forEach(pane -> add(window, pane, pane.startMillis(), length));
      add(window, panes.main(window), panes.isEmpty() ? opened : panes.mainMillis(), length);
    }
    panesKnown = window.rows() > 0 ? !panes.isEmpty() : panesKnown;
    if (window.closedMillis() != SealedWindow.UNKNOWN_CLOSED) {
      closed = Math.max(closed, window.closedMillis());
    } else if (window.rows() > 0 || !panesKnown) {
      closed = Math.max(closed, opened);
    }
    closedPanes.putAll(this.panes.headMap(closed, true));
    this.panes.headMap(closed, true).clear();
    while (this.panes.size() > OpenPanes.MAX_PANES) {
      Map<Integer, Delta> oldest = this.panes.pollFirstEntry().getValue();
      oldest.forEach((series, delta) -> merge(this.panes.firstKey(), series, delta));
    }
    for (int series : window.evicted()) {
      starts.remove(series);
      for (Map<Integer, Delta> pane : this.panes.values()) {
        Delta left = pane.remove(series);
        if (left != null) {
          ended.merge(series, left, Delta::plus);
        }
      }
    }
  }

  private void add(SealedWindow window, WindowPanes.Pane pane, long start, long length) {
    boolean late = start + length <= closed;
    long end = late ? Math.floorDiv(closed, length) * length + length : start + length;
    for (int i = 0; i < pane.rows().length; i++) {
      int series = window.series()[pane.rows()[i]];
      if (starts.containsKey(series)) {
        starts.merge(series, Math.max(start, closed), Math::min);
        merge(end, series, delta(pane, i, window.stride()));
      }
    }
  }

  private void merge(long end, int series, Delta delta) {
    panes.computeIfAbsent(end, absent -> new TreeMap<>()).merge(series, delta, Delta::plus);
  }

  private static Delta delta(WindowPanes.Pane pane, int row, int stride) {
    Map<Integer, Long> natives = new TreeMap<>();
    for (int at = pane.natives().begin(row); at < pane.natives().end(row); at++) {
      putFilled(natives, pane.natives().buckets()[at], pane.natives().counts()[at]);
    }
    return new Delta(
        Arrays.stream(pane.counts(), row * stride, (row + 1) * stride).boxed().toList(),
        pane.durationNanos()[row],
        natives);
  }

  /** Returns the buckets of native totals. */
  public static Map<Integer, Long> buckets(NativeTotals natives, int row) {
    Map<Integer, Long> buckets = new TreeMap<>();
    for (int i = 0; i < natives.size(row); i++) {
      putFilled(buckets, natives.bucket(row, i), natives.count(row, i));
    }
    return buckets;
  }

  /** Unlike random ones, real histograms have no empty buckets. */
  private static void putFilled(Map<Integer, Long> buckets, int bucket, long spans) {
    if (spans > 0) {
      buckets.put(bucket, spans);
    }
  }
}
