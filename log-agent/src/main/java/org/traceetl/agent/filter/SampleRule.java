package org.traceetl.agent.filter;

import org.traceetl.agent.config.FilterRules.Sample;
import org.traceetl.agent.flow.SpanView;

/**
 * Samples the spans of an application by OpenTelemetry's consistent probability sampling. A span is
 * sent if the randomness R of its trace is at least the threshold T = (1 - ratio) * 2^56. It then
 * represents 2^56 / (2^56 - T) spans. Immutable.
 *
 * <p>Counts stay unbiased in each series and bucket. Whether a span is always sent depends on the
 * span alone, not on R. Such a span keeps its threshold T0 (0 for none). Any other span is sent
 * with threshold T and probability (2^56 - T) / (2^56 - T0), because R is uniform from T0 on. Its
 * mean weight is that probability * 2^56 / (2^56 - T) = 2^56 / (2^56 - T0), its weight before. If T
 * is at most T0, the rule has no effect and the span is sent unchanged.
 */
final class SampleRule {
  private static final int STATUS_ERROR = 2;
  private static final double END = 0x1p56;
  private static final long RANDOM_BITS = (1L << 56) - 1;

  private final long threshold;
  private final boolean errors;
  private final long slowNanos;

  SampleRule(Sample rule) {
    threshold = Math.min(RANDOM_BITS, Math.round((1 - rule.ratio()) * END));
    errors = rule.errors();
    slowNanos = rule.slowNanos();
  }

  /** Returns the threshold that applies to a span. */
  long threshold(SpanView span) {
    boolean always = errors && span.status == STATUS_ERROR || span.durationNanos >= slowNanos;
    return always ? span.samplingThreshold : Math.max(threshold, span.samplingThreshold);
  }
}
