package org.traceetl.server.migration;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.SeriesConfig.From;
import org.traceetl.server.config.StandardProfile;

/**
 * Translates the connector {@code signal_to_metrics} as far as it counts spans, their durations and
 * numbers in their attributes: its metrics become measures of the same names. An exponential
 * histogram becomes the server's own histogram of durations, since measures have classic buckets.
 */
final class SignalToMetricsConnector {
  /** A duration of the span as the Collector's expressions write it. */
  private static final Pattern DURATION =
      Pattern.compile(
          "(?:Int|Double)?\\(?(Seconds|Milliseconds|Microseconds|Nanoseconds)\\((?:span\\.)?end_time"
              + " - (?:span\\.)?start_time\\)\\)?");

  private static final Pattern COUNT =
      Pattern.compile("\"?1(\\.0)?\"?|(Int|Double)?\\(?AdjustedCount\\(\\)\\)?");

  /** The value of an attribute as the Collector's expressions write it. */
  private static final Pattern ATTRIBUTE =
      Pattern.compile("(?:Int|Double)?\\(?(?:span\\.)?attributes\\[\"([^\"\\\\]+)\"\\]\\)?");

  private static final Pattern KIND =
      Pattern.compile(
          "(?:span\\.)?kind == (?:SPAN_KIND_(UNSPECIFIED|INTERNAL|SERVER|CLIENT|PRODUCER|CONSUMER))");

  private static final Pattern PRESENT =
      Pattern.compile("(?:span\\.)?attributes\\[\"([^\"\\\\]+)\"\\] != nil");

  private static final String LEFT_OUT =
      "is left out: it is neither a count of spans, nor a sum or histogram of their durations or of"
          + " an attribute";

  private static final int MAX_REQUIRES = 8;
  private static final int MAX_DIMENSIONS = 16;

  /** Finite buckets of series by default. */
  private static final int MAX_BOUNDS = StandardProfile.OTEL.histogram().boundsMillis().size();

  private static final double MICROSECONDS = 1e-3;
  private static final double NANOSECONDS = 1e-6;

  private final ServerYaml yaml;
  private String namespace;
  private final List<Map<String, String>> measures = new ArrayList<>();

  /** Bounds of the current metric; 0 for a counter. */
  private int bounds;

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
    metrics.forEach(metric -> addMeasure(metric, exporterNamespace));
    if (resolution != null) {
      yaml.put("histogram", "kind", "both", resolution.origin());
      yaml.put(
          "histogram",
          "native-schema",
          String.valueOf(SpanMetricsConnector.schema(resolution.number(160))),
          resolution.origin() + ": fits 20 powers of two into so many buckets");
    }
    yaml.putList("measures", measures, spans.path());
    SpanMetricsConnector.keepSpanNames(yaml);
  }

  private void addMeasure(Section metric, String exporterNamespace) {
    Report report = metric.report();
    Value name = metric.take("name");
    Value description = metric.take("description");
    Value unit = metric.take("unit");
    Value sum = metric.take("sum");
    Value classic = metric.take("histogram");
    Value exponential = metric.take("exponential_histogram");
    Value shown = name.present() ? name : metric.value();
    Map<String, String> measure = new LinkedHashMap<>();
    String full =
        (exporterNamespace == null ? "" : exporterNamespace + "_")
            + name.text("").replaceAll("[^a-zA-Z0-9_.]+", "_");
    measure.put("name", ServerYaml.text(full));
    if (description.present()) {
      measure.put("description", ServerYaml.text(description.text()));
    }
    if (exponential.present() && exponential(exponential)) {
      report.gap(
          shown,
          "becomes the server's own native histogram "
              + namespace
              + "_duration_milliseconds: measures have classic buckets only");
      metric.take("attributes");
      metric.take("include_resource_attributes");
      metric.take("conditions");
      return;
    }
    bounds = 0;
    boolean isMeasure =
        sum.present() && value(sum.section(), unit, "counter", measure)
            || classic.present() && value(classic.section(), unit, "histogram", measure);
    if (!isMeasure) {
      report.gap(shown, LEFT_OUT);
      return;
    }
    Set<String> required = new LinkedHashSet<>();
    List<String> dimensions = new ArrayList<>();
    attributes(metric.take("attributes"), From.SPAN, dimensions, required);
    attributes(metric.take("include_resource_attributes"), From.RESOURCE, dimensions, null);
    conditions(metric.take("conditions"), measure, required);
    metric.reportRest(
        Map.of("gauge", "is left out: trace-etl has no gauges of spans"),
        SpanMetricsConnector.UNKNOWN);
    if (!MeasureConfig.isName(full, namespace)) {
      report.gap(shown, "is left out: a measure cannot have the name " + full);
      return;
    }
    if (bounds > MAX_BOUNDS) {
      report.gap(
          shown,
          "is left out: its buckets are more than those of trace-etl.histogram.bounds-millis");
      return;
    }
    if (required.size() > MAX_REQUIRES || dimensions.size() > MAX_DIMENSIONS) {
      report.gap(
          shown,
          "is left out: a measure has at most "
              + MAX_REQUIRES
              + " required attributes and "
              + MAX_DIMENSIONS
              + " dimensions");
      return;
    }
    if (!required.isEmpty()) {
      measure.put("requires", ServerYaml.texts(List.copyOf(required)));
    }
    if (!dimensions.isEmpty()) {
      measure.put("dimensions", "[" + String.join(", ", dimensions) + "]");
    }
    if (measures.size() == MeasureConfig.MAX_MEASURES) {
      report.gap(
          shown, "is left out: trace-etl.measures has at most " + MeasureConfig.MAX_MEASURES);
      return;
    }
    measures.add(measure);
  }

  private static boolean counts(Value value) {
    return COUNT.matcher(value.text("")).matches();
  }

  /** Adds type, unit, value and bounds; returns whether a measure can have the value. */
  private boolean value(Section of, Value unit, String type, Map<String, String> measure) {
    Value value = of.take("value");
    String text = value.text("");
    Value count = of.take("count");
    Value buckets = of.take("buckets");
    of.take("monotonic");
    if (count.present() && !counts(count)) {
      return false;
    }
    Matcher duration = DURATION.matcher(text);
    Matcher attribute = ATTRIBUTE.matcher(text);
    double factor = 1;
    measure.put("type", type);
    if (duration.matches()) {
      boolean seconds = duration.group(1).equals("Seconds");
      measure.put("unit", seconds ? "s" : "ms");
      measure.put("value", "duration");
      if (!seconds && !duration.group(1).equals("Milliseconds")) {
        factor = duration.group(1).equals("Microseconds") ? MICROSECONDS : NANOSECONDS;
        of.report().gap(value, "becomes milliseconds");
      }
    } else if (attribute.matches()) {
      putUnit(unit, measure);
      measure.put("attribute", ServerYaml.text(attribute.group(1)));
    } else if (counts(value) && type.equals("counter")) {
      putUnit(unit, measure);
      measure.put("value", "one");
    } else {
      return false;
    }
    if (type.equals("histogram")) {
      List<Double> given = new ArrayList<>();
      if (buckets.present()) {
        buckets.list().forEach(bound -> given.add(bound.number(0)));
      } else {
        given.addAll(StandardProfile.OTEL.histogram().boundsMillis());
      }
      bounds = given.size();
      double scale = factor;
      measure.put(
          "bounds",
          given.stream()
              .map(bound -> ServerYaml.number(bound * scale))
              .collect(Collectors.joining(", ", "[", "]")));
    }
    of.reportRest(Map.of(), SpanMetricsConnector.UNKNOWN);
    return true;
  }

  private static void putUnit(Value unit, Map<String, String> measure) {
    if (unit.present()) {
      measure.put("unit", ServerYaml.text(unit.text()));
    }
  }

  /** The Collector counts a span if any of the conditions holds. */
  private static void conditions(
      Value conditions, Map<String, String> measure, Set<String> required) {
    List<String> texts = conditions.list().stream().map(condition -> condition.text("")).toList();
    if (texts.isEmpty()) {
      return;
    }
    List<Matcher> kinds = texts.stream().map(KIND::matcher).filter(Matcher::matches).toList();
    Matcher present = PRESENT.matcher(texts.getFirst());
    if (kinds.size() == texts.size()) {
      measure.put(
          "kinds",
          kinds.stream()
              .map(kind -> kind.group(1).toLowerCase(Locale.ROOT))
              .distinct()
              .collect(Collectors.joining(", ", "[", "]")));
    } else if (texts.size() == 1 && present.matches()) {
      required.add(present.group(1));
    } else {
      conditions
          .report()
          .gap(
              conditions,
              "is left out: a measure selects spans by kinds, and by attributes that they have;"
                  + " select by labels in queries");
    }
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
      Value list, From from, List<String> dimensions, Set<String> required) {
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
      } else if (!key.text().equals("service.name")) {
        dimensions.add(
            "{attribute: "
                + ServerYaml.text(key.text())
                + ", from: "
                + from.name().toLowerCase(Locale.ROOT)
                + "}");
        if (standard.present()) {
          list.report().gap(standard, "is left out: without the attribute the label is absent");
        } else if (!optional && required != null) {
          required.add(key.text());
        }
      }
      attribute.reportRest(Map.of(), SpanMetricsConnector.UNKNOWN);
    }
  }
}
