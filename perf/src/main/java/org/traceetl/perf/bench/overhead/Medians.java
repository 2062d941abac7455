package org.traceetl.perf.bench.overhead;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.commons.math3.stat.descriptive.rank.Median;

/** Measurements by figure and variant, in the order of the rounds. */
final class Medians {
  private record Key(String figure, String variant) {}

  private final Map<Key, List<Double>> values = new LinkedHashMap<>();

  void add(String figure, String variant, double value) {
    values.computeIfAbsent(new Key(figure, variant), unused -> new ArrayList<>()).add(value);
  }

  /** Returns the variant's median, or NaN if it has no values. */
  double of(String figure, String variant) {
    return median(all(figure, variant));
  }

  /**
   * Returns the median of the differences between two variants in the same round, so that a slow
   * round affects both.
   */
  double difference(String figure, String variant, String base) {
    List<Double> ours = all(figure, variant);
    List<Double> others = all(figure, base);
    return median(
        IntStream.range(0, Math.min(ours.size(), others.size()))
            .mapToObj(i -> ours.get(i) - others.get(i))
            .toList());
  }

  private List<Double> all(String figure, String variant) {
    return values.getOrDefault(new Key(figure, variant), List.of());
  }

  private static double median(List<Double> all) {
    return new Median().evaluate(all.stream().mapToDouble(one -> one).toArray());
  }
}
