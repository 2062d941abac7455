package org.traceetl.server.rules;

import java.time.Duration;
import java.util.List;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.DocumentsConfig.Threshold;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.MetricsConfig.Unit;
import org.traceetl.server.config.ObjectiveConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.TemplatesConfig;

/**
 * The rules by which the spans of one application count. All of them have a value. The checks of
 * the configuration's sections apply when the rules are put into one.
 *
 * @param dimensions attributes of spans and resources that distinguish series; those of events are
 *     not among them
 * @param templates own templates of span names; the first match applies
 * @param histogram buckets of a series
 * @param unit unit of durations on pages
 * @param slowerThan a span of at least this duration is slow
 * @param thresholds exceptions to {@code slowerThan}; the first match applies
 * @param measures metrics of spans by names of their own
 * @param objectives service level objectives, which a configuration does not contain
 */
public record EffectiveRules(
    List<Dimension> dimensions,
    List<TemplatesConfig.Rule> templates,
    HistogramConfig histogram,
    Unit unit,
    Duration slowerThan,
    List<Threshold> thresholds,
    List<MeasureConfig> measures,
    List<ObjectiveConfig> objectives) {
  /** Rules without objectives. */
  public EffectiveRules(
      List<Dimension> dimensions,
      List<TemplatesConfig.Rule> templates,
      HistogramConfig histogram,
      Unit unit,
      Duration slowerThan,
      List<Threshold> thresholds,
      List<MeasureConfig> measures) {
    this(dimensions, templates, histogram, unit, slowerThan, thresholds, measures, List.of());
  }

  public EffectiveRules {
    dimensions = List.copyOf(dimensions);
    templates = List.copyOf(templates);
    thresholds = List.copyOf(thresholds);
    measures = List.copyOf(measures);
    objectives = List.copyOf(objectives);
  }

  /** Returns the rules that a configuration contains. */
  public static EffectiveRules of(
      SeriesConfig series,
      HistogramConfig histogram,
      MetricsConfig metrics,
      DocumentsConfig documents,
      List<MeasureConfig> measures) {
    return new EffectiveRules(
        series.dimensions().stream().filter(each -> !each.from().isEvent()).toList(),
        series.templates().patterns(),
        histogram,
        metrics.unit(),
        documents.slowerThan(),
        documents.thresholds(),
        measures);
  }

  /**
   * Returns a section with these rules in place of its own. It has no dimensions of events.
   *
   * @throws org.traceetl.common.ConfigException if the section does not allow them
   */
  public SeriesConfig in(SeriesConfig series) {
    ObjectiveConfig.checkAll(objectives, series.maxValueBytes());
    return new SeriesConfig(
        dimensions,
        series.filters(),
        series.max(),
        series.maxPerApplication(),
        series.maxApplications(),
        series.maxSymbols(),
        series.maxSymbolBytes(),
        series.maxValueBytes(),
        new TemplatesConfig(series.templates().enabled(), templates));
  }

  /**
   * Returns a section with these rules in place of its own.
   *
   * @throws org.traceetl.common.ConfigException if the section does not allow them
   */
  public MetricsConfig in(MetricsConfig metrics) {
    return new MetricsConfig(
        metrics.profile(),
        metrics.namespace(),
        unit,
        metrics.queueLabel(),
        metrics.names(),
        metrics.targetInfo(),
        metrics.size());
  }

  /**
   * Returns a section with these rules in place of its own.
   *
   * @throws org.traceetl.common.ConfigException if the section does not allow them
   */
  public DocumentsConfig in(DocumentsConfig documents) {
    return new DocumentsConfig(
        slowerThan,
        thresholds,
        documents.attributes(),
        documents.perSeries(),
        documents.perQueue(),
        documents.exemplarsPerQueue());
  }
}
