package org.traceetl.server.binding;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.OriginTrackedMapPropertySource;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.OriginTrackedValue;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.StandardEnvironment;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.ObjectiveConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.TemplatesConfig;
import org.traceetl.server.rules.PublishedRules;
import org.traceetl.server.rules.RuleKeys;
import org.traceetl.server.rules.Rules;

/**
 * The defaults of a file of rules, or the rule of some applications. Its keys are read as those of
 * a configuration that has no others.
 */
final class RulesPart {
  private static final String APPLICATION = "application";

  /** The part's key in the file. */
  private final String name;

  private final Map<String, Object> values = new LinkedHashMap<>();

  /** Null for the defaults. */
  private String application;

  /** Where the part's first key is; null without keys. */
  private String firstLine;

  private Refusals refusals;

  private RuleKeys keys;

  RulesPart(String name) {
    this.name = name;
  }

  void add(String key, Object value, Origin origin) {
    if (firstLine == null && origin != null) {
      firstLine = ConfigFile.where(origin);
    }
    if (key.equals(APPLICATION) && !name.equals(RulesFile.DEFAULTS)) {
      application = String.valueOf(value);
    } else {
      values.put(Configuration.PREFIX + "." + key, OriginTrackedValue.of(value, origin));
    }
  }

  String firstLine() {
    return firstLine;
  }

  /** Reads the keys, after all were added. */
  void bind() {
    StandardEnvironment environment = new StandardEnvironment();
    MutablePropertySources sources = environment.getPropertySources();
    sources.remove(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);
    sources.remove(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME);
    sources.addFirst(new OriginTrackedMapPropertySource(name, values, true));
    ConfigurationPropertySources.attach(environment);
    refusals = new Refusals(environment, "rules");
    // Without a resolver of placeholders: a template may contain one.
    Binder binder = new Binder(ConfigurationPropertySources.get(environment));
    Sections sections =
        binder.bindOrCreate(Configuration.PREFIX, Bindable.of(Sections.class), refusals);
    keys = sections == null ? RuleKeys.NONE : sections.keys();
  }

  /** Returns the keys; a refused one is absent. */
  RuleKeys keys() {
    return keys;
  }

  /** Returns what the part is made of; null if that is refused. */
  <T> T of(Supplier<T> made) {
    return refusals.of(made);
  }

  /** Returns the rule of the part's applications; null if their name is invalid. */
  Rules.OfApplications ofApplications() {
    return of(() -> new Rules.OfApplications(application, keys));
  }

  /** Checks whether servers can publish the rule. */
  void checkPublished() {
    refusals.check(() -> PublishedRules.checkRule(application, keys));
  }

  /** Returns the problems, with the part's keys as they are in the file. */
  List<String> problems() {
    return refusals.problems().stream()
        .map(problem ->
            problem.startsWith(Configuration.PREFIX + ".")
                ? name + problem.substring(Configuration.PREFIX.length())
                : problem)
        .toList();
  }

  /** The sections of the configuration, with the keys that rules have. */
  record Sections(
      Series series,
      ServerProperties.Histogram histogram,
      Metrics metrics,
      Documents documents,
      List<MeasureConfig> measures,
      List<ObjectiveConfig> objectives) {
    RuleKeys keys() {
      Series ofSeries = series == null ? new Series(null, null) : series;
      ServerProperties.Histogram buckets =
          histogram == null ? new ServerProperties.Histogram(null, null, null) : histogram;
      return new RuleKeys(
          ofSeries.dimensions,
          ofSeries.templates == null ? null : ofSeries.templates.patterns,
          buckets.boundsMillis(),
          buckets.kind(),
          buckets.nativeSchema(),
          metrics == null ? null : metrics.unit,
          documents == null ? null : documents.slowerThan,
          documents == null ? null : documents.thresholds,
          measures,
          objectives);
    }
  }

  record Series(List<SeriesConfig.Dimension> dimensions, Templates templates) {}

  record Templates(List<TemplatesConfig.Rule> patterns) {}

  record Metrics(MetricsConfig.Unit unit) {}

  record Documents(Duration slowerThan, List<DocumentsConfig.Threshold> thresholds) {}
}
