package org.traceetl.server.series;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.traceetl.common.ConfigException.orElse;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.traceetl.common.WildcardPattern;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.DocumentsConfig.Threshold;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.rules.RuleKeys;
import org.traceetl.server.rules.Rules;

/**
 * The durations from which spans are slow: those of the configuration, or those of rules by
 * application over them. Immutable.
 */
public final class SlowThresholds {
  static final int KINDS = SpanKind.values().length;

  private static final String ALL = "*";

  /**
   * The thresholds of some applications.
   *
   * @param application name, with {@code *} as wildcard
   * @param thresholds exceptions; the first that matches applies
   * @param slowerThan threshold of other spans of the applications
   */
  record OfApplications(String application, List<Threshold> thresholds, Duration slowerThan) {}

  private record Limit(WildcardPattern application, Set<SpanKind> kinds, long nanos) {}

  private record Prepared(WildcardPattern application, List<Limit> limits, long otherwiseNanos) {
    static Prepared of(OfApplications rule) {
      return new Prepared(
          new WildcardPattern(rule.application),
          rule.thresholds.stream()
              .map(each ->
                  new Limit(
                      new WildcardPattern(each.application()),
                      each.kinds(),
                      each.slowerThan().toNanos()))
              .toList(),
          rule.slowerThan.toNanos());
    }

    private long nanos(byte[] name, SpanKind kind) {
      return limits.stream()
          .filter(each -> each.kinds.isEmpty() || each.kinds.contains(kind))
          .filter(each -> each.application.matches(name, 0, name.length))
          .mapToLong(Limit::nanos)
          .findFirst()
          .orElse(otherwiseNanos);
    }
  }

  private final List<OfApplications> applications;
  private final List<Prepared> prepared;

  /** Thresholds of the configuration. */
  public SlowThresholds(DocumentsConfig config) {
    this(List.of(new OfApplications(ALL, config.thresholds(), config.slowerThan())));
  }

  /** Thresholds of rules; keys that they do not have are those of the configuration. */
  public SlowThresholds(DocumentsConfig config, Rules rules) {
    this(applications(config, rules));
  }

  private SlowThresholds(List<OfApplications> applications) {
    this.applications = List.copyOf(applications);
    prepared = applications.stream().map(Prepared::of).toList();
  }

  private static List<OfApplications> applications(DocumentsConfig config, Rules rules) {
    List<OfApplications> applications = new ArrayList<>();
    for (Rules.OfApplications rule : rules.applications()) {
      applications.add(of(rule.application(), rule.keys(), rules.defaults(), config));
      if (rule.application().equals(ALL)) {
        return applications;
      }
    }
    applications.add(of(ALL, RuleKeys.NONE, rules.defaults(), config));
    return applications;
  }

  private static OfApplications of(
      String application, RuleKeys keys, RuleKeys defaults, DocumentsConfig config) {
    return new OfApplications(
        application,
        orElse(orElse(keys.thresholds(), defaults.thresholds()), config.thresholds()),
        orElse(orElse(keys.slowerThan(), defaults.slowerThan()), config.slowerThan()));
  }

  /**
   * Returns the thresholds by application. The first element that matches an application applies;
   * the last one matches all.
   */
  List<OfApplications> applications() {
    return applications;
  }

  /** Returns the threshold of spans for which {@link #exceptions} has none. */
  public Duration otherwise() {
    return applications.getLast().slowerThan;
  }

  /**
   * Returns all other thresholds as one list, in which the first that matches application and kind
   * applies. Each span that is slow is slow by this list, too. The reverse holds as well, except in
   * a rule that has a wildcard and a threshold with another wildcard: no pattern matches the
   * applications of both, so the lowest threshold of that rule is listed for all its spans.
   */
  public List<Threshold> exceptions() {
    List<Threshold> list = new ArrayList<>();
    for (OfApplications rule : applications.subList(0, applications.size() - 1)) {
      boolean isExact =
          rule.thresholds.stream()
              .allMatch(each ->
                  isLiteral(rule.application)
                      || isLiteral(each.application())
                      || isAny(each, rule.application));
      if (isExact) {
        rule.thresholds.stream()
            .filter(each -> overlaps(each, rule.application))
            .map(each ->
                new Threshold(
                    isAny(each, rule.application) || isLiteral(rule.application)
                        ? rule.application
                        : each.application(),
                    each.kinds(),
                    each.slowerThan()))
            .forEach(list::add);
        list.add(new Threshold(rule.application, Set.of(), rule.slowerThan));
      } else {
        Duration lowest =
            Stream.concat(
                    rule.thresholds.stream().map(Threshold::slowerThan), Stream.of(rule.slowerThan))
                .min(Duration::compareTo)
                .orElseThrow();
        list.add(new Threshold(rule.application, Set.of(), lowest));
      }
    }
    list.addAll(applications.getLast().thresholds);
    return list;
  }

  private static boolean isLiteral(String pattern) {
    return pattern.indexOf('*') < 0;
  }

  /** Returns whether a threshold is that of all applications of a rule. */
  private static boolean isAny(Threshold threshold, String application) {
    return threshold.application().equals(ALL) || threshold.application().equals(application);
  }

  /** Returns whether a threshold concerns some application of a rule; one of both is literal. */
  private static boolean overlaps(Threshold threshold, String application) {
    return isAny(threshold, application)
        || (isLiteral(application)
            ? new WildcardPattern(threshold.application()).matches(application)
            : new WildcardPattern(application).matches(threshold.application()));
  }

  /** Returns the threshold of each kind, in nanoseconds. */
  long[] nanosByKind(String application) {
    byte[] name = application.getBytes(UTF_8);
    Prepared rule =
        prepared.stream()
            .filter(each -> each.application.matches(name, 0, name.length))
            .findFirst()
            .orElseGet(prepared::getLast);
    long[] nanos = new long[KINDS];
    for (SpanKind kind : SpanKind.values()) {
      nanos[kind.ordinal()] = rule.nanos(name, kind);
    }
    return nanos;
  }
}
