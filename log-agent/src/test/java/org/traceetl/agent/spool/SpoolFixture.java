package org.traceetl.agent.spool;

import static org.traceetl.agent.telemetry.MetricValues.value;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.SpoolConfig;
import org.traceetl.agent.config.SpoolConfig.Flush;
import org.traceetl.agent.config.SpoolConfig.WhenFull;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.state.AgentIdentity;

/** A spool that a test opens, kills and opens again, with clocks of the test. */
abstract class SpoolFixture {
  static final BrokerQueue A = new BrokerQueue("broker-a", 0);
  static final BrokerQueue B = new BrokerQueue("broker-b", 3);

  @TempDir Path directory;

  final RecordingOutlet outlet = new RecordingOutlet();
  private final AtomicLong nowNanos = new AtomicLong();
  long unixMillis = 1_795_255_028_000L;
  private long epoch;
  WhenFull whenFull = WhenFull.REFUSE;
  Flush flush = Flush.OS;
  long maxBytes = 8 << 20;
  int maxBatches = 1 << 18;
  Disk disk = Disk.SYSTEM;
  SpoolMetrics metrics;
  AgentIdentity agent;
  Frame frame;
  Spool spool;

  @AfterEach
  final void stop() throws IOException {
    if (spool != null) {
      spool.close();
    }
  }

  /** Opens the spool as the next run of the agent. */
  final void openSpool() throws IOException {
    agent = new AgentIdentity(7, 8, ++epoch);
    frame = new Frame(agent, () -> spool.nowMillis());
    metrics = new SpoolMetrics();
    spool =
        Spool.open(
            new SpoolConfig(directory, maxBytes, maxBatches, 24, whenFull, flush),
            agent,
            metrics,
            TestSpool.clocks(nowNanos::get, () -> unixMillis),
            disk);
    spool.outlet(outlet);
  }

  /** Leaves the directory as a kill does. */
  final void kill() throws IOException {
    Map<Path, byte[]> found = new HashMap<>();
    for (Path path : files("")) {
      found.put(path, Files.readAllBytes(path));
    }
    spool.close();
    restore(found);
  }

  final void restore(Map<Path, byte[]> contents) throws IOException {
    for (Path path : files("")) {
      Files.delete(path);
    }
    for (Map.Entry<Path, byte[]> content : contents.entrySet()) {
      Files.write(content.getKey(), content.getValue());
    }
  }

  final void settle(List<SpooledBatch> batches) {
    batches.forEach(batch -> spool.settle(batch, Settlement.PUBLISHED));
  }

  final void tend() {
    pass(200);
    spool.tend();
  }

  /** Advances both clocks. */
  final void pass(long millis) {
    unixMillis += millis;
    nowNanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
  }

  final List<Path> segments() throws IOException {
    return files(SpoolFiles.SEGMENT);
  }

  final List<Path> files(String suffix) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> file.toString().endsWith(suffix)).sorted().toList();
    }
  }

  static Checkpoint.Request request(int number) {
    return new Checkpoint.Request(number, -number, 100);
  }

  final double sample(String name) {
    return value(metrics, name);
  }

  final double dropped(String reason) {
    return value(metrics, "spans_dropped_total", "reason", reason);
  }

  static final class RecordingOutlet implements Outlet {
    final List<SpooledBatch> appended = new ArrayList<>();
    final List<SpooledBatch> forgotten = new ArrayList<>();

    @Override
    public void append(List<SpooledBatch> batches) {
      appended.addAll(batches);
    }

    @Override
    public void forget(List<SpooledBatch> batches) {
      forgotten.addAll(batches);
    }
  }
}
