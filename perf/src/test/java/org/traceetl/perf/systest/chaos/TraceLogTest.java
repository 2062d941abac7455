package org.traceetl.perf.systest.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TraceLogTest {
  @Test
  void truncatedLogIsWrittenFromItsStart(@TempDir Path directory) throws Exception {
    Path path = directory.resolve("trace.log");
    Traffic traffic =
        new Traffic(new SplittableRandom(1), List.of("legacy"), Traffic.Intervals.ONE);
    try (TraceLog log = new TraceLog(path, false)) {
      log.append(traffic.next(3));
      log.hold();
      log.truncate();
      assertThat(path).isEmptyFile();
      log.release();
      log.append(traffic.next(2));
    }
    assertThat(Files.readAllLines(path))
        .hasSize(2)
        .allMatch(line -> line.startsWith("2026-01-01 00:00:00.000 ||| "));
  }

  @Test
  void heldLogIsNotWritten(@TempDir Path directory) throws Exception {
    Path path = directory.resolve("trace.log");
    Traffic traffic =
        new Traffic(new SplittableRandom(1), List.of("legacy"), Traffic.Intervals.ONE);
    try (TraceLog log = new TraceLog(path, false)) {
      log.hold();
      Thread writer = Thread.ofPlatform().start(() -> append(log, traffic));
      while (writer.getState() != Thread.State.WAITING) {
        Thread.onSpinWait();
      }
      assertThat(path).isEmptyFile();
      log.release();
      writer.join();
    }
    assertThat(Files.readAllLines(path)).hasSize(1);
  }

  private static void append(TraceLog log, Traffic traffic) {
    try {
      log.append(traffic.next(1));
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
