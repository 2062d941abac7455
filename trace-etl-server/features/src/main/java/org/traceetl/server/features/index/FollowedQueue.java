package org.traceetl.server.features.index;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.JournalTail;
import org.traceetl.server.journal.PacedTail;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * A queue on its way into the index: how far its journal is read, settled and marked.
 *
 * <p>Concurrency: its reader's thread calls everything but {@link #settled} and {@link
 * #isAbandoned}, which the writer's thread calls. The writer sets an offset before it removes the
 * window; the reader looks whether windows wait before it takes the offset. So the offset taken is
 * never older than a mark.
 */
final class FollowedQueue {
  /** A window with documents that are not settled. */
  private record Waiting(long offset, long sealedMillis) {}

  /** A mark that is lost costs writing again what was written in this time. */
  private static final long MARK_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** How long a queue that somebody else owns may take to come to its end. */
  private static final long LEAVE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final PacedTail tail;
  private final ConcurrentLinkedQueue<Waiting> waiting = new ConcurrentLinkedQueue<>();

  /** Offset of the window settled last, until it is taken. */
  private final AtomicLong settledAt = new AtomicLong(JournalLog.NONE);

  private volatile boolean abandoned;

  /** When the window read last was sealed, milliseconds since 1970. */
  private long readMillis;

  /** Where to begin again. Never goes back: what was before a mark may be deleted by now. */
  private long settled = JournalLog.NONE;

  private long marked = JournalLog.NONE;
  private long nextMarkNanos;
  private boolean leaving;
  private long leaveByNanos;

  /**
   * @param nowMillis taken for the age of what there is until a window is read
   */
  FollowedQueue(PacedTail tail, long nowNanos, long nowMillis) {
    this.tail = tail;
    readMillis = nowMillis;
    nextMarkNanos = nowNanos;
  }

  /** Nanoseconds until it should be read; 0 or less: now. */
  long dueInNanos(long nowNanos) {
    return tail.dueInNanos(nowNanos);
  }

  /** Hands the documents of the next windows to the writer. */
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

  /** The first of the windows handed over is settled. */
  void settled() {
    settledAt.set(waiting.element().offset());
    waiting.remove();
  }

  /** Its windows are another server's: those that wait are not to be written here. */
  void abandon() {
    abandoned = true;
  }

  boolean isAbandoned() {
    return abandoned;
  }

  /** Marks what is settled, once in a while. */
  void mark(long nowNanos) throws InterruptedException {
    if (nextMarkNanos - nowNanos <= 0) {
      nextMarkNanos = nowNanos + MARK_NANOS;
      mark();
      tail.observe(nowNanos);
    }
  }

  /** Marks what is settled. */
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

  /** Somebody else owns the queue: it ends here when all is settled, or after a while. */
  void leave(long nowNanos) {
    if (!leaving) {
      leaving = true;
      leaveByNanos = nowNanos + LEAVE_NANOS;
      tail.expectMore(nowNanos);
    }
  }

  /** The queue is owned here, after all. */
  void stay() {
    leaving = false;
  }

  /** Whether its time here is over. */
  boolean ends(long nowNanos) {
    return leaving && (isSettled() || leaveByNanos - nowNanos <= 0);
  }

  /** Whether all there was at the last read is settled. */
  boolean isSettled() {
    return tail.atEnd() && waiting.isEmpty();
  }

  /** There may be more than the last read found. */
  void expectMore(long nowNanos) {
    tail.expectMore(nowNanos);
  }

  /** How far the index is behind. */
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
