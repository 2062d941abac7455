package org.traceetl.server.migration;

import static java.util.Map.entry;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.traceetl.server.config.SeriesConfig.From;
import org.traceetl.server.config.StandardProfile;

/**
 * Translates the metrics generator of Grafana Tempo: {@code metrics_generator}, and {@code
 * overrides.defaults.metrics_generator}, whose keys apply instead of the same keys of the former.
 */
final class TempoImport {
  private static final String GENERATOR = "metrics_generator";
  private static final String LEGACY = "metrics_generator_";
  private static final double MAX_SERIES = 10_000_000;
  private static final int MAX_VALUE_BYTES = 65_535;
  private static final String INSIDE = "is left out: it sets how Tempo works inside; nothing to do";
  private static final String NO_GRAPH =
      "is left out: trace-etl has no service graph; keep this processor in Tempo";
  private static final String LABELS_OF_STORE =
      "is left out: add the labels in Prometheus' scrape_configs, or for pushed series in"
          + " trace-etl.push.labels";

  /** What happens with keys of {@code metrics_generator} and its sections. */
  private static final Map<String, String> EFFECTS =
      Map.ofEntries(
          entry("ring", INSIDE),
          entry("override_ring_key", INSIDE),
          entry("ring_mode", INSIDE),
          entry("ring_size", INSIDE),
          entry("codec", INSIDE),
          entry("ingest_concurrency", INSIDE),
          entry("instance_id", INSIDE),
          entry("leave_consumer_group_on_shutdown", INSIDE),
          entry("skip_stale_backlog_on_startup", INSIDE),
          entry("forwarder", INSIDE),
          entry("traces_storage", "is left out: trace-etl stores no traces; keep it in Tempo"),
          entry("query_timeout", "is left out: trace-etl stores no traces; keep it in Tempo"),
          entry(
              "storage",
              "is left out, so that no store gets the spans twice: scrape /metrics of the servers,"
                  + " or set trace-etl.push.endpoints"),
          entry(
              "remote_write_headers",
              "is left out: set headers of an endpoint in trace-etl.push.endpoints"),
          entry("limiter_type", "is left out: trace-etl limits series"),
          entry(
              "max_active_entities",
              "is left out: trace-etl limits series, by trace-etl.series.max"),
          entry(
              "max_cardinality_per_label",
              "is left out: trace-etl limits series, not the values of a label"),
          entry("host_info", "is left out: trace-etl has no metric of hosts"),
          entry("service_graphs", NO_GRAPH),
          entry("local_blocks", "is left out: trace-etl stores no traces; keep it in Tempo"),
          entry("external_labels", LABELS_OF_STORE),
          entry("inject_tenant_id_as", "is left out: trace-etl has no tenants"),
          entry("max_label_name_length", "is left out: labels have their whole name"),
          entry(
              "native_histogram_max_bucket_number",
              "is left out: a series has at most 512 native buckets"),
          entry(
              "native_histogram_min_reset_duration",
              "is left out: native histograms of trace-etl keep their resolution"),
          entry(
              "span_multiplier_key",
              "is left out: a span counts as one, or as many as ot=th in its tracestate says"),
          entry(
              "target_info_excluded_dimensions",
              "is left out: trace-etl.metrics.target-info lists the attributes to include"),
          entry("enable_instance_label", "is left out: series have no label instance"));

  private final Report report;
  private final ServerYaml yaml = new ServerYaml();

  TempoImport(Report report) {
    this.report = report;
  }

  ServerYaml translate(Section root) {
    Value generatorValue = root.take(GENERATOR);
    Section overrides = root.take("overrides").section();
    Value overrideValue = overrides.take("defaults").section().take(GENERATOR);
    boolean legacy = false;
    for (Map.Entry<String, Value> other : overrides.rest().entrySet()) {
      if (other.getKey().startsWith(LEGACY) && !legacy) {
        legacy = true;
        report.problem(
            other.getValue(),
            "has the old form; convert the file first by tempo-cli migrate overrides-config");
      } else if (other.getKey().equals("per_tenant_override_config")) {
        report.gap(
            other.getValue(),
            "is not read: trace-etl has no tenants; import that file's settings by hand");
      }
    }
    if (!generatorValue.present() && !overrideValue.present() && !legacy) {
      report.problem(generatorValue, "must be present, or overrides.defaults.metrics_generator");
    }
    report.throwIfAnyProblem();
    yaml.head("Translated from Tempo's metrics generator.");
    yaml.head("Add what is yours, such as trace-etl.rocketmq.name-server and trace-etl.index.");
    generator(generatorValue.section(), overrideValue.section());
    return yaml;
  }

  private void generator(Section generator, Section overrides) {
    Section registry = generator.take("registry").section();
    Section processors = generator.take("processor").section();
    Section overridden = overrides.take("processor").section();
    Value enabled = overrides.take("processors");
    boolean sizes = processors(enabled);
    registry(registry, overrides);
    spanMetrics(
        processors.take("span_metrics").section(), overridden.take("span_metrics").section());
    if (sizes) {
      yaml.put("metrics", "size", "true", enabled.origin());
    }
    limits(overrides.take("max_active_series"), registry.take("max_label_value_length"));
    nativeHistograms(overrides);
    names(overrides.take("span_name_sanitization"));
    traceIdLabel(overrides.take("trace_id_label_name"));
    slack(
        either(
            overrides.take("ingestion_time_range_slack"),
            generator.take("metrics_ingestion_time_range_slack")));
    Value disabled = overrides.take("disable_collection");
    if (disabled.flag(false)) {
      report.gap(disabled, "is left out: trace-etl always counts; do not start its servers");
    }
    List.of(registry, processors, overridden, generator, overrides)
        .forEach(section -> section.reportRest(EFFECTS, SpanMetricsConnector.UNKNOWN));
  }

  /** Returns the value that applies: the override if it is present. */
  private Value either(Value override, Value base) {
    if (override.present() && base.present()) {
      report.gap(base, "does not apply: " + override.path() + " does");
    }
    return override.present() ? override : base;
  }

  /** Returns whether the enabled processors count the sizes of spans. */
  private boolean processors(Value list) {
    boolean spanMetrics = false;
    boolean histograms = false;
    boolean sizes = false;
    for (Value item : list.list()) {
      switch (item.text("")) {
        case "span-metrics" -> {
          spanMetrics = true;
          histograms = true;
          sizes = true;
        }
        case "span-metrics-count" -> spanMetrics = true;
        case "span-metrics-latency" -> {
          spanMetrics = true;
          histograms = true;
        }
        case "span-metrics-size" -> {
          spanMetrics = true;
          sizes = true;
        }
        case "service-graphs",
            "service-graphs-request",
            "service-graphs-latency",
            "service-graphs-connection-info" ->
            report.gap(item, NO_GRAPH);
        case "local-blocks" ->
            report.gap(item, "is left out: trace-etl stores no traces; keep it in Tempo");
        case "host-info" -> report.gap(item, "is left out: trace-etl has no metric of hosts");
        default -> report.gap(item, SpanMetricsConnector.UNKNOWN);
      }
    }
    if (!spanMetrics) {
      String effect = "the processor span-metrics is not enabled here; the output is as if it were";
      if (list.present()) {
        report.gap(list, effect);
      } else {
        report.gapOfDefault(list.path(), "none", effect);
      }
    } else if (!histograms) {
      report.gap(
          list,
          "leaves histograms out: series of trace-etl always have one; drop it by"
              + " metric_relabel_configs of Prometheus");
    }
    return sizes;
  }

  private void registry(Section registry, Section overrides) {
    Value interval =
        either(overrides.take("collection_interval"), registry.take("collection_interval"));
    Value stale = registry.take("stale_duration");
    Duration idle = stale.duration(Duration.ofMinutes(15));
    Durations.write(
        yaml,
        interval,
        interval.duration(Duration.ofSeconds(15)),
        stale,
        idle.isZero() ? Duration.ofMillis(1) : idle);
  }

  private void spanMetrics(Section base, Section overridden) {
    Dimensions dimensions = new Dimensions(report, StandardProfile.TEMPO);
    Value names = either(overridden.take("dimensions"), base.take("dimensions"));
    List<Value> attributes = names.list();
    for (Value attribute : attributes) {
      if (attribute.text("").isEmpty()) {
        report.problem(attribute, "must name an attribute");
      } else {
        dimensions.add(attribute, attribute.text(), null, From.ANY);
      }
    }
    Value mappings = either(overridden.take("dimension_mappings"), base.take("dimension_mappings"));
    mappings.list().forEach(mapping -> mapping(mapping.section(), dimensions));
    if (!attributes.isEmpty()) {
      report.gap(
          names,
          "takes an attribute from the resource first, trace-etl from the span first; if both have"
              + " it, add from: resource in trace-etl.series.dimensions");
    }
    dimensions.write(yaml, names.path() + " and dimension_mappings");
    Value policies = either(overridden.take("filter_policies"), base.take("filter_policies"));
    yaml.putAll(
        "series", "filters", new FilterPolicies(report).translate(policies), policies.path());
    Value buckets = either(overridden.take("histogram_buckets"), base.take("histogram_buckets"));
    List<Double> millis = new ArrayList<>();
    buckets.list().forEach(bound -> millis.add(millis(bound.number(0))));
    Buckets.write(
        yaml,
        buckets,
        buckets.present() ? millis : StandardProfile.TEMPO.histogram().boundsMillis());
    intrinsic(base.take("intrinsic_dimensions").section());
    intrinsic(overridden.take("intrinsic_dimensions").section());
    targetInfo(base, overridden);
    Value multiplier =
        either(
            overridden.take("enable_tracestate_span_multiplier"),
            base.take("enable_tracestate_span_multiplier"));
    if (!multiplier.flag(false)) {
      report.gapOfDefault(
          multiplier.path(),
          "false",
          "a span with ot=th in its tracestate counts as many as it represents, as with true");
    }
    yaml.put("metrics", "profile", "tempo", "names and labels of Tempo's span metrics");
    for (Section section : List.of(base, overridden)) {
      section.reportRest(EFFECTS, SpanMetricsConnector.UNKNOWN);
    }
  }

  /** Rounds away what the conversion from seconds adds in binary fractions. */
  private static double millis(double seconds) {
    return Math.round(seconds * 1e9) / 1e6;
  }

  private void mapping(Section mapping, Dimensions dimensions) {
    Value name = mapping.take("name");
    Value sources = mapping.take("source_labels");
    Value join = mapping.take("join");
    List<Value> attributes = sources.list();
    if (name.text("").isEmpty()
        || attributes.isEmpty()
        || attributes.getFirst().text("").isEmpty()) {
      report.problem(mapping.value(), "must have name and source_labels");
    } else if (attributes.size() > 1) {
      report.gap(
          sources,
          "is left out: a label of trace-etl has one attribute; add each one to"
              + " trace-etl.series.dimensions, and join them in queries by label_join"
              + (join.present() ? " with '" + join.shown() + "'" : ""));
    } else {
      String label = name.text().replaceAll("[^a-zA-Z0-9_]", "_");
      dimensions.add(name, attributes.getFirst().text(), label, From.ANY);
    }
    mapping.reportRest(Map.of(), SpanMetricsConnector.UNKNOWN);
  }

  private void intrinsic(Section intrinsic) {
    for (String label : List.of("service", "span_name", "span_kind", "status_code")) {
      Value value = intrinsic.take(label);
      if (!value.flag(true)) {
        report.gap(
            value,
            "is left out: series always have the label "
                + label
                + "; use sum without ("
                + label
                + ") in queries");
      }
    }
    Value message = intrinsic.take("status_message");
    if (message.flag(false)) {
      report.gap(
          message, "is left out: messages of spans are in documents, which /api/traces finds");
    }
    intrinsic.reportRest(Map.of(), SpanMetricsConnector.UNKNOWN);
  }

  private void targetInfo(Section base, Section overridden) {
    Value enabled = either(overridden.take("enable_target_info"), base.take("enable_target_info"));
    for (Section section : List.of(base, overridden)) {
      Value instance = section.take("enable_instance_label");
      if (enabled.flag(false) && instance.flag(false)) {
        report.gap(instance, EFFECTS.get("enable_instance_label"));
      }
    }
    if (enabled.flag(false)) {
      report.gap(
          enabled,
          "is left out: list the attributes of resources in trace-etl.metrics.target-info; series"
              + " have no labels job and instance of the resource");
    }
  }

  private void limits(Value series, Value valueLength) {
    double most = series.number(0);
    String limit = most < 1 ? "1000000" : ServerYaml.number(Math.floor(Math.min(most, MAX_SERIES)));
    String origin = series.origin() + (most < 1 ? ": no limit" : ", in each process");
    yaml.put("series", "max", limit, origin);
    yaml.put("series", "max-per-application", limit, "Tempo has no limit for a service");
    double length = valueLength.number(2_048);
    double bytes = Math.floor(Math.clamp(length, 1, MAX_VALUE_BYTES));
    yaml.put("series", "max-value-bytes", ServerYaml.number(bytes), valueLength.origin());
  }

  private void nativeHistograms(Section overrides) {
    Value kind = overrides.take("generate_native_histograms");
    String name = kind.text("classic");
    if (!List.of("classic", "native", "both").contains(name)) {
      report.problem(kind, "must be classic, native or both");
      return;
    }
    yaml.put("histogram", "kind", name, kind.origin());
    Value factor = overrides.take("native_histogram_bucket_factor");
    double growth = factor.number(1.1);
    if (name.equals("classic")) {
      return;
    }
    if (growth <= 1) {
      report.problem(factor, "must be above 1");
      return;
    }
    double log = Math.log(growth) / Math.log(2);
    int schema = (int) Math.clamp(Math.ceil(-Math.log(log) / Math.log(2)), -4, 8);
    yaml.put("histogram", "native-schema", String.valueOf(schema), factor.origin());
  }

  private void names(Value sanitization) {
    boolean enabled = sanitization.text("").equals("enabled");
    yaml.put(
        "series",
        "templates",
        "{enabled: " + enabled + "}",
        sanitization.origin() + ": whether identifiers in span names are replaced");
    if (enabled) {
      report.gap(
          sanitization, "becomes trace-etl's own rules, so names can differ from those of Tempo");
    }
  }

  private void traceIdLabel(Value label) {
    String effect =
        "exemplars have the label trace_id; set it in exemplarTraceIdDestinations of Grafana's data"
            + " source";
    if (!label.present()) {
      report.gapOfDefault(label.path(), "traceID", effect);
    } else if (!label.text("").equals("trace_id")) {
      report.gap(label, effect);
    }
  }

  private void slack(Value slack) {
    String effect = "is left out: trace-etl counts spans of any age";
    if (slack.present()) {
      report.gap(slack, effect);
    } else {
      report.gapOfDefault(slack.path(), "30s", effect);
    }
  }
}
