package org.traceetl.proto;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** Tests how many spans of a trace a series has. */
final class SpansOfTracesTest {
  /** Bits of a hash that choose a place in a batch of 512 spans. */
  private static final long PLACE = 1_023;

  private final SpansOfTraces ofTraces = new SpansOfTraces();

  @Property(tries = 20)
  void spansAreCountedBySeriesAndTraceOfEachBatch(@ForAll long seed) {
    Random random = new Random(seed);
    for (int batch = 0; batch < 20; batch++) {
      Map<List<Long>, Integer> model = new HashMap<>();
      int traces = 1 << random.nextInt(12);
      for (int span = random.nextInt(4_096); span > 0; span--) {
        int series = random.nextInt(3);
        long high = random.nextInt(2);
        long low = random.nextInt(traces);
        int before =
            high == 0 && low == 0 ? 0 : model.merge(key(series, high, low), 1, Integer::sum) - 1;
        assertThat(ofTraces.add(series, high, low)).isEqualTo(before);
      }
      ofTraces.nextBatch();
    }
  }

  private static List<Long> key(long series, long high, long low) {
    return List.of(series, high, low);
  }

  /** Numbers of batches are used again. */
  @Test
  void noSpanOfAnEarlierBatchCounts() {
    for (int batch = 0; batch < 100_000; batch++) {
      // The second trace has the place of an earlier batch, which had this number perhaps.
      assertThat(ofTraces.add(1, 0, 1)).isZero();
      assertThat(ofTraces.add(1, 0, 2 + batch % 5)).isZero();
      assertThat(ofTraces.add(1, 0, 1)).isOne();
      ofTraces.nextBatch();
    }
  }

  @Test
  void aBatchMayHaveAllItsSpansInOneTrace() {
    for (int batch = 0; batch < 2; batch++) {
      for (int span = 0; span < Limits.MAX_SPANS; span++) {
        assertThat(ofTraces.add(0, 7, 8)).isEqualTo(span);
      }
      ofTraces.nextBatch();
    }
  }

  @Test
  void tracesAreForgottenAfterAMaximum() {
    for (int trace = 1; trace <= 10_000; trace++) {
      assertThat(ofTraces.add(0, 0, trace)).isZero();
      assertThat(ofTraces.add(0, 0, trace)).isOne();
    }
    assertThat(ofTraces.heldBytes()).isEqualTo(8_192 * 12);
    assertThat(ofTraces.add(0, 0, 1)).isZero();
    assertThat(ofTraces.add(0, 0, 10_000)).isEqualTo(2);
  }

  /** Traces whose hashes have one place with a seed have many with another one. */
  @Test
  void placesOfTracesAreUnknownWithoutTheSeed() {
    Random seeds = new Random(20261130);
    long known = seeds.nextLong();
    long[] collisions =
        LongStream.range(1, 1_000_000)
            .filter(low -> (SpansOfTraces.hash(known, 0, 7, low) & PLACE) == 0)
            .limit(512)
            .toArray();
    assertThat(collisions).hasSize(512);
    for (int i = 0; i < 20; i++) {
      long seed = seeds.nextLong();
      assertThat(
              LongStream.of(collisions)
                  .map(low -> SpansOfTraces.hash(seed, 0, 7, low) & PLACE)
                  .distinct()
                  .count())
          .as("places with seed %d", seed)
          .isGreaterThan(300);
    }
  }

  @Test
  void memoryIsTakenFromTheFirstSpanOn() {
    ofTraces.nextBatch();
    assertThat(ofTraces.heldBytes()).isZero();
    for (int trace = 1; trace <= 1_000; trace++) {
      ofTraces.add(0, 0, trace);
    }
    assertThat(ofTraces.heldBytes()).isEqualTo(2_048 * 12);
    ofTraces.nextBatch();
    assertThat(
            AllocatedBytes.by(() -> {
              for (int trace = 1; trace <= 1_000; trace++) {
                ofTraces.add(0, 0, trace);
              }
            }))
        .isLessThan(2_048);
  }
}
