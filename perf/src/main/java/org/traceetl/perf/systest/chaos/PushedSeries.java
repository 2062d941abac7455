package org.traceetl.perf.systest.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeSet;

/** The pushed samples of a series, which each queue counts on its own. */
final class PushedSeries {
  private final List<NavigableMap<Long, Double>> queues = new ArrayList<>();

  /** Adds the samples of a queue by their times. */
  void add(NavigableMap<Long, Double> samples) {
    queues.add(samples);
  }

  /** Returns the sum of all queues at a time. */
  long at(long millis) {
    double sum = 0;
    for (NavigableMap<Long, Double> samples : queues) {
      Map.Entry<Long, Double> newest = samples.floorEntry(millis);
      sum += newest == null ? 0 : newest.getValue();
    }
    return Math.round(sum);
  }

  /** Returns the times at which a sum changed. */
  NavigableSet<Long> changes() {
    NavigableSet<Long> changes = new TreeSet<>();
    for (NavigableMap<Long, Double> samples : queues) {
      double before = 0;
      for (Map.Entry<Long, Double> sample : samples.entrySet()) {
        if (sample.getValue() != before) {
          changes.add(sample.getKey());
          before = sample.getValue();
        }
      }
    }
    return changes;
  }
}
