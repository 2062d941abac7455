package org.traceetl.server.decode;

import static org.traceetl.common.ConfigException.orElse;

import java.util.List;
import org.traceetl.common.WildcardPattern;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.MetricsConfig.Unit;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.rules.RuleKeys;
import org.traceetl.server.rules.Rules;
import org.traceetl.server.window.Form;

/** The rules of the spans of all applications, as of one moment. Immutable. */
public final class SpanRulesInForce {
  private record OfApplications(WildcardPattern application, SpanRules rules) {}

  private final HistogramConfig histogram;
  private final Unit unit;

  /** The rules of applications that have none of their own. */
  private final SpanRules others;

  /** The first match applies; empty if all applications have the same rules. */
  private final List<OfApplications> rules;

  /**
   * @param histogram buckets of the configuration
   * @param unit that of the configuration
   * @param measures those of the configuration
   * @param rules null if the configuration applies
   */
  public SpanRulesInForce(
      SeriesConfig config,
      HistogramConfig histogram,
      Unit unit,
      List<MeasureConfig> measures,
      Rules rules) {
    this.histogram = histogram;
    this.unit = unit;
    if (rules == null) {
      others = SpanRules.of(config.dimensions(), config.templates().patterns(), measures);
      this.rules = List.of();
      return;
    }
    others = prepared(config, measures, rules.defaults(), RuleKeys.NONE);
    boolean isUniform = rules.applications().stream().noneMatch(rule -> hasOwn(rule.keys()));
    this.rules =
        isUniform
            ? List.of()
            : rules.applications().stream()
                .map(rule ->
                    new OfApplications(
                        new WildcardPattern(rule.application()),
                        hasOwn(rule.keys())
                            ? prepared(config, measures, rules.defaults(), rule.keys())
                            : others))
                .toList();
  }

  private static boolean hasOwn(RuleKeys keys) {
    return keys.dimensions() != null
        || keys.templates() != null
        || keys.hasForm()
        || keys.measures() != null
        || keys.objectives() != null;
  }

  private SpanRules prepared(
      SeriesConfig config, List<MeasureConfig> measures, RuleKeys defaults, RuleKeys keys) {
    List<Dimension> configured =
        config.dimensions().stream().filter(each -> !each.from().isEvent()).toList();
    return new SpanRules(
        config.dimensions(),
        orElse(orElse(keys.dimensions(), defaults.dimensions()), configured),
        orElse(orElse(keys.templates(), defaults.templates()), config.templates().patterns()),
        form(defaults, keys),
        orElse(orElse(keys.measures(), defaults.measures()), measures),
        orElse(orElse(keys.objectives(), defaults.objectives()), List.of()));
  }

  /** Returns null for the form of the configuration, and for one that has no room in rows. */
  private Form form(RuleKeys defaults, RuleKeys keys) {
    if (!defaults.hasForm() && !keys.hasForm()) {
      return null;
    }
    Form configured = form(histogram, unit);
    Form own =
        form(
            new HistogramConfig(
                orElse(
                    orElse(keys.boundsMillis(), defaults.boundsMillis()), histogram.boundsMillis()),
                orElse(orElse(keys.kind(), defaults.kind()), histogram.kind()),
                orElse(
                    orElse(keys.nativeSchema(), defaults.nativeSchema()),
                    histogram.nativeSchema())),
            orElse(orElse(keys.unit(), defaults.unit()), unit));
    return own.equals(configured) || !own.isNameable() || own.buckets() > configured.buckets()
        ? null
        : own;
  }

  private static Form form(HistogramConfig histogram, Unit unit) {
    return new Form(
        histogram.boundsNanos(),
        histogram.hasNative() ? histogram.nativeSchema() : null,
        unit.nanos());
  }

  /** Returns whether all applications have the same rules. */
  boolean isUniform() {
    return rules.isEmpty();
  }

  /** Returns the rules of all applications that have none of their own. */
  public SpanRules others() {
    return others;
  }

  /** Returns the rules of an application. */
  public SpanRules of(String application) {
    for (OfApplications rule : rules) {
      if (rule.application.matches(application)) {
        return rule.rules;
      }
    }
    return others;
  }
}
