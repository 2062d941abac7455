package org.traceetl.server.decode;

import static org.traceetl.common.ConfigException.orElse;

import java.util.List;
import org.traceetl.common.WildcardPattern;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.rules.RuleKeys;
import org.traceetl.server.rules.Rules;

/** The rules of the spans of all applications, as of one moment. Immutable. */
public final class SpanRulesInForce {
  private record OfApplications(WildcardPattern application, SpanRules rules) {}

  /** The rules of applications that have none of their own. */
  private final SpanRules others;

  /** The first match applies; empty if all applications have the same rules. */
  private final List<OfApplications> rules;

  /**
   * @param rules null if the configuration applies
   */
  public SpanRulesInForce(SeriesConfig config, Rules rules) {
    if (rules == null) {
      others = SpanRules.of(config.dimensions(), config.templates().patterns());
      this.rules = List.of();
      return;
    }
    others = prepared(config, rules.defaults(), RuleKeys.NONE);
    boolean isUniform = rules.applications().stream().noneMatch(rule -> hasOwn(rule.keys()));
    this.rules =
        isUniform
            ? List.of()
            : rules.applications().stream()
                .map(rule ->
                    new OfApplications(
                        new WildcardPattern(rule.application()),
                        hasOwn(rule.keys())
                            ? prepared(config, rules.defaults(), rule.keys())
                            : others))
                .toList();
  }

  private static boolean hasOwn(RuleKeys keys) {
    return keys.dimensions() != null || keys.templates() != null;
  }

  private static SpanRules prepared(SeriesConfig config, RuleKeys defaults, RuleKeys keys) {
    List<Dimension> configured =
        config.dimensions().stream().filter(each -> !each.from().isEvent()).toList();
    return new SpanRules(
        config.dimensions(),
        orElse(orElse(keys.dimensions(), defaults.dimensions()), configured),
        orElse(orElse(keys.templates(), defaults.templates()), config.templates().patterns()));
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
