package org.traceetl.proto;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

final class EdgeKeyTest {
  private static final int IDS = 1_000_000;

  /** Seconds since 1970, as they begin a trace ID of X-Ray. */
  private static final long SECONDS = 1_795_000_000;

  /** How programs choose IDs. */
  private record Ids(IntToLongFunction high, IntToLongFunction low, IntToLongFunction span) {
    long key(int i) {
      return EdgeKey.key(high.applyAsLong(i), low.applyAsLong(i), span.applyAsLong(i));
    }

    int check(int i) {
      return EdgeKey.check(high.applyAsLong(i), low.applyAsLong(i), span.applyAsLong(i));
    }
  }

  static Stream<Arguments> ids() {
    return Stream.of(
        ids("spans of one trace", i -> 0x0af7651916cd43ddL, i -> 0x8448eb211c80319cL, i -> i),
        ids("spans of one short trace", i -> 0, i -> 0x8448eb211c80319cL, i -> i),
        ids("traces of one span", i -> 0, i -> i, i -> 1),
        ids("few spans of traces", i -> 0, i -> i >>> 3, i -> i & 7),
        ids("X-Ray", i -> SECONDS + i / 1_000 << 32 | random(i) >>> 32, i -> random(~i), i -> i),
        ids("X-Ray's time alone", i -> SECONDS + i << 32, i -> 0, i -> 0),
        ids("numbers in high bits", i -> 0, i -> (long) i << 44, i -> (long) i << 40),
        ids("equal numbers", i -> i, i -> i, i -> i),
        ids("random", i -> random(i), i -> random(i ^ 1 << 30), i -> random(~i)));
  }

  private static Arguments ids(
      String what, IntToLongFunction high, IntToLongFunction low, IntToLongFunction span) {
    return Arguments.of(what, new Ids(high, low, span));
  }

  private static long random(int i) {
    return new SplittableRandom(i).nextLong();
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0, 0, 33fe8bd4f9c57863, 13914, 831",
    "0, 0, 1, 2aea2ec8299df491, 65142, 686",
    "af7651916cd43dd, 8448eb211c80319c, b7ad6b7169203331, 618eb2537975425b, 32440, 1560",
    "ffffffffffffffff, ffffffffffffffff, ffffffffffffffff, cc1477265c81a671, 54849, 3265",
  })
  void everyReleaseComputesTheseHashes(
      String high, String low, String span, String key, int check, int slot) {
    long[] ids =
        Stream.of(high, low, span).mapToLong(id -> Long.parseUnsignedLong(id, 16)).toArray();
    assertThat(EdgeKey.key(ids[0], ids[1], ids[2])).isEqualTo(Long.parseUnsignedLong(key, 16));
    assertThat(EdgeKey.check(ids[0], ids[1], ids[2])).isEqualTo(check);
    assertThat(EdgeKey.slot(Long.parseUnsignedLong(key, 16))).isEqualTo(slot);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("ids")
  void keysDifferAndFillSlotsEvenly(String what, Ids ids) {
    long[] keys = new long[IDS];
    int[] slots = new int[EdgeKey.SLOTS];
    int[] checks = new int[1 << 16];
    for (int i = 0; i < IDS; i++) {
      keys[i] = ids.key(i);
      slots[EdgeKey.slot(keys[i])]++;
      checks[ids.check(i)]++;
    }
    Arrays.sort(keys);
    assertThat(IntStream.range(1, IDS).filter(i -> keys[i] == keys[i - 1]).count()).isZero();
    assertEven(slots);
    assertEven(checks);
  }

  /** Requires that chi-squared is within six standard deviations of its mean. */
  private static void assertEven(int[] counts) {
    double expected = (double) IDS / counts.length;
    double sum = 0;
    for (int count : counts) {
      sum += (count - expected) * (count - expected) / expected;
    }
    int freedom = counts.length - 1;
    double deviation = Math.sqrt(2.0 * freedom);
    assertThat(sum).isBetween(freedom - 6 * deviation, freedom + 6 * deviation);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("ids")
  void eachBitOfTheIdsChangesEachBitOfTheHashesHalfOfTheTime(String what, Ids ids) {
    int tries = 4_096;
    Random random = new Random(1);
    for (int bit = 0; bit < 192; bit++) {
      int[] changes = new int[Long.SIZE + Short.SIZE];
      for (int t = 0; t < tries; t++) {
        int i = random.nextInt(IDS);
        long high = ids.high.applyAsLong(i);
        long low = ids.low.applyAsLong(i);
        long span = ids.span.applyAsLong(i);
        long flip = 1L << bit;
        long otherHigh = bit < 64 ? high ^ flip : high;
        long otherLow = bit >= 64 && bit < 128 ? low ^ flip : low;
        long otherSpan = bit >= 128 ? span ^ flip : span;
        add(changes, 0, EdgeKey.key(high, low, span) ^ EdgeKey.key(otherHigh, otherLow, otherSpan));
        add(
            changes,
            Long.SIZE,
            EdgeKey.check(high, low, span) ^ EdgeKey.check(otherHigh, otherLow, otherSpan));
      }
      for (int change : changes) {
        // More than six standard deviations of a fair coin.
        assertThat((double) change / tries).as("bit %d", bit).isBetween(0.45, 0.55);
      }
    }
  }

  private static void add(int[] changes, int from, long changed) {
    for (long rest = changed; rest != 0; rest &= rest - 1) {
      changes[from + Long.numberOfTrailingZeros(rest)]++;
    }
  }

  @Test
  void checkDoesNotFollowFromKey() {
    int tries = 65_536;
    int[][] equal = new int[Long.SIZE][Short.SIZE];
    for (int i = 0; i < tries; i++) {
      long key = EdgeKey.key(0, 1, i);
      int check = EdgeKey.check(0, 1, i);
      for (int k = 0; k < Long.SIZE; k++) {
        for (int c = 0; c < Short.SIZE; c++) {
          equal[k][c] += (int) (key >>> k ^ check >>> c ^ 1) & 1;
        }
      }
    }
    for (int[] ofBit : equal) {
      for (int count : ofBit) {
        assertThat((double) count / tries).isBetween(0.485, 0.515);
      }
    }
  }
}
