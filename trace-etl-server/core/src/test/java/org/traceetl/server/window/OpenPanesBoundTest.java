package org.traceetl.server.window;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.server.journal.Windows;

/** Tests the bound of rows of open panes with a small one. */
class OpenPanesBoundTest {
  private static final QueueId QUEUE = new QueueId("broker-a", 0);
  private static final long PANE = 15_000;
  private static final int MORE_ROWS = 8;

  private final OpenPanes open = new OpenPanes(1, MORE_ROWS);
  private long next;

  /** Adds a window of one pane with these numbers of spans of each series; closes none. */
  private void add(long startMillis, long... spans) {
    open.add(
        Windows.with(
            Windows.window(QUEUE, next, ++next, spans),
            "panes",
            new WindowPanes(PANE, startMillis, 0, List.of())),
        (series, sinceMillis) -> true);
    open.close(0);
  }

  private List<Long> ends() {
    return open.panes().stream().map(OpenPane::endMillis).toList();
  }

  @Test
  void tenOfTheLargestPanesAndSomeMoreRowsAreKept() {
    for (int pane = 0; pane < 14; pane++) {
      add(pane * PANE, 1, 1);
    }
    assertThat(open.rows()).isEqualTo(10 * 2 + MORE_ROWS);
    assertThat(open.mergedPanes()).isZero();

    add(14 * PANE, 1, 1);

    assertThat(open.mergedPanes()).isEqualTo(1);
    assertThat(ends()).hasSize(14).startsWith(2 * PANE);
    OpenPane oldest = open.poll(Long.MAX_VALUE);
    assertThat(oldest.counts()).startsWith(2, 2);
  }

  @Test
  void rowsOfEndedSeriesDoNotCount() {
    for (int pane = 0; pane < 14; pane++) {
      add(pane * PANE, 1, 1);
    }
    open.remove(1);
    assertThat(open.rows()).isEqualTo(14);
    open.remove(1);
    assertThat(open.rows()).isEqualTo(14);
  }

  @Property(tries = 200)
  void noSpanIsLost(@ForAll long seed) {
    Random random = new Random(seed);
    Map<Integer, Long> expected = new HashMap<>();
    for (int window = 0; window < 60; window++) {
      long[] spans = new long[1 + random.nextInt(6)];
      for (int series = 0; series < spans.length; series++) {
        spans[series] = random.nextInt(100);
        expected.merge(series, spans[series], Long::sum);
      }
      add(random.nextInt(40) * PANE, spans);
      int largest = open.panes().stream().mapToInt(OpenPane::size).max().orElseThrow();
      assertThat(open.rows()).isLessThanOrEqualTo(10L * largest + MORE_ROWS);
    }
    Map<Integer, Long> found = new HashMap<>();
    for (OpenPane pane = poll(); pane != null; pane = poll()) {
      for (int row : pane.rows()) {
        found.merge(pane.series(row), pane.counts()[row], Long::sum);
      }
    }
    assertThat(found).isEqualTo(expected);
    assertThat(open.mergedPanes()).isPositive();
  }

  private OpenPane poll() {
    return open.poll(Long.MAX_VALUE);
  }
}
