package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class StreamClockTest {
  private final StreamClock clock = new StreamClock();

  @Test
  void itIsUnknownBeforeTheFirstMessage() {
    clock.pass(5_000);

    assertThat(clock.nowMillis()).isEqualTo(StreamClock.UNKNOWN);
    assertThat(clock.highestMillis()).isEqualTo(StreamClock.UNKNOWN);
    assertThat(clock.elapsedMillis()).isEqualTo(5_000);
  }

  @Test
  void aGapCountsAsOneStepAndAStepBackAsNone() {
    clock.message(100_000);
    clock.message(110_000);
    clock.message(710_000);
    assertThat(clock.elapsedMillis()).isEqualTo(25_000);
    clock.message(700_000);
    assertThat(clock.elapsedMillis()).isEqualTo(25_000);
    assertThat(clock.nowMillis()).isEqualTo(700_000);
    assertThat(clock.highestMillis()).isEqualTo(710_000);
  }

  @Test
  void timeThatPassedIsNotCountedAgainWithTheNextMessage() {
    clock.message(100_000);
    clock.pass(15_000);
    clock.pass(15_000);
    assertThat(clock.nowMillis()).isEqualTo(130_000);
    assertThat(clock.highestMillis()).isEqualTo(130_000);
    assertThat(clock.elapsedMillis()).isEqualTo(30_000);

    clock.message(135_000);
    assertThat(clock.elapsedMillis()).isEqualTo(30_000);
    clock.message(137_000);
    assertThat(clock.elapsedMillis()).isEqualTo(32_000);
    clock.pass(1_000);
    clock.message(142_000);
    assertThat(clock.elapsedMillis()).isEqualTo(37_000);
  }

  @Test
  void theFirstMessageAfterATakeOverIsNoStep() {
    clock.restore(100_000);
    clock.restore(90_000);
    clock.pass(0);
    assertThat(clock.nowMillis()).isEqualTo(StreamClock.UNKNOWN);
    clock.pass(15_000);
    assertThat(clock.nowMillis()).isEqualTo(115_000);

    clock.message(112_000);
    assertThat(clock.elapsedMillis()).isEqualTo(15_000);
    assertThat(clock.nowMillis()).isEqualTo(112_000);
    assertThat(clock.highestMillis()).isEqualTo(115_000);
  }
}
