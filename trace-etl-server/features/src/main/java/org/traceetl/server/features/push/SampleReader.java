package org.traceetl.server.features.push;

import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.server.journal.chain.PacedTail;
import org.traceetl.server.journal.chain.SnapshotTail;
import org.traceetl.server.window.QueueId;

/**
 * Reads the journals of one broker's queues for one endpoint, makes their samples, and marks what
 * is answered.
 *
 * <p>Concurrency: confined to one thread, except {@link #own}, {@link #kept}, {@link #release},
 * {@link #lag}, {@link #openRows} and {@link #mergedPanes}.
 */
final class SampleReader implements SteppedTask {
  private final Receiver receiver;
  private final PushFollower.Tails tails;
  private final Runnable wake;
  private final LongSupplier nanoTime;
  private final LogThrottle throttle;

  private final Map<QueueId, PushedQueue> owned = new ConcurrentHashMap<>();

  /** Queues of other owners, whose last answers are not marked yet. */
  private final Queue<PushedQueue> released = new ConcurrentLinkedQueue<>();

  private volatile Map<QueueId, Long> lag = Map.of();
  private volatile Map<QueueId, Long> openRows = Map.of();
  private final LongAdder mergedPanes = new LongAdder();

  /**
   * @param wake wakes this reader
   */
  SampleReader(
      Receiver receiver,
      PushFollower.Tails tails,
      Runnable wake,
      LongSupplier nanoTime,
      LogThrottle throttle) {
    this.receiver = receiver;
    this.tails = tails;
    this.wake = wake;
    this.nanoTime = nanoTime;
    this.throttle = throttle;
  }

  /**
   * Begins to send the queue's series, because this process owns it.
   *
   * @param number of the last window that is kept
   */
  void own(QueueId queue, long number) {
    release(queue);
    PacedTail.Opening<SnapshotTail.Event> opening = () -> tails.open(queue, receiver.name());
    owned.put(
        queue,
        new PushedQueue(queue, number, receiver, opening, wake, nanoTime.getAsLong(), throttle));
  }

  /** Reports that the next window of a queue is kept. */
  void kept(QueueId queue) {
    PushedQueue pushed = owned.get(queue);
    if (pushed != null) {
      pushed.kept();
    }
  }

  /** Stops sending the queue's series when this returns, except a request in flight. */
  void release(QueueId queue) {
    PushedQueue ended = owned.remove(queue);
    if (ended != null) {
      ended.stop();
      released.add(ended);
    }
  }

  /** Returns by queue how many records had no final answers at the last step. */
  Map<QueueId, Long> lag() {
    return lag;
  }

  /** Returns by queue the rows of open panes at the last step. */
  Map<QueueId, Long> openRows() {
    return openRows;
  }

  /** Returns how many open panes were merged. */
  long mergedPanes() {
    return mergedPanes.sum();
  }

  @Override
  public long doWork() throws InterruptedException {
    long nowNanos = nanoTime.getAsLong();
    markReleased();
    Map<QueueId, Long> lagNow = new HashMap<>();
    Map<QueueId, Long> rowsNow = new HashMap<>();
    long idleNanos = SteppedTask.IDLE_NANOS;
    for (PushedQueue queue : owned.values()) {
      idleNanos = Math.min(idleNanos, queue.step(nowNanos));
      queue.mark(nowNanos);
      lagNow.put(queue.queue(), queue.lag());
      rowsNow.put(queue.queue(), queue.openRows());
      mergedPanes.add(queue.takeMergedPanes());
    }
    lag = Map.copyOf(lagNow);
    openRows = Map.copyOf(rowsNow);
    return idleNanos;
  }

  /** What the next owner need not repeat. */
  private void markReleased() throws InterruptedException {
    for (PushedQueue queue = released.poll(); queue != null; queue = released.poll()) {
      queue.mark();
    }
  }

  @Override
  public void onEnd() throws InterruptedException {
    markReleased();
    for (PushedQueue queue : owned.values()) {
      queue.mark();
    }
  }
}
