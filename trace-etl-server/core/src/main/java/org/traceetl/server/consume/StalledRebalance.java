package org.traceetl.server.consume;

import java.util.concurrent.TimeUnit;

/**
 * Detects that RocketMQ's client no longer rebalances because the wall clock was set back. The
 * client's RebalanceService compares wall-clock times. After a step forward and back by 26 hours it
 * waits for 26 hours and ignores each change of the consumer group. The worker would then keep
 * queues of other workers, and not read its own.
 *
 * <p>Confined to the worker thread.
 */
final class StalledRebalance {
  /** The client's rebalancing interval; a smaller step back delays it by at most one interval. */
  private static final long INTERVAL_SECONDS = 20;

  /** A client that is not stalled rebalances within this time after a step. */
  private static final long PATIENCE_SECONDS = 30;

  private long latestMillis = Long.MIN_VALUE;
  private long rebalances;
  private long dueNanos;

  /**
   * Compares the wall clock with its latest time since the client rebalanced. Call it several times
   * a second, even before the client connects.
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

  /** Returns how far the wall clock was set back. */
  long behindMillis(long nowMillis) {
    return latestMillis - nowMillis;
  }

  /** Records a rebalance by the worker, which does not show that the client's own thread works. */
  void rebalanced(long done) {
    rebalances = done;
  }
}
