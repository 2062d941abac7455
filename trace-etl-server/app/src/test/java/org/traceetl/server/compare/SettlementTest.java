package org.traceetl.server.compare;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class SettlementTest {
  static final int SETTLE = 3;
  static final int RANGE = 14;

  private final Panes panes = new Panes(0, 1_000, SETTLE, RANGE);

  /** No load at the ends: then each lost span is found, however late the spans are. */
  @Property
  void withAPauseAtBothEndsTheLossIsExact(
      @ForAll @Size(8) List<@IntRange(max = 100) Integer> load,
      @ForAll @Size(8) List<@IntRange(max = SETTLE) Integer> late,
      @ForAll @Size(8) List<@IntRange(max = 3) Integer> lost) {
    double[] left = new double[panes.size()];
    double[] right = new double[panes.size()];
    double expected = 0;
    for (int i = 0; i < load.size(); i++) {
      int pane = 2 * SETTLE + i;
      double gone = Math.min(lost.get(i), load.get(i));
      left[pane] += load.get(i) - gone;
      // A counter that is late delivers all of its spans later.
      right[pane + late.get(i)] += load.get(i);
      expected += gone;
    }

    Settlement settled = Settlement.of(left, right, panes);
    Settlement mirrored = Settlement.of(right, left, panes);

    assertThat(settled.net()).isEqualTo(expected);
    assertThat(mirrored.net()).isEqualTo(0 - expected);
    assertThat(Arrays.stream(settled.steps(panes)).sum()).isEqualTo(expected);
    assertThat(Arrays.stream(settled.steps(panes)).allMatch(step -> step >= 0)).isTrue();
    assertThat(Arrays.stream(mirrored.steps(panes)).sum()).isEqualTo(0 - expected);
  }

  @Property
  void lateSpansAreNoLossAlsoUnderLoad(
      @ForAll @Size(RANGE + 2 * SETTLE) List<@IntRange(max = 100) Integer> load,
      @ForAll @Size(RANGE + 2 * SETTLE) List<@IntRange(max = SETTLE) Integer> late) {
    double[] left = new double[panes.size()];
    double[] right = new double[panes.size()];
    for (int i = 0; i < load.size(); i++) {
      left[i] = load.get(i);
      if (i + late.get(i) < right.length) {
        right[i + late.get(i)] += load.get(i);
      }
    }

    assertThat(Settlement.of(left, right, panes).net()).isZero();
    assertThat(Settlement.of(right, left, panes).net()).isZero();
  }

  @Test
  void theStepIsInThePaneOfTheLoss() {
    double[] left = new double[panes.size()];
    double[] right = new double[panes.size()];
    Arrays.fill(left, 6, 12, 10);
    Arrays.fill(right, 6, 12, 10);
    left[9] = 4;

    Settlement settled = Settlement.of(left, right, panes);

    assertThat(settled.net()).isEqualTo(6);
    assertThat(settled.steps(panes)[9 - SETTLE]).isEqualTo(6);
  }

  @Test
  void whatWasLostBeforeTheRangeDoesNotCount() {
    double[] left = new double[panes.size()];
    double[] right = new double[panes.size()];
    right[1] = 50;
    Arrays.fill(left, 6, 8, 10);
    Arrays.fill(right, 6, 8, 10);

    assertThat(Settlement.of(left, right, panes).net()).isZero();
  }
}
