package org.traceetl.proto.ring;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The bytes of a ring stay what they are: applications and agents of different releases meet.
 * {@code ring_1.hex} is the file without its zeros, {@code ring_1.txt} what it says.
 */
final class RingGoldenTest {
  private static final int BYTES_PER_LINE = 32;

  @TempDir private Path directory;

  /** What any writer that is to be held to the golden file writes. */
  static final RingWriter.Shape SHAPE =
      new RingWriter.Shape(
          4_096,
          4_096,
          65_536,
          4_711,
          1_795_255_028_123L,
          0x0123_4567_89ab_cdefL,
          0xfedc_ba98_7654_3210L,
          ordered("service.name", "checkout", "service.instance.id", 7L));

  static final List<RingSpan> SPANS =
      List.of(
          RingSpan.numbered(1),
          new RingSpan(
              0x0af7_6519_16cd_43ddL,
              0x8448_eb21_1c80_319cL,
              0xb7ad_6b71_6920_3331L,
              0x00f0_67aa_0ba9_02b7L,
              1_795_255_028_312_000_000L,
              1_500_000L,
              3,
              2,
              0xc0_0000_0000_0000L,
              0x6e_6d1a_75b4_f3e1L,
              "SELECT carts",
              "deadline \u00fcberschritten",
              ordered(
                  "db.system",
                  "postgresql",
                  "db.rows",
                  -3L,
                  "retry",
                  true,
                  "cached",
                  false,
                  "ratio",
                  0.25,
                  "db.tables",
                  new RingSpan.Json("[\"carts\",\"users\"]"),
                  "plan",
                  new RingSpan.Base64("AP8="),
                  "largest",
                  Long.MIN_VALUE,
                  "empty",
                  ""),
              List.of(
                  new RingSpan.Event(
                      "exception",
                      1_250_000,
                      ordered("exception.type", "java.sql.SQLTimeoutException")),
                  new RingSpan.Event("retry", -1, Map.of()))),
          RingSpan.numbered(2));

  private static Map<String, Object> ordered(Object... keysAndValues) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      map.put((String) keysAndValues[i], keysAndValues[i + 1]);
    }
    return map;
  }

  @Test
  void theWriterMakesTheseBytes() throws Exception {
    try (RingWriter writer = RingWriter.create(directory, "4711-0123456789abcdef.ring", SHAPE)) {
      SPANS.forEach(span -> assertThat(writer.write(span)).isTrue());
      assertThat(hex(writer.content())).isEqualTo(golden("ring_1.hex"));
      assertThat(String.join("\n", RingText.lines(writer.path())) + "\n")
          .isEqualTo(golden("ring_1.txt"));
    }
  }

  @Test
  void theReaderReadsTheseBytes() throws Exception {
    MemorySegment file = MemorySegment.ofArray(new long[(4_096 + 4_096 + 65_536) / 8]);
    golden("ring_1.hex")
        .lines()
        .map(line -> line.split(" "))
        .forEach(line -> {
          byte[] bytes = HexFormat.of().parseHex(line[1]);
          MemorySegment.copy(
              MemorySegment.ofArray(bytes), 0, file, Long.parseLong(line[0], 16), bytes.length);
        });

    assertThat(String.join("\n", RingText.lines(file)) + "\n").isEqualTo(golden("ring_1.txt"));
  }

  private static String golden(String name) throws IOException {
    try (InputStream in = RingGoldenTest.class.getResourceAsStream(name)) {
      return new String(in.readAllBytes(), UTF_8);
    }
  }

  /** Lines of an offset and what stands there; those with zeros alone are left out. */
  private static String hex(byte[] content) {
    StringBuilder text = new StringBuilder();
    for (int at = 0; at < content.length; at += BYTES_PER_LINE) {
      String line = HexFormat.of().formatHex(content, at, at + BYTES_PER_LINE);
      if (!line.matches("0+")) {
        text.append(String.format("%06x %s%n", at, line));
      }
    }
    return text.toString();
  }
}
