package org.traceetl.agent.config;

import java.nio.file.Path;

/**
 * Where accepted spans wait for the broker, on disk.
 *
 * @param directory of this agent alone; made if missing
 * @param maxBytes bytes on disk
 * @param maxBatches batches that are not published
 * @param maxAgeHours older batches are dropped and counted
 * @param whenFull what gives way when the bytes or the batches are at their bound
 * @param flush when what is written is forced to the disk
 */
public record SpoolConfig(
    Path directory,
    long maxBytes,
    int maxBatches,
    int maxAgeHours,
    WhenFull whenFull,
    Flush flush) {
  /** What gives way when the spool is full. */
  public enum WhenFull {
    /** The senders: they are told to come back. */
    REFUSE,
    /** The oldest spans: they are dropped and counted. */
    DROP_OLDEST
  }

  /** When what is written is forced to the disk. */
  public enum Flush {
    /** Once a second: it outlives the process whatever happens to it, not the host. */
    OS,
    /** Before a sender is answered: it outlives the host as well. */
    COMMIT
  }

  /**
   * In the state directory: 1 GiB, 262,144 batches, a day; senders wait when it is full; flushed
   * once a second.
   */
  public static SpoolConfig defaults(Path stateDirectory) {
    return new SpoolConfig(
        stateDirectory.resolve("spool"), 1L << 30, 1 << 18, 24, WhenFull.REFUSE, Flush.OS);
  }
}
