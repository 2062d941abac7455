package org.traceetl.server.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.traceetl.common.ConfigException.canonical;
import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.orElse;

import java.math.BigDecimal;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.traceetl.server.config.SeriesConfig.Dimension;

/**
 * A metric of spans by a name of its own: {@code trace-etl.measures[]}, at most {@value
 * #MAX_MEASURES}. Each matching span adds its value to one series. A missing value is its default.
 *
 * @param name name of the metric, such as {@code http.server.request.duration}; required. In
 *     Prometheus it has {@code _} for dots, and ends with the unit. Measures with equal names are
 *     one metric: their description, unit, type, value and bounds must be equal, their labels not
 * @param description text of the metric, at most 256 bytes; default the name
 * @param unit unit of the values, as in UCUM; durations: {@code s} or {@code ms}; default {@code s}
 *     for durations, {@code 1} otherwise
 * @param type {@code histogram} of the values, or {@code counter} of their sum; default {@code
 *     histogram} for durations, {@code counter} otherwise
 * @param value what a span adds: its {@code duration}, {@code one}, or {@code attribute}; default
 *     {@code attribute} if that key is set, else {@code duration}
 * @param attribute attribute of spans whose number is the value, with 6 decimals; required for
 *     {@code attribute} only. Spans without it do not match
 * @param kinds kinds of spans that match; default all
 * @param requires attributes that a span must have to match, at most 8
 * @param dimensions attributes that distinguish series, in addition to the application; at most 16;
 *     keys as in {@code series.dimensions}
 * @param labels labels with the same value in all series, at most 8
 * @param bounds inclusive upper bounds of a histogram's finite buckets, in the unit; 1 to 64
 *     ascending numbers above 0; default: those that OpenTelemetry recommends for durations
 */
public record MeasureConfig(
    String name,
    String description,
    String unit,
    Type type,
    Source value,
    String attribute,
    Set<SpanKind> kinds,
    List<String> requires,
    List<Dimension> dimensions,
    List<Constant> labels,
    List<Double> bounds) {
  /** Maximum number of measures of one application. */
  public static final int MAX_MEASURES = 16;

  /** Most bytes of a name or of the value of a label. */
  public static final int MAX_TEXT_BYTES = 128;

  /** Most bytes of a description. */
  public static final int MAX_DESCRIPTION_BYTES = 256;

  /** Most bytes of a unit. */
  public static final int MAX_UNIT_BYTES = 63;

  /** Parts of a unit in which values of attributes are added up: a millionth each. */
  public static final long PARTS = 1_000_000;

  private static final String KEY = "trace-etl.measures";
  private static final String PREFIX = KEY + ".";
  private static final int MAX_REQUIRES = 8;
  private static final int MAX_DIMENSIONS = 16;
  private static final int MAX_LABELS = 8;
  private static final int MAX_BOUNDS = 64;
  private static final Pattern NAME = Pattern.compile("[a-zA-Z][a-zA-Z0-9_]*(\\.[a-zA-Z0-9_]+)*");
  private static final Pattern UNIT = Pattern.compile("[!-:<-~]+");

  /** Those of {@code http.server.request.duration} in the semantic conventions. */
  private static final List<Double> SECONDS =
      List.of(0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0);

  /** Highest bound: 11 digits before the point, if parts were nanoseconds in milliseconds. */
  private static final long MAX_BOUND_PARTS = 99_999_999_999L * PARTS;

  private static final int MILLIS = 1_000;
  private static final int THOUSANDTHS = 3;

  /** Bytes of the form of a measure in its series, without unit, description and bounds. */
  private static final int FORM_BYTES = 64;

  /** Ends of the names of samples. */
  private static final List<String> SUFFIXES =
      List.of("_total", "_created", "_bucket", "_sum", "_count");

  /** Units of UCUM and of Prometheus, as its translation of OpenTelemetry's names has them. */
  private static final Map<String, String> UNITS =
      Map.ofEntries(
          Map.entry("d", "days"),
          Map.entry("h", "hours"),
          Map.entry("min", "minutes"),
          Map.entry("s", "seconds"),
          Map.entry("ms", "milliseconds"),
          Map.entry("us", "microseconds"),
          Map.entry("ns", "nanoseconds"),
          Map.entry("By", "bytes"),
          Map.entry("KiBy", "kibibytes"),
          Map.entry("MiBy", "mebibytes"),
          Map.entry("GiBy", "gibibytes"),
          Map.entry("TiBy", "tibibytes"),
          Map.entry("KBy", "kilobytes"),
          Map.entry("MBy", "megabytes"),
          Map.entry("GBy", "gigabytes"),
          Map.entry("TBy", "terabytes"));

  /** What a metric shows of the values. */
  public enum Type {
    /** How many values are in each bucket, and their sum. */
    HISTOGRAM,
    /** The sum of the values. */
    COUNTER
  }

  /** What a span adds. */
  public enum Source {
    /** The span's duration. */
    DURATION,
    /** 1. */
    ONE,
    /** The number in an attribute of the span. */
    ATTRIBUTE
  }

  /**
   * A label that has the same value in all series of a measure.
   *
   * @param label name of the label, with {@code _} for other characters than letters, digits and
   *     {@code _}, unless {@code metrics.names} is {@code utf-8}; required
   * @param value its value, 1 to 128 bytes; required
   */
  public record Constant(String label, String value) {
    public Constant {
      check(
          label != null && Dimension.isLabel(MetricsConfig.underscored(label)),
          PREFIX + "labels.label",
          label,
          "must be a label: no leading digit or __, not le");
      checkText(PREFIX + "labels.label", label, MAX_TEXT_BYTES);
      checkText(PREFIX + "labels.value", value, MAX_TEXT_BYTES);
    }
  }

  public MeasureConfig {
    check(
        name != null && NAME.matcher(name).matches(),
        PREFIX + "name",
        name,
        "must name a metric: letters, digits, _ and single dots, beginning with a letter");
    checkText(PREFIX + "name", name, MAX_TEXT_BYTES);
    description = orElse(description, name);
    checkText(PREFIX + "description", description, MAX_DESCRIPTION_BYTES);
    value = orElse(value, attribute == null ? Source.DURATION : Source.ATTRIBUTE);
    type = orElse(type, value == Source.DURATION ? Type.HISTOGRAM : Type.COUNTER);
    unit = orElse(unit, value == Source.DURATION ? "s" : "1");
    check(
        value == Source.ATTRIBUTE ? attribute != null : attribute == null,
        PREFIX + "attribute",
        attribute,
        value == Source.ATTRIBUTE
            ? "must name an attribute, whose number is the value of " + name
            : "must be absent, because value = " + canonical(value.name()));
    check(
        value == Source.DURATION
            ? unit.equals("s") || unit.equals("ms")
            : UNIT.matcher(unit).matches() && unit.length() <= MAX_UNIT_BYTES,
        PREFIX + "unit",
        unit,
        value == Source.DURATION
            ? "must be s or ms for durations"
            : "must be a unit as in UCUM, such as By, {token} or 1; at most "
                + MAX_UNIT_BYTES
                + " characters");
    kinds =
        kinds == null || kinds.isEmpty()
            ? Set.of()
            : Collections.unmodifiableSet(EnumSet.copyOf(kinds));
    requires = List.copyOf(orElse(requires, List.of()));
    checkSize("requires", requires, MAX_REQUIRES);
    requires.forEach(key -> checkText(PREFIX + "requires", key, MAX_DESCRIPTION_BYTES));
    if (attribute != null) {
      checkText(PREFIX + "attribute", attribute, MAX_DESCRIPTION_BYTES);
    }
    dimensions = List.copyOf(orElse(dimensions, List.of()));
    checkSize("dimensions", dimensions, MAX_DIMENSIONS);
    labels = List.copyOf(orElse(labels, List.of()));
    checkSize("labels", labels, MAX_LABELS);
    checkLabels(dimensions, labels);
    check(
        type == Type.HISTOGRAM || bounds == null || bounds.isEmpty(),
        PREFIX + "bounds",
        bounds,
        "must be absent, because type = counter");
    bounds = List.copyOf(orElse(bounds, standardBounds(type, value, unit)));
    check(
        type == Type.COUNTER || !bounds.isEmpty() && bounds.size() <= MAX_BOUNDS,
        PREFIX + "bounds",
        bounds.isEmpty() ? null : bounds.size() + " of them",
        "must be 1 to " + MAX_BOUNDS + " numbers for a histogram");
    checkBounds(bounds, parts(value, unit));
  }

  private static List<Double> standardBounds(Type type, Source value, String unit) {
    if (type == Type.COUNTER || value != Source.DURATION) {
      return List.of();
    }
    return unit.equals("s") ? SECONDS : SECONDS.stream().map(bound -> bound * MILLIS).toList();
  }

  private static void checkText(String key, String text, int maxBytes) {
    check(
        text != null && !text.isEmpty() && text.getBytes(UTF_8).length <= maxBytes,
        key,
        text,
        "must have 1 to " + maxBytes + " bytes of UTF-8");
  }

  private static void checkSize(String key, List<?> list, int max) {
    check(list.size() <= max, PREFIX + key, list.size() + " of them", "must be at most " + max);
  }

  private static void checkLabels(List<Dimension> dimensions, List<Constant> labels) {
    Set<String> taken = new HashSet<>();
    for (Dimension dimension : dimensions) {
      check(
          dimension.from().readsSpan() || dimension.from().readsResource(),
          PREFIX + "dimensions.from",
          canonical(dimension.from().name()),
          "must be span, resource or any");
      checkText(PREFIX + "dimensions.label", dimension.utf8Label(), MAX_DESCRIPTION_BYTES);
      checkLabel("dimensions.label", dimension.label(), taken);
    }
    labels.forEach(
        each -> checkLabel("labels.label", MetricsConfig.underscored(each.label()), taken));
  }

  private static void checkLabel(String key, String label, Set<String> taken) {
    check(
        !label.equals(MetricsConfig.OVERFLOW_LABEL)
            && !label.equals(MetricsConfig.QUEUE_LABEL)
            && !label.equals(MetricsConfig.FORM_LABEL),
        PREFIX + key,
        label,
        "is a label that this server adds itself");
    check(taken.add(label), PREFIX + key, label, "must not occur twice in a measure");
  }

  private static void checkBounds(List<Double> bounds, long parts) {
    long previous = 0;
    for (double bound : bounds) {
      long inParts = Double.isFinite(bound) ? inParts(bound, parts) : 0;
      check(
          inParts > previous && inParts <= MAX_BOUND_PARTS,
          PREFIX + "bounds",
          bounds,
          "must be ascending, above 0, distinct in 6 decimals, and at most 99999999999, or 99999999 s");
      previous = inParts;
    }
  }

  private static long inParts(double bound, long parts) {
    return BigDecimal.valueOf(bound)
        .multiply(BigDecimal.valueOf(parts))
        .min(BigDecimal.valueOf(Long.MAX_VALUE - 1))
        .longValue();
  }

  private static long parts(Source value, String unit) {
    return value == Source.DURATION && unit.equals("s")
        ? MetricsConfig.Unit.SECONDS.nanos()
        : PARTS;
  }

  /**
   * Returns in how many parts a unit is counted: durations are added up in nanoseconds, other
   * values in parts of {@value #PARTS}.
   */
  public long parts() {
    return parts(value, unit);
  }

  /** Returns the bounds in {@link #parts}. */
  public long[] boundsInParts() {
    return bounds.stream().mapToLong(bound -> inParts(bound, parts())).toArray();
  }

  /** Returns whether a span's kind, as in OTLP, matches. */
  public boolean hasKind(int kind) {
    return kinds.isEmpty() || kinds.contains(SpanKind.values()[kind]);
  }

  /** Returns the attributes of spans that decide about their series and values. */
  public Set<String> attributes() {
    Set<String> attributes = new HashSet<>(requires);
    if (attribute != null) {
      attributes.add(attribute);
    }
    for (Dimension dimension : dimensions) {
      if (dimension.from().readsSpan()) {
        attributes.add(dimension.attribute());
      }
    }
    return attributes;
  }

  /** Returns whether both are series of one metric. */
  private boolean isSameMetric(MeasureConfig other) {
    return description.equals(other.description)
        && unit.equals(other.unit)
        && type == other.type
        && value == other.value
        && bounds.equals(other.bounds);
  }

  /**
   * Checks the measures of one application.
   *
   * @param namespace begin of the names of the profile's metrics
   * @param ofAll labels of the profile's series
   * @param maxValueBytes maximum bytes of a name or value in a series
   * @throws org.traceetl.common.ConfigException if they exclude each other, or are too many
   */
  public static void checkAll(
      List<MeasureConfig> measures, String namespace, List<String> ofAll, int maxValueBytes) {
    check(
        measures.size() <= MAX_MEASURES,
        KEY,
        measures.size() + " of them",
        "must be at most " + MAX_MEASURES);
    Map<String, MeasureConfig> byName = new HashMap<>();
    Map<String, MeasureConfig> inPrometheus = new HashMap<>();
    for (int i = 0; i < measures.size(); i++) {
      MeasureConfig measure = measures.get(i);
      String item = KEY + "[" + i + "].";
      String key = prometheusName(measure.name, measure.unit);
      MeasureConfig first = inPrometheus.putIfAbsent(key, measure);
      MeasureConfig same = byName.putIfAbsent(measure.name, measure);
      check(
          (first == null || first.name.equals(measure.name))
              && (same == null || same.isSameMetric(measure)),
          item + "name",
          measure.name,
          "must be another name, also in Prometheus, or have the description, unit, type, value and"
              + " bounds of the measure with the same name");
      check(
          isName(measure.name, namespace) && isName(key, namespace),
          item + "name",
          measure.name,
          "must not begin like the metrics of this server, with "
              + namespace
              + "_, traces_service_graph_ or trace_etl_, nor end like samples, also with its unit, with"
              + " one of "
              + String.join(", ", SUFFIXES));
      check(
          measure.longestText() <= maxValueBytes,
          item + "name",
          measure.name,
          "must have a description and bounds of at most "
              + maxValueBytes
              + " bytes, as series.max-value-bytes says");
      for (Dimension dimension : measure.dimensions) {
        checkNotOfAll(item + "dimensions.label", dimension.label(), ofAll);
      }
      for (Constant label : measure.labels) {
        checkNotOfAll(item + "labels.label", MetricsConfig.underscored(label.label), ofAll);
      }
    }
  }

  /**
   * Checks that rows of series have room for the buckets of measures.
   *
   * @param key of the measures, for messages
   * @param histogram that of the configuration, of which rows have the buckets
   * @throws org.traceetl.common.ConfigException if a measure has more
   */
  public static void checkBounds(
      String key, List<MeasureConfig> measures, HistogramConfig histogram) {
    int most = histogram.boundsNanos().length;
    for (int i = 0; i < measures.size(); i++) {
      int bounds = measures.get(i).bounds.size();
      check(
          bounds <= most,
          key + "[" + i + "].bounds",
          bounds + " of them",
          "must be at most " + most + ", as many as histogram.bounds-millis has");
    }
  }

  /** Returns what is equal in all measures of one metric. */
  public Object metric() {
    return List.of(name, description, unit, type, value == Source.DURATION, bounds);
  }

  /** Returns whether a measure may have a name, where the server's metrics have a namespace. */
  public static boolean isName(String name, String namespace) {
    String plain = MetricsConfig.underscored(name);
    return NAME.matcher(name).matches()
        && name.getBytes(UTF_8).length <= MAX_TEXT_BYTES
        && !plain.startsWith(namespace + "_")
        && !plain.startsWith("traces_service_graph_")
        && !plain.startsWith("trace_etl_")
        && !plain.startsWith("traces_target_info")
        && SUFFIXES.stream().noneMatch(plain::endsWith);
  }

  /**
   * Returns the name of a metric in Prometheus, without the suffixes of samples: {@code
   * http_server_request_duration_seconds}.
   */
  public static String prometheusName(String name, String unit) {
    String plain = MetricsConfig.underscored(name);
    String suffix = prometheusUnit(unit);
    return suffix == null || plain.endsWith("_" + suffix) ? plain : plain + "_" + suffix;
  }

  /** Returns the unit with which the name of a metric ends in Prometheus; null for none. */
  public static String prometheusUnit(String unit) {
    return UNITS.getOrDefault(unit, unit.matches("[a-zA-Z]+") ? unit : null);
  }

  /** Returns at least the bytes of the longest text that its series have. */
  private int longestText() {
    return Math.max(
        MAX_TEXT_BYTES,
        FORM_BYTES
            + unit.length()
            + description.getBytes(UTF_8).length
            + bounds.stream().mapToInt(bound -> boundText(bound).length() + 1).sum());
  }

  /** Returns a bound in thousandths, which are longer than the bound in seconds. */
  private static String boundText(double bound) {
    return BigDecimal.valueOf(bound).movePointRight(THOUSANDTHS).toPlainString();
  }

  private static void checkNotOfAll(String key, String label, List<String> ofAll) {
    check(!ofAll.contains(label), key, label, "is a label of every series");
  }
}
