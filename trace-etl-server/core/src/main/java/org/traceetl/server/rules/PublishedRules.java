package org.traceetl.server.rules;

import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.orElse;

import java.time.Duration;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.traceetl.common.ConfigException;
import org.traceetl.proto.Demand;
import org.traceetl.proto.Demand.SlowRule;
import org.traceetl.proto.RulesRecord;
import org.traceetl.server.config.DocumentsConfig.Threshold;
import org.traceetl.server.config.SpanKind;

/**
 * Translates rules into the record that all servers follow, and back. A record has thresholds only,
 * and no defaults: each rule contains those that it lacks, and a last rule those of all other
 * applications.
 */
public final class PublishedRules {
  /** Highest revision of a record: readers refuse epochs far ahead of their clock. */
  static final long MAX_REVISION = 1_000_000_000_000L;

  private static final String ALL = "*";

  private PublishedRules() {}

  /**
   * Returns the record of the thresholds in these rules.
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
      check(
          Demand.takesText(of.application()),
          "application",
          of.application(),
          "must have at most " + Demand.MAX_TEXT_BYTES + " bytes of UTF-8");
      // Of equal patterns only the first applies.
      byPattern.putIfAbsent(of.application(), of.keys());
    }
    byPattern.putIfAbsent(ALL, RuleKeys.NONE);
    int thresholds =
        byPattern.values().stream()
            .map(keys -> orElse(thresholds(keys, defaults), List.of()))
            .mapToInt(List::size)
            .sum();
    check(
        byPattern.size() <= RulesRecord.MAX_RULES && thresholds <= RulesRecord.MAX_THRESHOLDS,
        "applications",
        byPattern.size() + " rules with " + thresholds + " thresholds",
        "must be at most "
            + RulesRecord.MAX_RULES
            + " rules, with that of all other applications, and at most "
            + RulesRecord.MAX_THRESHOLDS
            + " thresholds, in each rule those of the defaults that it does not replace");
    Map<String, RulesRecord.Rule> published = new LinkedHashMap<>();
    byPattern.forEach(
        (pattern, keys) -> published.put(pattern, rule(published.size(), keys, defaults)));
    return new RulesRecord(rules.revision(), decidedMillis, published);
  }

  private static RulesRecord.Rule rule(int place, RuleKeys keys, RuleKeys defaults) {
    Duration slowerThan = orElse(keys.slowerThan(), defaults.slowerThan());
    List<Threshold> thresholds = thresholds(keys, defaults);
    return new RulesRecord.Rule(
        place,
        slowerThan == null ? null : (Long) slowerThan.toNanos(),
        thresholds == null ? null : thresholds.stream().map(PublishedRules::slowRule).toList());
  }

  /** Returns null if they are absent. */
  private static List<Threshold> thresholds(RuleKeys keys, RuleKeys defaults) {
    return orElse(keys.thresholds(), defaults.thresholds());
  }

  private static SlowRule slowRule(Threshold threshold) {
    check(
        Demand.takesText(threshold.application()),
        "documents.thresholds.application",
        threshold.application(),
        "must have 1 to " + Demand.MAX_TEXT_BYTES + " bytes of UTF-8");
    int kinds = threshold.kinds().stream().mapToInt(kind -> 1 << kind.ordinal()).sum();
    return new SlowRule(threshold.application(), kinds, threshold.slowerThan().toNanos());
  }

  /**
   * Returns the rules in a record.
   *
   * @param record of a revision of at least 1
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
    Duration slowerThan =
        rule.slowerThanNanos() == null ? null : Duration.ofNanos(rule.slowerThanNanos());
    List<Threshold> thresholds =
        rule.thresholds() == null
            ? null
            : rule.thresholds().stream().map(PublishedRules::threshold).toList();
    return new RuleKeys(null, null, null, null, null, null, slowerThan, thresholds);
  }

  private static Threshold threshold(SlowRule rule) {
    Set<SpanKind> kinds = EnumSet.noneOf(SpanKind.class);
    for (SpanKind kind : SpanKind.values()) {
      if ((rule.kinds() & 1 << kind.ordinal()) != 0) {
        kinds.add(kind);
      }
    }
    return new Threshold(rule.application(), kinds, Duration.ofNanos(rule.nanos()));
  }
}
