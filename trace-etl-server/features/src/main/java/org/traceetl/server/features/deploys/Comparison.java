package org.traceetl.server.features.deploys;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The differences between two versions of an application, of the operations that both have. What
 * the new version has in a slot is compared with what its operations have on average in the old
 * version (indirect standardization), and so is what the old version has.
 *
 * <p>Ranks are ridits: by bucket, the part of the old version's calls below it, and half of those
 * in it (Bross 1958, Biometrics 14, 18).
 */
final class Comparison {
  /** Least number of calls of an operation of the old version, to know its average. */
  private static final long LEAST_CALLS = 20;

  /** Of the ratio of failed calls, where it is above one percent. */
  private static final double MARGIN_OF_ERRORS = 0.1;

  /** Highest variance of ranks: that of an even distribution between 0 and 1. */
  private static final double OF_RANKS = 1.0 / 12;

  // Sums of a slot.
  private static final int COUNT = 0;
  private static final int SUM = 1;
  private static final int DIVISOR = 2;

  /**
   * The average of an operation of the old version.
   *
   * @param scores rank of each bucket less 0.5
   */
  private record Average(double failed, double nanos, double[] scores) {}

  private final Map<Operation, Average> averages = new HashMap<>();
  private final Map<Operation, long[][]> old;
  private final Map<Operation, long[][]> beside;
  private final Map<Operation, long[][]> now;
  private double failed;
  private double calls;

  /**
   * @param old by operation and slot, {@link Calls}; null for none
   * @param beside of the old version in the time of {@code now}
   * @param now as {@code old}
   */
  Comparison(
      Map<Operation, long[][]> old, Map<Operation, long[][]> beside, Map<Operation, long[][]> now) {
    this.old = old;
    this.beside = beside;
    this.now = now;
    old.forEach(this::average);
  }

  private void average(Operation operation, long[][] slots) {
    long[] sum =
        Arrays.stream(slots)
            .filter(Objects::nonNull)
            .reduce(
                new long[Calls.BUCKETS],
                (one, other) -> {
                  long[] both = Arrays.copyOf(one, other.length);
                  Calls.add(both, other);
                  return both;
                });
    if (sum[Calls.ALL] >= LEAST_CALLS && now.containsKey(operation)) {
      calls += sum[Calls.ALL];
      failed += sum[Calls.FAILED];
      long passed = Calls.passed(sum);
      averages.put(
          operation,
          new Average(
              (double) sum[Calls.FAILED] / sum[Calls.ALL],
              passed < LEAST_CALLS ? 0 : (double) sum[Calls.NANOS] / passed,
              scores(sum)));
    }
  }

  /** Returns null for too few calls with known buckets. */
  private static double[] scores(long[] sum) {
    double all = 0;
    for (int i = Calls.BUCKETS; i < sum.length; i++) {
      all += sum[i];
    }
    if (all < LEAST_CALLS) {
      return null;
    }
    double[] scores = new double[sum.length - Calls.BUCKETS];
    double below = 0;
    for (int i = 0; i < scores.length; i++) {
      long its = sum[Calls.BUCKETS + i];
      scores[i] = (below + its / 2.0) / all - 0.5;
      below += its;
    }
    return scores;
  }

  /** Returns the differences, without those of which there is too little. */
  List<Difference> differences() {
    List<Difference> differences = new ArrayList<>();
    for (Signal signal : Signal.values()) {
      double ratio = calls == 0 ? 0 : failed / calls;
      double margin =
          signal == Signal.ERRORS
              ? Math.max(signal.margin, MARGIN_OF_ERRORS * ratio)
              : signal.margin;
      Difference difference =
          Difference.of(
              signal,
              slots(signal, old),
              slots(signal, beside),
              slots(signal, now),
              least(signal, margin),
              margin);
      if (difference != null) {
        differences.add(difference);
      }
    }
    return differences;
  }

  /** Returns the variance of a call's value, if calls were independent; 0 for unknown. */
  private double least(Signal signal, double margin) {
    return switch (signal) {
      case ERRORS -> {
        // As if one more had failed and one more had not: no error so far does not mean none.
        double ratio = Math.min(0.5, (failed + 1) / (calls + 2) + margin);
        yield ratio * (1 - ratio);
      }
      case LATENCY_MEAN -> 0;
      case LATENCY_RANK -> OF_RANKS;
    };
  }

  private Difference.Slots slots(Signal signal, Map<Operation, long[][]> version) {
    int size = version.values().stream().mapToInt(slots -> slots.length).max().orElse(0);
    double[] values = new double[size];
    double[] counts = new double[size];
    int[] at = new int[size];
    int slots = 0;
    for (int slot = 0; slot < size; slot++) {
      double[] sums = new double[DIVISOR + 1];
      for (Map.Entry<Operation, Average> one : averages.entrySet()) {
        long[][] its = version.get(one.getKey());
        if (its != null && its[slot] != null) {
          add(signal, its[slot], one.getValue(), sums);
        }
      }
      if (sums[COUNT] > 0) {
        at[slots] = slot;
        counts[slots] = sums[COUNT];
        values[slots] = sums[SUM] / sums[DIVISOR];
        slots++;
      }
    }
    return new Difference.Slots(
        Arrays.copyOf(at, slots), Arrays.copyOf(values, slots), Arrays.copyOf(counts, slots));
  }

  private static void add(Signal signal, long[] slot, Average average, double[] sums) {
    switch (signal) {
      case ERRORS -> {
        sums[COUNT] += slot[Calls.ALL];
        sums[SUM] += slot[Calls.FAILED] - slot[Calls.ALL] * average.failed;
        sums[DIVISOR] += slot[Calls.ALL];
      }
      case LATENCY_MEAN -> {
        if (average.nanos > 0) {
          double expected = Calls.passed(slot) * average.nanos;
          sums[COUNT] += Calls.passed(slot);
          sums[SUM] += slot[Calls.NANOS] - expected;
          sums[DIVISOR] += expected;
        }
      }
      case LATENCY_RANK -> {
        for (int i = 0; average.scores != null && i < average.scores.length; i++) {
          long count = slot[Calls.BUCKETS + i];
          sums[COUNT] += count;
          sums[SUM] += count * average.scores[i];
          sums[DIVISOR] += count;
        }
      }
    }
  }
}
