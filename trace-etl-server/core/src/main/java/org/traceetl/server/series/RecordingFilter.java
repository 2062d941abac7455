package org.traceetl.server.series;

import java.util.List;
import java.util.Set;
import org.traceetl.common.WildcardPattern;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SpanKind;

/**
 * The configured filters, checked for spans without a series: once per batch for each name and
 * kind. Immutable.
 */
public final class RecordingFilter {
  private record Rule(WildcardPattern application, WildcardPattern spanName, Set<SpanKind> kinds) {
    boolean matches(String text, String name, SpanKind kind) {
      return (kinds.isEmpty() || kinds.contains(kind))
          && application.matches(text)
          && spanName.matches(name);
    }
  }

  private static final SpanKind[] KINDS = SpanKind.values();

  private final List<Rule> rules;

  public RecordingFilter(List<SeriesConfig.Filter> filters) {
    rules =
        filters.stream()
            .map(f ->
                new Rule(
                    new WildcardPattern(f.application()),
                    new WildcardPattern(f.spanName()),
                    f.kinds()))
            .toList();
  }

  public boolean isEmpty() {
    return rules.isEmpty();
  }

  /**
   * Returns whether the filters exclude spans of this application, name and kind.
   *
   * @param kind as in OTLP, 0 to 5
   */
  public boolean leavesOut(String application, String spanName, int kind) {
    return rules.stream().anyMatch(rule -> rule.matches(application, spanName, KINDS[kind]));
  }
}
