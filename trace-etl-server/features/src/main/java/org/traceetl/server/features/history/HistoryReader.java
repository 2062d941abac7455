package org.traceetl.server.features.history;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.traceetl.server.component.SteppedTask;
import org.traceetl.server.journal.JournalTail;
import org.traceetl.server.journal.PacedTail;
import org.traceetl.server.journal.QueueImage;

/**
 * Reads the journals of one broker's queues for the history, and hands what it read to the thread
 * that adds it.
 *
 * <p>Concurrency: one thread makes the steps, and owns the tails.
 */
final class HistoryReader implements SteppedTask {
  /** A queue: its tail is the reader's, its series are the adding thread's. */
  static final class Followed {
    private final PacedTail tail;
    private final SeriesOperations series;

    /** States that the tail came to know in the read under way. */
    private final List<QueueImage> images = new ArrayList<>();

    private volatile boolean atEnd;
    private volatile boolean present = true;

    /**
     * @param newTail makes the tail, which tells of the queue's states
     */
    Followed(NewTail newTail, SeriesOperations series) {
      tail = newTail.of(images::add);
      this.series = series;
    }

    SeriesOperations series() {
      return series;
    }

    /**
     * Whether all there was at the last read is handed over: asked before what was handed over is
     * taken, it says that nothing else is missing.
     */
    boolean atEnd() {
      return atEnd;
    }

    /** Whether the queue is there now, and to be read. */
    void present(boolean is) {
      present = is;
    }
  }

  /** Makes a tail that hands the queue's states to a consumer, on the thread that reads. */
  interface NewTail {
    PacedTail of(Consumer<QueueImage> images);
  }

  /** What one read gave: first the states, then the windows. */
  record Read(Followed queue, List<QueueImage> images, List<JournalTail.Kept> windows) {}

  /** What all readers have read that is not added yet. Bounded: a read of each reader. */
  static final class Handed {
    private final Queue<Read> reads = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waiting = new AtomicInteger();

    private void add(Read read) {
      waiting.incrementAndGet();
      reads.add(read);
    }

    /** Windows are large: nothing more is read while some wait. */
    boolean hasRoom() {
      return waiting.get() == 0;
    }

    /** The next one; null for none. */
    Read peek() {
      return reads.peek();
    }

    /** The one that {@link #peek} gave is added. */
    void added() {
      reads.remove();
      waiting.decrementAndGet();
    }
  }

  private final Handed handed;
  private final Runnable wakeAdding;
  private final LongSupplier nanoTime;
  private final List<Followed> queues = new CopyOnWriteArrayList<>();

  /**
   * @param wakeAdding run after something was handed over, or a queue has come to its end
   */
  HistoryReader(Handed handed, Runnable wakeAdding, LongSupplier nanoTime) {
    this.handed = handed;
    this.wakeAdding = wakeAdding;
    this.nanoTime = nanoTime;
  }

  /** Reads this queue, too, from the next step on. */
  void follow(Followed queue) {
    queues.add(queue);
  }

  @Override
  public long doWork() throws InterruptedException {
    return read(nanoTime.getAsLong());
  }

  /**
   * Reads each queue once that is due, while there is room.
   *
   * @return nanoseconds until one may be due; 0 for now
   */
  long read(long nowNanos) throws InterruptedException {
    long idleNanos = SteppedTask.IDLE_NANOS;
    for (Followed queue : queues) {
      if (!queue.present) {
        continue;
      }
      boolean room = handed.hasRoom();
      if (room && queue.tail.dueInNanos(nowNanos) <= 0) {
        read(queue, nowNanos);
      }
      // Without room there is nothing to do until it is made.
      idleNanos = room ? Math.min(idleNanos, queue.tail.dueInNanos(nowNanos)) : idleNanos;
    }
    return Math.max(0, idleNanos);
  }

  private void read(Followed queue, long nowNanos) throws InterruptedException {
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
