package org.traceetl.server.config;

import static org.traceetl.server.config.ConfigException.check;
import static org.traceetl.server.config.ConfigException.orElse;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What makes a series, and how many there may be: {@code trace-etl.series}. A missing value is its
 * default.
 *
 * @param dimensions attributes that distinguish series, after application, span name, kind and
 *     status; default none
 * @param filters spans that match one of these are counted as filtered and not recorded; default
 *     none
 * @param max series in this process; default 1,000,000
 * @param maxPerApplication series of one application on one queue; default 20,000
 * @param maxApplications applications on one queue; those above share the application {@code
 *     _other}; default 10,000
 * @param maxSymbols different strings that the series of one queue are made of; default 1,000,000
 * @param maxSymbolBytes their bytes; default 64 MiB
 * @param maxValueBytes longer names and values are cut, at a UTF-8 boundary; default 1,024
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
    checkRange("max", max, MAX_SERIES);
    checkRange("max-per-application", maxPerApplication, MAX_SERIES);
    checkRange("max-applications", maxApplications, 1_000_000);
    checkRange("max-symbols", maxSymbols, MAX_SERIES);
    checkRange("max-symbol-bytes", maxSymbolBytes, 4L << 30);
    checkRange("max-value-bytes", maxValueBytes, 65_535);
  }

  public static SeriesConfig defaults() {
    return new SeriesConfig(null, null, null, null, null, null, null, null, null);
  }

  /** Whether events of spans have series: there are dimensions of them. */
  public boolean countsEvents() {
    return dimensions.stream().anyMatch(dimension -> dimension.from() == From.EVENT_NAME);
  }

  /** The same with other dimensions. */
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

  private static void checkRange(String name, long value, long most) {
    check(value >= 1 && value <= most, PREFIX + name, value, "must be 1 to " + most);
  }

  private static void checkDistinct(List<Dimension> dimensions) {
    Set<String> labels = new HashSet<>();
    Set<String> sources = new HashSet<>();
    for (Dimension dimension : dimensions) {
      check(
          labels.add(dimension.label()),
          PREFIX + "dimensions.label",
          dimension.label(),
          "must stand once");
      boolean fresh =
          (!dimension.from().readsSpan() || sources.add("span " + dimension.attribute()))
              & (!dimension.from().readsResource()
                  || sources.add("resource " + dimension.attribute()));
      check(
          fresh,
          PREFIX + "dimensions.attribute",
          dimension.attribute(),
          "must stand once for the span and once for the resource");
    }
  }

  /**
   * An attribute that distinguishes series.
   *
   * @param attribute its key, such as {@code http.route}
   * @param label its name as a Prometheus label; default: the key with underscores
   * @param from where it is looked for; default {@link From#ANY}
   */
  public record Dimension(String attribute, String label, From from) {
    public Dimension {
      check(
          attribute != null && !attribute.isEmpty(),
          PREFIX + "dimensions.attribute",
          attribute,
          "must name an attribute");
      label = orElse(label, attribute.replaceAll("[^a-zA-Z0-9_]", "_"));
      from = orElse(from, From.ANY);
      check(
          label.matches("[a-zA-Z_][a-zA-Z0-9_]*") && !label.startsWith("__") && !label.equals("le"),
          PREFIX + "dimensions.label",
          label,
          "must be a Prometheus label: letters, digits and _, no leading digit or __, not le");
    }
  }

  /** Where a dimension's attribute is looked for. */
  public enum From {
    /** In the span alone. */
    SPAN,
    /** In the resource alone. */
    RESOURCE,
    /** In the span, and if it has none in the resource. */
    ANY,
    /** In an event of the span: {@link EventsConfig#dimensions}. */
    EVENT,
    /** The event's name. */
    EVENT_NAME;

    public boolean readsSpan() {
      return this == SPAN || this == ANY;
    }

    public boolean readsResource() {
      return this == RESOURCE || this == ANY;
    }
  }

  /**
   * Spans that are not recorded; {@code *} in a name stands for any characters.
   *
   * @param application default {@code *}
   * @param spanName default {@code *}
   * @param kinds default all
   */
  public record Filter(String application, String spanName, Set<SpanKind> kinds) {
    public Filter {
      application = orElse(application, "*");
      spanName = orElse(spanName, "*");
      kinds = Set.copyOf(orElse(kinds, Set.of()));
      check(
          !(application.equals("*") && spanName.equals("*") && kinds.isEmpty()),
          PREFIX + "filters",
          "*",
          "would leave nothing; name an application, a span-name or kinds");
    }
  }
}
