package org.traceetl.agent.filter;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.util.Locale;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.config.FiltersFile;
import org.traceetl.agent.filter.AgentSpanFilter.Verdict;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.common.ConfigException;

final class SamplingTest {
  private static final long END = 1L << 56;
  // All values of the randomness that differ in the highest bits.
  private static final int STEPS = 256;
  private static final long STEP = END / STEPS;
  private static final int ERROR = 2;
  private static final BigInteger ALL_TIMES_STEPS =
      IntStream.rangeClosed(1, STEPS)
          .mapToObj(BigInteger::valueOf)
          .reduce(BigInteger.valueOf(STEPS), BigInteger::multiply);

  private final AgentSpanFilter filter = new AgentSpanFilter();

  @Property(tries = 300)
  void theMeanOfWhatASpanCountsForIsWhatItCountedForBefore(
      @ForAll @IntRange(min = 1, max = STEPS) int kept,
      @ForAll @IntRange(max = STEPS - 1) int before,
      @ForAll boolean failed,
      @ForAll @LongRange(max = 2_000_000) long durationNanos)
      throws ConfigException {
    ApplicationFilters filters = sample((double) kept / STEPS, "errors: true, slower-than: 1ms");
    SpanView span = span();
    span.status = failed ? ERROR : 0;
    span.durationNanos = durationNanos;
    BigInteger sum = BigInteger.ZERO;
    int possible = 0;
    for (int r = 0; r < STEPS; r++) {
      span.traceIdLow = 0x5a00_0000_0000_0000L | r * STEP;
      span.samplingThreshold = before * STEP;
      if (r < before) {
        // An earlier sampler dropped such a span.
        continue;
      }
      possible++;
      if (filter.apply(filters, span) == Verdict.KEPT) {
        sum = sum.add(weightTimesAll(filter.span().samplingThreshold));
      }
    }

    assertThat(sum).isEqualTo(weightTimesAll(before * STEP).multiply(BigInteger.valueOf(possible)));
  }

  /** Returns a span's weight by its threshold, multiplied so that all weights are whole numbers. */
  private static BigInteger weightTimesAll(long threshold) {
    return ALL_TIMES_STEPS.divide(BigInteger.valueOf(STEPS - threshold / STEP));
  }

  @Property(tries = 500)
  void allSpansOfATraceFareAlikeUnderOneRatioAndNeverWorseUnderAHigherOne(
      @ForAll long traceIdHigh,
      @ForAll long traceIdLow,
      @ForAll @IntRange(min = 1, max = 1_000) int lower,
      @ForAll @IntRange(min = 1, max = 1_000) int higher)
      throws ConfigException {
    SpanView one = span();
    one.traceIdHigh = traceIdHigh;
    one.traceIdLow = traceIdLow;
    SpanView other = span();
    other.traceIdHigh = traceIdHigh;
    other.traceIdLow = traceIdLow;
    other.spanId = 99;
    other.kind = 5;
    other.durationNanos = 77;
    double low = Math.min(lower, higher) / 1_000.0;
    double high = Math.max(lower, higher) / 1_000.0;
    Verdict verdict = filter.apply(sample(low, ""), one);

    assertThat(filter.apply(sample(low, ""), other)).isEqualTo(verdict);
    if (verdict == Verdict.KEPT) {
      assertThat(filter.apply(sample(high, ""), other)).isEqualTo(Verdict.KEPT);
    }
  }

  @Test
  void thresholdsAreThoseOfTheSpecification() throws ConfigException {
    SpanView span = span();
    span.traceIdLow = -1;
    assertThat(thresholdOf(1, span)).isZero();
    assertThat(thresholdOf(0.5, span)).isEqualTo(0x80000000000000L);
    assertThat(thresholdOf(0.25, span)).isEqualTo(0xc0000000000000L);
    // Five digits of the specification's examples: 0.1 is th:e6666, rounded.
    assertThat(thresholdOf(0.1, span) >>> 40).isEqualTo(0xe666);
    // Servers refuse a weight above 2^20.
    assertThat(END - thresholdOf(0.000001, span)).isGreaterThan(1L << 36);
  }

  private long thresholdOf(double ratio, SpanView span) throws ConfigException {
    assertThat(filter.apply(sample(ratio, ""), span)).isEqualTo(Verdict.KEPT);
    return filter.span().samplingThreshold;
  }

  @Test
  void theRandomnessOfTheTracestateComesBeforeThatOfTheTraceId() throws ConfigException {
    ApplicationFilters half = sample(0.5, "");
    SpanView span = span();
    span.traceIdLow = END - 1;
    span.randomness = END / 2 - 1;
    assertThat(filter.apply(half, span)).isEqualTo(Verdict.SAMPLED_OUT);
    span.traceIdLow = 0;
    span.randomness = END / 2;
    assertThat(filter.apply(half, span)).isEqualTo(Verdict.KEPT);
    span.randomness = -1;
    assertThat(filter.apply(half, span)).isEqualTo(Verdict.SAMPLED_OUT);
    // The highest byte of the lower half is outside the 56 bits.
    span.traceIdLow = 0xff00_0000_0000_0000L;
    assertThat(filter.apply(half, span)).isEqualTo(Verdict.SAMPLED_OUT);
  }

  @Test
  void aSpanOfALowerRatioGoesOnAsItCame() throws ConfigException {
    SpanView span = span();
    span.samplingThreshold = END / 4 * 3;
    // The randomness contradicts the threshold; the sampler's decision applies.
    span.traceIdLow = 0;

    assertThat(filter.apply(sample(0.5, ""), span)).isEqualTo(Verdict.KEPT);
    assertThat(filter.span()).isSameAs(span);
  }

  private static ApplicationFilters sample(double ratio, String always) throws ConfigException {
    byte[] yaml =
        String.format(
                Locale.ROOT,
                "sample: [{ratio: %.17f, always: {%s}}]",
                ratio,
                always.isEmpty() ? "errors: false" : always)
            .getBytes(UTF_8);
    Filters filters = new Filters(FiltersFile.parse(yaml));
    return filters.of(filters.select(new byte[0], 0, 0));
  }

  private static SpanView span() {
    SpanView span = new SpanView();
    span.spanId = 1;
    span.name = new byte[0];
    span.statusMessage = new byte[0];
    return span;
  }
}
