package org.traceetl.server.series;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Limits the number of series of the process. Queues take portions, so that a new series seldom
 * accesses shared state. Thread-safe.
 */
public final class SeriesBudget {
  private static final int MAX_PORTION = 256;
  private static final int PORTIONS = 1_024;

  private final AtomicInteger left;
  private final int portion;

  public SeriesBudget(int max) {
    left = new AtomicInteger(max);
    portion = Math.clamp(max / PORTIONS, 1, MAX_PORTION);
  }

  /** Takes up to a portion; returns 0 if nothing is left. */
  int take() {
    if (left.get() <= 0) {
      return 0; // a frequent case when nothing is left
    }
    int before = left.getAndUpdate(now -> now <= 0 ? now : Math.max(0, now - portion));
    return Math.clamp(before, 0, portion);
  }

  /** Takes series of a queue that was taken over, even beyond the limit: they continue. */
  void takeAll(int series) {
    left.addAndGet(-series);
  }

  void giveBack(int series) {
    left.addAndGet(series);
  }

  int portion() {
    return portion;
  }

  /** Returns the series that no queue has taken; negative while queues have more than the limit. */
  public int left() {
    return left.get();
  }
}
