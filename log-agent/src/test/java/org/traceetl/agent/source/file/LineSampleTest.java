package org.traceetl.agent.source.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class LineSampleTest {
  @Test
  void aShortLineIsShownWhole() {
    assertThat(of("what is this?")).isEqualTo("\"what is this?\"");
    assertThat(of("")).isEqualTo("\"\"");
    assertThat(of("G\u00fcltig \u4e2d")).isEqualTo("\"G\u00fcltig \u4e2d\"");
  }

  @Test
  void aLongLineIsCut() {
    assertThat(of("x".repeat(1_000))).isEqualTo("\"" + "x".repeat(200) + "\"...");
  }

  @Test
  void attributesAreNotShown() {
    String line = TraceLines.span("checkout", "GET /", 7);
    assertThat(of(line))
        .contains("checkout")
        .endsWith("###\"...")
        .doesNotContain("[", "{", "serviceName");
    assertThat(of("GET /login {password: hunter2}")).isEqualTo("\"GET /login \"...");
  }

  @Test
  void nothingSteersATerminalOrLooksLikeALineOfTheLog() {
    assertThat(of("a\u001b[2J")).isEqualTo("\"a\\u001b\"...");
    assertThat(of("a\rb\nc\u0000d\u0085e\u2028f\u202eg\"\\"))
        .isEqualTo("\"a\\u000db\\u000ac\\u0000d\\u0085e\\u2028f\\u202eg\\\"\\\\\"");
  }

  @Test
  void bytesThatAreNoTextAreReplaced() {
    byte[] bytes = {'a', (byte) 0xC3, (byte) 0x28, (byte) 0xFF};
    assertThat(LineSample.of(bytes, 0, bytes.length)).isEqualTo("\"a\ufffd(\ufffd\"");
  }

  private static String of(String line) {
    byte[] bytes = line.getBytes(UTF_8);
    return LineSample.of(bytes, 0, bytes.length);
  }
}
