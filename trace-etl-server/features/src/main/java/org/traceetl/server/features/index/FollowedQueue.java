package org.traceetl.server.features.index;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.chain.JournalTail;
import org.traceetl.server.journal.chain.PacedTail;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * The progress of a queue's journal into the index: read, settled and stored.
 *
 * <p>Concurrency: confined to its reader's thread, except {@link #settled} and {@link
 * #isAbandoned}, which the writer's thread calls. The writer sets an offset before it removes the
 * window; the reader checks for waiting windows before it takes the offset. So the taken offset is
 * never older than a settled window.
 */
final class FollowedQueue {
  /** A window with documents that are not settled. */
  private record Waiting(long offset, long sealedMillis) {}

  /**
   * Interval of storing offsets. After a lost offset, the windows of this time are written again.
   */
  private static final long MARK_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** How long a queue of another owner may take to finish. */
  private static final long LEAVE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final PacedTail<JournalTail.Kept> tail;
  private final ConcurrentLinkedQueue<Waiting> waiting = new ConcurrentLinkedQueue<>();

  /** Offset of the latest settled window, until it is taken. */
  private final AtomicLong settledAt = new AtomicLong(JournalLog.NONE);

  private volatile boolean abandoned;

  /** Seal time of the latest window read, milliseconds since 1970. */
  private long readMillis;

  /** Where to start again. Never moves back: messages before a stored offset may be deleted. */
  private long settled = JournalLog.NONE;

  private long marked = JournalLog.NONE;
  private long nextMarkNanos;
  private boolean leaving;
  private long leaveByNanos;

  /**
   * @param nowMillis assumed seal time until a window is read
   */
  FollowedQueue(PacedTail<JournalTail.Kept> tail, long nowNanos, long nowMillis) {
    this.tail = tail;
    readMillis = nowMillis;
    nextMarkNanos = nowNanos;
  }

  /** Returns the nanoseconds until the next read; 0 or less for now. */
  long dueInNanos(long nowNanos) {
    return tail.dueInNanos(nowNanos);
  }

  /** Reads, and passes the documents of the next windows to the writer. */
  void read(DocumentWriter writer, long nowNanos) throws InterruptedException {
    for (JournalTail.Kept kept : tail.read(nowNanos)) {
      SealedWindow window = kept.window();
      readMillis = window.sealedMillis();
      if (!window.documents().isEmpty()) {
        waiting.add(new Waiting(kept.offset(), readMillis));
        writer.add(this, window.documents());
      }
    }
  }

  /** Reports that the first of the passed windows is settled. */
  void settled() {
    settledAt.set(waiting.element().offset());
    waiting.remove();
  }

  /**
   * Returns whether another server writes its windows, so that waiting ones must not be written
   * here.
   */
  void abandon() {
    abandoned = true;
  }

  boolean isAbandoned() {
    return abandoned;
  }

  /** Stores the settled offset, at intervals. */
  void mark(long nowNanos) throws InterruptedException {
    if (nextMarkNanos - nowNanos <= 0) {
      nextMarkNanos = nowNanos + MARK_NANOS;
      mark();
      tail.observe(nowNanos);
    }
  }

  /** Stores the settled offset. */
  void mark() throws InterruptedException {
    boolean all = waiting.isEmpty();
    long last = settledAt.getAndSet(JournalLog.NONE);
    if (all) {
      settled = tail.restart();
    } else if (last != JournalLog.NONE) {
      settled = last;
    }
    if (settled != JournalLog.NONE && settled != marked && tail.mark(settled)) {
      marked = settled;
    }
  }

  /**
   * Reports another owner: the queue ends here once all windows are settled, or after a timeout.
   */
  void leave(long nowNanos) {
    if (!leaving) {
      leaving = true;
      leaveByNanos = nowNanos + LEAVE_NANOS;
      tail.expectMore(nowNanos);
    }
  }

  /** Reports that this process owns the queue again. */
  void stay() {
    leaving = false;
  }

  /** Returns whether the queue must be removed. */
  boolean ends(long nowNanos) {
    return leaving && (isSettled() || leaveByNanos - nowNanos <= 0);
  }

  /** Returns whether all windows of the last read are settled. */
  boolean isSettled() {
    return tail.atEnd() && waiting.isEmpty();
  }

  /** Reports that the journal may have more than the last read found. */
  void expectMore(long nowNanos) {
    tail.expectMore(nowNanos);
  }

  /** Returns the lag of the index. */
  IndexLag lag() {
    if (isSettled()) {
      return IndexLag.NONE;
    }
    Waiting first = waiting.peek();
    return new IndexLag(
        waiting.size() + tail.lag(), first == null ? readMillis : first.sealedMillis());
  }

  QueueId queue() {
    return tail.queue();
  }
}
