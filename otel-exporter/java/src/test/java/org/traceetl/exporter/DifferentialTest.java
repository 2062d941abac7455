package org.traceetl.exporter;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.opentelemetry.sdk.trace.samplers.SamplingDecision;
import io.opentelemetry.sdk.trace.samplers.SamplingResult;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The SDK with the processor, and the provider, write the same spans. */
class DifferentialTest {
  private static final int ROUNDS = 60;
  private static final int STEPS = 150;

  @TempDir Path directory;

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
  void theProviderWritesTheSpansOfTheSdk(long seed) throws Exception {
    Random random = new Random(seed);
    try (TwinProviders twins =
        new TwinProviders(seed, directory, sampler((int) seed), limits(random))) {
      int written = 0;
      for (int round = 0; round < ROUNDS; round++) {
        for (int step = 0; step < STEPS; step++) {
          twins.step();
        }
        written += twins.compareRings();
      }
      assertThat(twins.ended()).isGreaterThan(ROUNDS);
      boolean drops = seed % 8 == 1;
      assertThat(written).matches(count -> drops ? count == 0 : count > ROUNDS);
      assertThat(twins.links()).matches(count -> drops ? count == 0 : count > 0);
    }
  }

  private static SpanLimits limits(Random random) {
    return random.nextInt(3) == 0
        ? SpanLimits.getDefault()
        : SpanLimits.builder()
            .setMaxNumberOfAttributes(1 + random.nextInt(20))
            .setMaxNumberOfEvents(1 + random.nextInt(4))
            .setMaxNumberOfLinks(1 + random.nextInt(4))
            .setMaxNumberOfAttributesPerEvent(1 + random.nextInt(4))
            .setMaxNumberOfAttributesPerLink(1 + random.nextInt(4))
            .setMaxAttributeValueLength(
                random.nextInt(3) == 0 ? 5 + random.nextInt(10) : Integer.MAX_VALUE)
            .build();
  }

  private static Sampler sampler(int seed) {
    switch (seed % 8) {
      case 0:
        return Sampler.alwaysOn();
      case 1:
        return Sampler.alwaysOff();
      case 2:
        return Sampler.parentBased(Sampler.alwaysOn());
      case 3:
        return Sampler.parentBased(Sampler.alwaysOff());
      case 4:
        return new RatioSampler(0.3, false);
      case 5:
        return new RatioSampler(0.3, true);
      case 6:
        return Sampler.parentBased(Sampler.traceIdRatioBased(0.3));
      default:
        return new Whimsical();
    }
  }

  /** Drops, records or samples by the trace ID, and adds attributes and a tracestate. */
  private static final class Whimsical implements Sampler {
    @Override
    public SamplingResult shouldSample(
        Context parent,
        String traceId,
        String name,
        SpanKind kind,
        Attributes attributes,
        List<LinkData> links) {
      int choice = traceId.charAt(5) + attributes.size() + links.size();
      SamplingDecision decision = SamplingDecision.values()[choice % 3];
      Attributes more = Attributes.builder().put("key.1", name).put("by", kind.name()).build();
      return new SamplingResult() {
        @Override
        public SamplingDecision getDecision() {
          return decision;
        }

        @Override
        public Attributes getAttributes() {
          return more;
        }

        @Override
        public TraceState getUpdatedTraceState(TraceState state) {
          return choice % 2 == 0 ? state : state.toBuilder().put("ot", "th:8").build();
        }
      };
    }

    @Override
    public String getDescription() {
      return "whimsical";
    }
  }
}
