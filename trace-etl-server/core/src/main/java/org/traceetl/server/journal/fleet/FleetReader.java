package org.traceetl.server.journal.fleet;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.traceetl.common.SteppedTask;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.chain.JournalTail;
import org.traceetl.server.journal.chain.PacedTail;
import org.traceetl.server.window.QueueId;

/**
 * Reads the journals of one broker's queues, and passes the windows to the adding thread.
 *
 * <p>Concurrency: confined to one thread, which owns the tails.
 */
final class FleetReader implements SteppedTask {
  /** A queue. The reader owns its tail. */
  static final class TailedQueue {
    private final QueueId id;
    private final PacedTail<JournalTail.Kept> tail;

    /** States that the tail returned in the current read. */
    private final List<QueueImage> images = new ArrayList<>();

    private volatile boolean atEnd;
    private volatile boolean present = true;

    /**
     * @param newTail creates the tail, with a consumer of the queue's states
     */
    TailedQueue(QueueId id, NewTail newTail) {
      this.id = id;
      tail = newTail.of(images::add);
    }

    QueueId id() {
      return id;
    }

    /**
     * Returns whether everything up to the last read is passed on. Check it before taking the
     * passed reads: then nothing else is missing.
     */
    boolean atEnd() {
      return atEnd;
    }

    /** Sets whether the queue exists and must be read. */
    void present(boolean is) {
      present = is;
    }
  }

  /** Creates a tail that passes the queue's states to a consumer, on the reading thread. */
  interface NewTail {
    PacedTail<JournalTail.Kept> of(Consumer<QueueImage> images);
  }

  /** The result of one read: first the states, then the windows. */
  record Read(TailedQueue queue, List<QueueImage> images, List<JournalTail.Kept> windows) {}

  /** Reads of all readers that are not added yet. Bounded: one read of each reader. */
  static final class Handed {
    private final Queue<Read> reads = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waiting = new AtomicInteger();

    private void add(Read read) {
      waiting.incrementAndGet();
      reads.add(read);
    }

    /** Windows are large, so nothing is read while some wait. */
    boolean hasRoom() {
      return waiting.get() == 0;
    }

    /** Returns the next read; null for none. */
    Read peek() {
      return reads.peek();
    }

    /** Reports that the read from {@link #peek} is added. */
    void added() {
      reads.remove();
      waiting.decrementAndGet();
    }
  }

  private final Handed handed;
  private final Runnable wakeAdding;
  private final LongSupplier nanoTime;
  private final List<TailedQueue> queues = new CopyOnWriteArrayList<>();

  /**
   * @param wakeAdding called after a read was passed on, or a queue was read to its end
   */
  FleetReader(Handed handed, Runnable wakeAdding, LongSupplier nanoTime) {
    this.handed = handed;
    this.wakeAdding = wakeAdding;
    this.nanoTime = nanoTime;
  }

  /** Also reads this queue from the next step on. */
  void follow(TailedQueue queue) {
    queues.add(queue);
  }

  @Override
  public long doWork() throws InterruptedException {
    return read(nanoTime.getAsLong());
  }

  /**
   * Reads each due queue once, while there is room.
   *
   * @return nanoseconds until one may be due; 0 for now
   */
  long read(long nowNanos) throws InterruptedException {
    long idleNanos = SteppedTask.IDLE_NANOS;
    for (TailedQueue queue : queues) {
      if (!queue.present) {
        continue;
      }
      boolean room = handed.hasRoom();
      if (room && queue.tail.dueInNanos(nowNanos) <= 0) {
        read(queue, nowNanos);
      }
      // Without room, wait until the adding thread makes some.
      idleNanos = room ? Math.min(idleNanos, queue.tail.dueInNanos(nowNanos)) : idleNanos;
    }
    return Math.max(0, idleNanos);
  }

  private void read(TailedQueue queue, long nowNanos) throws InterruptedException {
    List<JournalTail.Kept> windows = queue.tail.read(nowNanos);
    boolean some = !windows.isEmpty() || !queue.images.isEmpty();
    if (some) {
      handed.add(new Read(queue, List.copyOf(queue.images), windows));
      queue.images.clear();
    }
    boolean ended = queue.tail.atEnd() && !queue.atEnd;
    queue.atEnd = queue.tail.atEnd();
    if (some || ended) {
      wakeAdding.run();
    }
  }
}
