package org.traceetl.perf.bench.overhead;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The measurements of variants, by variant, in the order of the rounds. */
final class Median {
  private final Map<String, List<Double>> values = new LinkedHashMap<>();

  void add(String variant, double value) {
    values.computeIfAbsent(variant, unused -> new ArrayList<>()).add(value);
  }

  /** Returns the variant's median, or NaN if it has no values. */
  double of(String variant) {
    return of(values.getOrDefault(variant, List.of()));
  }

  /**
   * Returns the median of the differences between two variants in the same round, so that a slow
   * round affects both.
   */
  double difference(String variant, String base) {
    List<Double> more = new ArrayList<>();
    List<Double> ours = values.getOrDefault(variant, List.of());
    List<Double> others = values.getOrDefault(base, List.of());
    for (int i = 0; i < Math.min(ours.size(), others.size()); i++) {
      more.add(ours.get(i) - others.get(i));
    }
    return of(more);
  }

  private static double of(List<Double> all) {
    if (all.isEmpty()) {
      return Double.NaN;
    }
    double[] sorted = all.stream().mapToDouble(one -> one).sorted().toArray();
    return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
  }
}
