package org.traceetl.server.consume.queue;

/**
 * How long after the end of a pane its batches have usually arrived at a worker: the median of the
 * delays of recent messages, from the acceptance by an agent to the count here. It includes the
 * difference of the clocks of broker and server, and is negative if the broker's is ahead.
 *
 * <p>The median minimizes the spans that count in the window before or after that of their pane.
 * Messages that are late by more than a pane are a backlog and do not count; other delays count as
 * at most half a pane.
 *
 * <p>Confined to the worker's thread. It allocates nothing.
 */
public final class PaneLag {
  /** Delays are distinguished by this part of a pane. */
  private static final int STEPS = 1_024;

  /** Weight of a new message; that of an earlier one decreases to 0. */
  private static final long WEIGHT = 1L << 20;

  /** Part of its weight that a message loses with each window. */
  private static final int FORGETTING = 4;

  private final long paneMillis;

  /** Sum of the messages' weights by delay. */
  private final long[] weights = new long[STEPS];

  private long millis;

  /**
   * @param paneMillis length of a pane
   */
  public PaneLag(long paneMillis) {
    this.paneMillis = paneMillis;
  }

  /**
   * Adds a message.
   *
   * @param delayMillis time from the acceptance of its first batch by the agent, by the broker's
   *     clock, to now, by this server's
   */
  public void add(long delayMillis) {
    if (delayMillis > -paneMillis && delayMillis <= paneMillis) {
      long step = Math.floorDiv((delayMillis + paneMillis / 2) * STEPS, paneMillis);
      weights[Math.clamp(step, 0, STEPS - 1)] += WEIGHT;
    }
  }

  /** Ends a window: updates the lag. Without messages it remains. */
  public void endWindow() {
    long sum = 0;
    for (long weight : weights) {
      sum += weight;
    }
    long below = 0;
    for (int step = 0; step < STEPS; step++) {
      long weight = weights[step];
      if (2 * below < sum && 2 * (below + weight) >= sum) {
        millis = (2 * step + 1) * paneMillis / (2 * STEPS) - paneMillis / 2;
      }
      below += weight;
      weights[step] -= (weight + FORGETTING - 1) / FORGETTING;
    }
  }

  /** Returns the lag, from minus half a pane to half a pane; 0 before the first window's end. */
  public long millis() {
    return millis;
  }
}
