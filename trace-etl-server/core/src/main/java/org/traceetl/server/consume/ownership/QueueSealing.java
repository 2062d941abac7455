package org.traceetl.server.consume.ownership;

import java.io.IOException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.consume.queue.FilledWindow;
import org.traceetl.server.consume.queue.OwnedQueue;
import org.traceetl.server.journal.InconsistentWindowException;
import org.traceetl.server.journal.QueueJournal;
import org.traceetl.server.journal.QueueJournal.Outcome;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Appends an owned queue's filled windows to its journal in order, and writes its snapshots. For
 * each window: copy it, append it, show it, return its metrics, request the commit of its offset.
 *
 * <p>A window is shown, and its offset is committed, only after the journal has kept it. An append
 * of unknown outcome is repeated until the outcome is known; meanwhile the queue's open window
 * grows.
 *
 * <p>Confined to the queue's thread, except {@link #add}.
 */
public final class QueueSealing {
  private static final Logger log = LoggerFactory.getLogger(QueueSealing.class);
  private static final long SNAPSHOT_RETRY_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** A queue has two windows: at most one is filled while the other is open. */
  private static final int MAX_WINDOWS = 2;

  /** No window was refused. */
  public static final long NONE = Long.MIN_VALUE;

  private record Task(OwnedQueue queue, FilledWindow filled, LastMessages read, Runnable kept) {}

  private final QueueId queue;
  private final QueueOwnerships.Shared shared;
  private final Queue<Task> tasks = new ArrayBlockingQueue<>(MAX_WINDOWS);
  private final RetrySchedule retry =
      new RetrySchedule(Duration.ofMillis(100), Duration.ofSeconds(5));
  private long nextSnapshotNanos;

  /** Null before the queue is owned. */
  private QueueJournal journal;

  private QueueLease lease;

  /** The window whose append has no known outcome; null if there is none. */
  private SealedWindow unsettled;

  private long sealedNanos;

  /** Start of the window that must not be written, or {@link #NONE}. Read by the worker. */
  private volatile long refusedFrom = NONE;

  /** Start of the window that an earlier ownership refused, or {@link #NONE}. */
  private long refusedBefore = NONE;

  QueueSealing(QueueId queue, QueueOwnerships.Shared shared) {
    this.queue = queue;
    this.shared = shared;
  }

  /** Starts to use the journal of the queue, which is now owned. */
  void begin(QueueJournal owned, QueueLease ownedLease) {
    journal = owned;
    lease = ownedLease;
    nextSnapshotNanos = shared.clocks().nanos();
  }

  /** Adds a window. Any thread. */
  void add(OwnedQueue owned, FilledWindow filled, Runnable kept) {
    tasks.add(new Task(owned, filled, owned.lastMessages(), kept));
  }

  boolean hasWindow() {
    return !tasks.isEmpty();
  }

  /** Returns nanoseconds until the next attempt to append is due; 0 or less if it is due. */
  long dueInNanos() {
    return retry.leftNanos(shared.clocks().nanos());
  }

  /**
   * Makes one attempt to append the next window, which stays in the queue if it failed.
   *
   * @return {@link Outcome#FENCED} if the queue belongs to another owner, or if the window must not
   *     be written: see {@link #refusedFrom}
   */
  Outcome append() throws InterruptedException {
    Task task = tasks.element();
    if (unsettled == null) {
      long startNanos = shared.clocks().nanos();
      unsettled = task.filled().seal();
      sealedNanos = shared.clocks().nanos();
      shared.metrics().sealed(queue, sealedNanos - startNanos);
    }
    try {
      if (append(task) == Outcome.FENCED) {
        return Outcome.FENCED;
      }
    } catch (InconsistentWindowException e) {
      shared.metrics().windowRefused(queue);
      log.error(
          "Refused to write window [{}, {}) of queue {} to the journal because it is inconsistent; the"
              + " queue is released, and the window's spans are read again",
          unsettled.from(),
          unsettled.to(),
          queue,
          e);
      refusedFrom = unsettled.from();
      return Outcome.FENCED;
    } catch (RuntimeException e) {
      // A retry would fail as well; the next owner reads the log.
      shared.metrics().failed();
      log.error(
          "Window [{}, {}) of queue {} does not fit its journal; the queue is dropped and read again",
          unsettled.from(),
          unsettled.to(),
          queue,
          e);
      return Outcome.FENCED;
    } catch (IOException e) {
      retry.failed(shared.clocks().nanos());
      shared.metrics().appendFailed(queue);
      if (shared.throttle().permits()) {
        log.error(
            "Could not append window [{}, {}) of queue {} to the journal; the server retries",
            unsettled.from(),
            unsettled.to(),
            queue,
            e);
      }
      return Outcome.KEPT;
    }
    kept(task);
    return Outcome.KEPT;
  }

  /**
   * Appends a window. If it is inconsistent although its spans were read twice, the fault is not in
   * memory, and would stop the queue for ever; so it is written, as readers apply it.
   */
  private Outcome append(Task task) throws IOException, InterruptedException {
    try {
      return journal.append(unsettled, task.read());
    } catch (InconsistentWindowException e) {
      if (unsettled.from() != refusedBefore) {
        throw e;
      }
      Outcome outcome = journal.appendInconsistent(unsettled, task.read());
      if (outcome == Outcome.KEPT) {
        shared.metrics().windowRefused(queue);
        log.error(
            "Window [{}, {}) of queue {} is inconsistent and is written, because reading its spans"
                + " again did not help; report it",
            unsettled.from(),
            unsettled.to(),
            queue,
            e);
      }
      return outcome;
    }
  }

  /**
   * Sets the start of the window that an earlier ownership refused. Before the first {@link #add}.
   */
  void refusedBefore(long from) {
    refusedBefore = from;
  }

  /** Returns the start of a window that must not be written, or {@link #NONE}. Any thread. */
  long refusedFrom() {
    return refusedFrom;
  }

  private void kept(Task task) {
    retry.succeeded();
    shared.metrics().appended(queue, shared.clocks().nanos() - sealedNanos);
    shared.followers().window(unsettled);
    lease.extended();
    task.filled().giveBack();
    task.queue().kept(task.filled().to());
    task.kept().run();
    unsettled = null;
    tasks.remove();
  }

  /** Writes a snapshot if one is due and no other queue of this process writes one. */
  Outcome writeSnapshotIfDue() throws InterruptedException {
    boolean due = journal.snapshotDue() && shared.clocks().nanos() - nextSnapshotNanos >= 0;
    return due && shared.snapshots().tryAcquire() ? writeSnapshot() : Outcome.KEPT;
  }

  private Outcome writeSnapshot() throws InterruptedException {
    try {
      long startNanos = shared.clocks().nanos();
      Outcome outcome = journal.snapshot();
      if (outcome == Outcome.KEPT) {
        shared.metrics().snapshotWritten(queue, shared.clocks().nanos() - startNanos);
        lease.extended();
      }
      return outcome;
    } catch (IOException | RuntimeException e) {
      shared.metrics().snapshotFailed(queue);
      if (shared.throttle().permits()) {
        log.error(
            "Could not write a snapshot of queue {}; a take-over takes longer until one is written",
            queue,
            e);
      }
      nextSnapshotNanos = shared.clocks().nanos() + SNAPSHOT_RETRY_NANOS;
      return Outcome.KEPT;
    } finally {
      shared.snapshots().release();
    }
  }
}
