package org.traceetl.agent.forward;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.Golden;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.flow.OtlpFormat;
import org.traceetl.agent.forward.ForwardMetrics.Drop;

/** The bytes of a buffer stay what they are: an agent reads those of all earlier releases. */
final class ForwardBufferGoldenTest {
  private static final String SEGMENT = "0000000001.seg";
  private static final String POSITIONS = "tempo 1 20\njaeger 0 0\n";
  private static final long MILLIS = 1_795_255_028_312L;

  @TempDir private Path directory;

  private TestBuffer open() throws IOException {
    return new TestBuffer(directory, 1 << 20, Disk.SYSTEM, "tempo", "jaeger");
  }

  @Test
  void theBufferIsTheseBytes() throws IOException {
    TestBuffer test = open();
    test.buffer.append(new byte[] {10, 1, 2}, 3, MILLIS, OtlpFormat.PROTOBUF);
    test.buffer.append("{}".getBytes(UTF_8), 2, MILLIS + 1, OtlpFormat.JSON);
    test.read("tempo");
    test.buffer.cursor("tempo").allDone();
    test.buffer.close();

    assertThat(Golden.text(directory.resolve(SEGMENT))).isEqualTo(Golden.text(getClass(), SEGMENT));
    assertThat(directory.resolve("positions")).hasContent(POSITIONS);
  }

  @Test
  void theseBytesAreABuffer() throws IOException {
    Files.write(directory.resolve(SEGMENT), Golden.bytes(getClass(), SEGMENT));
    Files.writeString(directory.resolve("positions"), POSITIONS);
    TestBuffer test = open();

    assertRequest(test, "jaeger", MILLIS, OtlpFormat.PROTOBUF, new byte[] {10, 1, 2});
    assertRequest(test, "jaeger", MILLIS + 1, OtlpFormat.JSON, "{}".getBytes(UTF_8));
    assertRequest(test, "tempo", MILLIS + 1, OtlpFormat.JSON, "{}".getBytes(UTF_8));
    assertThat(test.read("tempo")).isNull();
    assertThat(test.dropped("tempo", Drop.DAMAGED)).isZero();
  }

  private static void assertRequest(
      TestBuffer test, String endpoint, long millis, OtlpFormat format, byte[] body)
      throws IOException {
    ForwardBuffer.Read<ByteArrayOutputStream> read =
        test.buffer.cursor(endpoint).read(_ -> new ByteArrayOutputStream());
    assertThat(read.request().millis()).isEqualTo(millis);
    assertThat(read.request().format()).isEqualTo(format);
    assertThat(read.body().toByteArray()).isEqualTo(body);
  }
}
