package org.traceetl.perf.simulate.check;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class BrokerClocksTest {
  private final BrokerClocks clocks = new BrokerClocks();

  @Test
  void aClockIsSetBackUntilItShowsItsHighestTime() {
    assertThat(clocks.areSetBack(0)).isFalse();
    clocks.step("broker-1", 1_000, 10_000);
    assertThat(clocks.areSetBack(10_000)).isFalse();
    clocks.step("broker-1", -1_000, 13_000);
    assertThat(clocks.areSetBack(13_000)).isTrue();
    assertThat(clocks.areSetBack(13_999)).isTrue();
    assertThat(clocks.areSetBack(14_000)).isFalse();
  }

  @Test
  void aClockThatIsSetRightShowsItsHighestTime() {
    clocks.step("broker-1", -60_000, 10_000);
    assertThat(clocks.areSetBack(69_999)).isTrue();
    clocks.step("broker-1", 60_000, 11_000);
    assertThat(clocks.areSetBack(11_000)).isFalse();
  }

  @Test
  void eachBrokerHasItsClock() {
    clocks.step("broker-1", -60_000, 10_000);
    clocks.step("broker-2", 60_000, 10_000);
    assertThat(clocks.areSetBack(69_999)).isTrue();
    assertThat(clocks.areSetBack(70_000)).isFalse();
  }
}
