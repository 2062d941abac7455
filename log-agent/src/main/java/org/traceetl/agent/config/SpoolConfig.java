package org.traceetl.agent.config;

import java.nio.file.Path;

/**
 * The spool on disk, in which accepted spans wait for the broker.
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
 *     steps nor down time change it. Spans that waited in a ring are older by that time, at most by
 *     half of this limit
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
  /** What happens if the spool is full. */
  public enum WhenFull {
    /** Senders are refused and retry. */
    REFUSE,
    /** The oldest spans are dropped and counted. */
    DROP_OLDEST
  }

  /** When written data is forced to the disk. */
  public enum Flush {
    /** Once a second: data survives any end of the process, but not of the host. */
    OS,
    /** Before a sender is answered: data also survives the end of the host. */
    COMMIT
  }

  /**
   * Returns 1 GiB, 262,144 batches and one day, in the state directory. If the spool is full,
   * senders are refused. Data is flushed once a second.
   */
  public static SpoolConfig defaults(Path stateDirectory) {
    return new SpoolConfig(
        stateDirectory.resolve("spool"), 1L << 30, 1 << 18, 24, WhenFull.REFUSE, Flush.OS);
  }
}
