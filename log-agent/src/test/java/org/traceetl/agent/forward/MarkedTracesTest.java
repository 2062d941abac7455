package org.traceetl.agent.forward;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class MarkedTracesTest {
  private final MarkedTraces traces = new MarkedTraces(7);

  @Property(tries = 50)
  void marksAreThoseOfAMap(@ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<Long, Long> expected = new HashMap<>();
    MarkedTraces actual = new MarkedTraces(7);
    for (int now = 0; now < 5_000; now++) {
      long trace = random.nextLong(3_000);
      // IDs that differ only in their upper half, as those of counters.
      if (random.nextInt(3) > 0) {
        assertThat(actual.mark(trace, trace % 7, now)).isTrue();
        expected.put(trace, (long) now);
      }
      if (random.nextInt(400) == 0) {
        long before = now - random.nextInt(1_000);
        long last = random.nextBoolean() ? now : now - random.nextInt(1_000);
        actual.forget(before, last);
        expected.values().removeIf(millis -> millis < before || millis > last);
      }
      long asked = random.nextLong(3_000);
      long since = now - random.nextInt(1_000);
      assertThat(actual.isMarked(asked, asked % 7, since))
          .isEqualTo(expected.getOrDefault(asked, -1L) >= Math.max(0, since));
      assertThat(actual.size()).isEqualTo(expected.size());
    }
  }

  @Test
  void aFullSetTakesNoFurtherTraceUntilOldOnesAreForgotten() {
    for (int i = 0; i < MarkedTraces.MOST; i++) {
      assertThat(traces.mark(0, i, i % 2)).isTrue();
    }
    assertThat(traces.mark(0, -1, 1)).isFalse();
    assertThat(traces.isMarked(0, -1, 0)).isFalse();
    assertThat(traces.mark(0, 0, 1)).isTrue();

    traces.forget(1, 1);
    assertThat(traces.size()).isEqualTo(MarkedTraces.MOST / 2 + 1);
    assertThat(traces.mark(0, -1, 1)).isTrue();
    assertThat(traces.isMarked(0, 0, 1)).isTrue();
    assertThat(traces.isMarked(0, 2, 0)).isFalse();
  }

  /** IDs of counters, and those that differ only in a few bits. */
  @ParameterizedTest
  @CsvSource({"0, 0", "0, 20", "0, 47", "0, 60", "0, 66", "0, 84", "0, 111", "7, 111"})
  void traceIdsThatDifferInFewBitsDoNotMeetInTheTable(long low, int shift) {
    int slots = 2 * MarkedTraces.MOST;
    BitSet taken = new BitSet();
    int farthest = 0;
    for (long i = 0; i < MarkedTraces.MOST; i++) {
      long idLow = low ^ (shift < Long.SIZE ? i << shift : 0);
      long idHigh = shift < Long.SIZE ? i >>> 1 >>> Long.SIZE - 1 - shift : i << shift - Long.SIZE;
      int home = (int) traces.hash(idHigh, idLow) & slots - 1;
      int slot = taken.nextClearBit(home);
      taken.set(slot);
      farthest = Math.max(farthest, slot - home);
    }
    // Of random hashes about 60.
    assertThat(farthest).isLessThan(300);
  }

  @Test
  void aTraceIdOfZeroesCanBeMarked() {
    assertThat(traces.isMarked(0, 0, 0)).isFalse();
    assertThat(traces.mark(0, 0, 5)).isTrue();
    assertThat(traces.isMarked(0, 0, 5)).isTrue();
    assertThat(traces.isMarked(0, 0, 6)).isFalse();
  }
}
