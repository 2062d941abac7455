package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** The bytes on the wire stay what they are: agents and servers of different releases meet. */
final class GoldenBytesTest {
  @Test
  void theWriterMakesTheseBytes() throws IOException {
    byte[] written = Messages.written(Batches.fixed(), new SpanBatchWriter());
    assertThat(lines(written)).isEqualTo(golden());
  }

  @Test
  void theReaderReadsTheseBytes() throws IOException {
    byte[] message = HexFormat.of().parseHex(golden().replace("\n", ""));
    assertThat(Messages.read(message, new SpanBatchReader())).isEqualTo(Batches.fixed());
  }

  private static String golden() throws IOException {
    try (InputStream in = GoldenBytesTest.class.getResourceAsStream("span_batch_1.hex")) {
      return new String(in.readAllBytes(), US_ASCII);
    }
  }

  private static String lines(byte[] message) {
    return HexFormat.of().formatHex(message).replaceAll("(.{1,64})", "$1\n");
  }
}
