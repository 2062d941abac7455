package org.traceetl.agent.publish;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;

/**
 * What is on its way to one queue. Owned by the publisher's thread.
 *
 * <p>A batch waits, is in flight, waits again after a failure, and leaves when it is confirmed.
 * After a failure the lane pauses, then sends one batch at a time until one is confirmed.
 */
final class Lane {
  /**
   * Batches are sent only this near to the oldest unconfirmed one: the server tells a batch's
   * repeat by a window of sequence numbers, and a repeat from before that window could not be told.
   */
  static final int SEQUENCE_WINDOW = 256;

  /** One sending of one batch. */
  static final class Attempt {
    final Batch batch;
    final long startNanos;

    Attempt(Batch batch, long startNanos) {
      this.batch = batch;
      this.startNanos = startNanos;
    }
  }

  private final PriorityQueue<Batch> waiting =
      new PriorityQueue<>(Comparator.comparingLong(Batch::sequence));
  private final TreeMap<Long, Batch> unconfirmed = new TreeMap<>();
  private final Set<Attempt> inFlight = new HashSet<>();
  private long lastListedNanos;
  private int failures;
  private long failedNanos;
  private long pausedUntilNanos;

  Lane(long nowNanos) {
    lastListedNanos = nowNanos;
  }

  /** The queue is one of the topic's now. */
  void listed(long nowNanos) {
    lastListedNanos = nowNanos;
  }

  /** When the queue was last known to be one of the topic's. */
  long lastListedNanos() {
    return lastListedNanos;
  }

  boolean isEmpty() {
    return unconfirmed.isEmpty();
  }

  void add(Batch batch) {
    unconfirmed.put(batch.sequence(), batch);
    waiting.add(batch);
  }

  /** The next batch to send now, as an attempt; null when none may be sent. */
  Attempt next(long nowNanos) {
    Batch first = waiting.peek();
    boolean mayGo =
        first != null
            && (failures == 0 || (inFlight.isEmpty() && nowNanos - pausedUntilNanos >= 0))
            && first.sequence() < unconfirmed.firstKey() + SEQUENCE_WINDOW;
    if (!mayGo) {
      return null;
    }
    waiting.remove();
    Attempt attempt = new Attempt(first, nowNanos);
    inFlight.add(attempt);
    return attempt;
  }

  /** True if the batch was not known to be at the broker before. */
  boolean confirmed(Attempt attempt) {
    failures = 0;
    return settled(attempt);
  }

  /** Gives the attempt's batch up. True if it was still under way. */
  boolean refused(Attempt attempt) {
    return settled(attempt);
  }

  private boolean settled(Attempt attempt) {
    if (!inFlight.remove(attempt)) {
      // A late answer to an attempt that was taken for lost.
      waiting.remove(attempt.batch);
    }
    return unconfirmed.remove(attempt.batch.sequence()) != null;
  }

  /**
   * The attempt failed; its batch waits again. Attempts that were under way when an earlier one
   * failed belong to the same failure.
   *
   * @return failures in a row, or 0 when the attempt no longer matters
   */
  int failed(Attempt attempt, long nowNanos) {
    if (!inFlight.remove(attempt)) {
      return 0;
    }
    if (unconfirmed.containsKey(attempt.batch.sequence())) {
      waiting.add(attempt.batch);
    }
    if (failures == 0 || attempt.startNanos - failedNanos >= 0) {
      failures++;
      failedNanos = nowNanos;
    }
    return failures;
  }

  void pauseUntil(long nanos) {
    pausedUntilNanos = nanos;
  }

  /** When the pause ends, if there is something to send after it. */
  boolean isPaused(long nowNanos) {
    return failures > 0 && !waiting.isEmpty() && nowNanos - pausedUntilNanos < 0;
  }

  long pausedUntilNanos() {
    return pausedUntilNanos;
  }

  /** Attempts older than the given time, whose answer is taken for lost. */
  List<Attempt> startedBefore(long nanos) {
    List<Attempt> old = new ArrayList<>();
    for (Attempt attempt : inFlight) {
      if (attempt.startNanos - nanos < 0) {
        old.add(attempt);
      }
    }
    return old;
  }

  /** Batches not confirmed, in order; the lane forgets them. */
  ArrayDeque<Batch> removeAll() {
    ArrayDeque<Batch> all = new ArrayDeque<>(unconfirmed.values());
    unconfirmed.clear();
    waiting.clear();
    inFlight.clear();
    return all;
  }
}
