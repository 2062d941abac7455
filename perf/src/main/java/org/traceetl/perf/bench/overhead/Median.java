package org.traceetl.perf.bench.overhead;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What variants took in rounds: the values by variant, in the order of the rounds. */
final class Median {
  private final Map<String, List<Double>> values = new LinkedHashMap<>();

  void add(String variant, double value) {
    values.computeIfAbsent(variant, unused -> new ArrayList<>()).add(value);
  }

  /** The variant's median; NaN if it has none. */
  double of(String variant) {
    return of(values.getOrDefault(variant, List.of()));
  }

  /**
   * The median of what the one took above the other in the same round, so that what made a round
   * slow counts for neither.
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
