package org.traceetl.server.rules;

import static org.traceetl.common.ConfigException.orElse;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.traceetl.server.config.DocumentsConfig.Threshold;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.MetricsConfig.Unit;
import org.traceetl.server.config.ObjectiveConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.TemplatesConfig;

/**
 * The keys of one rule; null where a key is absent. A list that is present, even an empty one,
 * replaces the whole list of the rules below.
 *
 * @param dimensions {@code series.dimensions}
 * @param templates {@code series.templates.patterns}
 * @param boundsMillis {@code histogram.bounds-millis}
 * @param kind {@code histogram.kind}
 * @param nativeSchema {@code histogram.native-schema}
 * @param unit {@code metrics.unit}
 * @param slowerThan {@code documents.slower-than}
 * @param thresholds {@code documents.thresholds}
 * @param measures {@code measures}
 * @param objectives {@code objectives}
 */
public record RuleKeys(
    List<Dimension> dimensions,
    List<TemplatesConfig.Rule> templates,
    List<Double> boundsMillis,
    HistogramConfig.Kind kind,
    Integer nativeSchema,
    Unit unit,
    Duration slowerThan,
    List<Threshold> thresholds,
    List<MeasureConfig> measures,
    List<ObjectiveConfig> objectives) {
  /** No key is present. */
  public static final RuleKeys NONE =
      new RuleKeys(null, null, null, null, null, null, null, null, null);

  /** Keys without objectives. */
  public RuleKeys(
      List<Dimension> dimensions,
      List<TemplatesConfig.Rule> templates,
      List<Double> boundsMillis,
      HistogramConfig.Kind kind,
      Integer nativeSchema,
      Unit unit,
      Duration slowerThan,
      List<Threshold> thresholds,
      List<MeasureConfig> measures) {
    this(
        dimensions,
        templates,
        boundsMillis,
        kind,
        nativeSchema,
        unit,
        slowerThan,
        thresholds,
        measures,
        null);
  }

  /** Returns whether a key of buckets or of the unit is present. */
  public boolean hasForm() {
    return boundsMillis != null || kind != null || nativeSchema != null || unit != null;
  }

  /** Returns these keys in groups that can be checked each on its own. */
  public List<RuleKeys> groups() {
    return List.of(
        new RuleKeys(dimensions, null, null, null, null, null, null, null, null),
        new RuleKeys(null, templates, null, null, null, null, null, null, null),
        new RuleKeys(null, null, boundsMillis, kind, nativeSchema, null, null, null, null),
        new RuleKeys(null, null, null, null, null, unit, null, null, null),
        new RuleKeys(null, null, null, null, null, null, slowerThan, thresholds, null),
        new RuleKeys(null, null, null, null, null, null, null, null, measures),
        new RuleKeys(null, null, null, null, null, null, null, null, null, objectives));
  }

  /** Returns the attributes of spans that dimensions and measures need. */
  public Set<String> attributes() {
    Set<String> attributes = new HashSet<>();
    for (Dimension dimension : orElse(dimensions, List.<Dimension>of())) {
      if (dimension.from().readsSpan()) {
        attributes.add(dimension.attribute());
      }
    }
    orElse(measures, List.<MeasureConfig>of())
        .forEach(measure -> attributes.addAll(measure.attributes()));
    return attributes;
  }

  /**
   * Returns the rules with these keys in place of those of other rules.
   *
   * @throws org.traceetl.common.ConfigException if the keys of the histogram are invalid
   */
  public EffectiveRules over(EffectiveRules below) {
    return new EffectiveRules(
        orElse(dimensions, below.dimensions()),
        orElse(templates, below.templates()),
        new HistogramConfig(
            orElse(boundsMillis, below.histogram().boundsMillis()),
            orElse(kind, below.histogram().kind()),
            orElse(nativeSchema, below.histogram().nativeSchema())),
        orElse(unit, below.unit()),
        orElse(slowerThan, below.slowerThan()),
        orElse(thresholds, below.thresholds()),
        orElse(measures, below.measures()),
        orElse(objectives, below.objectives()));
  }
}
