package org.traceetl.agent.source.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.traceetl.agent.config.RingConfig;
import org.traceetl.agent.source.payload.MemoryIntake;
import org.traceetl.common.Clocks;
import org.traceetl.proto.ring.RingLayout;
import org.traceetl.proto.ring.RingSpan;
import org.traceetl.proto.ring.RingWriter;

/** A source that polls often, with its rings and its intake. */
final class RingAgent implements AutoCloseable {
  static final PollIntervals QUICK =
      new PollIntervals(millis(1), millis(4), millis(5), millis(20), millis(50), millis(5));

  final MemoryIntake intake = new MemoryIntake("ring");
  private final RingConfig config;
  private final List<RingWriter> writers = new ArrayList<>();
  private RingSource source;

  RingAgent(RingConfig config) {
    this.config = config;
  }

  /** Returns an agent of a directory that anyone may use. */
  static RingAgent of(Path directory, int maxRings) {
    return new RingAgent(config(directory, Optional.empty(), maxRings));
  }

  static RingConfig config(Path directory, Optional<String> group, int maxRings) {
    return new RingConfig(true, directory, group, maxRings, 1 << 30, 1 << 20);
  }

  private static long millis(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  static ConditionFactory await() {
    return Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(2));
  }

  Path directory() {
    return config.directory();
  }

  /** Starts a new run, which knows what the last one left in the spool. */
  void start() throws IOException {
    source = source(intake);
    source.start();
    await().until(this::isOpenForWriters);
  }

  /** The agent creates the FIFO for itself, and then opens it to writers. */
  private boolean isOpenForWriters() throws IOException {
    Path wake = directory().resolve("wake");
    return Files.exists(wake)
        && Files.getPosixFilePermissions(wake).contains(PosixFilePermission.GROUP_WRITE);
  }

  /** Returns a source of the same directory. */
  RingSource source(MemoryIntake into) throws IOException {
    return new RingSource(config, into, into.positions(), 1 << 25, QUICK, Clocks.SYSTEM);
  }

  void stopAccepting() {
    source.stopAccepting();
  }

  void stop() {
    source.close();
  }

  RingWriter writer(String name, RingWriter.Shape shape) throws IOException {
    return writer(directory(), name, shape);
  }

  RingWriter writer(Path in, String name, RingWriter.Shape shape) throws IOException {
    RingWriter writer = RingWriter.create(in, name, shape);
    writers.add(writer);
    return writer;
  }

  static void write(RingWriter writer, long first, long last) {
    for (long number = first; number <= last; number++) {
      assertThat(writer.write(RingSpan.numbered(number))).isTrue();
    }
  }

  /** Writes several times the ring's capacity. */
  static void writeAsThereIsRoom(RingWriter writer, long first, long last) {
    for (long number = first; number <= last; number++) {
      RingSpan span = RingSpan.numbered(number);
      while (!writer.write(span)) {
        LockSupport.parkNanos(100_000);
      }
    }
  }

  /** Waits until the agent reports that it sleeps. */
  static void awaitSleep(RingWriter writer) {
    await().until(() -> writer.file().get(ValueLayout.JAVA_INT, RingLayout.ASLEEP_OFFSET) == 1);
  }

  RingMetrics metrics() {
    return source.metrics();
  }

  @Override
  public void close() throws IOException {
    if (source != null) {
      source.close();
    }
    for (RingWriter writer : writers) {
      writer.close();
    }
  }
}
