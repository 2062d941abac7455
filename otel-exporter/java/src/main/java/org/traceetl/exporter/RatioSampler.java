package org.traceetl.exporter;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.opentelemetry.sdk.trace.samplers.SamplingDecision;
import io.opentelemetry.sdk.trace.samplers.SamplingResult;
import java.util.List;
import org.traceetl.exporter.ring.Hex;
import org.traceetl.exporter.ring.Sampling;

/**
 * Samples a share of traces by OpenTelemetry's consistent probability sampling, and writes the
 * threshold into the tracestate's member {@code ot}. So the servers count each span as the number
 * that it represents. The SDK's own ratio sampler writes no threshold.
 */
final class RatioSampler implements Sampler {
  private static final String MEMBER = "ot";
  private static final long RANDOMNESS = (1L << Sampling.BITS) - 1;

  private final double ratio;
  private final boolean parentBased;
  private final long threshold;
  private final TraceState rootState;
  private final SamplingResult sampled = new Sampled();

  /**
   * @param ratio from 0 to 1
   * @param parentBased spans with a parent are sampled as it is
   */
  RatioSampler(double ratio, boolean parentBased) {
    if (!(ratio >= 0 && ratio <= 1)) {
      throw new IllegalArgumentException(
          "The sampling ratio is " + ratio + ": must be from 0 to 1");
    }
    this.ratio = ratio;
    this.parentBased = parentBased;
    threshold = Math.round((1 - ratio) * (1L << Sampling.BITS));
    rootState = withThreshold(TraceState.getDefault());
  }

  @Override
  public SamplingResult shouldSample(
      Context parentContext,
      String traceId,
      String name,
      SpanKind kind,
      Attributes attributes,
      List<LinkData> links) {
    SpanContext parent = Span.fromContext(parentContext).getSpanContext();
    if (parentBased && parent.isValid()) {
      return parent.isSampled() ? SamplingResult.recordAndSample() : SamplingResult.drop();
    }
    TraceState state = parent.isValid() ? parent.getTraceState() : TraceState.getDefault();
    return samples(Hex.parse(traceId, Hex.DIGITS_OF_LONG), state) ? sampled : SamplingResult.drop();
  }

  @Override
  public String getDescription() {
    return "TraceEtlRatio{ratio=" + ratio + ", parentBased=" + parentBased + '}';
  }

  @Override
  public String toString() {
    return getDescription();
  }

  boolean isParentBased() {
    return parentBased;
  }

  /**
   * Returns whether a span is sampled whose parent does not decide.
   *
   * @param state of the parent; empty without a parent
   */
  boolean samples(long traceIdLow, TraceState state) {
    long randomness = traceIdLow & RANDOMNESS;
    if (!state.isEmpty()) {
      String member = state.get(MEMBER);
      long given = member == null ? -1 : Sampling.randomness(member);
      randomness = given < 0 ? randomness : given;
    }
    return randomness >= threshold;
  }

  /** Returns the tracestate of a span that {@link #samples} sampled. */
  TraceState state(TraceState parent) {
    return parent.isEmpty() ? rootState : withThreshold(parent);
  }

  private TraceState withThreshold(TraceState state) {
    // At these ratios no span has a threshold: all are sampled, or none.
    return threshold == 0 || threshold > RANDOMNESS
        ? state
        : state.toBuilder()
            .put(MEMBER, Sampling.withThreshold(state.get(MEMBER), threshold))
            .build();
  }

  private final class Sampled implements SamplingResult {
    @Override
    public SamplingDecision getDecision() {
      return SamplingDecision.RECORD_AND_SAMPLE;
    }

    @Override
    public Attributes getAttributes() {
      return Attributes.empty();
    }

    @Override
    public TraceState getUpdatedTraceState(TraceState parentTraceState) {
      return state(parentTraceState);
    }
  }
}
