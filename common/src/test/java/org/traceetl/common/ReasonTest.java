package org.traceetl.common;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.junit.jupiter.api.Test;

class ReasonTest {
  @Test
  void onlyTheFirstLineOfTheMessageIsTold() {
    assertThat(Reason.of(new IOException("no route\nFor more information, visit x")))
        .isEqualTo("no route");
  }

  @Test
  void messageMadeOfTheCauseIsThatOfTheCause() {
    IOException cause = new IOException("no route");
    assertThat(Reason.of(new IllegalStateException(cause))).isEqualTo("no route");
    assertThat(Reason.of(new UncheckedIOException("topic spans: lost", cause)))
        .isEqualTo("topic spans: lost");
  }

  @Test
  void failureWithoutMessageIsNamed() {
    assertThat(Reason.of(new IllegalStateException())).isEqualTo("IllegalStateException");
  }
}
