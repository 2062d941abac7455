package org.traceetl.server.features.deploys;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * The calls of an application's versions by slot, and which of them are compared. A slot is 30
 * seconds of stream time. Not thread-safe.
 */
final class Timeline {
  static final long SLOT_MILLIS = TimeUnit.SECONDS.toMillis(30);

  /** Slots of an hour, in which a deploy is listed. */
  private static final int LISTED = 120;

  /** Slots of the new version that are compared, in 30 minutes. */
  private static final int COMPARED = 60;

  /** Slots of the old version that are compared, the newest ones: 25 minutes. */
  private static final int BASELINE = 50;

  /** First slots of the new version that are left out: it warms up. */
  private static final int WARM_UP = 2;

  /** A version without calls in 10 minutes begins again. */
  private static final int PAUSE = 20;

  /** Slots in which the previous version is the one with most calls: a version may last minutes. */
  private static final int LAST = 4;

  /** Slots of an application before a version counts as new. */
  private static final int OBSERVED = Difference.LEAST_OLD;

  /** Number of slots: a deploy that is just listed still has its baseline. */
  static final int SLOTS = LISTED + BASELINE;

  private static final double SLOTS_PER_MINUTE = 2;

  private final String application;
  private final long last;
  private final Map<String, Map<Operation, long[][]>> slots = new HashMap<>();

  /** By version and slot. */
  private final Map<String, long[]> calls = new TreeMap<>();

  /**
   * @param last the last slot whose calls are complete, as a number since 1970
   */
  Timeline(String application, long last) {
    this.application = application;
    this.last = last;
  }

  long first() {
    return last - SLOTS + 1;
  }

  long last() {
    return last;
  }

  /**
   * Adds a version.
   *
   * @param operations by operation: {@link Calls} of its {@value #SLOTS} slots; null for none
   */
  void add(String version, Map<Operation, long[][]> operations) {
    long[] all = new long[SLOTS];
    for (long[][] its : operations.values()) {
      for (int i = 0; i < SLOTS; i++) {
        all[i] += its[i] == null ? 0 : its[i][Calls.ALL];
      }
    }
    slots.put(version, operations);
    calls.put(version, all);
  }

  /** Returns the last deploy of each version that began in the last hour, sorted by version. */
  List<Deploy> deploys() {
    List<Deploy> deploys = new ArrayList<>();
    for (String version : calls.keySet()) {
      int start = start(version);
      String previous = start < 0 ? null : previous(version, start);
      if (previous != null) {
        deploys.add(deploy(version, previous, start));
      }
    }
    return deploys;
  }

  /** Returns the slot in which a version began last; -1 for none. */
  private int start(String version) {
    int observed = 0;
    while (observed < SLOTS && !hasCalls(observed)) {
      observed++;
    }
    long[] its = calls.get(version);
    int start = -1;
    int pause = PAUSE;
    for (int i = 0; i < SLOTS; i++) {
      if (its[i] > 0 && pause >= PAUSE && i - observed >= OBSERVED && i >= SLOTS - LISTED) {
        start = i;
      }
      pause = its[i] > 0 ? 0 : pause + 1;
    }
    return start;
  }

  private boolean hasCalls(int slot) {
    return calls.values().stream().anyMatch(its -> its[slot] > 0);
  }

  /** Returns the other version with most calls just before a slot; null for none. */
  private String previous(String version, int start) {
    String last = previous(version, start - LAST, start);
    return last == null ? previous(version, start - BASELINE, start) : last;
  }

  private String previous(String version, int from, int to) {
    String most = null;
    long highest = 0;
    for (Map.Entry<String, long[]> one : calls.entrySet()) {
      long sum = Arrays.stream(one.getValue(), Math.max(0, from), to).sum();
      if (!one.getKey().equals(version) && sum > highest) {
        highest = sum;
        most = one.getKey();
      }
    }
    return most;
  }

  private Deploy deploy(String version, String previous, int start) {
    int end = Math.min(SLOTS, start + COMPARED);
    boolean[] isBaseline = new boolean[SLOTS];
    int baseline = 0;
    for (int i = end - 1; i >= 0 && baseline < BASELINE; i--) {
      isBaseline[i] = calls.get(previous)[i] > 0;
      baseline += isBaseline[i] ? 1 : 0;
    }
    boolean[] isCompared = new boolean[SLOTS];
    Arrays.fill(isCompared, Math.min(end, start + WARM_UP), end, true);
    return new Deploy(
        application,
        version,
        previous,
        (first() + start) * SLOT_MILLIS,
        (first() + end) * SLOT_MILLIS,
        baseline / SLOTS_PER_MINUTE,
        new Comparison(
                only(slots.get(previous), isBaseline),
                only(slots.get(previous), isCompared),
                only(slots.get(version), isCompared))
            .differences());
  }

  private static Map<Operation, long[][]> only(
      Map<Operation, long[][]> operations, boolean[] slots) {
    Map<Operation, long[][]> parts = new HashMap<>();
    operations.forEach((operation, its) -> {
      long[][] part = new long[SLOTS][];
      for (int i = 0; i < SLOTS; i++) {
        part[i] = slots[i] ? its[i] : null;
      }
      parts.put(operation, part);
    });
    return parts;
  }
}
