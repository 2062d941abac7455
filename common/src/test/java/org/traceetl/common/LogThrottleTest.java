package org.traceetl.common;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class LogThrottleTest {
  private Instant now = Instant.EPOCH;
  private final LogThrottle throttle = new LogThrottle(() -> now);

  @Test
  void oneLineInTenSecondsPasses() {
    assertThat(throttle.permits()).isTrue();
    assertThat(throttle.permits()).isFalse();

    now = now.plusMillis(9_999);
    assertThat(throttle.permits()).isFalse();

    now = now.plusMillis(1);
    assertThat(throttle.permits()).isTrue();
    assertThat(throttle.permits()).isFalse();
  }

  @Test
  void linesPassAfterTheClockIsSetBack() {
    assertThat(throttle.permits()).isTrue();
    now = now.minusSeconds(86_400);
    assertThat(throttle.permits()).isTrue();
    assertThat(throttle.permits()).isFalse();
  }
}
