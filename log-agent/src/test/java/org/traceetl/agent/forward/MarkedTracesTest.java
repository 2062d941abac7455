package org.traceetl.agent.forward;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

final class MarkedTracesTest {
  private final MarkedTraces traces = new MarkedTraces();

  @Property(tries = 50)
  void marksAreThoseOfAMap(@ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<Long, Long> expected = new HashMap<>();
    MarkedTraces actual = new MarkedTraces();
    for (int now = 0; now < 5_000; now++) {
      long trace = random.nextLong(3_000);
      // IDs that differ only in their upper half, as those of counters.
      if (random.nextInt(3) > 0) {
        assertThat(actual.mark(trace, trace % 7, now)).isTrue();
        expected.put(trace, (long) now);
      }
      if (random.nextInt(400) == 0) {
        long before = now - random.nextInt(1_000);
        actual.forget(before);
        expected.values().removeIf(millis -> millis < before);
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

    traces.forget(1);
    assertThat(traces.size()).isEqualTo(MarkedTraces.MOST / 2 + 1);
    assertThat(traces.mark(0, -1, 1)).isTrue();
    assertThat(traces.isMarked(0, 0, 1)).isTrue();
    assertThat(traces.isMarked(0, 2, 0)).isFalse();
  }

  @Test
  void aTraceIdOfZeroesCanBeMarked() {
    assertThat(traces.isMarked(0, 0, 0)).isFalse();
    assertThat(traces.mark(0, 0, 5)).isTrue();
    assertThat(traces.isMarked(0, 0, 5)).isTrue();
    assertThat(traces.isMarked(0, 0, 6)).isFalse();
  }
}
