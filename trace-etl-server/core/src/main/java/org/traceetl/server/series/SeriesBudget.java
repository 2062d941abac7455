package org.traceetl.server.series;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many series the process may have. Queues take from it in portions, so that a new series
 * seldom touches what threads share. Thread-safe.
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

  /** Takes up to a portion; 0 when nothing is left. */
  int take() {
    if (left.get() <= 0) {
      return 0; // by many spans a second, once nothing is left
    }
    int before = left.getAndUpdate(now -> now <= 0 ? now : Math.max(0, now - portion));
    return Math.clamp(before, 0, portion);
  }

  /** Takes what a queue brings along, even beyond the limit: a series that counts goes on. */
  void takeAll(int series) {
    left.addAndGet(-series);
  }

  void giveBack(int series) {
    left.addAndGet(series);
  }

  int portion() {
    return portion;
  }

  /** Series that no queue has taken; below 0 while queues taken over have more than the limit. */
  public int left() {
    return left.get();
  }
}
