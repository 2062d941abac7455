package org.traceetl.agent.source.otlp;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class SmallIntegersTest {
  @Test
  void eachIntegerHasItsDecimalText() {
    for (int number = 0; number < 1 << 14; number++) {
      assertThat(
              new String(
                  SmallIntegers.TEXT,
                  SmallIntegers.offset(number),
                  SmallIntegers.length(number),
                  US_ASCII))
          .isEqualTo(Integer.toString(number));
    }
  }
}
