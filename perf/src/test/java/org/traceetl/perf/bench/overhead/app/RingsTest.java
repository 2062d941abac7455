package org.traceetl.perf.bench.overhead.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.sdk.trace.SdkTracerProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.exporter.RingSpanProcessor;
import org.traceetl.exporter.ring.RingSize;

final class RingsTest {
  private static final int RING_BYTES = 1 << 17;
  private static final int BURST = 32;

  /** More spans than a ring can have. */
  private static final int MANY = RING_BYTES / 32;

  private static final long PID = ProcessHandle.current().pid();

  @TempDir private Path directory;
  private final CallStream calls = new CallStream(1);
  private SdkTracerProvider provider;
  private TracedCalls traced;
  private Rings rings;

  @BeforeEach
  void open() throws IOException {
    // No agent reads it.
    provider =
        SdkTracerProvider.builder()
            .addSpanProcessor(
                RingSpanProcessor.builder()
                    .setDirectory(directory)
                    .setSize(RingSize.of(RING_BYTES, 1 << 16))
                    .build())
            .build();
    traced = new TracedCalls(provider.get("test"));
    rings = new Rings(directory);
  }

  @AfterEach
  void close() {
    provider.close();
  }

  private void end(int spans) {
    for (int i = 0; i < spans; i++) {
      Call call = calls.call(0);
      TracedCalls.end(
          traced.start(call, 1_800_000_000_000_000_000L), call, 1_800_000_000_000_000_000L);
    }
  }

  @Test
  void noSpanIsDroppedWhileThereIsRoom() {
    assertThat(rings.count()).isEqualTo(1);
    int ended = 0;
    while (ended < MANY && rings.hasRoom(BURST)) {
      end(BURST);
      ended += BURST;
    }
    assertThat(ended).isGreaterThan(BURST);
    assertThat(rings.dropped()).isZero();
  }

  @Test
  void spansWithoutRoomAreDroppedAndCounted() {
    end(MANY);

    assertThat(rings.dropped()).isPositive();
    assertThat(rings.hasRoom(BURST)).isFalse();
  }

  @Test
  void writersKeepTheirLocks() throws IOException {
    Path ring;
    try (Stream<Path> files = Files.list(directory)) {
      ring = files.filter(file -> file.toString().endsWith(".ring")).findFirst().orElseThrow();
    }

    // As Linux lists them: process, then device and inode.
    assertThat(Files.readAllLines(Path.of("/proc/locks")))
        .anyMatch(lock ->
            lock.contains(" POSIX ")
                && lock.contains(" " + PID + " ")
                && lock.contains(":" + inode(ring) + " "));
  }

  private static Object inode(Path file) {
    try {
      return Files.getAttribute(file, "unix:ino");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void ringsOfOtherProcessesAreIgnored() throws IOException {
    Files.createFile(directory.resolve((PID + 1) + "-0123456789abcdef.ring"));

    assertThat(new Rings(directory).count()).isEqualTo(1);
  }
}
