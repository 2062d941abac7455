package org.traceetl.server.window;

/**
 * The names of the batches that count in a window, as runs of consecutive sequences: {@value
 * #COLUMNS} longs a run: agent (two), epoch, first and last sequence. Sorted by agent and epoch, as
 * unsigned and signed numbers, then by sequence; no two runs touch. Immutable by contract: nobody
 * writes to the array after the seal.
 */
public record AcceptedBatches(long[] runs) {
  /** Longs of a run. */
  public static final int COLUMNS = 5;

  /** No batches. */
  public static final AcceptedBatches NONE = new AcceptedBatches(new long[0]);

  /** Number of runs. */
  public int size() {
    return runs.length / COLUMNS;
  }

  public long agentHigh(int run) {
    return runs[run * COLUMNS];
  }

  public long agentLow(int run) {
    return runs[run * COLUMNS + 1];
  }

  public long epoch(int run) {
    return runs[run * COLUMNS + 2];
  }

  /** The run's first sequence. */
  public long first(int run) {
    return runs[run * COLUMNS + 3];
  }

  /** The run's last sequence, included. */
  public long last(int run) {
    return runs[run * COLUMNS + 4];
  }
}
