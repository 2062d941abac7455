package org.traceetl.server.migration;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GoDurationTest {
  @ParameterizedTest
  @CsvSource({
    "0, PT0S",
    "100us, PT0.0001S",
    "100µs, PT0.0001S",
    "1400ms, PT1.4S",
    "1.5s, PT1.5S",
    "1h30m, PT1H30M",
    "2d, PT48H",
  })
  void durationsAreThoseOfGo(String text, Duration duration) {
    assertThat(GoDuration.parse(text)).isEqualTo(duration);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "15", "-1s", "1 s", "1y", "s", "1.s", "1e3s", "999999999999999h"})
  void otherTextsAreNone(String text) {
    assertThat(GoDuration.parse(text)).isNull();
  }
}
