package org.traceetl.agent.telemetry;

import io.prometheus.client.Collector.MetricFamilySamples;
import io.prometheus.client.Collector.MetricFamilySamples.Sample;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Reads values of metrics, without the names' prefix. */
public final class MetricValues {
  private static final String PREFIX = "trace_etl_agent_";

  private MetricValues() {}

  /**
   * Returns the value of a metric; 0 for a metric that is absent.
   *
   * @param labels all names and values of its labels in turn
   */
  public static double value(MetricSet metrics, String name, String... labels) {
    List<String> names = new ArrayList<>();
    List<String> values = new ArrayList<>();
    for (int i = 0; i < labels.length; i += 2) {
      names.add(labels[i]);
      values.add(labels[i + 1]);
    }
    return samples(metrics, name)
        .filter(sample -> sample.labelNames.equals(names) && sample.labelValues.equals(values))
        .mapToDouble(sample -> sample.value)
        .findFirst()
        .orElse(0);
  }

  /** Returns the sum of a metric's values over all labels. */
  public static double sum(MetricSet metrics, String name) {
    return samples(metrics, name).mapToDouble(sample -> sample.value).sum();
  }

  private static Stream<Sample> samples(MetricSet metrics, String name) {
    return metrics.collect().stream()
        .map((MetricFamilySamples family) -> family.samples)
        .flatMap(List::stream)
        .filter(sample -> sample.name.equals(PREFIX + name));
  }
}
