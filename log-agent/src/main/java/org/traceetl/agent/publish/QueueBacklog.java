package org.traceetl.agent.publish;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.traceetl.agent.spool.SpooledBatch;

/**
 * What is on its way to one queue. Owned by the publisher's thread.
 *
 * <p>A batch waits, is in flight, waits again after a failure, and leaves when it is settled. After
 * a failure the lane pauses, then sends one batch at a time until one is confirmed.
 */
final class QueueBacklog {
  /**
   * Batches are sent only this near to the oldest unconfirmed one: the server tells a batch's
   * repeat by a window of sequence numbers, and a repeat from before that window could not be told.
   */
  static final int SEQUENCE_WINDOW = 256;

  /** One sending of one batch. */
  static final class Attempt {
    final SpooledBatch batch;
    final long startNanos;

    Attempt(SpooledBatch batch, long startNanos) {
      this.batch = batch;
      this.startNanos = startNanos;
    }
  }

  /** Those behind the window, in the order of their runs and sequences. */
  private final ArrayDeque<SpooledBatch> behind = new ArrayDeque<>();

  // The window. It holds batches of one run only: the server remembers the sequences of an agent's
  // last two runs, so nothing of a run is sent before all of the one before is confirmed.
  private final PriorityQueue<SpooledBatch> waiting =
      new PriorityQueue<>(Comparator.comparingLong(SpooledBatch::sequence));
  private final TreeMap<Long, SpooledBatch> unconfirmed = new TreeMap<>();
  private final Set<Attempt> inFlight = new HashSet<>();
  private int failures;
  private int readFailures;
  private long failedNanos;
  private long pausedUntilNanos;

  /** Adds a batch behind all others. */
  void add(SpooledBatch batch) {
    behind.add(batch);
  }

  boolean isEmpty() {
    forgetSettled();
    return unconfirmed.isEmpty() && behind.isEmpty();
  }

  boolean hasInFlight() {
    return !inFlight.isEmpty();
  }

  /** The oldest batch that is not settled; null when there is none. */
  SpooledBatch oldest() {
    forgetSettled();
    return unconfirmed.isEmpty() ? behind.peek() : unconfirmed.firstEntry().getValue();
  }

  /** The next batch to send now; null when none may be sent. It stays where it is. */
  SpooledBatch peek(long nowNanos) {
    if (failures > 0 && (!inFlight.isEmpty() || nowNanos - pausedUntilNanos < 0)) {
      return null;
    }
    if (waiting.isEmpty()) {
      moveOneIntoWindow();
    }
    return waiting.peek();
  }

  private void moveOneIntoWindow() {
    forgetSettled();
    SpooledBatch next = behind.peek();
    boolean fits =
        next != null
            && (unconfirmed.isEmpty()
                || (next.agent().equals(unconfirmed.firstEntry().getValue().agent())
                    && next.sequence() < unconfirmed.firstKey() + SEQUENCE_WINDOW));
    if (fits) {
      behind.remove();
      unconfirmed.put(next.sequence(), next);
      waiting.add(next);
    }
  }

  /** Those behind the window that the spool has dropped: the oldest, so they stand first. */
  private void forgetSettled() {
    while (!behind.isEmpty() && behind.peek().isSettled()) {
      behind.remove();
    }
  }

  /** Takes what {@link #peek} gave, to be sent. */
  Attempt take(long nowNanos) {
    Attempt attempt = new Attempt(waiting.remove(), nowNanos);
    inFlight.add(attempt);
    return attempt;
  }

  /** The broker has it, or will never take it; true if that was not known before. */
  boolean answered(Attempt attempt) {
    inFlight.remove(attempt);
    return remove(attempt.batch);
  }

  /** The lane works. */
  void succeeded() {
    failures = 0;
  }

  /** The next batch could not be read. How often in a row, now. */
  int unreadable() {
    return ++readFailures;
  }

  /** Ends a row of failures to read. */
  void readable() {
    readFailures = 0;
  }

  /** The batch is settled. True if it was in the window. */
  boolean remove(SpooledBatch batch) {
    // Also after a late answer to an attempt that was taken for lost.
    waiting.remove(batch);
    return unconfirmed.remove(batch.sequence(), batch);
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
    if (unconfirmed.get(attempt.batch.sequence()) == attempt.batch) {
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

  /** Those that are not in flight. */
  void forEachWaiting(Consumer<SpooledBatch> action) {
    waiting.forEach(action);
    behind.forEach(action);
  }
}
