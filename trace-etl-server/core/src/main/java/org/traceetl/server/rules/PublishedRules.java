package org.traceetl.server.rules;

import static org.traceetl.common.ConfigException.canonical;
import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.orElse;

import java.time.Duration;
import java.util.Collection;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.traceetl.common.ConfigException;
import org.traceetl.proto.Demand;
import org.traceetl.proto.Demand.SlowRule;
import org.traceetl.proto.RulesRecord;
import org.traceetl.server.config.DocumentsConfig.Threshold;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.MetricsConfig.Unit;
import org.traceetl.server.config.ObjectiveConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.From;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.config.TemplatesConfig;

/**
 * Translates rules into the record that all servers follow, and back. A record has no defaults:
 * each rule contains those that it lacks, and a last rule those of all other applications.
 */
public final class PublishedRules {
  /** Highest revision of a record: readers refuse epochs far ahead of their clock. */
  static final long MAX_REVISION = 1_000_000_000_000L;

  private static final double NANOS_PER_MILLI = 1e6;
  private static final String ALL = "*";

  private PublishedRules() {}

  /**
   * Returns the record of these rules.
   *
   * @param decidedMillis when it is published, milliseconds since 1970
   * @throws ConfigException if a record cannot contain them
   */
  public static RulesRecord record(Rules rules, long decidedMillis) {
    check(
        rules.revision() <= MAX_REVISION,
        "revision",
        rules.revision(),
        "must be at most " + MAX_REVISION);
    RuleKeys defaults = rules.defaults();
    Map<String, RuleKeys> byPattern = new LinkedHashMap<>();
    for (Rules.OfApplications of : rules.applications()) {
      checkApplication(of.application());
      // Of equal patterns only the first applies.
      byPattern.putIfAbsent(of.application(), of.keys());
    }
    byPattern.putIfAbsent(ALL, RuleKeys.NONE);
    check(
        byPattern.size() <= RulesRecord.MAX_RULES,
        "applications",
        byPattern.size() + " of them",
        "must be at most " + RulesRecord.MAX_RULES + ", with a rule of all other applications");
    Map<String, RulesRecord.Rule> published = new LinkedHashMap<>();
    byPattern.forEach(
        (pattern, keys) -> published.put(pattern, rule(published.size(), keys, defaults)));
    Collection<RulesRecord.Rule> all = published.values();
    checkSum(all, RulesRecord.Rule::thresholds, RulesRecord.MAX_THRESHOLDS, "thresholds");
    checkSum(all, RulesRecord.Rule::dimensions, RulesRecord.MAX_DIMENSIONS, "dimensions");
    checkSum(all, RulesRecord.Rule::templates, RulesRecord.MAX_TEMPLATES, "templates");
    checkSum(all, rule -> rule.form().boundsNanos(), RulesRecord.MAX_BOUNDS, "bounds of buckets");
    checkSum(all, RulesRecord.Rule::measures, RulesRecord.MAX_MEASURES, "measures");
    checkSum(all, RulesRecord.Rule::objectives, RulesRecord.MAX_OBJECTIVES, "objectives");
    int measureBytes = RulesRecord.measureBytes(all);
    check(
        measureBytes <= RulesRecord.MAX_MEASURE_BYTES,
        "applications",
        all.size() + " rules with " + measureBytes + " bytes of measures",
        "must have at most "
            + RulesRecord.MAX_MEASURE_BYTES
            + " bytes, in each rule those of the defaults that it does not replace");
    return new RulesRecord(rules.revision(), decidedMillis, published);
  }

  /**
   * Checks a rule without the others.
   *
   * @param application its pattern; null for the defaults
   * @throws ConfigException if no record can contain it
   */
  public static void checkRule(String application, RuleKeys keys) {
    if (application != null) {
      checkApplication(application);
    }
    rule(0, keys, RuleKeys.NONE);
  }

  private static void checkApplication(String application) {
    checkText(Demand.takesText(application), "application", application, Demand.MAX_TEXT_BYTES);
  }

  private static void checkSum(
      Collection<RulesRecord.Rule> rules,
      Function<RulesRecord.Rule, List<?>> list,
      int max,
      String what) {
    int sum = rules.stream().map(list).filter(Objects::nonNull).mapToInt(List::size).sum();
    check(
        sum <= max,
        "applications",
        rules.size() + " rules with " + sum + " " + what,
        "must have at most "
            + max
            + " "
            + what
            + ", in each rule those of the defaults that it does not replace");
  }

  private static RulesRecord.Rule rule(int place, RuleKeys keys, RuleKeys defaults) {
    Duration slowerThan = orElse(keys.slowerThan(), defaults.slowerThan());
    return new RulesRecord.Rule(
        place,
        slowerThan == null ? null : (Long) slowerThan.toNanos(),
        each(orElse(keys.thresholds(), defaults.thresholds()), PublishedRules::slowRule),
        each(orElse(keys.dimensions(), defaults.dimensions()), PublishedRules::dimension),
        each(orElse(keys.templates(), defaults.templates()), PublishedRules::template),
        form(keys, defaults),
        each(orElse(keys.measures(), defaults.measures()), PublishedRules::measure),
        each(orElse(keys.objectives(), defaults.objectives()), PublishedRules::objective));
  }

  private static RulesRecord.Form form(RuleKeys keys, RuleKeys defaults) {
    HistogramConfig.Kind kind = orElse(keys.kind(), defaults.kind());
    Unit unit = orElse(keys.unit(), defaults.unit());
    return new RulesRecord.Form(
        each(
            orElse(keys.boundsMillis(), defaults.boundsMillis()),
            millis -> Math.round(millis * NANOS_PER_MILLI)),
        kind == null ? null : RulesRecord.Kind.valueOf(kind.name()),
        orElse(keys.nativeSchema(), defaults.nativeSchema()),
        unit == null ? null : RulesRecord.Unit.valueOf(unit.name()));
  }

  /** Returns the translated list; null for null. */
  private static <T, R> List<R> each(List<T> list, Function<T, R> translation) {
    return list == null ? null : list.stream().map(translation).toList();
  }

  private static SlowRule slowRule(Threshold threshold) {
    checkText(
        Demand.takesText(threshold.application()),
        "documents.thresholds.application",
        threshold.application(),
        Demand.MAX_TEXT_BYTES);
    return new SlowRule(
        threshold.application(), bits(threshold.kinds()), threshold.slowerThan().toNanos());
  }

  private static int bits(Set<SpanKind> kinds) {
    return kinds.stream().mapToInt(kind -> 1 << kind.ordinal()).sum();
  }

  private static Set<SpanKind> kinds(int bits) {
    Set<SpanKind> kinds = EnumSet.noneOf(SpanKind.class);
    for (SpanKind kind : SpanKind.values()) {
      if ((bits & 1 << kind.ordinal()) != 0) {
        kinds.add(kind);
      }
    }
    return kinds;
  }

  private static RulesRecord.Dimension dimension(Dimension dimension) {
    String attribute = dimension.attribute();
    check(
        dimension.from().readsSpan() || dimension.from().readsResource(),
        "series.dimensions.from",
        canonical(dimension.from().name()),
        "must be span, resource or any");
    checkText(
        Demand.takesText(attribute),
        "series.dimensions.attribute",
        attribute,
        Demand.MAX_TEXT_BYTES);
    String label = dimension.utf8Label().equals(attribute) ? null : dimension.label();
    checkText(
        label == null || Demand.takesText(label),
        "series.dimensions.label",
        label,
        Demand.MAX_TEXT_BYTES);
    return new RulesRecord.Dimension(
        attribute, label, RulesRecord.Source.valueOf(dimension.from().name()));
  }

  private static RulesRecord.Template template(TemplatesConfig.Rule rule) {
    String key = "series.templates.patterns.";
    checkText(
        Demand.takesText(rule.application()),
        key + "application",
        rule.application(),
        Demand.MAX_TEXT_BYTES);
    checkText(
        RulesRecord.takesTemplateText(rule.pattern()),
        key + "pattern",
        rule.pattern(),
        RulesRecord.MAX_TEMPLATE_BYTES);
    checkText(
        RulesRecord.takesTemplateText(rule.template()),
        key + "template",
        rule.template(),
        RulesRecord.MAX_TEMPLATE_BYTES);
    return new RulesRecord.Template(rule.application(), rule.pattern(), rule.template());
  }

  private static RulesRecord.Measure measure(MeasureConfig measure) {
    measure
        .requires()
        .forEach(key ->
            checkText(Demand.takesText(key), "measures.requires", key, Demand.MAX_TEXT_BYTES));
    return new RulesRecord.Measure(
        measure.name(),
        measure.description(),
        measure.unit(),
        RulesRecord.MeasureType.valueOf(measure.type().name()),
        RulesRecord.MeasureValue.valueOf(measure.value().name()),
        measure.attribute(),
        bits(measure.kinds()),
        measure.requires(),
        each(measure.dimensions(), PublishedRules::dimension),
        each(measure.labels(), label -> new RulesRecord.Constant(label.label(), label.value())),
        measure.bounds());
  }

  private static MeasureConfig measure(RulesRecord.Measure measure) {
    return new MeasureConfig(
        measure.name(),
        measure.description(),
        measure.unit(),
        MeasureConfig.Type.valueOf(measure.type().name()),
        MeasureConfig.Source.valueOf(measure.value().name()),
        measure.attribute(),
        kinds(measure.kinds()),
        measure.requires(),
        each(measure.dimensions(), PublishedRules::dimension),
        each(measure.labels(), label -> new MeasureConfig.Constant(label.label(), label.value())),
        measure.bounds());
  }

  private static RulesRecord.Objective objective(ObjectiveConfig objective) {
    Duration fasterThan = objective.fasterThan();
    return new RulesRecord.Objective(
        objective.name(),
        objective.target(),
        fasterThan == null ? null : (Long) fasterThan.toNanos(),
        (int) objective.window().toDays(),
        bits(objective.kinds()),
        objective.operation());
  }

  private static ObjectiveConfig objective(RulesRecord.Objective objective) {
    Long fasterThan = objective.fasterThanNanos();
    return new ObjectiveConfig(
        objective.name(),
        objective.target(),
        fasterThan == null ? null : Duration.ofNanos(fasterThan),
        objective.operation(),
        kinds(objective.kinds()),
        Duration.ofDays(objective.days()));
  }

  private static void checkText(boolean isTaken, String key, String text, int maxBytes) {
    check(isTaken, key, text, "must have 1 to " + maxBytes + " bytes of UTF-8");
  }

  /**
   * Returns the rules in a record.
   *
   * @param record of a revision of at least 1
   * @throws ConfigException if a label or a regular expression is invalid
   */
  public static Rules rules(RulesRecord record) {
    return new Rules(
        record.epoch(),
        RuleKeys.NONE,
        record.applications().entrySet().stream()
            .sorted(Map.Entry.comparingByValue((one, other) -> one.place() - other.place()))
            .map(rule -> new Rules.OfApplications(rule.getKey(), keys(rule.getValue())))
            .toList());
  }

  private static RuleKeys keys(RulesRecord.Rule rule) {
    RulesRecord.Form form = rule.form();
    return new RuleKeys(
        each(rule.dimensions(), PublishedRules::dimension),
        each(rule.templates(), PublishedRules::template),
        each(form.boundsNanos(), nanos -> nanos / NANOS_PER_MILLI),
        form.kind() == null ? null : HistogramConfig.Kind.valueOf(form.kind().name()),
        form.nativeSchema(),
        form.unit() == null ? null : Unit.valueOf(form.unit().name()),
        rule.slowerThanNanos() == null ? null : Duration.ofNanos(rule.slowerThanNanos()),
        each(rule.thresholds(), PublishedRules::threshold),
        each(rule.measures(), PublishedRules::measure),
        each(rule.objectives(), PublishedRules::objective));
  }

  private static Dimension dimension(RulesRecord.Dimension dimension) {
    return new Dimension(
        dimension.attribute(), dimension.label(), From.valueOf(dimension.source().name()));
  }

  private static TemplatesConfig.Rule template(RulesRecord.Template template) {
    return new TemplatesConfig.Rule(
        template.application(), template.pattern(), template.template());
  }

  private static Threshold threshold(SlowRule rule) {
    return new Threshold(rule.application(), kinds(rule.kinds()), Duration.ofNanos(rule.nanos()));
  }
}
