package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import java.util.Random;
import org.junit.jupiter.api.Test;

class PaneLagTest {
  private static final long PANE_MILLIS = 15_000;

  /** A part of a pane that is not distinguished. */
  private static final long STEP_MILLIS = 15;

  private final PaneLag lag = new PaneLag(PANE_MILLIS);

  private void window(int messages, long... delaysMillis) {
    for (int i = 0; i < messages; i++) {
      lag.add(delaysMillis[i % delaysMillis.length]);
    }
    lag.endWindow();
  }

  private void assertLag(long millis) {
    assertThat(lag.millis()).isCloseTo(millis, offset(STEP_MILLIS));
  }

  @Test
  void theLagIsTheMedianOfTheDelays() {
    assertThat(lag.millis()).isZero();
    window(300, 150, 200, 2_000);
    assertLag(200);
    window(0);
    assertLag(200);
  }

  @Test
  void delaysFromBelowZeroOnAreDistinguished() {
    for (long delay : new long[] {-7_400, -100, 0, 5, 7_400}) {
      PaneLag fresh = new PaneLag(PANE_MILLIS);
      fresh.add(delay);
      fresh.endWindow();
      assertThat(fresh.millis()).isCloseTo(delay, offset(STEP_MILLIS));
    }
  }

  @Test
  void aBacklogDoesNotChangeIt() {
    window(100, 200);
    window(100_000, PANE_MILLIS + 1, Long.MAX_VALUE, 600_000, -PANE_MILLIS, Long.MIN_VALUE);
    assertLag(200);
  }

  @Test
  void itIsAtMostHalfAPane() {
    window(100, PANE_MILLIS);
    assertLag(PANE_MILLIS / 2);
    assertThat(lag.millis()).isLessThanOrEqualTo(PANE_MILLIS / 2);
    window(1_000, 1 - PANE_MILLIS);
    assertLag(-PANE_MILLIS / 2);
    assertThat(lag.millis()).isGreaterThanOrEqualTo(-PANE_MILLIS / 2);
  }

  @Test
  void oneWindowWithAPauseDoesNotChangeIt() {
    for (int i = 0; i < 10; i++) {
      window(100, 200);
    }
    window(100, 5_000);
    assertLag(200);
  }

  @Test
  void aChangeThatLastsIsFollowedWithinWindows() {
    for (int i = 0; i < 100; i++) {
      window(1_000, 200);
    }
    for (int i = 0; i < 4; i++) {
      window(1_000, 900);
    }
    assertLag(900);
  }

  @Test
  void anyDelayIsAccepted() {
    Random from = new Random(1);
    for (int window = 0; window < 100; window++) {
      for (int i = 0; i < 100; i++) {
        lag.add(from.nextLong() >> from.nextInt(64));
      }
      lag.endWindow();
      assertThat(lag.millis()).isBetween(-PANE_MILLIS / 2, PANE_MILLIS / 2);
    }
  }
}
