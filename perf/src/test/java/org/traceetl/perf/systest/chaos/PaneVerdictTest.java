package org.traceetl.perf.systest.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class PaneVerdictTest {
  private static final long LENGTH = 10_000;
  private static final SentSpan SPAN =
      new SentSpan("01".repeat(16), "01".repeat(8), "shop", "GET /", 2, 1, "a", 0, 5);

  private final ExpectedPanes expected = new ExpectedPanes(new PaneSchedule(LENGTH));
  private final Map<SeriesKey, PushedSeries> pushed = new HashMap<>();
  private final List<Period> delays = new ArrayList<>();

  PaneVerdictTest() {
    accept(2, 1_000, 1_100);
    accept(1, 11_000, 11_100);
  }

  private void accept(int spans, long begunMillis, long answeredMillis) {
    for (int i = 0; i < spans; i++) {
      expected.add(List.of(SPAN), begunMillis, answeredMillis);
    }
  }

  /** Adds a queue with samples: time, sum, time, sum … */
  private void push(double... samples) {
    TreeMap<Long, Double> queue = new TreeMap<>();
    for (int i = 0; i < samples.length; i += 2) {
      queue.put((long) samples[i], samples[i + 1]);
    }
    pushed.computeIfAbsent(SPAN.series(), _ -> new PushedSeries()).add(queue);
  }

  private PaneVerdict verdict() {
    return PaneVerdict.of(expected, pushed, delays);
  }

  @Test
  void equalSumsAreExact() {
    push(10_000, 2, 20_000, 3, 70_000, 3);
    assertThat(verdict()).isEqualTo(new PaneVerdict(0, 2, 0, List.of()));
    assertThat(verdict().isExact()).isTrue();
    assertThat(verdict().line()).isEqualTo("wrong_panes=0 panes=2");
  }

  @Test
  void sumsOfQueuesAreAddedUp() {
    push(10_000, 1);
    push(10_000, 1, 20_000, 2);
    assertThat(verdict()).isEqualTo(new PaneVerdict(0, 2, 0, List.of()));
  }

  @Test
  void spansOfALaterPaneAreWrong() {
    push(10_000, 1, 20_000, 3);
    assertThat(verdict().wrong()).isEqualTo(1);
    assertThat(verdict().isExact()).isFalse();
    assertThat(verdict().differences())
        .singleElement()
        .asString()
        .endsWith("until 10000: accepted 2 to 2, pushed 1");
  }

  @Test
  void spansOfAnEarlierPaneAreWrong() {
    push(10_000, 3);
    assertThat(verdict().wrong()).isEqualTo(1);
  }

  @Test
  void holeAndSpikeAreWrongInEachPane() {
    push(40_000, 3);
    assertThat(verdict().wrong()).isEqualTo(3);
  }

  @Test
  void missingAndUnexpectedSeriesAreWrong() {
    assertThat(verdict().wrong()).isEqualTo(3);
    push(10_000, 2, 20_000, 3);
    SeriesKey other = new SeriesKey("shop", "other", "SPAN_KIND_SERVER", "STATUS_CODE_OK", "a");
    PushedSeries series = new PushedSeries();
    series.add(new TreeMap<>(Map.of(10_000L, 1.0)));
    pushed.put(other, series);
    assertThat(verdict().wrong()).isEqualTo(2);
  }

  @Test
  void lastSumMustBeRight() {
    push(10_000, 2, 20_000, 3, 25_000, 4, 30_000, 3);
    assertThat(verdict().isExact()).isTrue();
    push(31_000, 1);
    assertThat(verdict().differences())
        .anySatisfy(line -> assertThat(line).endsWith("in the end: accepted 3 to 3, pushed 4"));
  }

  @Test
  void requestAcrossAPaneEndMayCountOnBothSides() {
    accept(1, 9_000, 12_000);
    push(10_000, 2, 20_000, 4);
    assertThat(verdict()).isEqualTo(new PaneVerdict(0, 1, 1, List.of()));
    pushed.clear();
    push(10_000, 3, 20_000, 4);
    assertThat(verdict()).isEqualTo(new PaneVerdict(0, 1, 1, List.of()));
    pushed.clear();
    push(10_000, 4, 20_000, 4);
    assertThat(verdict().wrong()).isEqualTo(1);
  }

  @Test
  void spansOfATraceLogMayCountAtAnyLaterTime() {
    expected.addAfter(List.of(SPAN), 1_000);
    push(10_000, 2, 20_000, 3, 80_000, 4);
    assertThat(verdict().wrong()).isZero();
    assertThat(verdict().panes()).isZero();
  }

  @Test
  void delayedSpansMayCountUntilItsEnd() {
    push(20_000, 3);
    assertThat(verdict().wrong()).isEqualTo(1);
    delays.add(new Period(500, 9_000));
    assertThat(verdict()).isEqualTo(new PaneVerdict(0, 1, 1, List.of()));
    pushed.clear();
    push(30_000, 3);
    assertThat(verdict().wrong()).isEqualTo(1);
  }
}
