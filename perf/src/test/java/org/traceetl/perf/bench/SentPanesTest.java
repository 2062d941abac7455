package org.traceetl.perf.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class SentPanesTest {
  private final SentPanes sent = new SentPanes(Duration.ofSeconds(5));

  @Test
  void callsAtTheEndsOfTheSpansPanesAreRight() {
    sent.add(5_000, 5_100, 7);
    sent.add(9_990, 9_999, 1);
    sent.add(11_000, 11_100, 9);

    assertThat(sent.spans()).isEqualTo(17);
    assertThat(sent.spansUntil(15_000)).isEqualTo(8);
    assertThat(sent.panes()).isEqualTo(2);
    assertThat(wrong(Map.of(10_000L, 8.0, 15_000L, 9.0))).isEmpty();
  }

  @Test
  void missingCallsAndThoseOfAnotherPaneAreWrong() {
    sent.add(5_000, 5_100, 8);
    sent.add(11_000, 11_100, 9);

    assertThat(wrong(Map.of(10_000L, 8.0))).isEqualTo(Map.of(15_000L, -9.0));
    assertThat(wrong(Map.of(10_000L, 8.0, 15_000L, 8.0, 20_000L, 1.0)))
        .isEqualTo(Map.of(15_000L, -1.0, 20_000L, 1.0));
  }

  @Test
  void panesWhoseEndIsWithinARequestMayHaveAnyCalls() {
    sent.add(9_000, 15_100, 8);
    sent.add(21_000, 21_100, 9);

    assertThat(sent.panes()).isEqualTo(1);
    assertThat(wrong(Map.of(15_000L, 3.0, 20_000L, 5.0, 25_000L, 9.0))).isEmpty();
    assertThat(wrong(Map.of(10_000L, 8.0, 25_000L, 8.0))).isEqualTo(Map.of(25_000L, -1.0));
  }

  private Map<Long, Double> wrong(Map<Long, Double> increases) {
    return sent.wrong(new TreeMap<>(increases));
  }
}
