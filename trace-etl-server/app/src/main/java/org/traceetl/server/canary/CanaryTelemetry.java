package org.traceetl.server.canary;

import io.prometheus.client.GaugeMetricFamily;
import io.prometheus.client.exporter.common.TextFormat;
import io.prometheus.client.hotspot.DefaultExports;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.traceetl.server.component.MetricRegistry;

/** The canary's own metrics. Any thread may read them. */
final class CanaryTelemetry extends MetricRegistry {
  private final List<CanaryPath> paths;

  CanaryTelemetry(List<CanaryPath> paths) {
    this.paths = paths;
    counter(
        "trace_etl_canary_expected_total",
        "Spans of the canary that the agent confirmed to have accepted.",
        "path",
        () -> byPath(CanaryPath.Figures::expected));
    counter(
        "trace_etl_canary_seen_total",
        "Spans of the canary on the pages of all servers.",
        "path",
        () -> byPath(CanaryPath.Figures::seen));
    counter(
        "trace_etl_canary_mismatch_total",
        "Spans of the canary that were counted twice or never, and documents that the index never"
            + " returned.",
        "path",
        () -> byPath(CanaryPath.Figures::wrong));
    gauge(
        "trace_etl_canary_unanswered_spans",
        "Spans of the canary that the agent may have accepted without an answer; they may be seen"
            + " in addition to the expected ones.",
        "path",
        () -> byPath(CanaryPath.Figures::unanswered));
    gauge(
        "trace_etl_canary_delay_seconds",
        "Time from the agent's answer to the latest request until all its spans were on pages, or"
            + " until now if that is longer.",
        "path",
        () -> byPath(CanaryPath.Figures::delaySeconds));
    collector(this::red);
    DefaultExports.register(collectors());
  }

  private Map<String, Number> byPath(Function<CanaryPath.Figures, Number> figure) {
    Map<String, Number> values = new LinkedHashMap<>();
    paths.forEach(path -> values.put(path.name(), figure.apply(path.figures())));
    return values;
  }

  private GaugeMetricFamily red() {
    var family =
        new GaugeMetricFamily(
            "trace_etl_canary_red",
            "1 if spans of the canary are late or missing because of this stage, else 0.",
            List.of("path", "stage"));
    for (CanaryPath path : paths) {
      Stage red = path.figures().red();
      for (Stage stage : Stage.values()) {
        family.addMetric(List.of(path.name(), stage.label()), stage == red ? 1 : 0);
      }
    }
    return family;
  }

  /** Returns all families in Prometheus' text format. */
  String text() {
    StringWriter out = new StringWriter();
    try {
      TextFormat.write004(out, collectors().metricFamilySamples());
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory", e);
    }
    return out.toString();
  }
}
