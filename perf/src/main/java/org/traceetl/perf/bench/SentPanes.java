package org.traceetl.perf.bench;

import java.time.Duration;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/** How many spans an agent accepted in each pane. Thread-safe. */
final class SentPanes {
  private final long paneMillis;

  /** Spans by the end of their pane. */
  private final SortedMap<Long, Long> byPaneEnd = new TreeMap<>();

  /** Ends of panes of which it is not known how many spans they have. */
  private final Set<Long> unclear = new TreeSet<>();

  private long spans;

  SentPanes(Duration pane) {
    paneMillis = pane.toMillis();
  }

  /**
   * Adds spans that were accepted in an interval of time. If it has the end of a pane in it, their
   * pane is not known.
   */
  synchronized void add(long beginMillis, long endMillis, long accepted) {
    spans += accepted;
    long first = paneEnd(beginMillis);
    byPaneEnd.merge(first, accepted, Long::sum);
    for (long pane = paneEnd(endMillis); pane > first; pane -= paneMillis) {
      unclear.add(pane);
      unclear.add(first);
    }
  }

  private long paneEnd(long millis) {
    return (Math.floorDiv(millis, paneMillis) + 1) * paneMillis;
  }

  /** Returns the number of all spans. */
  synchronized long spans() {
    return spans;
  }

  /** Returns the number of spans of panes that ended before a time. */
  synchronized long spansUntil(long millis) {
    return byPaneEnd.headMap(millis).values().stream().mapToLong(accepted -> accepted).sum();
  }

  /** Returns the number of panes of which it is known how many spans they have. */
  synchronized int panes() {
    Set<Long> known = new TreeSet<>(byPaneEnd.keySet());
    known.removeAll(unclear);
    return known.size();
  }

  /**
   * Returns by the ends of panes how much the calls differ from the spans sent in them; empty if
   * all are right.
   *
   * @param increases of the calls, by end of pane
   */
  synchronized SortedMap<Long, Double> wrong(SortedMap<Long, Double> increases) {
    SortedMap<Long, Double> wrong = new TreeMap<>(increases);
    byPaneEnd.forEach((end, sent) -> wrong.merge(end, -(double) sent, Double::sum));
    wrong.keySet().removeAll(unclear);
    wrong.values().removeIf(difference -> difference == 0);
    return wrong;
  }
}
