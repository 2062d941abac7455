package org.traceetl.perf.systest.chaos;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * A fault of the plan.
 *
 * @param number from 1
 * @param target index of the program among those with the role, modulo their number
 * @param gapMillis the pause after the previous fault is finished
 * @param holdMillis the duration
 * @param overlaps whether the next fault begins before the recovery from this one
 */
record PlannedFault(
    int number, FaultKind kind, int target, long gapMillis, long holdMillis, boolean overlaps) {
  private static final int MIN_GAP_MILLIS = 500;
  private static final int MAX_GAP_MILLIS = 6_000;
  private static final double OVERLAPPING = 0.3;

  /** Returns the plan, which is equal for equal arguments. */
  static List<PlannedFault> plan(int faults, long seed, Set<FaultKind> possible) {
    Random random = new Random(seed);
    List<FaultKind> kinds = new ArrayList<>();
    List<FaultKind> all = List.of(FaultKind.values());
    List<FaultKind> others = all.subList(FaultKind.ESSENTIAL, all.size());
    addShuffled(kinds, all.subList(0, FaultKind.ESSENTIAL), possible, random);
    addShuffled(kinds, others, possible, random);
    // A run of 62 faults has each kind twice; each build runs the essential ones.
    addShuffled(kinds, others, possible, random);
    addShuffled(kinds, all.subList(0, FaultKind.ESSENTIAL), possible, random);
    while (kinds.size() < faults) {
      addShuffled(kinds, all, possible, random);
    }
    List<PlannedFault> plan = new ArrayList<>();
    for (FaultKind kind : kinds.subList(0, faults)) {
      long min = kind.minSeconds() * 1_000L;
      long max = kind.maxSeconds() * 1_000L;
      plan.add(
          new PlannedFault(
              plan.size() + 1,
              kind,
              random.nextInt(1_000),
              random.nextLong(MIN_GAP_MILLIS, MAX_GAP_MILLIS),
              min == max ? min : random.nextLong(min, max),
              kind == FaultKind.ELASTICSEARCH_AWAY || random.nextDouble() < OVERLAPPING));
    }
    return plan;
  }

  /** Returns this fault with another duration. */
  PlannedFault lasting(long millis) {
    return new PlannedFault(number, kind, target, gapMillis, millis, overlaps);
  }

  private static void addShuffled(
      List<FaultKind> to, List<FaultKind> kinds, Set<FaultKind> possible, Random random) {
    List<FaultKind> round = new ArrayList<>(kinds);
    round.retainAll(possible);
    Collections.shuffle(round, random);
    to.addAll(round);
  }
}
