package org.traceetl.server.consume;

import org.traceetl.server.consume.queue.PaneLag;

/**
 * When a worker ends the windows of its queues: at each multiple of the window's length, and then
 * after the lag with which a pane's batches arrive. So a window has the batches of one pane, unless
 * they are late. Confined to the worker's thread.
 */
final class SwapSchedule {
  private final long windowMillis;
  private final PaneLag lag;

  /** The multiple of the window's length that belongs to {@link #dueMillis}. */
  private long endMillis = Long.MIN_VALUE;

  private long dueMillis = Long.MAX_VALUE;

  /** The time at which that was decided. */
  private long sinceMillis = Long.MIN_VALUE;

  /**
   * @param windowMillis length of a window
   */
  SwapSchedule(long windowMillis, PaneLag lag) {
    this.windowMillis = windowMillis;
    this.lag = lag;
  }

  /** Begins the first windows. */
  void begin(long nowMillis) {
    long end = (Math.floorDiv(nowMillis - lag.millis(), windowMillis) + 1) * windowMillis;
    // The lag may have grown since windows ended here.
    endMillis = end == endMillis ? end + windowMillis : end;
    dueMillis = endMillis + lag.millis();
    sinceMillis = nowMillis;
  }

  /** Returns whether windows end now: at the time that is due, or if the clock was set back. */
  boolean isDue(long nowMillis) {
    return nowMillis >= dueMillis || nowMillis < sinceMillis;
  }

  /** Begins the next windows, after all have ended. */
  void ended(long nowMillis) {
    lag.endWindow();
    begin(nowMillis);
  }
}
