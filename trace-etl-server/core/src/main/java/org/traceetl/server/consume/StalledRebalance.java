package org.traceetl.server.consume;

import java.util.concurrent.TimeUnit;

/**
 * Detects that RocketMQ's client no longer rebalances because the wall clock was set back. The
 * client's RebalanceService compares wall-clock times: after a step forward and back by 26 hours it
 * waits for 26 hours and ignores each change of the consumer group. The worker would keep queues
 * that belong to other workers by then, and leave its own queues alone.
 *
 * <p>Confined to the worker thread.
 */
final class StalledRebalance {
  /** The client rebalances this often. A smaller step back delays it by no more than one turn. */
  private static final long INTERVAL_SECONDS = 20;

  /** If the client is not stalled, it has its turn within this time after a step. */
  private static final long PATIENCE_SECONDS = 30;

  private long latestMillis = Long.MIN_VALUE;
  private long rebalances;
  private long dueNanos;

  /**
   * Compares the wall clock with its latest time since the client rebalanced. To be called several
   * times a second, also before the client connects.
   *
   * @param done the number of rebalances so far
   * @return whether the worker has to rebalance now; if so, it then calls {@link #rebalanced}
   */
  boolean look(long nowMillis, long nowNanos, long done) {
    if (done != rebalances) {
      rebalances = done;
      latestMillis = nowMillis;
    }
    latestMillis = Math.max(latestMillis, nowMillis);
    if (behindMillis(nowMillis) < TimeUnit.SECONDS.toMillis(INTERVAL_SECONDS)) {
      dueNanos = nowNanos + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
      return false;
    }
    if (nowNanos - dueNanos < 0) {
      return false;
    }
    dueNanos = nowNanos + TimeUnit.SECONDS.toNanos(INTERVAL_SECONDS);
    return true;
  }

  /** How far the wall clock was set back. */
  long behindMillis(long nowMillis) {
    return latestMillis - nowMillis;
  }

  /** The worker has rebalanced: this is no sign of life of the client's own thread. */
  void rebalanced(long done) {
    rebalances = done;
  }
}
