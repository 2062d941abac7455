package org.traceetl.server.window;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.server.journal.RandomWindows;
import org.traceetl.server.journal.Windows;

class WindowPanesTest {
  private static final QueueId QUEUE = new QueueId("broker-a", 0);

  @Property(tries = 300)
  void thePanesOfAWindowAddUpToItsRows(@ForAll long seed) {
    SealedWindow window = new RandomWindows(seed).next();
    WindowPanes.Pane main = window.panes().main(window);
    List<WindowPanes.Pane> panes = new ArrayList<>(window.panes().others());
    panes.add(main);
    long[] counts = new long[window.counts().length];
    long[] durationNanos = new long[window.rows()];
    long[] spans = new long[window.natives().counts().length];
    for (WindowPanes.Pane pane : panes) {
      add(pane, window, counts, durationNanos, spans);
    }

    assertThat(counts).isEqualTo(window.counts());
    assertThat(durationNanos).isEqualTo(window.durationNanos());
    assertThat(spans).isEqualTo(window.natives().counts());
    assertThat(main.startMillis()).isEqualTo(window.panes().mainMillis());
    assertThat(main.rows()).isSorted().doesNotHaveDuplicates();
  }

  private static void add(
      WindowPanes.Pane pane,
      SealedWindow window,
      long[] counts,
      long[] durationNanos,
      long[] spans) {
    int stride = window.stride();
    for (int i = 0; i < pane.rows().length; i++) {
      int row = pane.rows()[i];
      durationNanos[row] += pane.durationNanos()[i];
      for (int bucket = 0; bucket < stride; bucket++) {
        counts[row * stride + bucket] += pane.counts()[i * stride + bucket];
      }
      NativeCounts natives = window.natives();
      for (int j = pane.natives().begin(i); j < pane.natives().end(i); j++) {
        int at = natives.begin(row);
        while (natives.buckets()[at] != pane.natives().buckets()[j]) {
          at++;
        }
        spans[at] += pane.natives().counts()[j];
      }
    }
  }

  /** Returns a window whose second pane has these spans and this duration of its second series. */
  private static SealedWindow window(
      long spans, long durationNanos, long ofPane, long nanosOfPane) {
    SealedWindow window = Windows.window(QUEUE, 0, 10, 4, spans);
    window.durationNanos()[1] = durationNanos;
    return Windows.with(
        window,
        "panes",
        new WindowPanes(
            15_000,
            0,
            0,
            List.of(
                new WindowPanes.Pane(
                    15_000,
                    new int[] {1},
                    new long[] {ofPane},
                    new long[] {nanosOfPane},
                    NativeCounts.NONE))));
  }

  @Test
  void rowsThatAreWhollyInOtherPanesAreNotInTheMainPane() {
    SealedWindow window = window(6, 9, 6, 9);
    WindowPanes.Pane main = window.panes().main(window);

    assertThat(main.rows()).containsExactly(0);
    assertThat(main.counts()).containsExactly(4);
    assertThat(main.durationNanos()).containsExactly(0);
  }

  @Test
  void panesWithMoreThanTheWindowAreVisible() {
    SealedWindow window = window(6, 9, 7, 9);

    assertThat(window.panes().main(window).counts()).containsExactly(4, -1);
  }

  @Test
  void aSumAtTheHighestNumberMayBeLessThanItsParts() {
    SealedWindow window = window(6, Long.MAX_VALUE, 5, Long.MAX_VALUE);
    WindowPanes panes = window.panes();
    WindowPanes.Pane other = panes.others().getFirst();
    WindowPanes.Pane later =
        new WindowPanes.Pane(
            30_000, other.rows(), new long[] {0}, other.durationNanos(), NativeCounts.NONE);
    SealedWindow saturated =
        Windows.with(window, "panes", new WindowPanes(15_000, 0, 0, List.of(other, later)));

    assertThat(saturated.panes().main(saturated).durationNanos()).containsExactly(0, 0);
    assertThat(saturated.panes().main(saturated).counts()).containsExactly(4, 1);
  }

  @Test
  void aWindowOfOnePaneSharesItsArrays() {
    SealedWindow window =
        Windows.with(
            Windows.window(QUEUE, 0, 10, 4, 6),
            "panes",
            new WindowPanes(15_000, 30_000, 0, List.of()));
    WindowPanes.Pane main = window.panes().main(window);

    assertThat(main.startMillis()).isEqualTo(30_000);
    assertThat(main.rows()).containsExactly(0, 1);
    assertThat(main.counts()).isSameAs(window.counts());
  }
}
