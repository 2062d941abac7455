package org.traceetl.agent.config;

import java.nio.file.Path;

/**
 * Where accepted spans wait for the broker, on disk.
 *
 * @param directory directory for accepted batches; none: {@code spool} in {@code state-directory};
 *     one agent each; keep it over restarts
 * @param maxBytes bytes on disk; 8 MiB to 64 GiB. A request that needs more than a quarter of it,
 *     or than {@code pipeline.max-bytes-in-flight}, is accepted in part and its other spans are
 *     rejected
 * @param maxBatches unpublished batches, 150 bytes of heap each; 16384 to 16777216. If batches are
 *     below 4 KiB, this bound is reached before the default of {@code spool.max-bytes}
 * @param maxAgeHours older batches are dropped and counted; 1 to 720. Servers forget an agent after
 *     26 h without batches, and could count a repeat twice. Age is running time: neither clock
 *     steps nor down time change it
 * @param whenFull {@code refuse}: sources wait. {@code drop-oldest}: the oldest batches are dropped
 *     and counted, a segment at a time
 * @param flush {@code os}: fsync once a second; data survives any end of the process, and a host
 *     failure may lose the last second. {@code commit}: fsync before each answer
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
