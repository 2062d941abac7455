package org.traceetl.agent.spool;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.function.LongSupplier;
import java.util.zip.CRC32C;
import org.traceetl.agent.config.SpoolConfig;
import org.traceetl.agent.config.SpoolConfig.Flush;
import org.traceetl.agent.config.SpoolConfig.WhenFull;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.common.Clocks;

public final class TestSpool {
  private TestSpool() {}

  public static SpoolConfig config(Path directory) {
    return config(directory, 1L << 30, WhenFull.REFUSE);
  }

  public static SpoolConfig config(Path directory, long maxBytes, WhenFull whenFull) {
    return new SpoolConfig(directory, maxBytes, 1 << 18, 24, whenFull, Flush.OS);
  }

  public static Spool open(Path directory, AgentIdentity agent, SpoolMetrics metrics)
      throws IOException {
    return open(config(directory), agent, metrics);
  }

  public static Spool open(SpoolConfig config, AgentIdentity agent, SpoolMetrics metrics)
      throws IOException {
    return Spool.open(config, agent, metrics, Clocks.SYSTEM);
  }

  /** Returns clocks with the given values. */
  public static Clocks clocks(LongSupplier nanoClock, LongSupplier unixMillis) {
    return new Clocks(nanoClock, () -> Instant.ofEpochMilli(unixMillis.getAsLong()));
  }

  /** Returns the files of a directory. */
  static SpoolFiles files(Path directory) {
    return new SpoolFiles(directory, Disk.SYSTEM, new SpoolMetrics());
  }

  /** Returns a batch that is in no spool. */
  public static SpooledBatch batch(
      AgentIdentity agent, BrokerQueue queue, long sequence, byte[] body) {
    return batch(agent, queue, sequence, 0, body);
  }

  /** Returns a batch with a date that is in no spool. */
  public static SpooledBatch batch(
      AgentIdentity agent, BrokerQueue queue, long sequence, long createdMillis, byte[] body) {
    CRC32C crc = new CRC32C();
    crc.update(body);
    SpooledBatch batch =
        new SpooledBatch(
            agent, queue, sequence, createdMillis, 1, body.length, (int) crc.getValue());
    batch.body(body);
    return batch;
  }

  /** Commits one batch of one span. */
  public static void commit(
      Spool spool,
      AgentIdentity agent,
      LongSupplier unixMillis,
      BrokerQueue queue,
      long sequence,
      byte[] body)
      throws IOException {
    Frame frame = new Frame(agent, unixMillis);
    frame.add(queue, sequence, body, 1);
    spool.commit(frame);
  }
}
