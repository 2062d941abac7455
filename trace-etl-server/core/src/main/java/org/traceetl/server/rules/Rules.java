package org.traceetl.server.rules;

import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.orElse;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.traceetl.common.ConfigException;
import org.traceetl.common.WildcardPattern;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.ObjectiveConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.window.Form;

/**
 * Rules by application.
 *
 * @param revision number of their revision, at least 1; each change raises it
 * @param defaults keys of all applications
 * @param applications at most {@value #MAX_APPLICATIONS}; the first match applies, and its keys
 *     replace those of the defaults
 */
public record Rules(long revision, RuleKeys defaults, List<OfApplications> applications) {
  /** Maximum number of metrics of all measures. */
  public static final int MAX_METRICS = 32;

  /** Maximum number of rules of applications. */
  public static final int MAX_APPLICATIONS = 256;

  /** Most combinations of buckets and unit: pages have room for those of a change as well. */
  public static final int MAX_FORMS = 24;

  private static final String DEFAULTS = "defaults";

  public Rules {
    applications = List.copyOf(applications);
    check(revision >= 1, "revision", revision, "must be a whole number of 1 or more");
    check(
        applications.size() <= MAX_APPLICATIONS,
        "applications",
        applications.size() + " of them",
        "must be at most " + MAX_APPLICATIONS);
  }

  /**
   * Checks that servers can apply these rules while they run: series have rows of the
   * configuration's size, pages have room for a number of different buckets, and objectives with
   * the same name have the same alerts.
   *
   * @param below the configuration's rules
   * @throws org.traceetl.common.ConfigException if they cannot
   */
  public void checkForms(EffectiveRules below) {
    int most = Math.min(Form.MAX_BOUNDS, below.histogram().boundsNanos().length);
    Set<Object> forms = new HashSet<>();
    Set<Object> metrics = new HashSet<>();
    Map<String, MeasureConfig.Type> types = new HashMap<>();
    for (Map.Entry<String, RuleKeys> part : parts().entrySet()) {
      RuleKeys keys = part.getValue();
      EffectiveRules rules = keys.over(defaults.over(below));
      int bounds = rules.histogram().boundsNanos().length;
      check(
          bounds <= most || !keys.hasForm() && !defaults.hasForm(),
          (keys.hasForm() ? part.getKey() : DEFAULTS) + ".histogram.bounds-millis",
          bounds + " of them",
          "must be at most "
              + most
              + ", for which series have room while servers run: as many as"
              + " the configuration has");
      forms.add(List.of(rules.histogram(), rules.unit()));
      String measures = part.getKey() + ".measures";
      MeasureConfig.checkBounds(measures, rules.measures(), below.histogram());
      for (int i = 0; i < rules.measures().size(); i++) {
        MeasureConfig measure = rules.measures().get(i);
        metrics.add(measure.metric());
        MeasureConfig.Type type =
            types.putIfAbsent(
                MeasureConfig.prometheusName(measure.name(), measure.unit()), measure.type());
        check(
            type == null || type == measure.type(),
            measures + "[" + i + "].name",
            measure.name(),
            "must have the same type in all rules");
      }
    }
    check(
        metrics.size() <= MAX_METRICS,
        "applications",
        metrics.size() + " metrics of measures",
        "must be at most " + MAX_METRICS);
    objectives();
    check(
        forms.size() <= MAX_FORMS,
        "applications",
        forms.size() + " combinations of buckets and unit",
        "must be at most " + MAX_FORMS);
  }

  /** Returns the dimensions of all applications. */
  public Set<Dimension> dimensions() {
    return Stream.concat(Stream.of(defaults), applications.stream().map(OfApplications::keys))
        .map(RuleKeys::dimensions)
        .filter(Objects::nonNull)
        .flatMap(List::stream)
        .collect(Collectors.toSet());
  }

  /** Returns the measures of all applications. */
  public Set<MeasureConfig> measures() {
    return Stream.concat(Stream.of(defaults), applications.stream().map(OfApplications::keys))
        .map(RuleKeys::measures)
        .filter(Objects::nonNull)
        .flatMap(List::stream)
        .collect(Collectors.toSet());
  }

  /**
   * Returns the objectives of all rules, of equal names the first one.
   *
   * @throws ConfigException with all others that have the name, but other alerts
   */
  public Collection<ObjectiveConfig> objectives() {
    Map<String, ObjectiveConfig> byName = new LinkedHashMap<>();
    List<String> problems = new ArrayList<>();
    parts()
        .forEach((part, keys) -> {
          List<ObjectiveConfig> objectives = orElse(keys.objectives(), List.of());
          for (int i = 0; i < objectives.size(); i++) {
            ObjectiveConfig each = objectives.get(i);
            ObjectiveConfig first = byName.putIfAbsent(each.name(), each);
            if (first != null && !first.alertsLike(each)) {
              problems.add(
                  part
                      + ".objectives["
                      + i
                      + "].name = "
                      + each.name()
                      + ": must have the same target and window in all rules; choose another name");
            }
          }
        });
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
    return byName.values();
  }

  /** Returns the keys of the defaults and of each rule, by their place in a file. */
  private Map<String, RuleKeys> parts() {
    Map<String, RuleKeys> parts = new LinkedHashMap<>();
    parts.put(DEFAULTS, defaults);
    for (int i = 0; i < applications.size(); i++) {
      parts.put("applications[" + i + "]", applications.get(i).keys());
    }
    return parts;
  }

  /**
   * Returns the rules of an application.
   *
   * @param below rules that apply where neither the application nor the defaults have a key
   */
  public EffectiveRules of(String application, EffectiveRules below) {
    EffectiveRules ofAll = defaults.over(below);
    return applications.stream()
        .filter(each -> new WildcardPattern(each.application()).matches(application))
        .findFirst()
        .map(each -> each.keys().over(ofAll))
        .orElse(ofAll);
  }

  /**
   * The rule of some applications.
   *
   * @param application name, with {@code *} as wildcard; required
   */
  public record OfApplications(String application, RuleKeys keys) {
    public OfApplications {
      check(
          application != null && !application.isEmpty(),
          "application",
          application,
          "must be the name of an application, with * as wildcard");
    }
  }
}
