package org.traceetl.agent.filter;

import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.traceetl.agent.config.FilterRules;
import org.traceetl.agent.config.FilterRules.Allowed;
import org.traceetl.agent.config.FilterRules.Drop;
import org.traceetl.agent.config.FilterRules.Place;
import org.traceetl.agent.config.FilterRules.Sample;
import org.traceetl.common.WildcardPattern;

/** The filters of all applications. Immutable. */
public final class Filters {
  /** No filters; spans are sent unchanged. */
  public static final Filters NONE = new Filters(FilterRules.NONE);

  private final FilterRules rules;
  private final List<Compiled<DropRule>> drop;
  private final List<Compiled<SampleRule>> sample;
  private final List<Compiled<AllowedKeys>> attributes;
  private final Redactor[] values;
  private final Redactor[] names;
  private final Redactor[] statusMessages;

  /** A rule with its applications; null for all. */
  private record Compiled<T>(WildcardPattern[] applications, T rule) {
    static <F, T> List<Compiled<T>> all(
        List<F> rules, Function<F, List<String>> applications, Function<F, T> compile) {
      return rules.stream()
          .map(rule ->
              new Compiled<>(
                  WildcardPattern.unlessAll(applications.apply(rule)), compile.apply(rule)))
          .toList();
    }

    static <T> Stream<T> matching(List<Compiled<T>> rules, byte[] name, int offset, int length) {
      return rules.stream()
          .filter(one -> WildcardPattern.anyMatches(one.applications, name, offset, length))
          .map(Compiled::rule);
    }
  }

  /** The allowed keys; null for all. */
  private record AllowedKeys(WildcardPattern[] span, WildcardPattern[] resource) {
    static final AllowedKeys ALL = new AllowedKeys(null, null);

    AllowedKeys(Allowed rule) {
      this(patterns(rule.span()), patterns(rule.resource()));
    }

    private static WildcardPattern[] patterns(List<String> keys) {
      return keys == null ? null : WildcardPattern.unlessAll(keys);
    }
  }

  /** The rules for an application. Applications with equal selections can share filters. */
  public static final class Selection {
    private final List<DropRule> drop;
    // Null if there is none.
    private final SampleRule sample;
    private final AllowedKeys allowed;

    private Selection(List<DropRule> drop, SampleRule sample, AllowedKeys allowed) {
      this.drop = drop;
      this.sample = sample;
      this.allowed = allowed;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Selection that
          && drop.equals(that.drop)
          && Objects.equals(sample, that.sample)
          && allowed.equals(that.allowed);
    }

    @Override
    public int hashCode() {
      return Objects.hash(drop, sample, allowed);
    }
  }

  public Filters(FilterRules rules) {
    this.rules = rules;
    drop = Compiled.all(rules.drop(), Drop::applications, DropRule::new);
    sample = Compiled.all(rules.sample(), Sample::applications, SampleRule::new);
    attributes = Compiled.all(rules.attributes(), Allowed::applications, AllowedKeys::new);
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
   * Returns the rules for an application. Callers should keep the result, because each call reads
   * all rules.
   */
  public Selection select(byte[] name, int offset, int length) {
    return new Selection(
        Compiled.matching(drop, name, offset, length).toList(),
        Compiled.matching(sample, name, offset, length).findFirst().orElse(null),
        Compiled.matching(attributes, name, offset, length).findFirst().orElse(AllowedKeys.ALL));
  }

  /**
   * Returns the filters of applications with this selection.
   *
   * @return null if there are no filters for them
   */
  public ApplicationFilters of(Selection selection) {
    ApplicationFilters filters =
        new ApplicationFilters(
            selection.drop.toArray(DropRule[]::new),
            selection.sample,
            selection.allowed.span,
            selection.allowed.resource,
            rules.limits(),
            values,
            names,
            statusMessages);
    return filters.areNone() ? null : filters;
  }
}
