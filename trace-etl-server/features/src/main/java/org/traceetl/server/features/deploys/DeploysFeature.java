package org.traceetl.server.features.deploys;

import io.prometheus.client.Collector.MetricFamilySamples;
import io.prometheus.client.GaugeMetricFamily;
import java.util.ArrayList;
import java.util.List;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.http.Feature;

/**
 * Deploys of the last hour.
 *
 * @param versions null if this server does not compare them
 */
record DeploysFeature(Versions versions) implements Feature {
  private static final List<String> LABELS =
      List.of("application", "version", "previous", "signal");

  private static final List<String> BOUND_LABELS =
      List.of("application", "version", "previous", "signal", "bound");

  @Override
  public void metrics(MetricRegistry registry) {
    if (versions == null) {
      return;
    }
    registry.collector(this::verdicts);
    registry.collector(this::differences);
    registry.gauge(
        "trace_etl_deploy_operations",
        "Operations of versions of applications that this server compares or may compare.",
        versions::operations);
    registry.counter(
        "trace_etl_deploy_left_out_rows_total",
        "Rows of windows that no version has, because of deploys.max-operations or because their"
            + " application has more than 8 versions.",
        versions::leftOut);
  }

  private MetricFamilySamples verdicts() {
    GaugeMetricFamily family =
        new GaugeMetricFamily(
            "trace_etl_deploy_verdict",
            "Comparison of a version that began in the last hour with the one before: 1 if it is"
                + " worse, -1 if it is better, 0 if no difference was found so far.",
            LABELS);
    for (Deploy deploy : versions.deploys()) {
      for (Difference each : deploy.differences()) {
        family.addMetric(labels(deploy, each), each.verdict().value);
      }
    }
    return family;
  }

  private MetricFamilySamples differences() {
    GaugeMetricFamily family =
        new GaugeMetricFamily(
            "trace_etl_deploy_difference",
            "Difference between a version that began in the last hour and the one before, and its"
                + " bounds: of the ratio of failed calls (errors), of the mean duration as a ratio"
                + " (latency_mean), of the probability that a call takes longer, less 0.5"
                + " (latency_rank).",
            BOUND_LABELS);
    for (Deploy deploy : versions.deploys()) {
      for (Difference each : deploy.differences()) {
        add(family, labels(deploy, each), "lower", each.lower());
        add(family, labels(deploy, each), "estimate", each.estimate());
        add(family, labels(deploy, each), "upper", each.upper());
      }
    }
    return family;
  }

  private static List<String> labels(Deploy deploy, Difference difference) {
    return List.of(
        deploy.application(), deploy.version(), deploy.previous(), difference.signal().label());
  }

  private static void add(
      GaugeMetricFamily family, List<String> labels, String bound, double value) {
    List<String> all = new ArrayList<>(labels);
    all.add(bound);
    family.addMetric(all, value);
  }

  @Override
  public List<Object> resources() {
    return List.of(new DeploysResource(versions));
  }
}
