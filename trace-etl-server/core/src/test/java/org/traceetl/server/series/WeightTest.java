package org.traceetl.server.series;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class WeightTest {
  private static final long RANGE = 1L << 56;

  @Property
  void aTotalIsAlwaysWithinOneOfTheExactSum(
      @ForAll @Size(max = 200)
          List<@LongRange(min = 0, max = RANGE - (RANGE >> 20)) Long> thresholds) {
    BigDecimal exact = BigDecimal.ZERO;
    long counted = 0;
    long carry = 0;
    for (long threshold : thresholds) {
      assertThat(Weight.isSane(threshold)).isTrue();
      long owed = Weight.of(threshold) + carry;
      counted += Weight.whole(owed);
      carry = Weight.fraction(owed);
      exact =
          exact.add(
              BigDecimal.valueOf(RANGE)
                  .divide(BigDecimal.valueOf(RANGE - threshold), MathContext.DECIMAL128));
      assertThat(exact.subtract(BigDecimal.valueOf(counted)).abs()).isLessThan(BigDecimal.ONE);
    }
  }

  @Test
  void weightsAreTheInverseOfTheProbability() {
    assertThat(Weight.of(0)).isEqualTo(Weight.ONE);
    assertThat(Weight.of(RANGE / 2)).isEqualTo(2 * Weight.ONE);
    assertThat(Weight.of(RANGE - RANGE / 4)).isEqualTo(4 * Weight.ONE);
    assertThat(Weight.of(RANGE - (RANGE >> 20))).isEqualTo(Weight.MAX_SPANS * Weight.ONE);
    assertThat(Weight.isSane(RANGE - (RANGE >> 20))).isTrue();
    assertThat(Weight.isSane(RANGE - (RANGE >> 20) + 1)).isFalse();
  }

  @Test
  void durationsTimesWeightsSaturate() {
    assertThat(Weight.times(2 * Weight.ONE, 500)).isEqualTo(1_000);
    assertThat(Weight.times(Weight.ONE * 3 / 2, 3)).isEqualTo(5);
    assertThat(Weight.times(4 * Weight.ONE, Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
  }
}
