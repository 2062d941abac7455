package org.traceetl.server.migration;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.traceetl.server.config.SeriesConfig.From;
import org.traceetl.server.config.StandardProfile;

/**
 * Translates the connector {@code span_metrics}, key by key, with its defaults of version 0.155.
 */
final class SpanMetricsConnector {
  private static final String INSTANCE = "collector.instance.id";

  /** The default dimensions, and their labels. */
  private static final Map<String, String> FIXED =
      Map.of(
          "service.name", "service_name",
          "span.name", "span_name",
          "span.kind", "span_kind",
          "status.code", "status_code");

  private static final double MAX_SERIES = 10_000_000;
  private static final String BOUNDED =
      "is left out: trace-etl bounds memory by trace-etl.series.max and its neighbours";

  private static final Map<String, String> EFFECTS =
      Map.of(
          "dimensions_cache_size",
          BOUNDED,
          "resource_metrics_cache_size",
          BOUNDED,
          "metric_timestamp_cache_size",
          BOUNDED,
          "delta_temporality",
          BOUNDED,
          "include_instrumentation_scope",
          "is left out: trace-etl does not make labels of instrumentation scopes",
          "add_resource_attributes",
          "is left out: name each attribute that must be a label in trace-etl.series.dimensions,"
              + " with from: resource",
          "enable_metrics_sampling_method",
          "is left out: sampled spans count as the number they represent, without a label that"
              + " says so");

  static final String UNKNOWN = "is left out: it is not a key that import knows";

  private final ServerYaml yaml;

  SpanMetricsConnector(ServerYaml yaml) {
    this.yaml = yaml;
  }

  /**
   * Translates the connector.
   *
   * @param exporterNamespace start of names that an exporter adds; null for none
   */
  void translate(Section section, String exporterNamespace) {
    Report report = section.report();
    durations(section);
    Section histogram = section.take("histogram").section();
    dimensions(section, histogram.take("dimensions"));
    limits(section);
    histogram(histogram);
    namespace(section.take("namespace"), exporterNamespace);
    exclusions(section.take("exclude_dimensions"));
    resources(section.take("resource_metrics_key_attributes"));
    exemplars(section.take("exemplars").section());
    Value temporality = section.take("aggregation_temporality");
    if ("AGGREGATION_TEMPORALITY_DELTA".equals(temporality.text())) {
      report.gap(
          temporality,
          "is left out: pages are cumulative; for deltas set temporality: delta of an OTLP endpoint"
              + " in trace-etl.push.endpoints");
    }
    // Reported only if they are in force.
    for (String flag : List.of("add_resource_attributes", "enable_metrics_sampling_method")) {
      Value value = section.take(flag);
      if (value.flag(false)) {
        report.gap(value, EFFECTS.get(flag));
      }
    }
    section.reportRest(EFFECTS, UNKNOWN);
  }

  private void durations(Section section) {
    Value interval = section.take("metrics_flush_interval");
    Value ofResource = section.take("metrics_expiration");
    Value ofSeries = section.take("series_expiration");
    Duration resource = ofResource.duration(Duration.ZERO);
    Duration series = ofSeries.duration(Duration.ZERO);
    boolean bySeries = !series.isZero() && (resource.isZero() || series.compareTo(resource) < 0);
    if (!bySeries && !resource.isZero()) {
      section
          .report()
          .gap(ofResource, "applies to each series by itself, not to all series of a resource");
    }
    Durations.write(
        yaml,
        interval,
        interval.duration(Duration.ofMinutes(1)),
        bySeries ? ofSeries : ofResource,
        bySeries ? series : resource);
  }

  private void dimensions(Section section, Value ofHistogram) {
    Report report = section.report();
    Dimensions dimensions = new Dimensions(report, StandardProfile.OTEL);
    Section events = section.take("events").section();
    Value enabled = events.take("enabled");
    boolean countsEvents = enabled.flag(false);
    if (countsEvents) {
      dimensions.countEvents();
    }
    Value common = section.take("dimensions");
    named(common).forEach(value -> add(dimensions, value));
    for (Value some : List.of(section.take("calls_dimensions"), ofHistogram)) {
      List<Named> added = named(some);
      if (!added.isEmpty()) {
        report.gap(
            some,
            "becomes labels of all metrics: trace-etl has one set of dimensions; sum over them, or"
                + " remove them if there are too many series");
      }
      added.forEach(value -> add(dimensions, value));
    }
    Value ofEvents = events.take("dimensions");
    List<Named> eventDimensions = countsEvents ? named(ofEvents) : List.of();
    eventDimensions.forEach(value -> dimensions.addOfEvents(value.at, value.name));
    events.reportRest(Map.of(), UNKNOWN);
    dimensions.write(yaml, common.path() + ", calls_dimensions, histogram.dimensions");
    keepSpanNames(yaml);
    yaml.putAll(
        "series",
        "filters",
        List.of(Map.of("application", "unknown_service")),
        "the Collector does not count spans without service.name");
    if (countsEvents) {
      yaml.put("events", "enabled", "true", enabled.origin());
      yaml.put("events", "dimensions", ServerYaml.texts(dimensions.ofEvents()), ofEvents.origin());
      report.gap(
          enabled,
          "counts the events that agents send: set events.names: [\"*\"] in log-agent.yaml, and in"
              + " events.attributes the attributes of trace-etl.events.dimensions; series have the"
              + " label event_name in addition");
    }
  }

  /** The Collector does not replace identifiers in span names. */
  static void keepSpanNames(ServerYaml yaml) {
    yaml.put(
        "series",
        "templates",
        "{enabled: false}",
        "span names as the Collector counts them; without this key identifiers in names are"
            + " replaced");
  }

  private record Named(Value at, String name) {}

  /** Returns the dimensions of a list that have a name. */
  private List<Named> named(Value list) {
    Report report = list.report();
    List<Named> named = new ArrayList<>();
    for (Value item : list.list()) {
      Section dimension = item.section();
      Value name = dimension.take("name");
      Value glob = dimension.take("glob");
      Value standard = dimension.take("default");
      if (glob.present()) {
        report.gap(
            glob,
            "is left out: trace-etl takes attributes by their whole key; name each one in"
                + " trace-etl.series.dimensions");
      } else if (name.text("").isEmpty()) {
        report.problem(item, "must have a name or a glob");
      } else {
        named.add(new Named(name, name.text()));
        if (standard.present()) {
          report.gap(
              standard,
              "is left out: the label is absent if a span lacks "
                  + name.text()
                  + "; in queries an absent label is the empty text");
        }
      }
      dimension.reportRest(Map.of(), UNKNOWN);
    }
    return named;
  }

  private static void add(Dimensions dimensions, Named named) {
    dimensions.add(named.at, named.name, null, From.ANY);
  }

  private void limits(Section section) {
    Value limit = section.take("aggregation_cardinality_limit");
    double series = limit.number(0);
    yaml.put(
        "series",
        "max-per-application",
        series < 1 ? "1000000" : ServerYaml.number(Math.floor(Math.min(series, MAX_SERIES))),
        limit.origin()
            + (series < 1
                ? ": no limit; a process has at most trace-etl.series.max"
                : ", there for each resource, here for each application and queue"));
    yaml.put(
        "series", "max-value-bytes", "65535", "the Collector does not truncate names and values");
  }

  private void histogram(Section section) {
    Report report = section.report();
    Value disable = section.take("disable");
    if (disable.flag(false)) {
      report.gap(
          disable,
          "is left out: series always have a histogram; drop it by metric_relabel_configs of"
              + " Prometheus");
    }
    Value unit = section.take("unit");
    String name = unit.text("ms");
    if (!name.equals("ms") && !name.equals("s")) {
      report.problem(unit, "must be ms or s");
    }
    Value explicit = section.take("explicit");
    Value exponential = section.take("exponential");
    if (exponential.node() != null) {
      exponential(exponential, explicit);
    }
    if (exponential.node() == null || explicit.present()) {
      Section buckets = explicit.section();
      Value bounds = buckets.take("buckets");
      List<Double> millis = new ArrayList<>();
      for (Value bound : bounds.list()) {
        millis.add(bound.duration(Duration.ZERO).toNanos() / 1e6);
      }
      Buckets.write(
          yaml,
          bounds,
          bounds.present() ? millis : StandardProfile.OTEL.histogram().boundsMillis());
      buckets.reportRest(Map.of(), UNKNOWN);
    }
    yaml.put("metrics", "profile", "otel", "names and labels of the span metrics connector");
    yaml.put("metrics", "unit", name.equals("s") ? "seconds" : "milliseconds", unit.origin());
    section.reportRest(Map.of(), UNKNOWN);
  }

  private void exponential(Value exponential, Value explicit) {
    Section section = exponential.section();
    Value size = section.take("max_size");
    boolean both = explicit.present();
    if (both) {
      exponential.report().gap(explicit, "is written too; the Collector refuses both together");
    }
    yaml.put("histogram", "kind", both ? "both" : "native", exponential.path());
    yaml.put(
        "histogram",
        "native-schema",
        String.valueOf(schema(size.number(160))),
        size.origin() + ": fits 20 powers of two into so many buckets");
    if (size.present()) {
      exponential
          .report()
          .gap(
              size,
              "becomes a fixed resolution, native-schema: the Collector reduces its resolution with"
                  + " the range of durations");
    }
    section.reportRest(Map.of(), UNKNOWN);
  }

  /** Returns the finest schema whose buckets over 20 powers of two are at most so many. */
  static int schema(double buckets) {
    int schema = -4;
    while (schema < 4 && Math.scalb(20.0, schema + 1) <= buckets) {
      schema++;
    }
    return schema;
  }

  private void namespace(Value value, String exporter) {
    String name = CollectorImport.namespace(exporter, value.text("traces.span.metrics"));
    if (name.isEmpty()) {
      value
          .report()
          .gap(
              value,
              "becomes the default traces_span_metrics: names of trace-etl have a start; rename"
                  + " them by metric_relabel_configs of Prometheus");
      return;
    }
    yaml.put(
        "metrics",
        "namespace",
        ServerYaml.text(name),
        value.origin() + (exporter == null ? "" : ", after the exporter's namespace"));
  }

  private static void exclusions(Value list) {
    Set<String> excluded = new HashSet<>();
    for (Value item : list.list()) {
      String name = item.text("");
      excluded.add(name);
      if (FIXED.containsKey(name)) {
        list.report()
            .gap(
                item,
                "is left out: series always have the label "
                    + FIXED.get(name)
                    + "; use sum without ("
                    + FIXED.get(name)
                    + ") in queries");
      } else if (!name.equals(INSTANCE)) {
        list.report().gap(item, "is left out: it is no default dimension of the connector");
      }
    }
    if (!excluded.contains(INSTANCE)) {
      list.report()
          .gapOfDefault(
              list.path(),
              "[]",
              "no series has the label collector_instance_id: the servers together have one series");
    }
  }

  private static void resources(Value list) {
    String effect =
        "is left out: all resources of an application share their series; to separate them, add an"
            + " attribute to trace-etl.series.dimensions, with from: resource";
    if (!list.present()) {
      list.report().gapOfDefault(list.path(), "all attributes", effect);
    }
    for (Value item : list.list()) {
      if (!item.text("").equals("service.name")) {
        list.report().gap(item, effect);
      }
    }
  }

  private static void exemplars(Section section) {
    Value enabled = section.take("enabled");
    if (enabled.present() && !enabled.flag(false)) {
      section
          .report()
          .gap(
              enabled,
              "is left out: pages in OpenMetrics and protobuf always have exemplars, which"
                  + " Prometheus ignores unless it stores exemplars");
    }
    Value most = section.take("max_per_data_point");
    if (most.present()) {
      section.report().gap(most, "is left out: a series has one exemplar per window");
    }
    section.reportRest(Map.of(), UNKNOWN);
  }
}
