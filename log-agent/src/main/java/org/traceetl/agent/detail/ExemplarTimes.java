package org.traceetl.agent.detail;

/**
 * When each series last had an exemplar, in a table of fixed size. A series has a slot until its
 * next exemplar is due. If all slots that it may have are taken, its exemplar is delayed; this and
 * equal hashes affect no counts. So at most {@link #SLOTS} exemplars are sent per interval.
 * Confined to one thread.
 */
public final class ExemplarTimes {
  static final int SLOTS = 1 << 14;

  /** Adjacent slots that a series may have. */
  static final int WAYS = 4;

  // Of each slot the hash of its series, then when its next exemplar is due: one cache line for
  // both.
  private final long[] entries = new long[2 * SLOTS];
  private final boolean[] taken = new boolean[SLOTS];

  /**
   * Returns whether an exemplar of the series is due. If so, the next one is due after the
   * interval.
   *
   * @param series hash of the series
   * @param nowNanos monotonic clock
   */
  public boolean takes(long series, long nowNanos, long intervalNanos) {
    int first = (int) (series >>> 32) & SLOTS - WAYS;
    int free = -1;
    for (int slot = first; slot < first + WAYS; slot++) {
      boolean due = !taken[slot] || entries[2 * slot + 1] - nowNanos <= 0;
      if (taken[slot] && entries[2 * slot] == series) {
        if (due) {
          entries[2 * slot + 1] = nowNanos + intervalNanos;
        }
        return due;
      }
      if (due && free < 0) {
        free = slot;
      }
    }
    if (free >= 0) {
      taken[free] = true;
      entries[2 * free] = series;
      entries[2 * free + 1] = nowNanos + intervalNanos;
    }
    return free >= 0;
  }
}
