package org.traceetl.perf.systest.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;

/**
 * Compares the pushed sums at the end of each pane with the spans accepted until then.
 *
 * @param wrong panes with a sum that cannot be right, and series whose last sum is wrong
 * @param panes panes of all series for which one sum alone is right
 * @param uncertain other panes: requests were under way at their ends
 * @param differences a line for each wrong pane
 */
record PaneVerdict(long wrong, long panes, long uncertain, List<String> differences) {
  /**
   * @param delays times in which panes may have spans of the pane before
   */
  static PaneVerdict of(
      ExpectedPanes expected, Map<SeriesKey, PushedSeries> pushed, List<Period> delays) {
    Sum sum = new Sum(expected.panes(), delays);
    Map<SeriesKey, ExpectedPanes.Bounds> all = expected.series();
    Set<SeriesKey> keys = new TreeSet<>(all.keySet());
    keys.addAll(pushed.keySet());
    for (SeriesKey key : keys) {
      sum.add(
          key,
          all.getOrDefault(key, ExpectedPanes.NONE),
          pushed.getOrDefault(key, new PushedSeries()));
    }
    return new PaneVerdict(sum.wrong, sum.panes, sum.uncertain, List.copyOf(sum.differences));
  }

  private static final class Sum {
    private final PaneSchedule panesOf;
    private final List<Period> delays;
    private final List<String> differences = new ArrayList<>();
    private long wrong;
    private long panes;
    private long uncertain;

    private Sum(PaneSchedule panesOf, List<Period> delays) {
      this.panesOf = panesOf;
      this.delays = delays;
    }

    private void add(SeriesKey key, ExpectedPanes.Bounds bounds, PushedSeries pushed) {
      NavigableSet<Long> changes = pushed.changes();
      NavigableSet<Long> events = new TreeSet<>(bounds.earliest().keySet());
      events.addAll(bounds.latest().headMap(Long.MAX_VALUE).keySet());
      changes.forEach(millis -> events.add(panesOf.paneOf(millis - 1)));
      if (events.isEmpty()) {
        return;
      }
      for (long pane = events.first(); pane <= events.last(); pane++) {
        long endMillis = panesOf.endMillis(pane);
        compare(key, endMillis, least(bounds, endMillis), bounds.most(pane), pushed.at(endMillis));
      }
      long last = pushed.at(Long.MAX_VALUE);
      if (last != bounds.total()) {
        differ(key, "in the end", bounds.total(), bounds.total(), last);
      }
    }

    private long least(ExpectedPanes.Bounds bounds, long endMillis) {
      long certainMillis = endMillis;
      for (Period delay : delays) {
        if (delay.fromMillis() <= endMillis
            && endMillis <= delay.toMillis() + panesOf.slackMillis()) {
          certainMillis = Math.min(certainMillis, delay.fromMillis());
        }
      }
      // The last pane that ended by then.
      return bounds.least(panesOf.paneOf(certainMillis) - 1);
    }

    private void compare(SeriesKey key, long endMillis, long least, long most, long found) {
      if (found < least || found > most) {
        differ(key, "until " + endMillis, least, most, found);
      }
      if (least == most) {
        panes++;
      } else {
        uncertain++;
      }
    }

    private void differ(SeriesKey key, String when, long least, long most, long found) {
      wrong++;
      differences.add(
          String.format(
              Locale.ROOT, "%s: %s: accepted %d to %d, pushed %d", key, when, least, most, found));
    }
  }

  boolean isExact() {
    return wrong == 0;
  }

  String line() {
    return "wrong_panes=" + wrong + " panes=" + panes;
  }
}
