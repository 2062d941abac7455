package org.traceetl.proto.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The bytes of a ring stay what they are: applications and agents of different releases meet. */
final class RingGoldenTest {
  private static final int BYTES_PER_LINE = 32;

  @TempDir private Path directory;

  @Test
  void theWriterMakesTheseBytes() throws Exception {
    try (RingWriter writer =
        RingWriter.create(directory, "4711-0123456789abcdef.ring", RingGolden.SHAPE)) {
      RingGolden.SPANS.forEach(span -> assertThat(writer.write(span)).isTrue());
      assertThat(hex(writer.content())).isEqualTo(RingGolden.read("ring_1.hex"));
      assertThat(String.join("\n", RingText.lines(writer.path())) + "\n")
          .isEqualTo(RingGolden.read("ring_1.txt"));
    }
  }

  @Test
  void theReaderReadsTheseBytes() throws Exception {
    MemorySegment file = MemorySegment.ofArray(new long[(4_096 + 4_096 + 65_536) / 8]);
    RingGolden.read("ring_1.hex")
        .lines()
        .map(line -> line.split(" "))
        .forEach(line -> {
          byte[] bytes = HexFormat.of().parseHex(line[1]);
          MemorySegment.copy(
              MemorySegment.ofArray(bytes), 0, file, Long.parseLong(line[0], 16), bytes.length);
        });

    assertThat(String.join("\n", RingText.lines(file)) + "\n")
        .isEqualTo(RingGolden.read("ring_1.txt"));
  }

  /** Lines of an offset and the bytes there, without lines of zeros. */
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
