package org.traceetl.common;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class BackOffTest {
  @Test
  void pausesDoubleUpToTheMaximumLessAFifth() {
    List<Long> pauses = pauses(1);

    for (int i = 0; i < pauses.size(); i++) {
      long most = Math.min(1_000, 100L << Math.min(i, 20));
      assertThat(pauses.get(i)).isBetween(most * 8 / 10, most);
    }
  }

  @Test
  void sameSeedRepeatsThePauses() {
    assertThat(pauses(1)).isEqualTo(pauses(1)).isNotEqualTo(pauses(2));
  }

  private static List<Long> pauses(long seed) {
    BackOff backOff = new BackOff(100, 1_000, new SplittableRandom(seed));
    return IntStream.rangeClosed(1, 30).mapToObj(backOff::nanos).toList();
  }
}
