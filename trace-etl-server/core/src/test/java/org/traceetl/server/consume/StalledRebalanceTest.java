package org.traceetl.server.consume;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class StalledRebalanceTest {
  private static final long BEGIN_SECONDS = 1_000;

  private final StalledRebalance stalled = new StalledRebalance();
  private long elapsed = BEGIN_SECONDS;
  private long rebalances;

  StalledRebalanceTest() {
    stalled.begin(nanos());
  }

  /** Looks each second; returns how often a rebalance was due. */
  private int pass(long seconds) {
    int due = 0;
    for (long i = 0; i < seconds; i++) {
      elapsed++;
      if (stalled.look(nanos(), rebalances)) {
        stalled.rebalanced(++rebalances);
        due++;
      }
    }
    return due;
  }

  private long nanos() {
    return TimeUnit.SECONDS.toNanos(elapsed);
  }

  @Test
  void aClientThatRebalancesIsLeftAlone() {
    for (int i = 0; i < 100; i++) {
      assertThat(pass(59)).isZero();
      rebalances++;
    }
  }

  @Test
  void afterAMinuteWithoutItTheWorkerRebalancesEvery20Seconds() {
    assertThat(pass(59)).isZero();
    assertThat(pass(100)).isEqualTo(5);
    assertThat(stalled.sinceNanos(nanos())).isEqualTo(TimeUnit.SECONDS.toNanos(159));
  }

  @Test
  void itEndsWhenTheClientRebalances() {
    assertThat(pass(100)).isPositive();
    rebalances++;
    assertThat(pass(59)).isZero();
  }
}
