package org.traceetl.perf.systest.chaos;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The expected panes of each series. An agent accepts a span between the begin of its request and
 * the answer, so its pane is certain only if both times are in one pane. Thread-safe.
 */
final class ExpectedPanes {
  /** Spans whose time of acceptance is unknown are in this pane at the latest. */
  private static final long NEVER = Long.MAX_VALUE;

  static final Bounds NONE =
      new Bounds(Collections.emptyNavigableMap(), Collections.emptyNavigableMap());

  private final PaneSchedule panes;
  private final Map<SeriesKey, Bounds> series = new TreeMap<>();

  /**
   * The spans of a series by number of a pane.
   *
   * @param earliest each span in the first pane that may have it
   * @param latest each span in the last pane that may have it
   */
  record Bounds(NavigableMap<Long, Long> earliest, NavigableMap<Long, Long> latest) {
    /** Returns the most spans that panes up to this one may have. */
    long most(long pane) {
      return sum(earliest.headMap(pane, true));
    }

    /** Returns the spans that panes up to this one must have. */
    long least(long pane) {
      return sum(latest.headMap(pane, true));
    }

    long total() {
      return sum(earliest);
    }

    private static long sum(Map<Long, Long> counts) {
      return counts.values().stream().mapToLong(Long::longValue).sum();
    }
  }

  ExpectedPanes(PaneSchedule panes) {
    this.panes = panes;
  }

  PaneSchedule panes() {
    return panes;
  }

  /** Adds the spans of a request. */
  void add(List<SentSpan> spans, long begunMillis, long answeredMillis) {
    put(spans, panes.earliest(begunMillis), panes.latest(answeredMillis));
  }

  /** Adds spans that an agent accepts at an unknown time. */
  void addAfter(List<SentSpan> spans, long begunMillis) {
    put(spans, panes.earliest(begunMillis), NEVER);
  }

  private synchronized void put(List<SentSpan> spans, long earliest, long latest) {
    for (SentSpan span : spans) {
      Bounds bounds =
          series.computeIfAbsent(span.series(), _ -> new Bounds(new TreeMap<>(), new TreeMap<>()));
      bounds.earliest.merge(earliest, 1L, Long::sum);
      bounds.latest.merge(latest, 1L, Long::sum);
    }
  }

  synchronized Map<SeriesKey, Bounds> series() {
    Map<SeriesKey, Bounds> copy = new TreeMap<>();
    series.forEach((key, bounds) ->
        copy.put(key, new Bounds(new TreeMap<>(bounds.earliest), new TreeMap<>(bounds.latest))));
    return copy;
  }
}
