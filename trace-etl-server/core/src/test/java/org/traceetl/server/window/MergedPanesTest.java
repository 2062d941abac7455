package org.traceetl.server.window;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class MergedPanesTest {
  private static final int STRIDE = 17;
  private static final long PANE_MILLIS = 15_000;

  private static WindowMetrics metrics() {
    return new WindowMetrics(STRIDE, 1, 10, 10, true, false);
  }

  private static void add(WindowMetrics metrics, long pane, int series) {
    WindowRows rows = metrics.pane(pane * PANE_MILLIS);
    int row = rows.row(series);
    row = row < 0 ? rows.open(series) : row;
    rows.add(row, 3, 1, 5);
    rows.addNative(row, 7, 1);
    metrics.countSpans(1);
  }

  private static SealedWindow seal(WindowMetrics metrics) {
    return metrics.seal(
        new QueueId("b", 0),
        0,
        1,
        0,
        1,
        List.of(),
        new int[0],
        1,
        PANE_MILLIS,
        AcceptedBatches.NONE,
        WindowCompleteness.NONE,
        SealedWindow.UNKNOWN_CLOSED,
        EdgeChange.NONE);
  }

  private static long spans(WindowMetrics metrics) {
    return LongStream.of(seal(metrics).counts()).sum();
  }

  @Test
  void theTwoOldestPanesAreMergedAboveTheirMaximum() {
    WindowMetrics metrics = metrics();
    for (int pane = 1; pane <= WindowMetrics.MAX_PANES; pane++) {
      add(metrics, pane, pane % 3);
    }
    assertThat(metrics.mergedSpans()).isZero();

    add(metrics, 1_000, 0);
    assertThat(metrics.panes()).isEqualTo(WindowMetrics.MAX_PANES);
    assertThat(metrics.mergedSpans()).isEqualTo(1);
    add(metrics, 1_001, 0);
    assertThat(metrics.mergedSpans()).as("those of the first are not counted again").isEqualTo(2);
    assertThat(metrics.rows(0).startMillis()).isEqualTo(3 * PANE_MILLIS);

    SealedWindow window = seal(metrics);
    assertThat(window.panes().mergedSpans()).isEqualTo(2);
    assertThat(LongStream.of(window.counts()).sum()).isEqualTo(WindowMetrics.MAX_PANES + 2);
    assertThat(LongStream.of(window.natives().counts()).sum())
        .isEqualTo(WindowMetrics.MAX_PANES + 2);
    // Series 1, 2 and 0: the merged pane has the most rows.
    assertThat(window.panes().mainMillis()).isEqualTo(3 * PANE_MILLIS);
  }

  @Test
  void batchesOfPanesBeforeTheOldestJoinIt() {
    WindowMetrics metrics = metrics();
    for (int pane = 1; pane <= WindowMetrics.MAX_PANES; pane++) {
      add(metrics, 10 * pane, 0);
    }
    add(metrics, 3, 0);
    assertThat(metrics.panes()).isEqualTo(WindowMetrics.MAX_PANES);
    assertThat(metrics.mergedSpans()).isEqualTo(1);
    add(metrics, 15, 0);
    assertThat(metrics.mergedSpans()).as("panes 10 and 20 are one, and 15 joins it").isEqualTo(3);
    assertThat(metrics.panes()).isEqualTo(WindowMetrics.MAX_PANES - 1);
    add(metrics, 1, 0);
    assertThat(metrics.mergedSpans()).isEqualTo(4);
    assertThat(metrics.rows(0).startMillis()).isEqualTo(20 * PANE_MILLIS);
    add(metrics, 20, 0);
    assertThat(metrics.mergedSpans()).isEqualTo(4);
    assertThat(spans(metrics)).isEqualTo(WindowMetrics.MAX_PANES + 4);
  }

  @Test
  void memoryOfPanesIsBoundedByTheLargestOne() {
    WindowMetrics metrics = metrics();
    int series = 30_000;
    for (int pane = 0; pane < 5; pane++) {
      for (int i = 0; i < series; i++) {
        add(metrics, pane, i);
        assertThat(metrics.rows()).isLessThanOrEqualTo(3L * series + 5_000);
      }
    }
    assertThat(metrics.panes()).isEqualTo(3);
    assertThat(metrics.mergedSpans()).isEqualTo(2L * series);
    assertThat(metrics.spansOf(series - 1)).isEqualTo(5);
    assertThat(spans(metrics)).isEqualTo(5L * series);
  }

  @Test
  void threePanesAreCrowdedAboveHalfOfTheBound() {
    WindowMetrics metrics = metrics();
    for (int pane = 0; pane < 2; pane++) {
      for (int i = 0; i < 17_000; i++) {
        add(metrics, pane, i);
      }
    }
    add(metrics, 2, 0);
    assertThat(metrics.isCrowded()).isTrue();
    WindowMetrics few = metrics();
    for (int pane = 0; pane < 15; pane++) {
      add(few, pane, 0);
    }
    assertThat(few.isCrowded()).isFalse();
  }

  @Test
  void aClearedWindowKeepsTheMemoryOfTwoPanes() {
    WindowMetrics metrics = metrics();
    for (int pane = 0; pane < 10; pane++) {
      for (int i = 0; i < 300 * (1 + pane % 4); i++) {
        add(metrics, pane, i);
      }
    }
    metrics.clear();
    assertThat(metrics.panes()).isZero();
    assertThat(metrics.isEmpty()).isTrue();

    WindowRows rows = new WindowRows(STRIDE, true, false);
    int blocks = -1;
    while (rows.blocks() > blocks) {
      blocks = rows.blocks();
      metrics.makeRoom(rows, null);
    }
    assertThat(rows.blocks()).as("of two panes with 1,200 rows").isEqualTo(10);
  }
}
