package org.traceetl.server.migration;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig.From;
import org.traceetl.server.config.StandardProfile;

/**
 * Translates the connector {@code signal_to_metrics} as far as it counts spans and their durations.
 * The server has its own names of metrics, so each metric is reported with the one to query in its
 * place.
 */
final class SignalToMetricsConnector {
  /** A duration of the span as the Collector's expressions write it. */
  private static final Pattern DURATION =
      Pattern.compile(
          "(?:Int|Double)?\\(?(Seconds|Milliseconds|Microseconds|Nanoseconds)\\((?:span\\.)?end_time"
              + " - (?:span\\.)?start_time\\)\\)?");

  private static final Pattern COUNT =
      Pattern.compile("\"?1(\\.0)?\"?|(Int|Double)?\\(?AdjustedCount\\(\\)\\)?");

  private static final String CALLS = "_calls_total";

  private final ServerYaml yaml;
  private String namespace;

  /** Of the first histogram with classic buckets; null for none. */
  private List<Double> bounds;

  /** Of the first histogram with exponential buckets; null for none. */
  private Value resolution;

  SignalToMetricsConnector(ServerYaml yaml) {
    this.yaml = yaml;
  }

  /**
   * Translates the connector.
   *
   * @param exporterNamespace start of names that an exporter adds; null for none
   */
  void translate(Section section, String exporterNamespace) {
    Report report = section.report();
    namespace = CollectorImport.namespace(exporterNamespace, StandardProfile.OTEL.namespace());
    Value spans = section.take("spans");
    section.reportRest(
        Map.of(
            "datapoints", "is left out: trace-etl counts spans only; keep it in the Collector",
            "logs", "is left out: trace-etl counts spans only; keep it in the Collector",
            "profiles", "is left out: trace-etl counts spans only; keep it in the Collector",
            "error_mode", "is left out: trace-etl evaluates no expressions"),
        SpanMetricsConnector.UNKNOWN);
    yaml.put("metrics", "profile", "otel", "names of the span metrics connector");
    yaml.put("metrics", "namespace", ServerYaml.text(namespace), section.value().path());
    List<Section> metrics = spans.list().stream().map(Value::section).toList();
    if (metrics.isEmpty()) {
      report.problem(spans, "must have a metric of spans; trace-etl counts nothing else");
    }
    Dimensions dimensions = new Dimensions(report, StandardProfile.OTEL);
    metrics.forEach(metric -> translate(metric, dimensions));
    if (resolution != null) {
      yaml.put("histogram", "kind", bounds == null ? "native" : "both", resolution.origin());
      yaml.put(
          "histogram",
          "native-schema",
          String.valueOf(SpanMetricsConnector.schema(resolution.number(160))),
          resolution.origin() + ": fits 20 powers of two into so many buckets");
    }
    dimensions.write(yaml, spans.path() + ", attributes of all metrics");
    SpanMetricsConnector.keepSpanNames(yaml);
  }

  private void translate(Section metric, Dimensions dimensions) {
    Report report = metric.report();
    Value name = metric.take("name");
    Value sum = metric.take("sum");
    Value classic = metric.take("histogram");
    Value exponential = metric.take("exponential_histogram");
    String query = null;
    if (sum.present() && counts(sum.section().take("value"))) {
      query = namespace + CALLS;
    } else if (classic.present() && buckets(classic.section())) {
      query = namespace + "_duration_milliseconds";
    } else if (exponential.present() && exponential(exponential)) {
      query = namespace + "_duration_milliseconds";
    }
    if (query == null) {
      report.gap(
          name.present() ? name : metric.value(),
          "is left out: it is neither a count of spans nor a histogram of their durations");
      return;
    }
    List<String> labels = new ArrayList<>();
    List<String> required = new ArrayList<>();
    attributes(metric.take("attributes"), From.SPAN, dimensions, labels, required);
    attributes(metric.take("include_resource_attributes"), From.RESOURCE, dimensions, labels, null);
    report.gap(
        name.present() ? name : metric.value(),
        "has another name: query the sum"
            + (labels.isEmpty() ? "" : " by (" + String.join(", ", labels) + ")")
            + " of "
            + query
            + (required.isEmpty() ? "" : "{" + String.join(", ", required) + "}"));
    metric.take("description");
    metric.take("unit");
    metric.reportRest(
        Map.of(
            "conditions",
            "is left out: trace-etl counts all spans; select by labels in queries",
            "gauge",
            "is left out: trace-etl has no gauges of spans"),
        SpanMetricsConnector.UNKNOWN);
  }

  private static boolean counts(Value value) {
    return COUNT.matcher(value.text("")).matches();
  }

  /** Returns whether the histogram has the durations of spans. */
  private boolean buckets(Section histogram) {
    Value value = histogram.take("value");
    Matcher duration = DURATION.matcher(value.text(""));
    Value count = histogram.take("count");
    if (!duration.matches() || (count.present() && !counts(count))) {
      return false;
    }
    double millis =
        switch (duration.group(1)) {
          case "Seconds" -> 1e3;
          case "Milliseconds" -> 1;
          case "Microseconds" -> 1e-3;
          default -> 1e-6;
        };
    if (millis != 1) {
      histogram
          .report()
          .gap(value, "becomes milliseconds; another unit is trace-etl.metrics.unit: seconds");
    }
    Value buckets = histogram.take("buckets");
    List<Double> given = new ArrayList<>();
    if (buckets.present()) {
      buckets.list().forEach(bound -> given.add(bound.number(0) * millis));
    } else {
      StandardProfile.OTEL.histogram().boundsMillis().forEach(bound -> given.add(bound * millis));
    }
    if (bounds == null) {
      bounds = given;
      Buckets.write(yaml, buckets, given);
    } else if (!bounds.equals(given)) {
      histogram
          .report()
          .gap(
              buckets.present() ? buckets : value,
              "is left out: the bounds of the first histogram apply");
    }
    histogram.reportRest(Map.of(), SpanMetricsConnector.UNKNOWN);
    return true;
  }

  private boolean exponential(Value value) {
    Section section = value.section();
    Value duration = section.take("value");
    Value count = section.take("count");
    if (!DURATION.matcher(duration.text("")).matches() || (count.present() && !counts(count))) {
      return false;
    }
    Value size = section.take("max_size");
    if (resolution == null) {
      resolution = size;
    }
    section.reportRest(Map.of(), SpanMetricsConnector.UNKNOWN);
    return true;
  }

  private static void attributes(
      Value list, From from, Dimensions dimensions, List<String> labels, List<String> required) {
    for (Value item : list.list()) {
      Section attribute = item.section();
      Value key = attribute.take("key");
      Value standard = attribute.take("default_value");
      boolean optional = attribute.take("optional").flag(false);
      Value expression = attribute.take("keys_expression");
      if (expression.present()) {
        list.report().gap(expression, "is left out: trace-etl takes attributes by their key");
      } else if (key.text("").isEmpty()) {
        list.report().problem(item, "must have a key");
      } else {
        String label = MetricsConfig.underscored(key.text());
        if (!labels.contains(label)) {
          labels.add(label);
        }
        if (!key.text().equals("service.name")) {
          dimensions.addOnce(key, key.text(), from);
        }
        if (standard.present()) {
          list.report().gap(standard, "is left out: without the attribute the label is absent");
        } else if (!optional && required != null) {
          required.add(label + "!=\"\"");
        }
      }
      attribute.reportRest(Map.of(), SpanMetricsConnector.UNKNOWN);
    }
  }
}
