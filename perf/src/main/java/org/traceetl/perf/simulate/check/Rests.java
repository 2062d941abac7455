package org.traceetl.perf.simulate.check;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The times without faults, after quiet points: their messages show by how much the stream time of
 * each queue has advanced at least. While there are faults it may stand still, because a queue that
 * changes its owner loses the step to its next message.
 */
final class Rests {
  /** No half-edge has expired for certain. */
  static final long NEVER = Long.MIN_VALUE;

  /** A longer step between two messages counts as this one. */
  private static final long MOST_STEP_NANOS = TimeUnit.SECONDS.toNanos(15);

  /** A queue may change its owner once although there is no fault. */
  private static final long LOST_NANOS = TimeUnit.SECONDS.toNanos(20);

  private static final class Rest {
    final long beginNanos;
    long lastNanos;
    long passedNanos;

    Rest(long beginNanos, long nowNanos) {
      this.beginNanos = beginNanos;
      lastNanos = nowNanos;
    }
  }

  /** By queue, the newest first. */
  private final Map<String, Deque<Rest>> ofQueues = new HashMap<>();

  private boolean resting;
  private long beginNanos;

  /** Begins a rest. */
  void begin(long nowNanos) {
    resting = true;
    beginNanos = nowNanos;
  }

  /** Ends the rest, if there is one. */
  void end() {
    resting = false;
  }

  /** A broker stores a message of a queue. */
  void message(String queue, long nowNanos) {
    if (!resting) {
      return;
    }
    Deque<Rest> all = ofQueues.computeIfAbsent(queue, absent -> new ArrayDeque<>());
    if (all.isEmpty() || all.getFirst().beginNanos != beginNanos) {
      all.addFirst(new Rest(beginNanos, nowNanos));
    }
    Rest rest = all.getFirst();
    rest.passedNanos += Math.min(nowNanos - rest.lastNanos, MOST_STEP_NANOS);
    rest.lastNanos = nowNanos;
  }

  /**
   * Returns a time before which no half-edge was stored in a queue that is still open: since then,
   * at least the waiting time has passed. {@link #NEVER} without such a time.
   */
  long expiredBefore(String queue, long waitNanos) {
    long passedNanos = 0;
    Iterator<Rest> newestFirst = ofQueues.getOrDefault(queue, new ArrayDeque<>()).iterator();
    while (newestFirst.hasNext()) {
      Rest rest = newestFirst.next();
      passedNanos += Math.max(0, rest.passedNanos - LOST_NANOS);
      if (passedNanos >= waitNanos) {
        return rest.beginNanos;
      }
    }
    return NEVER;
  }
}
