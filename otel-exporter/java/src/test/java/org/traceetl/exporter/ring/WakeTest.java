package org.traceetl.exporter.ring;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.common.Attributes;
import java.io.FileInputStream;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A wake-up that did not come would let {@code read} below wait until the time-out. */
@Timeout(60)
class WakeTest {
  private static final VarHandle INT =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int ASLEEP = 392;

  @TempDir Path directory;

  @Test
  void anAgentHearsOfANewRingAndWhenItSleepsOfASpan() throws Exception {
    Path fifo = fifo();
    try (RingWriter writer = writer();
        RingReader reader = new RingReader(writer.file());
        InputStream wake = new FileInputStream(fifo.toFile())) {
      assertThat(wake.read()).isZero();
      for (int i = 0; i < 3; i++) {
        writer.write(RingWriterTest.span("awake").build());
        assertThat(wake.available()).isZero();

        sleep(reader.file());
        writer.write(RingWriterTest.span("asleep").build());
        assertThat(wake.read()).isZero();
        assertThat((int) INT.getVolatile(reader.file(), ASLEEP)).isZero();
      }
      assertThat(wake.available()).isZero();
      assertThat(reader.poll()).hasSize(6);
    }
  }

  @Test
  void theFifoOfTheNextAgentIsFound() throws Exception {
    Path fifo = fifo();
    try (RingWriter writer = writer();
        RingReader reader = new RingReader(writer.file())) {
      try (InputStream wake = new FileInputStream(fifo.toFile())) {
        assertThat(wake.read()).isZero();
      }
      Files.delete(fifo);
      fifo();
      sleep(reader.file());
      writer.write(RingWriterTest.span("a").build());
      try (InputStream wake = new FileInputStream(fifo.toFile())) {
        assertThat(wake.read()).isZero();
      }
    }
  }

  @Test
  void aFileInPlaceOfTheFifoIsLeftAlone() throws Exception {
    Path target = Files.writeString(directory.resolve("precious"), "as it was");
    Files.createSymbolicLink(directory.resolve("wake"), target);
    try (RingWriter writer = writer();
        RingReader reader = new RingReader(writer.file())) {
      sleep(reader.file());
      assertThat(writer.write(RingWriterTest.span("a").build())).isTrue();
      assertThat((int) INT.getVolatile(reader.file(), ASLEEP)).isZero();
      Files.delete(directory.resolve("wake"));
      Path fifo = fifo();
      sleep(reader.file());
      writer.write(RingWriterTest.span("b").build());
      // Its thread does one thing after the other: when this byte comes, the link was dealt with.
      try (InputStream wake = new FileInputStream(fifo.toFile())) {
        assertThat(wake.read()).isZero();
      }
      assertThat(target).hasContent("as it was");
    }
  }

  private static void sleep(ByteBuffer file) {
    INT.setVolatile(file, ASLEEP, 1);
  }

  private Path fifo() throws Exception {
    Path fifo = directory.resolve("wake");
    assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor()).isZero();
    return fifo;
  }

  private RingWriter writer() throws Exception {
    return RingWriter.create(directory, RingSize.of(64 << 10, 4096), Attributes.empty());
  }
}
