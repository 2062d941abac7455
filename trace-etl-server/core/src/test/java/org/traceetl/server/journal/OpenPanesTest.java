package org.traceetl.server.journal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.server.journal.PaneModel.Delta;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.OpenPane;
import org.traceetl.server.window.OpenPanes;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.WindowPanes;

/** Tests open panes as an image keeps them, against plain maps. */
class OpenPanesTest {
  private static final QueueId QUEUE = new QueueId("broker-a", 0);
  private static final long PANE = 15_000;

  private static Map<Integer, Delta> deltas(OpenPane pane, int stride) {
    Map<Integer, Delta> deltas = new TreeMap<>();
    int before = -1;
    for (int row : pane.rows()) {
      assertThat(pane.series(row)).isGreaterThan(before);
      before = pane.series(row);
      assertThat(pane.row(before)).isEqualTo(row);
      deltas.put(
          before,
          new Delta(
              Arrays.stream(pane.counts(), row * stride, (row + 1) * stride).boxed().toList(),
              Math.addExact(
                  Math.multiplyExact(pane.sumMillis(row), 1_000_000L), pane.sumNanos(row)),
              PaneModel.buckets(pane.natives(), row)));
    }
    return deltas;
  }

  @Property(tries = 200)
  void anImageKeepsTheDeltasOfOpenPanesApart(@ForAll long seed) {
    RandomWindows windows = new RandomWindows(seed);
    QueueImage image = new QueueImage(RandomWindows.SCHEMA, windows.stride(), 1 << 20).keepPanes();
    PaneModel model = new PaneModel();
    for (int i = 0; i < 12; i++) {
      SealedWindow window = PaneModel.withShortDurations(windows.next());
      image.apply(window);
      model.apply(window);

      Map<Long, Map<Integer, Delta>> open = new HashMap<>();
      for (OpenPane pane : image.openPanes().panes()) {
        Map<Integer, Delta> deltas = deltas(pane, windows.stride());
        if (!deltas.isEmpty()) {
          open.put(pane.endMillis(), deltas);
        }
      }
      model.panes.values().removeIf(Map::isEmpty);
      assertThat(open).isEqualTo(model.panes);
      assertThat(image.openPanes().closedMillis()).isEqualTo(model.closed());
      model
          .starts()
          .forEach((series, start) -> assertThat(image.startMillis(series)).isEqualTo(start));
    }
  }

  @Test
  void beyondTheLimitTheOldestPanesAreMerged() {
    QueueImage image = Windows.newImage().keepPanes();
    for (int pane = 0; pane < OpenPanes.MAX_PANES + 3; pane++) {
      image.apply(
          Windows.with(
              Windows.window(QUEUE, pane, pane + 1, 1 + pane),
              "panes",
              new WindowPanes(PANE, pane * PANE, 0, List.of()),
              "closedMillis",
              0L));
    }

    assertThat(image.openPanes().panes()).hasSize(OpenPanes.MAX_PANES);
    OpenPane oldest = image.openPanes().poll(Long.MAX_VALUE);
    assertThat(oldest.endMillis()).isEqualTo(4 * PANE);
    assertThat(oldest.counts()[0]).isEqualTo(1 + 2 + 3 + 4);
  }

  @Test
  void lateDeltasCountInTheFirstPaneThatIsNotClosed() {
    QueueImage image = Windows.newImage().keepPanes();
    WindowPanes pane = new WindowPanes(PANE, 0, 0, List.of());
    image.apply(
        Windows.with(Windows.window(QUEUE, 0, 1, 5), "panes", pane, "closedMillis", 4 * PANE));

    image.apply(
        Windows.with(Windows.window(QUEUE, 1, 2, 7), "panes", pane, "closedMillis", 4 * PANE));

    assertThat(image.openPanes().panes()).hasSize(1);
    OpenPane open = image.openPanes().poll(Long.MAX_VALUE);
    assertThat(open.endMillis()).isEqualTo(5 * PANE);
    assertThat(open.counts()[0]).isEqualTo(7);
  }

  /** An idle queue's window does not know until when panes are closed if it is from before. */
  @Test
  void aWindowWithoutRowsAndPanesClosesNothingAfterOneWithPanes() {
    QueueImage image = Windows.newImage().keepPanes();
    image.apply(
        Windows.with(
            Windows.window(QUEUE, 0, 1, 5),
            "panes",
            new WindowPanes(PANE, 0, 0, List.of()),
            "closedMillis",
            0L));

    image.apply(Windows.with(Windows.window(QUEUE, 1, 1), "openedMillis", 10 * PANE));

    assertThat(image.openPanes().closedMillis()).isZero();
    assertThat(image.openPanes().panes()).hasSize(1);
  }

  @Test
  void subtractedTotalsAreThoseOfTheRest() {
    NativeTotals rest = new NativeTotals();
    NativeTotals part = new NativeTotals();
    rest.add(0, new NativeCounts(new int[] {3}, new int[] {4, 7, 9}, new long[] {1, 2, 3}), 0);
    part.add(5, new NativeCounts(new int[] {2}, new int[] {3, 7}, new long[] {6, 8}), 0);
    Map<Integer, Long> before = PaneModel.buckets(rest, 0);

    rest.add(0, part, 5);
    assertThat(PaneModel.buckets(rest, 0)).isEqualTo(Map.of(3, 6L, 4, 1L, 7, 10L, 9, 3L));
    rest.subtract(0, part, 5);
    assertThat(PaneModel.buckets(rest, 0)).isEqualTo(before);
    rest.subtract(0, rest, 0);
    assertThat(rest.size(0)).isZero();
  }
}
