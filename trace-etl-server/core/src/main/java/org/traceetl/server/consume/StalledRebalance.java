package org.traceetl.server.consume;

import java.util.concurrent.TimeUnit;

/**
 * Detects that RocketMQ's client no longer rebalances. Its RebalanceService compares wall-clock
 * times: after a step back by an hour, even one that was corrected within seconds, it may wait for
 * an hour and ignore each change of the consumer group. The worker would then keep queues of other
 * workers, and not read its own.
 *
 * <p>Confined to the worker thread.
 */
final class StalledRebalance {
  /** The client's rebalancing interval. */
  private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(20);

  /** A rebalance does not count if the broker that the client asks does not answer. */
  private static final long PATIENCE_NANOS = 3 * INTERVAL_NANOS;

  private long rebalances;
  private long lastNanos;
  private long dueNanos;

  /** Begins when the client is connected. */
  void begin(long nowNanos) {
    lastNanos = nowNanos;
    dueNanos = nowNanos + PATIENCE_NANOS;
  }

  /**
   * Call it several times a second.
   *
   * @param done the number of rebalances so far
   * @return whether the worker has to rebalance now; if so, it then calls {@link #rebalanced}
   */
  boolean look(long nowNanos, long done) {
    if (done != rebalances) {
      rebalances = done;
      begin(nowNanos);
    }
    if (nowNanos - dueNanos < 0) {
      return false;
    }
    dueNanos = nowNanos + INTERVAL_NANOS;
    return true;
  }

  /** Returns the time since the client rebalanced. */
  long sinceNanos(long nowNanos) {
    return nowNanos - lastNanos;
  }

  /** Records a rebalance by the worker, which does not show that the client's own thread works. */
  void rebalanced(long done) {
    rebalances = done;
  }
}
