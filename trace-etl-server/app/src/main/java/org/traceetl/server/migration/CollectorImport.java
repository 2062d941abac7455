package org.traceetl.server.migration;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Translates a configuration of the OpenTelemetry Collector: one connector that counts spans, and
 * what its pipelines do to spans and series.
 */
final class CollectorImport {
  private static final Set<String> SPAN_METRICS = Set.of("span_metrics", "spanmetrics");
  private static final Set<String> SIGNAL_TO_METRICS =
      Set.of("signal_to_metrics", "signaltometrics");
  private static final Set<String> SERVICE_GRAPH = Set.of("service_graph", "servicegraph");

  /** Processors that change no span and no series. */
  private static final Set<String> NEUTRAL = Set.of("batch", "memory_limiter");

  /** Exporters that keep no series. */
  private static final Set<String> STORELESS = Set.of("debug", "logging", "nop");

  private static final Set<String> PROMETHEUS =
      Set.of("prometheus", "prometheusremotewrite", "prometheus_remote_write");

  /** What happens with keys of exporters that change series. */
  private static final Map<String, String> EXPORTER_EFFECTS =
      Map.of(
          "const_labels",
          "is left out: add the labels in Prometheus' scrape_configs, or for pushed series in"
              + " trace-etl.push.labels",
          "external_labels",
          "is left out: add the labels to trace-etl.push.labels",
          "resource_to_telemetry_conversion",
          "is left out: name each attribute that must be a label in trace-etl.series.dimensions,"
              + " with from: resource",
          "add_metric_suffixes",
          "is left out: names of trace-etl have the suffixes of unit and type, such as _total",
          "translation_strategy",
          "is left out: names have underscores; for labels with dots set trace-etl.metrics.names:"
              + " utf-8");

  private final Report report;
  private final ServerYaml yaml = new ServerYaml();

  CollectorImport(Report report) {
    this.report = report;
  }

  ServerYaml translate(Section root, String wanted) {
    Map<String, Value> connectors = root.take("connectors").section().rest();
    Map<String, Section> pipelines = new LinkedHashMap<>();
    root.take("service")
        .section()
        .take("pipelines")
        .section()
        .rest()
        .forEach((name, pipeline) -> pipelines.put(name, pipeline.section()));
    Value old = root.take("processors").section().take("spanmetrics");
    if (old.present()) {
      report.gap(old, "is left out: the Collector has replaced this processor by the connector");
    }
    Pipelines around = new Pipelines(pipelines);
    String chosen = choose(connectors, around, wanted);
    report.throwIfAnyProblem();
    Value connector = connectors.get(chosen);
    yaml.head("Translated from the Collector's connector " + chosen + ".");
    yaml.head("Add what is yours, such as trace-etl.rocketmq.name-server and trace-etl.index.");
    String namespace = around.report(chosen, root.take("exporters").section().rest());
    if (SPAN_METRICS.contains(type(chosen))) {
      new SpanMetricsConnector(yaml).translate(connector.section(), namespace);
    } else {
      new SignalToMetricsConnector(yaml).translate(connector.section(), namespace);
    }
    connectors.forEach((name, other) -> {
      if (!name.equals(chosen)) {
        report.gap(other, effect(name));
      }
    });
    return yaml;
  }

  private static String effect(String other) {
    if (SERVICE_GRAPH.contains(type(other))) {
      return "is left out: trace-etl has no service graph; keep this connector";
    }
    return counts(other)
        ? "is left out: a server has one set of dimensions and buckets; import it with --connector "
            + other
            + " for servers with a consumer group and a journal topic of their own"
        : "is left out: import translates no connector of this type";
  }

  private String choose(Map<String, Value> connectors, Pipelines pipelines, String wanted) {
    List<String> candidates = new ArrayList<>();
    connectors.keySet().stream()
        .filter(name -> SPAN_METRICS.contains(type(name)))
        .forEach(candidates::add);
    connectors.keySet().stream()
        .filter(name -> SIGNAL_TO_METRICS.contains(type(name)))
        .forEach(candidates::add);
    if (candidates.isEmpty()) {
      String others =
          connectors.isEmpty() ? "" : "; it has " + String.join(", ", connectors.keySet());
      report.problem(
          new Value(report, "connectors", null),
          "must have a connector span_metrics or signal_to_metrics" + others);
      return null;
    }
    if (wanted != null && !candidates.contains(wanted)) {
      throw new IllegalArgumentException(
          Report.printable(
              "--connector = " + wanted + ": must be one of " + String.join(", ", candidates)));
    }
    return wanted != null
        ? wanted
        : candidates.stream().filter(pipelines::use).findFirst().orElse(candidates.getFirst());
  }

  private static boolean counts(String connector) {
    return SPAN_METRICS.contains(type(connector)) || SIGNAL_TO_METRICS.contains(type(connector));
  }

  /** Returns the type of a component, whose name is {@code type} or {@code type/name}. */
  private static String type(String name) {
    int slash = name.indexOf('/');
    return slash < 0 ? name : name.substring(0, slash);
  }

  /** The pipelines before and after a connector. */
  private final class Pipelines {
    private record Pipeline(List<Value> receivers, List<Value> processors, List<Value> exporters) {}

    private final List<Pipeline> pipelines = new ArrayList<>();

    Pipelines(Map<String, Section> sections) {
      sections.forEach((name, section) ->
          pipelines.add(
              new Pipeline(
                  section.take("receivers").list(),
                  section.take("processors").list(),
                  section.take("exporters").list())));
    }

    boolean use(String connector) {
      return pipelines.stream().anyMatch(pipeline -> has(pipeline.exporters, connector));
    }

    private static boolean has(List<Value> components, String name) {
      return components.stream().anyMatch(component -> name.equals(component.text()));
    }

    /**
     * Reports what changes spans and series.
     *
     * @return namespace that the exporter puts in front of the names of metrics; null for none
     */
    String report(String connector, Map<String, Value> exporters) {
      Set<String> reported = new HashSet<>();
      String namespace = null;
      for (Pipeline pipeline : pipelines) {
        if (has(pipeline.exporters, connector)) {
          reportProcessors(
              pipeline,
              "is left out: it works on spans before the connector; trace-etl counts spans as its"
                  + " agents receive them, after their filters file");
        }
        if (has(pipeline.receivers, connector)) {
          reportProcessors(
              pipeline,
              "is left out: it works on series of the connector; use metric_relabel_configs or"
                  + " recording rules of Prometheus");
          for (Value exporter : pipeline.exporters) {
            String name = exporter.text("");
            if (reported.add(name)) {
              String found = reportExporter(name, exporter, exporters.get(name));
              namespace = namespace == null ? found : namespace;
            }
          }
        }
      }
      return namespace;
    }

    private void reportProcessors(Pipeline pipeline, String effect) {
      pipeline.processors.stream()
          .filter(processor -> !NEUTRAL.contains(type(processor.text(""))))
          .forEach(processor -> report.gap(processor, effect));
    }

    private String reportExporter(String name, Value use, Value configuration) {
      if (STORELESS.contains(type(name))) {
        return null;
      }
      report.gap(
          use,
          "is left out, so that no store gets the spans twice: scrape /metrics of the servers, or"
              + " set trace-etl.push.endpoints");
      if (configuration == null || !PROMETHEUS.contains(type(name))) {
        return null;
      }
      Section section = configuration.section();
      String namespace = section.take("namespace").text();
      section
          .rest()
          .forEach((key, value) -> {
            if (EXPORTER_EFFECTS.containsKey(key) && !isDefault(key, value)) {
              report.gap(value, EXPORTER_EFFECTS.get(key));
            }
          });
      return namespace == null || namespace.isEmpty() ? null : namespace;
    }
  }

  private static boolean isDefault(String key, Value value) {
    return switch (key) {
      case "add_metric_suffixes" -> value.flag(true);
      case "resource_to_telemetry_conversion" -> !value.section().take("enabled").flag(false);
      case "translation_strategy" -> value.text("").equals("UnderscoreEscapingWithSuffixes");
      default -> !value.present();
    };
  }

  /** Returns the start of metric names as Prometheus has it; empty for none. */
  static String namespace(String exporter, String connector) {
    String joined = (exporter == null ? "" : exporter + "_") + connector;
    String name = joined.replaceAll("[^a-zA-Z0-9:]+", "_").replaceAll("^_|_$", "");
    return !name.isEmpty() && Character.isDigit(name.charAt(0)) ? "_" + name : name;
  }
}
