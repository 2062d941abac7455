package org.traceetl.perf.bench.overhead;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class MediansTest {
  private final Medians medians = new Medians();

  @Test
  void differencesAreTakenWithinRounds() {
    // The third round was slow for both.
    add("base", 10, 11, 100);
    add("traced", 15, 17, 107);

    assertThat(medians.of("cpu", "traced")).isEqualTo(17);
    assertThat(medians.difference("cpu", "traced", "base")).isEqualTo(6);
  }

  @Test
  void medianOfTwoRoundsIsTheirMean() {
    add("base", 10, 12);

    assertThat(medians.of("cpu", "base")).isEqualTo(11);
  }

  @Test
  void medianWithoutRoundsIsNotANumber() {
    assertThat(medians.of("cpu", "base")).isNaN();
    assertThat(medians.difference("cpu", "traced", "base")).isNaN();
  }

  private void add(String variant, double... values) {
    for (double value : values) {
      medians.add("cpu", variant, value);
    }
  }
}
