package org.traceetl.server.consume;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.journal.Journal;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.QueueJournal;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/** Journals in memory for several processes; the last to take a queue owns it. */
final class MemoryJournals implements Journal {
  /** An action of a test before each append. */
  interface Obstacle {
    void meet(SealedWindow window) throws IOException, InterruptedException;
  }

  private final Aggregation aggregation;
  private final Duration lease;
  private final Map<QueueId, Log> logs = new ConcurrentHashMap<>();

  /** Windows passed to append, kept or not. */
  final List<SealedWindow> offered = new CopyOnWriteArrayList<>();

  /** Windows that were appended although they had been refused. */
  final List<SealedWindow> inconsistent = new CopyOnWriteArrayList<>();

  /** The queues in the order of their releases. */
  final List<QueueId> released = new CopyOnWriteArrayList<>();

  volatile Obstacle obstacle = window -> {};

  /** Why the {@link #refused} queues cannot be taken; null if they can. */
  volatile IOException refusal;

  volatile Predicate<QueueId> refused = queue -> true;

  MemoryJournals(Aggregation aggregation, Duration lease) {
    this.aggregation = aggregation;
    this.lease = lease;
  }

  @Override
  public TakeOver takeOver(QueueId queue, Duration patience) {
    return () -> take(queue);
  }

  private Taken take(QueueId queue) throws IOException {
    IOException why = refusal;
    if (why != null && refused.test(queue)) {
      throw why;
    }
    return logs.computeIfAbsent(queue, id -> new Log()).take(queue);
  }

  /** Takes the queue as another process. */
  void fence(QueueId queue) throws IOException {
    take(queue);
  }

  @Override
  public void close() {}

  private final class Log {
    private final List<SealedWindow> windows = new ArrayList<>();
    private LastMessages lastMessages = LastMessages.NONE;
    private int epoch;

    synchronized Taken take(QueueId queue) {
      int mine = ++epoch;
      QueueImage image = aggregation.newImage();
      windows.forEach(image::apply);
      return new Taken(
          new Owned(this, queue, mine), image, lastMessages.upTo(image.to()), System.nanoTime());
    }

    synchronized QueueJournal.Outcome append(int owner, SealedWindow window, LastMessages read) {
      if (owner != epoch) {
        return QueueJournal.Outcome.FENCED;
      }
      windows.add(window);
      lastMessages = read;
      return QueueJournal.Outcome.KEPT;
    }
  }

  private final class Owned implements QueueJournal {
    private final Log queueLog;
    private final QueueId queue;
    private final int owner;
    private long shownUntilNanos = System.nanoTime() + lease.toNanos();

    Owned(Log queueLog, QueueId queue, int owner) {
      this.queueLog = queueLog;
      this.queue = queue;
      this.owner = owner;
    }

    @Override
    public Outcome append(SealedWindow window, LastMessages read)
        throws IOException, InterruptedException {
      long startNanos = System.nanoTime();
      offered.add(window);
      obstacle.meet(window);
      shownUntilNanos = startNanos + lease.toNanos();
      return queueLog.append(owner, window, read);
    }

    @Override
    public Outcome appendInconsistent(SealedWindow window, LastMessages read) {
      inconsistent.add(window);
      return queueLog.append(owner, window, read);
    }

    @Override
    public Outcome renew() {
      shownUntilNanos = System.nanoTime() + lease.toNanos();
      synchronized (queueLog) {
        return owner == queueLog.epoch ? Outcome.KEPT : Outcome.FENCED;
      }
    }

    @Override
    public long shownUntilNanos() {
      return shownUntilNanos;
    }

    @Override
    public boolean snapshotDue() {
      return false;
    }

    @Override
    public Outcome snapshot() {
      return renew();
    }

    @Override
    public void release() {
      released.add(queue);
    }
  }
}
