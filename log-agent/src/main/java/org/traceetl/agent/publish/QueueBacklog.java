package org.traceetl.agent.publish;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import org.traceetl.agent.spool.SpooledBatch;
import org.traceetl.proto.BundleReader;
import org.traceetl.proto.BundleWriter;

/**
 * The unsettled batches of one queue. Confined to the publisher thread.
 *
 * <p>A batch waits, is in flight, waits again after a failure, and leaves when it is settled. After
 * a failure the queue pauses, then sends one batch at a time until one is confirmed.
 */
final class QueueBacklog {
  /**
   * Width of the window of sequences that are sent, from the oldest unconfirmed one. The server
   * detects duplicates in such a window only.
   */
  static final int SEQUENCE_WINDOW = 256;

  /** One attempt to send a message with one batch, or a bundle of several. */
  static final class Attempt {
    /** In the order of their sequences, at least one. */
    final List<SpooledBatch> batches = new ArrayList<>(1);

    final long startNanos;

    /** Bytes of the bundle in memory; 0 without one. */
    int bundleBytes;

    Attempt(SpooledBatch batch, long startNanos) {
      batches.add(batch);
      this.startNanos = startNanos;
    }

    SpooledBatch first() {
      return batches.getFirst();
    }

    boolean isBundle() {
      return batches.size() > 1;
    }

    @Override
    public String toString() {
      return isBundle()
          ? "bundle of batches " + first().sequence() + " to " + batches.getLast().sequence()
          : "batch " + first().sequence();
    }
  }

  /** The batches after the window, in the order of runs and sequences. */
  private final ArrayDeque<SpooledBatch> behind = new ArrayDeque<>();

  /** Those of them that are older than all after them, so the first one is the oldest. */
  private final ArrayDeque<SpooledBatch> oldestBehind = new ArrayDeque<>();

  // The window. It has batches of one run only. The server remembers the sequences of an agent's
  // last two runs, so all batches of a run must be confirmed before the next run is sent.
  private final PriorityQueue<SpooledBatch> waiting =
      new PriorityQueue<>(Comparator.comparingLong(SpooledBatch::sequence));
  private final TreeMap<Long, SpooledBatch> unconfirmed = new TreeMap<>();

  /** Sequences in the window whose bundle the broker refused. */
  private final TreeSet<Long> alone = new TreeSet<>();

  // In the order of the attempts, so that simulations are repeatable.
  private final Set<Attempt> inFlight = new LinkedHashSet<>();
  private int failures;
  private int readFailures;
  private long failedNanos;
  private long pausedUntilNanos;

  /** When a batch was last added while no other waited. */
  private long waitingSinceNanos;

  private final ToLongFunction<SpooledBatch> date;

  /**
   * @param date when the agent accepted a batch, by one clock for the batches of all runs,
   *     milliseconds
   */
  QueueBacklog(ToLongFunction<SpooledBatch> date) {
    this.date = date;
  }

  /** Adds the newest batch. */
  void add(SpooledBatch batch, long nowNanos) {
    forgetSettled();
    if (waiting.isEmpty() && behind.isEmpty()) {
      waitingSinceNanos = nowNanos;
    }
    behind.add(batch);
    long added = date.applyAsLong(batch);
    while (!oldestBehind.isEmpty() && date.applyAsLong(oldestBehind.peekLast()) >= added) {
      oldestBehind.removeLast();
    }
    oldestBehind.add(batch);
  }

  private void removeBehind() {
    SpooledBatch removed = behind.remove();
    if (removed == oldestBehind.peek()) {
      oldestBehind.remove();
    }
  }

  /** Returns whether a batch waits. */
  boolean hasWaiting() {
    forgetSettled();
    return !waiting.isEmpty() || !behind.isEmpty();
  }

  /** Returns a time since which the oldest waiting batch has waited, or a shorter time. */
  long waitingSinceNanos() {
    return waitingSinceNanos;
  }

  /** Returns whether batches wait again after a failure or refusal that is not over. */
  boolean isRetrying() {
    return failures > 0 || !alone.isEmpty();
  }

  /** Returns whether as many batches wait as one message may have. */
  boolean hasFullBundle() {
    int batches = 0;
    long bytes = 0;
    for (Iterable<SpooledBatch> each : List.of(waiting, behind)) {
      for (SpooledBatch batch : each) {
        batches++;
        bytes += batch.length();
        if (batches >= BundleReader.MAX_PARTS || bytes >= BundleWriter.MAX_BYTES) {
          return true;
        }
      }
    }
    return false;
  }

  boolean isEmpty() {
    forgetSettled();
    return unconfirmed.isEmpty() && behind.isEmpty();
  }

  /** Returns whether it has a batch that waits or is in flight. */
  boolean isBusy() {
    return !isEmpty() || hasInFlight();
  }

  boolean hasInFlight() {
    return !inFlight.isEmpty();
  }

  /** Returns the oldest unsettled batch; null if there is none. */
  SpooledBatch oldest() {
    forgetSettled();
    return unconfirmed.isEmpty() ? behind.peek() : unconfirmed.firstEntry().getValue();
  }

  /**
   * Returns the unsettled batch with the earliest date that is not in a message; null if there is
   * none.
   *
   * @param message its batches, in the order of their sequences
   */
  SpooledBatch oldestExcept(List<SpooledBatch> message) {
    forgetSettled();
    SpooledBatch oldest = oldestBehind.peek();
    int inMessage = 0;
    for (SpooledBatch batch : unconfirmed.values()) {
      if (inMessage < message.size() && batch == message.get(inMessage)) {
        inMessage++;
      } else if (oldest == null || date.applyAsLong(batch) < date.applyAsLong(oldest)) {
        oldest = batch;
      }
    }
    return oldest;
  }

  /** Returns the next batch to send now, without removing it; null if none may be sent. */
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
      removeBehind();
      unconfirmed.put(next.sequence(), next);
      waiting.add(next);
    }
  }

  /** Removes batches that the spool has dropped; they are the oldest, so they are first. */
  private void forgetSettled() {
    while (!behind.isEmpty() && behind.peek().isSettled()) {
      removeBehind();
    }
  }

  /** Starts an attempt with the batch that {@link #peek} returned. */
  Attempt take(long nowNanos) {
    Attempt attempt = new Attempt(waiting.remove(), nowNanos);
    inFlight.add(attempt);
    return attempt;
  }

  /** Moves the batch of an attempt that is not sent yet to the end of another one. */
  void join(Attempt bundle, Attempt attempt) {
    inFlight.remove(attempt);
    bundle.batches.addAll(attempt.batches);
  }

  /** Ends an attempt that is not sent; its batches wait again. */
  void putBack(Attempt attempt) {
    inFlight.remove(attempt);
    waiting.addAll(attempt.batches);
  }

  /** Returns whether the batch must be sent without others. */
  boolean isAlone(SpooledBatch batch) {
    return alone.contains(batch.sequence());
  }

  /** Ends an attempt whose batches are settled. Returns true if one of them was in the window. */
  boolean answered(Attempt attempt) {
    inFlight.remove(attempt);
    boolean known = false;
    for (SpooledBatch batch : attempt.batches) {
      known |= remove(batch);
    }
    return known;
  }

  /** Ends an attempt with a bundle that the broker refuses; its batches wait to be sent alone. */
  void refused(Attempt attempt) {
    boolean ended = !inFlight.remove(attempt);
    for (SpooledBatch batch : attempt.batches) {
      if (unconfirmed.get(batch.sequence()) == batch) {
        alone.add(batch.sequence());
        if (!ended) {
          waiting.add(batch);
        }
      }
    }
  }

  /** Ends the row of send failures. */
  void succeeded() {
    failures = 0;
  }

  /** Counts a failed read; returns the number of consecutive ones. */
  int unreadable() {
    return ++readFailures;
  }

  /** Ends the row of failed reads. */
  void readable() {
    readFailures = 0;
  }

  /** Removes a settled batch. Returns true if it was in the window. */
  boolean remove(SpooledBatch batch) {
    // It waits again if this is a late answer to an attempt considered lost.
    waiting.remove(batch);
    boolean known = unconfirmed.remove(batch.sequence(), batch);
    if (known) {
      alone.remove(batch.sequence());
    }
    return known;
  }

  /**
   * Ends a failed attempt; its batches wait again. Attempts in flight during an earlier failure
   * count as the same failure.
   *
   * @return consecutive failures, or 0 if the attempt already ended
   */
  int failed(Attempt attempt, long nowNanos) {
    if (!inFlight.remove(attempt)) {
      return 0;
    }
    for (SpooledBatch batch : attempt.batches) {
      if (unconfirmed.get(batch.sequence()) == batch) {
        waiting.add(batch);
      }
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

  /** Returns whether the queue is paused and has a batch to send afterwards. */
  boolean isPaused(long nowNanos) {
    return failures > 0 && !waiting.isEmpty() && nowNanos - pausedUntilNanos < 0;
  }

  long pausedUntilNanos() {
    return pausedUntilNanos;
  }

  /** Returns the attempts started before the given time. */
  List<Attempt> startedBefore(long nanos) {
    List<Attempt> old = new ArrayList<>();
    for (Attempt attempt : inFlight) {
      if (attempt.startNanos - nanos < 0) {
        old.add(attempt);
      }
    }
    return old;
  }

  /** Calls the action with each batch that is not in flight. */
  void forEachWaiting(Consumer<SpooledBatch> action) {
    waiting.forEach(action);
    behind.forEach(action);
  }
}
