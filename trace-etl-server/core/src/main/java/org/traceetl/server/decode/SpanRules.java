package org.traceetl.server.decode;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.ObjectiveConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.TemplatesConfig;
import org.traceetl.server.series.NamePatterns;
import org.traceetl.server.window.Buckets;
import org.traceetl.server.window.Form;
import org.traceetl.server.window.NativeBuckets;

/**
 * How the spans of one application become series. Immutable.
 *
 * <p>The dimensions of the configuration have a column in every series of a server. A dimension of
 * the rules with the label of a column is that column, whatever its attribute, so that series with
 * equal labels are equal. Columns whose labels the rules lack have no value. All other dimensions
 * are labels, which a series names itself.
 */
public final class SpanRules {
  private final List<Dimension> dimensions;
  private final List<TemplatesConfig.Rule> templates;
  private final SpanMeasures measures;
  private final DimensionKeys keys;
  private final List<byte[]> labels;
  private final NamePatterns patterns;

  /** Null for that of the configuration. */
  private final Form form;

  /** Null without own form. */
  private final Buckets buckets;

  /** Null without own form, and with classic buckets only. */
  private final NativeBuckets nativeBuckets;

  /**
   * @param columns dimensions of the configuration
   * @param dimensions dimensions of the application, except those of events, which are those of the
   *     configuration
   * @param templates own templates of span names
   * @param form of the series of spans; null for that of the configuration
   * @param measures checked by {@link MeasureConfig#checkAll}
   * @param objectives checked by {@link ObjectiveConfig#checkAll}
   */
  public SpanRules(
      List<Dimension> columns,
      List<Dimension> dimensions,
      List<TemplatesConfig.Rule> templates,
      Form form,
      List<MeasureConfig> measures,
      List<ObjectiveConfig> objectives) {
    this.form = form;
    buckets = form == null ? null : new Buckets(form.boundsNanos());
    nativeBuckets = form == null ? null : form.nativeBuckets();
    this.dimensions = List.copyOf(dimensions);
    this.templates = List.copyOf(templates);
    this.measures =
        measures.isEmpty() && objectives.isEmpty()
            ? SpanMeasures.NONE
            : new SpanMeasures(measures, objectives);
    Map<String, Dimension> byLabel = new HashMap<>();
    dimensions.forEach(each -> byLabel.put(each.label(), each));
    List<Dimension> all = new ArrayList<>();
    columns.forEach(each -> all.add(each.from().isEvent() ? each : byLabel.remove(each.label())));
    List<Dimension> further =
        byLabel.values().stream().sorted(Comparator.comparing(Dimension::utf8Label)).toList();
    all.addAll(further);
    keys = new DimensionKeys(all);
    labels = further.stream().map(each -> each.utf8Label().getBytes(UTF_8)).toList();
    patterns = new NamePatterns(templates);
  }

  /**
   * Returns rules of which every dimension is a column, with the form of the configuration and
   * without measures.
   */
  public static SpanRules of(List<Dimension> columns, List<TemplatesConfig.Rule> templates) {
    return of(columns, templates, List.of());
  }

  /** Returns rules of which every dimension is a column, with the form of the configuration. */
  public static SpanRules of(
      List<Dimension> columns, List<TemplatesConfig.Rule> templates, List<MeasureConfig> measures) {
    return new SpanRules(
        columns,
        columns.stream().filter(each -> !each.from().isEvent()).toList(),
        templates,
        null,
        measures,
        List.of());
  }

  /**
   * Returns whether equal spans have equal series by both rules, apart from those of measures:
   * {@link SpanMeasures#changed}.
   */
  public boolean sameSeries(SpanRules other) {
    return dimensions.equals(other.dimensions)
        && templates.equals(other.templates)
        && Objects.equals(form, other.form);
  }

  /** Returns the keys of the columns, then of the labels. */
  DimensionKeys keys() {
    return keys;
  }

  /** Returns the number of columns; dimensions from it on are labels. */
  public int columns() {
    return keys.count() - labels.size();
  }

  /** Returns the labels in addition to the columns, in UTF-8, sorted. */
  List<byte[]> labels() {
    return labels;
  }

  /** Returns the measures of the application. */
  public SpanMeasures measures() {
    return measures;
  }

  /** Returns the form of the series of spans; null for that of the configuration. */
  public Form form() {
    return form;
  }

  /** Returns the classic buckets of {@link #form()}, which must exist. */
  public Buckets buckets() {
    return buckets;
  }

  /** Returns the native buckets of {@link #form()}, which must exist; null for none. */
  public NativeBuckets nativeBuckets() {
    return nativeBuckets;
  }

  /** Returns the templates of span names. */
  public NamePatterns patterns() {
    return patterns;
  }
}
