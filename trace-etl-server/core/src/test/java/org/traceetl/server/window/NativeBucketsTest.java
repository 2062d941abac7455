package org.traceetl.server.window;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NativeBucketsTest {
  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000_000_000;
  private static final NativeBuckets[][] ALL = new NativeBuckets[13][];

  private static NativeBuckets buckets(int schema, boolean seconds) {
    int at = schema + 4;
    if (ALL[at] == null) {
      ALL[at] =
          new NativeBuckets[] {new NativeBuckets(schema, MILLI), new NativeBuckets(schema, SECOND)};
    }
    return ALL[at][seconds ? 1 : 0];
  }

  /**
   * Returns whether nanos / unit is at most 2^(index / 2^schema), in whole numbers: raised to the
   * power of 2^schema, with a negative exponent on the other side.
   */
  private static boolean isAtMost(long nanos, int index, int schema, long unit) {
    int power = 1 << Math.max(0, schema);
    int exponent = schema < 0 ? index << -schema : index;
    BigInteger left = BigInteger.valueOf(nanos).pow(power);
    BigInteger right = BigInteger.valueOf(unit).pow(power);
    return exponent < 0
        ? left.shiftLeft(-exponent).compareTo(right) <= 0
        : left.compareTo(right.shiftLeft(exponent)) <= 0;
  }

  private static void assertHolds(NativeBuckets buckets, long nanos, long unit) {
    int index = buckets.index(buckets.of(nanos));
    assertThat(isAtMost(nanos, index, buckets.schema(), unit))
        .as("%d ns at most the bound of %d", nanos, index)
        .isTrue();
    assertThat(isAtMost(nanos, index - 1, buckets.schema(), unit))
        .as("%d ns above the bound of %d", nanos, index - 1)
        .isFalse();
  }

  @Property(tries = 3_000)
  void aDurationIsAboveItsBucketsLowerBoundAndAtMostItsUpperOne(
      @ForAll @IntRange(min = -4, max = 8) int schema,
      @ForAll boolean seconds,
      @ForAll @LongRange(min = 1) long any,
      @ForAll @IntRange(min = 0, max = 62) int shift) {
    NativeBuckets buckets = buckets(schema, seconds);
    long nanos = Math.max(1, any >>> shift);

    assertHolds(buckets, nanos, seconds ? SECOND : MILLI);
    assertThat(buckets.of(nanos)).isBetween(1, buckets.count() - 1);
  }

  @ParameterizedTest
  @ValueSource(ints = {-4, -1, 0, 1, 3, 5})
  void everyBoundIsTheLastOfItsBucket(int schema) {
    for (boolean seconds : new boolean[] {false, true}) {
      NativeBuckets buckets = buckets(schema, seconds);
      long unit = seconds ? SECOND : MILLI;
      for (long power = 1; power > 0; power <<= 1) {
        assertHolds(buckets, power, unit);
        assertHolds(buckets, power - 1 == 0 ? 1 : power - 1, unit);
        assertHolds(buckets, power + 1, unit);
      }
      // Indexes have no gaps: a new bucket is the next one that can hold a value.
      long nanos = 1;
      int before = buckets.of(nanos);
      assertThat(before).isEqualTo(1);
      for (; nanos < 5_000; nanos++) {
        assertHolds(buckets, nanos, unit);
        assertThat(buckets.of(nanos)).isGreaterThanOrEqualTo(before);
        before = buckets.of(nanos);
      }
      assertHolds(buckets, Long.MAX_VALUE, unit);
    }
  }

  @Test
  void aUnitIsTheBoundOfBucketZero() {
    for (int schema = -4; schema <= 8; schema++) {
      NativeBuckets millis = buckets(schema, false);
      assertThat(millis.index(millis.of(MILLI))).isZero();
      assertThat(millis.index(millis.of(MILLI + 1))).isEqualTo(1);
      assertThat(millis.index(millis.of(2 * MILLI))).isEqualTo(schema < 0 ? 1 : 1 << schema);
      NativeBuckets seconds = buckets(schema, true);
      assertThat(seconds.index(seconds.of(SECOND))).isZero();
      assertThat(seconds.index(seconds.of(SECOND + 1))).isEqualTo(1);
    }
  }

  @Test
  void zeroHasABucketOfItsOwn() {
    for (int schema = -4; schema <= 8; schema++) {
      assertThat(buckets(schema, false).of(0)).isEqualTo(NativeBuckets.ZERO);
      assertThat(buckets(schema, true).of(0)).isEqualTo(NativeBuckets.ZERO);
      assertThat(buckets(schema, false).count()).isLessThanOrEqualTo(NativeBuckets.MAX_COUNT);
      assertThat(buckets(schema, true).count()).isLessThanOrEqualTo(NativeBuckets.MAX_COUNT);
    }
  }
}
