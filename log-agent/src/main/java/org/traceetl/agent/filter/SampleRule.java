package org.traceetl.agent.filter;

import org.traceetl.agent.config.FilterRules.Sample;
import org.traceetl.agent.flow.SpanView;

/**
 * How many spans of an application are sent, by consistent probability sampling as OpenTelemetry
 * has it: a span with the randomness R of its trace is sent if R is at least the threshold T = (1 -
 * ratio) * 2^56, and then stands for 2^56 / (2^56 - T) spans. Immutable.
 *
 * <p>Counts stay right, each in its series and bucket. Whether a span is of those that are always
 * sent is decided by itself alone, not by R, so each span is either always sent, with the threshold
 * T0 that it came with (0 for none), or sent with probability (2^56 - T) / (2^56 - T0), R being
 * even over all values from T0 on, with the threshold T. The mean of what it then counts for is the
 * product of the two, 2^56 / (2^56 - T0): what it counted for before. Where T is at most T0 this
 * rule is no further restriction, and the span goes on as it came.
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

  /** The threshold that holds for a span. */
  long threshold(SpanView span) {
    boolean always = errors && span.status == STATUS_ERROR || span.durationNanos >= slowNanos;
    return always ? span.samplingThreshold : Math.max(threshold, span.samplingThreshold);
  }

  /** Whether a span is sent where that threshold holds for it. */
  static boolean keeps(SpanView span, long threshold) {
    return threshold == span.samplingThreshold || randomness(span) >= threshold;
  }

  private static long randomness(SpanView span) {
    return span.randomness >= 0 ? span.randomness : span.traceIdLow & RANDOM_BITS;
  }
}
