package org.traceetl.server.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.checkRange;
import static org.traceetl.common.ConfigException.orElse;

import java.util.Collections;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The dimensions and limits of series: {@code trace-etl.series}. A missing value is its default.
 *
 * @param dimensions attributes that distinguish series, in addition to application, span name, kind
 *     and status; at most 32
 * @param filters spans that match all three keys of a filter count as filtered
 * @param max series in this process, with variances; 1 to 10000000. Above any limit, spans count in
 *     the overflow series of their application. Overflow series, variances of series that have a
 *     place, up to 1,536 replaced series per queue, and for 5 minutes after a change of rules up to
 *     {@code max-per-application} more and their variances come on top
 * @param maxPerApplication series of one application on one queue, without variances; 1 to 10000000
 * @param maxApplications applications on one queue; further ones share the application {@code
 *     _other}; 1 to 1000000
 * @param maxSymbols distinct strings of the series of one queue; 1 to 10000000
 * @param maxSymbolBytes bytes of these strings; 1 to 4 GiB
 * @param maxValueBytes longer names and values are truncated between characters; 1 to 65535
 * @param templates what becomes of span names with identifiers in them
 */
public record SeriesConfig(
    List<Dimension> dimensions,
    List<Filter> filters,
    Integer max,
    Integer maxPerApplication,
    Integer maxApplications,
    Integer maxSymbols,
    Long maxSymbolBytes,
    Integer maxValueBytes,
    TemplatesConfig templates) {
  private static final String PREFIX = "trace-etl.series.";
  static final int MAX_DIMENSIONS = 32;
  private static final int MAX_SERIES = 10_000_000;

  public SeriesConfig {
    dimensions = List.copyOf(orElse(dimensions, List.of()));
    filters = List.copyOf(orElse(filters, List.of()));
    max = orElse(max, 1_000_000);
    maxPerApplication = orElse(maxPerApplication, 20_000);
    maxApplications = orElse(maxApplications, 10_000);
    maxSymbols = orElse(maxSymbols, 1_000_000);
    maxSymbolBytes = orElse(maxSymbolBytes, 64L << 20);
    maxValueBytes = orElse(maxValueBytes, 1_024);
    templates = orElse(templates, TemplatesConfig.defaults());
    check(
        dimensions.size() <= MAX_DIMENSIONS,
        PREFIX + "dimensions",
        dimensions.size() + " of them",
        "must be at most " + MAX_DIMENSIONS);
    checkDistinct(dimensions);
    checkRange(PREFIX + "max", max, 1, MAX_SERIES);
    checkRange(PREFIX + "max-per-application", maxPerApplication, 1, MAX_SERIES);
    checkRange(PREFIX + "max-applications", maxApplications, 1, 1_000_000);
    checkRange(PREFIX + "max-symbols", maxSymbols, 1, MAX_SERIES);
    checkRange(PREFIX + "max-symbol-bytes", maxSymbolBytes, 1, 4L << 30);
    checkRange(PREFIX + "max-value-bytes", maxValueBytes, 1, 65_535);
    for (int i = 0; i < dimensions.size(); i++) {
      Dimension dimension = dimensions.get(i);
      int bytes = dimension.utf8Label().getBytes(UTF_8).length;
      check(
          dimension.from().isEvent() || bytes <= maxValueBytes,
          key(dimensions, i) + ".label",
          dimension.utf8Label(),
          "must have at most " + maxValueBytes + " bytes, as series.max-value-bytes says");
    }
  }

  public static SeriesConfig defaults() {
    return new SeriesConfig(null, null, null, null, null, null, null, null, null);
  }

  /** Returns whether events of spans have series, because dimensions of events exist. */
  public boolean countsEvents() {
    return dimensions.stream().anyMatch(dimension -> dimension.from() == From.EVENT_NAME);
  }

  /** Returns the same configuration with other dimensions. */
  public SeriesConfig withDimensions(List<Dimension> others) {
    return new SeriesConfig(
        others,
        filters,
        max,
        maxPerApplication,
        maxApplications,
        maxSymbols,
        maxSymbolBytes,
        maxValueBytes,
        templates);
  }

  /** Returns the key of a dimension, without a number if it is one of {@code trace-etl.events}. */
  public static String key(List<Dimension> dimensions, int number) {
    String key = PREFIX + "dimensions";
    return dimensions.get(number).from().isEvent() ? key : key + "[" + number + "]";
  }

  private static void checkDistinct(List<Dimension> dimensions) {
    Set<String> labels = new HashSet<>();
    Set<String> sources = new HashSet<>();
    for (int i = 0; i < dimensions.size(); i++) {
      Dimension dimension = dimensions.get(i);
      check(
          labels.add(dimension.label()),
          key(dimensions, i) + ".label",
          dimension.label(),
          "must not occur twice");
      boolean fresh =
          (!dimension.from().readsSpan() || sources.add("span " + dimension.attribute()))
              & (!dimension.from().readsResource()
                  || sources.add("resource " + dimension.attribute()));
      check(
          fresh,
          key(dimensions, i) + ".attribute",
          dimension.attribute(),
          "must occur at most once for the span and once for the resource");
    }
  }

  /**
   * An attribute that distinguishes series.
   *
   * @param attribute key of the attribute; required
   * @param label label in Prometheus; by default the key with {@code _} for other characters
   * @param from where the attribute is read: {@code span}, {@code resource}, or by default {@code
   *     any}: the span, else the resource
   */
  public record Dimension(String attribute, String label, From from) {
    private static final Pattern LABEL = Pattern.compile("[a-zA-Z_][a-zA-Z0-9_]*");

    public Dimension {
      check(
          attribute != null && !attribute.isEmpty(),
          PREFIX + "dimensions.attribute",
          attribute,
          "must name an attribute");
      label = orElse(label, MetricsConfig.underscored(attribute));
      from = orElse(from, From.ANY);
      check(
          isLabel(label),
          PREFIX + "dimensions.label",
          label,
          "must be a Prometheus label: letters, digits and _, no leading digit or __, not le");
    }

    /** Returns whether a dimension may have the label, if it is no label of every series. */
    public static boolean isLabel(String label) {
      return LABEL.matcher(label).matches() && !label.startsWith("__") && !label.equals("le");
    }

    /**
     * Returns the label where names may have any character: the attribute's key, unless the label
     * is another than by default.
     */
    public String utf8Label() {
      return label.equals(MetricsConfig.underscored(attribute)) ? attribute : label;
    }
  }

  /** The source of a dimension's attribute. */
  public enum From {
    /** The span only. */
    SPAN,
    /** The resource only. */
    RESOURCE,
    /** The span, and if it lacks the attribute, the resource. */
    ANY,
    /** An event of the span: {@link EventsConfig#dimensions}. */
    EVENT,
    /** The event's name. */
    EVENT_NAME;

    public boolean readsSpan() {
      return this == SPAN || this == ANY;
    }

    public boolean readsResource() {
      return this == RESOURCE || this == ANY;
    }

    /** Returns whether the source is an event, not a span or its resource. */
    public boolean isEvent() {
      return this == EVENT || this == EVENT_NAME;
    }
  }

  /**
   * Spans that are not recorded; {@code *} in a name matches any characters.
   *
   * @param application application, with {@code *} as wildcard; default all
   * @param spanName span name of the series, after identifiers are replaced, with {@code *} as
   *     wildcard; default all
   * @param kinds kinds of spans; default all
   */
  public record Filter(String application, String spanName, Set<SpanKind> kinds) {
    public Filter {
      application = orElse(application, "*");
      spanName = orElse(spanName, "*");
      // In a fixed order, because texts of configurations are compared.
      kinds =
          kinds == null || kinds.isEmpty()
              ? Set.of()
              : Collections.unmodifiableSet(EnumSet.copyOf(kinds));
      check(
          !(application.equals("*") && spanName.equals("*") && kinds.isEmpty()),
          PREFIX + "filters",
          "*",
          "would exclude all spans; add an application, a span-name or kinds");
    }
  }
}
