package org.traceetl.server.features.rules;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.traceetl.server.rules.RuleKeys;
import org.traceetl.server.rules.Rules;

/**
 * Determines which dimensions, templates, forms (buckets and unit), measures and objectives are in
 * force: those of the newest rules, after a wait in which agents begin to send what they need.
 * Dimensions that the configuration lacks become labels of their series, so they also wait until
 * all servers read those. Forms, measures and objectives wait until all servers read forms. Servers
 * that read forms but not objectives refuse the record and keep the previous rules: they must be
 * upgraded before a file has objectives. For one thread.
 */
final class DimensionSwitch {
  /**
   * Rules, reduced to dimensions, templates, forms and measures, and when they were published and
   * adopted.
   */
  private record Revision(Rules rules, long publishedMillis, long adoptedNanos) {}

  private final long waitMillis;
  private final Set<String> configured;

  /** Null before the first rules. */
  private Revision newest;

  /** The rules whose wait has passed; null for the configuration. */
  private Rules due;

  /** The rules in force; null for the configuration. */
  private Rules inForce;

  private long restMillis;
  private boolean awaitsServers;
  private boolean awaitsForms;

  /**
   * @param wait how long new rules wait after their publication, and at most after {@link #adopt}
   * @param configured labels of the configuration's dimensions, which all series can have
   */
  DimensionSwitch(Duration wait, Set<String> configured) {
    waitMillis = wait.toMillis();
    this.configured = Set.copyOf(configured);
  }

  /**
   * Adopts new rules. If the wait of the previous ones had passed when these were published, the
   * previous ones stay in force meanwhile, although this server may read both at once.
   *
   * @param publishedMillis milliseconds since 1970
   */
  void adopt(Rules rules, long publishedMillis, long nowNanos) {
    if (newest != null && publishedMillis - newest.publishedMillis >= waitMillis) {
      due = newest.rules;
    }
    newest = new Revision(ofSeries(rules), publishedMillis, nowNanos);
  }

  /**
   * Returns the rules without other keys than dimensions, templates, forms and measures; null if no
   * rule has them.
   */
  private static Rules ofSeries(Rules rules) {
    List<Rules.OfApplications> applications =
        rules.applications().stream()
            .map(of -> new Rules.OfApplications(of.application(), ofSeries(of.keys(), true, true)))
            .toList();
    return applications.stream().allMatch(of -> of.keys().equals(RuleKeys.NONE))
        ? null
        : new Rules(rules.revision(), RuleKeys.NONE, applications);
  }

  private static RuleKeys ofSeries(RuleKeys keys, boolean dimensions, boolean forms) {
    return new RuleKeys(
        dimensions ? keys.dimensions() : null,
        keys.templates(),
        forms ? keys.boundsMillis() : null,
        forms ? keys.kind() : null,
        forms ? keys.nativeSchema() : null,
        forms ? keys.unit() : null,
        null,
        null,
        forms ? keys.measures() : null,
        forms ? keys.objectives() : null);
  }

  /**
   * Determines the rules in force.
   *
   * @param labels whether all servers read labels; null if it is not known yet
   * @param forms whether all servers read forms; null if it is not known yet
   * @return whether {@link #inForce} has changed
   */
  boolean look(long nowMillis, long nowNanos, Boolean labels, Boolean forms) {
    if (newest == null) {
      return false;
    }
    long sinceAdopted = Duration.ofNanos(nowNanos - newest.adoptedNanos).toMillis();
    restMillis = waitMillis - Math.max(sinceAdopted, nowMillis - newest.publishedMillis);
    if (isSame(newest.rules, due)) {
      restMillis = 0;
    }
    if (restMillis <= 0) {
      due = newest.rules;
    }
    awaitsServers = needsLabels(due) && !Boolean.TRUE.equals(labels);
    awaitsForms = needsForms(due) && !Boolean.TRUE.equals(forms);
    Rules before = inForce;
    boolean isKnown = !(awaitsServers && labels == null) && !(awaitsForms && forms == null);
    if (isKnown) {
      inForce = due == null ? null : reduced(due, !awaitsServers, !awaitsForms);
    }
    return !isSame(before, inForce);
  }

  private static Rules reduced(Rules rules, boolean dimensions, boolean forms) {
    return ofSeries(
        new Rules(
            rules.revision(),
            RuleKeys.NONE,
            rules.applications().stream()
                .map(of ->
                    new Rules.OfApplications(
                        of.application(), ofSeries(of.keys(), dimensions, forms)))
                .toList()));
  }

  private boolean needsLabels(Rules rules) {
    return rules != null
        && rules.dimensions().stream().anyMatch(each -> !configured.contains(each.label()));
  }

  private static boolean needsForms(Rules rules) {
    return rules != null && rules.applications().stream().anyMatch(of -> needsForms(of.keys()));
  }

  private static boolean needsForms(RuleKeys keys) {
    return keys.hasForm()
        || keys.measures() != null && !keys.measures().isEmpty()
        || keys.objectives() != null && !keys.objectives().isEmpty();
  }

  /** Returns whether rules are equal, whatever their revisions. */
  private static boolean isSame(Rules one, Rules other) {
    return one == null || other == null
        ? one == other
        : one.applications().equals(other.applications());
  }

  /** Returns the rules in force, with no other keys; null for those of the configuration. */
  Rules inForce() {
    return inForce;
  }

  /** Returns after how many milliseconds the newest rules are due; at most 0 if they are. */
  long restMillis() {
    return restMillis;
  }

  /** Returns whether dimensions wait until all servers read labels. */
  boolean awaitsServers() {
    return awaitsServers;
  }

  /** Returns whether forms wait until all servers read them. */
  boolean awaitsForms() {
    return awaitsForms;
  }

  /**
   * Returns the attributes of spans of all dimensions and measures in force and awaited, by the
   * pattern of their applications.
   */
  Map<String, Set<String>> attributes() {
    Map<String, Set<String>> attributes = new HashMap<>();
    Stream.of(newest == null ? null : newest.rules, due, inForce)
        .filter(Objects::nonNull)
        .flatMap(rules -> rules.applications().stream())
        .forEach(of -> {
          Set<String> needed = of.keys().attributes();
          if (!needed.isEmpty()) {
            attributes.computeIfAbsent(of.application(), pattern -> new HashSet<>()).addAll(needed);
          }
        });
    return attributes;
  }
}
