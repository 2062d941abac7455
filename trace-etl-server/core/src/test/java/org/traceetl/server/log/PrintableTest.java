package org.traceetl.server.log;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PrintableTest {
  @Test
  void aTextStaysOneLineAndMovesNothing() {
    assertThat(Printable.of("shop\r\n\u001b[2J\u0085\u2028\u202e\u009b", 100))
        .isEqualTo("shop???[2J????");
    assertThat(Printable.of("注文 café", 100)).isEqualTo("注文 café");
  }

  @Test
  void aLongTextIsCut() {
    assertThat(Printable.of("abcdef", 6)).isEqualTo("abcdef");
    assertThat(Printable.of("abcdefg", 6)).isEqualTo("abcde…");
    assertThat(Printable.of("abcd\uD83D\uDE00g", 6)).isEqualTo("abcd?…");
  }
}
