package org.traceetl.server.compare;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/** Finds the likely reason of each difference. */
final class Explanation {
  private static final String SEVERAL = "several labels";
  private static final double MOST = 0.5;

  private final Panes panes;
  private final Side left;
  private final Side right;
  private final double tolerance;

  Explanation(Panes panes, Side left, Side right, double tolerance) {
    this.panes = panes;
    this.left = left;
    this.right = right;
    this.tolerance = tolerance;
  }

  void explain(List<Pair> pairs) {
    List<Pair> open = new ArrayList<>();
    for (Pair pair : pairs) {
      if (Math.abs(pair.settled().net()) > tolerance) {
        if (isLimited(pair)) {
          pair.explain(Finding.LIMIT, "");
        } else {
          open.add(pair);
        }
      } else {
        withoutLoss(pair);
      }
    }
    explainNames(open);
    for (Pair pair : open) {
      if (explainByRestarts(pair)) {
        continue;
      }
      if (pair.left() == null || pair.right() == null) {
        pair.explain(Finding.MISSING, "on the " + side(pair));
      } else {
        pair.explain(Finding.DROP, "on the " + side(pair));
      }
    }
  }

  private void withoutLoss(Pair pair) {
    double raw = pair.rawDifference();
    if (Math.abs(raw) <= tolerance) {
      return;
    }
    // Spans in flight hide how much a restart lost, but a restart is a better reason than those.
    BitSet restarts = pair.restartsOf(raw);
    int restart = restarts.nextSetBit(panes.settle());
    if (restart >= 0 && restart < panes.settle() + panes.count()) {
      String what = (raw > 0 ? "left" : "right") + " restarted";
      pair.explain(Finding.RESET, what, restarts.nextClearBit(restart) - 1, false);
    } else {
      pair.explain(Finding.LATE, "", -1, false);
    }
  }

  private boolean isLimited(Pair pair) {
    boolean leftLacks = pair.settled().net() > 0;
    // An overflow series has what others lack.
    return Overflow.is(pair.labels())
        || (leftLacks ? left : right).hasOverflowed(Overflow.applicationOf(pair.labels()));
  }

  /**
   * Explains pairs whose differences cancel out with those of pairs with other values of labels.
   */
  private void explainNames(List<Pair> open) {
    Set<String> names = new TreeSet<>();
    open.forEach(pair -> names.addAll(pair.labels().keySet()));
    for (String name : names) {
      explainGroups(open, name, labels -> without(labels, name));
    }
    explainGroups(open, SEVERAL, Overflow::applicationOf);
  }

  private void explainGroups(
      List<Pair> open, String name, Function<Map<String, String>, Object> common) {
    Map<Object, List<Pair>> groups = new HashMap<>();
    open.forEach(pair ->
        groups.computeIfAbsent(common.apply(pair.labels()), key -> new ArrayList<>()).add(pair));
    for (List<Pair> group : groups.values()) {
      if (group.size() > 1 && cancelsOut(group)) {
        group.forEach(pair -> pair.explain(Finding.NAME, "differs in " + name));
        open.removeIf(pair -> pair.reason() == Finding.NAME);
      }
    }
  }

  private boolean cancelsOut(List<Pair> group) {
    CountedSeries leftSum = new CountedSeries(panes);
    CountedSeries rightSum = new CountedSeries(panes);
    for (Pair pair : group) {
      if (pair.left() != null) {
        leftSum.add(pair.left());
      }
      if (pair.right() != null) {
        rightSum.add(pair.right());
      }
    }
    Settlement sum = Settlement.of(leftSum.increases(), rightSum.increases(), panes);
    return Math.abs(sum.net()) <= tolerance;
  }

  private static Map<String, String> without(Map<String, String> labels, String name) {
    Map<String, String> others = new TreeMap<>(labels);
    others.remove(name);
    return others;
  }

  /**
   * Explains a loss, most of which is around restarts of the side; the series itself need not be
   * there any more. Before and after a restart the medians have the same share of spans that are
   * late.
   */
  private boolean explainByRestarts(Pair pair) {
    double net = pair.settled().net();
    BitSet restarts = (net > 0 ? left : right).restarts();
    int settle = panes.settle();
    double lost = 0;
    double most = 0;
    int when = -1;
    int first = restarts.nextSetBit(settle);
    while (first >= 0 && first < settle + panes.count()) {
      int end = restarts.nextClearBit(first);
      int next = restarts.nextSetBit(end);
      // Restarts so close to each other have one loss.
      while (next >= 0 && next <= end + 2 * settle) {
        end = restarts.nextClearBit(next);
        next = restarts.nextSetBit(end);
      }
      double change = pair.settled().change(first, end + settle, settle);
      lost += change;
      if (Math.abs(change) > most) {
        most = Math.abs(change);
        when = Math.min(end, panes.size()) - 1;
      }
      first = next;
    }
    if (lost / net <= MOST) {
      return false;
    }
    pair.explain(Finding.RESET, side(pair) + " restarted", when, true);
    return true;
  }

  private static String side(Pair pair) {
    return pair.settled().net() > 0 ? "left" : "right";
  }
}
