package org.traceetl.server.consume;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class StalledRebalanceTest {
  private static final long DAY = TimeUnit.HOURS.toSeconds(26);

  private final StalledRebalance stalled = new StalledRebalance();
  private long elapsed;
  private long rebalances;

  /** Advances the time, and checks each second; returns how often a rebalance was due. */
  private int pass(long seconds, long ahead) {
    int due = 0;
    for (long i = 0; i < seconds; i++) {
      elapsed++;
      if (stalled.look(
          TimeUnit.SECONDS.toMillis(elapsed + ahead),
          TimeUnit.SECONDS.toNanos(elapsed),
          rebalances)) {
        stalled.rebalanced(++rebalances);
        due++;
      }
    }
    return due;
  }

  @Test
  void aRunningClockNeedsNothing() {
    assertThat(pass(1_000, 0)).isZero();
  }

  @Test
  void aStepForwardNeedsNothing() {
    pass(10, 0);
    assertThat(pass(1_000, DAY)).isZero();
  }

  @Test
  void afterAStepBackTheWorkerRebalancesEvery20Seconds() {
    pass(10, DAY);
    assertThat(pass(29, 0)).isZero();
    assertThat(pass(100, 0)).isEqualTo(5);
  }

  @Test
  void itEndsWhenTheClockHasCaughtUp() {
    pass(10, 200);
    assertThat(pass(180, 0)).isPositive();
    assertThat(pass(1_000, 0)).isZero();
  }

  @Test
  void itEndsWhenTheClientRebalances() {
    pass(10, DAY);
    assertThat(pass(100, 0)).isPositive();
    rebalances++;
    assertThat(pass(1_000, 0)).isZero();
  }

  @Test
  void aClientThatHasRebalancedSinceTheStepIsLeftAlone() {
    pass(10, DAY);
    pass(10, 0);
    rebalances++;
    assertThat(pass(1_000, 0)).isZero();
  }

  @Test
  void aSmallStepBackNeedsNothing() {
    pass(10, 19);
    assertThat(pass(1_000, 0)).isZero();
  }
}
