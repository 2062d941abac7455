package org.traceetl.perf.bench.overhead;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class MedianTest {
  private final Median median = new Median();

  @Test
  void whatIsAddedIsTakenWithinRounds() {
    // The third round was slow for both.
    add("base", 10, 11, 100);
    add("traced", 15, 17, 107);

    assertThat(median.of("traced")).isEqualTo(17);
    assertThat(median.difference("traced", "base")).isEqualTo(6);
  }

  @Test
  void ofTwoRoundsItIsBetweenThem() {
    add("base", 10, 12);

    assertThat(median.of("base")).isEqualTo(11);
  }

  @Test
  void withoutRoundsThereIsNone() {
    assertThat(median.of("base")).isNaN();
    assertThat(median.difference("traced", "base")).isNaN();
  }

  private void add(String variant, double... values) {
    for (double value : values) {
      median.add(variant, value);
    }
  }
}
