package org.traceetl.server.telemetry;

import io.prometheus.client.Collector.MetricFamilySamples;
import io.prometheus.client.Collector.MetricFamilySamples.Sample;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The metrics of a registry's family. Its samples are those of the text formats: samples of a
 * histogram whose labels differ only in {@code le}, and of a summary in {@code quantile}, form one
 * metric.
 */
final class FamilyMetrics {
  static final String LE = "le";
  static final String QUANTILE = "quantile";

  /** Ends the name of the sample with a metric's creation time. */
  static final String CREATED = "_created";

  private FamilyMetrics() {}

  /** Groups the samples by metric, in their original order. */
  static List<List<Sample>> of(MetricFamilySamples family) {
    Map<List<String>, List<Sample>> metrics = new LinkedHashMap<>();
    for (Sample sample : family.samples) {
      List<String> values = new ArrayList<>();
      for (int i = 0; i < sample.labelNames.size(); i++) {
        if (!isPart(family, sample.labelNames.get(i))) {
          values.add(sample.labelValues.get(i));
        }
      }
      metrics.computeIfAbsent(values, absent -> new ArrayList<>()).add(sample);
    }
    return new ArrayList<>(metrics.values());
  }

  /** Returns whether the label distinguishes samples of one metric. */
  static boolean isPart(MetricFamilySamples family, String label) {
    return switch (family.type) {
      case HISTOGRAM -> label.equals(LE);
      case SUMMARY -> label.equals(QUANTILE);
      default -> false;
    };
  }

  /** Returns the name as in text 0.0.4, where a counter's family has the name of its samples. */
  static String name(MetricFamilySamples family) {
    return switch (family.type) {
      case SUMMARY, HISTOGRAM -> family.name;
      default -> family.samples.isEmpty() ? family.name : family.samples.getFirst().name;
    };
  }
}
