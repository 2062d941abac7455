package org.traceetl.server.series;

import java.util.List;
import java.util.Set;
import org.traceetl.common.WildcardPattern;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.SpanKind;

/** The durations from which spans are slow, read once for each application. Immutable. */
public final class SlowThresholds {
  static final int KINDS = SpanKind.values().length;

  private record Rule(WildcardPattern application, Set<SpanKind> kinds, long nanos) {}

  private final List<Rule> rules;
  private final long otherwiseNanos;

  public SlowThresholds(DocumentsConfig config) {
    rules =
        config.thresholds().stream()
            .map(t ->
                new Rule(new WildcardPattern(t.application()), t.kinds(), t.slowerThan().toNanos()))
            .toList();
    otherwiseNanos = config.slowerThan().toNanos();
  }

  /** Returns the threshold of each kind, in nanoseconds. */
  long[] nanosByKind(String application) {
    long[] nanos = new long[KINDS];
    for (SpanKind kind : SpanKind.values()) {
      nanos[kind.ordinal()] =
          rules.stream()
              .filter(r -> r.kinds().isEmpty() || r.kinds().contains(kind))
              .filter(r -> r.application().matches(application))
              .mapToLong(Rule::nanos)
              .findFirst()
              .orElse(otherwiseNanos);
    }
    return nanos;
  }
}
