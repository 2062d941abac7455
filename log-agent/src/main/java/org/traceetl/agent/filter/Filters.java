package org.traceetl.agent.filter;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.traceetl.agent.config.FilterRules;
import org.traceetl.agent.config.FilterRules.Allowed;
import org.traceetl.agent.config.FilterRules.Drop;
import org.traceetl.agent.config.FilterRules.Place;
import org.traceetl.agent.config.FilterRules.Sample;

/** The filters of all applications. Immutable. */
public final class Filters {
  /** None: what comes is sent as it is. */
  public static final Filters NONE = new Filters(FilterRules.NONE);

  private final FilterRules rules;
  private final Redactor[] values;
  private final Redactor[] names;
  private final Redactor[] statusMessages;

  public Filters(FilterRules rules) {
    this.rules = rules;
    values = redactors(rules, Place.VALUES);
    names = redactors(rules, Place.NAMES);
    statusMessages = redactors(rules, Place.STATUS_MESSAGES);
  }

  private static Redactor[] redactors(FilterRules rules, Place place) {
    return rules.redact().stream()
        .filter(rule -> rule.in().contains(place))
        .map(Redactor::new)
        .toArray(Redactor[]::new);
  }

  /**
   * The filters of an application. Looks through all rules: callers keep what they get.
   *
   * @return null if there are none for it
   */
  public ApplicationFilters of(byte[] name, int offset, int length) {
    DropRule[] drop =
        matching(rules.drop(), Drop::applications, name, offset, length)
            .map(DropRule::new)
            .toArray(DropRule[]::new);
    SampleRule sample =
        matching(rules.sample(), Sample::applications, name, offset, length)
            .findFirst()
            .map(SampleRule::new)
            .orElse(null);
    Allowed allowed =
        matching(rules.attributes(), Allowed::applications, name, offset, length)
            .findFirst()
            .orElse(null);
    ApplicationFilters filters =
        new ApplicationFilters(
            drop,
            sample,
            allowed == null ? null : patterns(allowed.span()),
            allowed == null ? null : patterns(allowed.resource()),
            rules.limits(),
            values,
            names,
            statusMessages);
    return filters.areNone() ? null : filters;
  }

  private static TextPattern[] patterns(List<String> keys) {
    return keys == null ? null : TextPattern.unlessAll(keys);
  }

  private static <T> Stream<T> matching(
      List<T> rules, Function<T, List<String>> applications, byte[] name, int offset, int length) {
    return rules.stream()
        .filter(rule ->
            applications.apply(rule).stream()
                .anyMatch(pattern -> new TextPattern(pattern).matches(name, offset, length)));
  }

  /** The rules that they are made of. */
  public FilterRules rules() {
    return rules;
  }
}
