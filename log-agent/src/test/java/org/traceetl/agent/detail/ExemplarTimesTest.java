package org.traceetl.agent.detail;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ExemplarTimesTest {
  private static final long INTERVAL = 15_000;

  private final ExemplarTimes times = new ExemplarTimes();

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MAX_VALUE - 10, Long.MIN_VALUE})
  void aSeriesHasOneExemplarPerInterval(long start) {
    assertThat(times.takes(7, start, INTERVAL)).isTrue();
    assertThat(times.takes(7, start, INTERVAL)).isFalse();
    assertThat(times.takes(8, start, INTERVAL)).isTrue();
    assertThat(times.takes(7, start + INTERVAL - 1, INTERVAL)).isFalse();
    assertThat(times.takes(7, start + INTERVAL, INTERVAL)).isTrue();
    assertThat(times.takes(7, start + INTERVAL, INTERVAL)).isFalse();
  }

  @Test
  void seriesOfAFullSetWaitUntilAnotherIsDue() {
    for (int i = 0; i < ExemplarTimes.WAYS; i++) {
      assertThat(times.takes(i, i, INTERVAL)).isTrue();
    }
    long other = ExemplarTimes.WAYS;
    assertThat(times.takes(other, INTERVAL - 1, INTERVAL)).isFalse();
    assertThat(times.takes(other, INTERVAL, INTERVAL)).isTrue();
    // It has the first's slot now, and the second's is not due.
    assertThat(times.takes(0, INTERVAL, INTERVAL)).isFalse();
    assertThat(times.takes(1, INTERVAL + 1, INTERVAL)).isTrue();
  }

  @Test
  void exemplarsPerIntervalAreBounded() {
    Random random = new Random(7);
    int taken = 0;
    for (int i = 0; i < 20 * ExemplarTimes.SLOTS; i++) {
      if (times.takes(random.nextLong(), 0, INTERVAL)) {
        taken++;
      }
    }
    assertThat(taken).isEqualTo(ExemplarTimes.SLOTS);
  }
}
