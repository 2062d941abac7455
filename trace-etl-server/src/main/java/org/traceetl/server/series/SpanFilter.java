package org.traceetl.server.series;

import java.util.List;
import java.util.Set;
import org.traceetl.server.config.Glob;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SpanKind;

/** The configured filters. Asked once for each series, never for a span. Immutable. */
final class SpanFilter {
  private record Rule(Glob application, Glob spanName, Set<SpanKind> kinds) {
    boolean matches(String text, String name, SpanKind kind) {
      return (kinds.isEmpty() || kinds.contains(kind))
          && application.matches(text)
          && spanName.matches(name);
    }
  }

  private final List<Rule> rules;

  SpanFilter(List<SeriesConfig.Filter> filters) {
    rules =
        filters.stream()
            .map(f -> new Rule(new Glob(f.application()), new Glob(f.spanName()), f.kinds()))
            .toList();
  }

  boolean isEmpty() {
    return rules.isEmpty();
  }

  boolean leavesOut(String application, String spanName, SpanKind kind) {
    return rules.stream().anyMatch(rule -> rule.matches(application, spanName, kind));
  }
}
