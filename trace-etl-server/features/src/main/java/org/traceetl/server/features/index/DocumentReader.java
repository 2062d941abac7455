package org.traceetl.server.features.index;

import java.time.InstantSource;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.server.journal.chain.PacedTail;
import org.traceetl.server.window.QueueId;

/**
 * Reads the journals of one broker's queues for the index, passes their documents to the writer,
 * and stores the settled offsets.
 *
 * <p>Concurrency: confined to one thread, except the pending requests and the result of {@link
 * #lag}.
 */
final class DocumentReader implements SteppedTask {
  /**
   * Maximum number of reads in a step, so that queues without documents do not delay the offsets of
   * others.
   */
  private static final int MAX_READS = 64;

  private final IndexFollower.Tails tails;
  private final DocumentWriter writer;
  private final Runnable wakeWriter;
  private final InstantSource clock;
  private final LongSupplier nanoTime;
  private final LogThrottle throttle;

  // Wishes.
  private final Set<QueueId> owned = ConcurrentHashMap.newKeySet();
  private final AtomicReference<CountDownLatch> drain = new AtomicReference<>();

  // Confined to the thread.
  private final LinkedHashMap<QueueId, FollowedQueue> followed = new LinkedHashMap<>();
  private CountDownLatch draining;

  private volatile Map<QueueId, IndexLag> lag = Map.of();

  /**
   * @param wakeWriter called after documents were passed on
   */
  DocumentReader(
      IndexFollower.Tails tails,
      DocumentWriter writer,
      Runnable wakeWriter,
      InstantSource clock,
      LongSupplier nanoTime,
      LogThrottle throttle) {
    this.tails = tails;
    this.writer = writer;
    this.wakeWriter = wakeWriter;
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.throttle = throttle;
  }

  /** Requests that the queue is followed, because this process owns it. */
  void own(QueueId queue) {
    owned.add(queue);
  }

  /** Requests the end of the queue, because this process no longer owns it. */
  void release(QueueId queue) {
    owned.remove(queue);
  }

  /** Requests a count-down once all windows that the journal has now are settled. */
  void drain(CountDownLatch settled) {
    drain.set(settled);
  }

  /** Returns the lag of the index behind each queue at the last step. */
  Map<QueueId, IndexLag> lag() {
    return lag;
  }

  @Override
  public long doWork() throws InterruptedException {
    long nowNanos = nanoTime.getAsLong();
    if (read(nowNanos)) {
      wakeWriter.run();
    }
    return mark(nowNanos);
  }

  @Override
  public void onEnd() throws InterruptedException {
    for (FollowedQueue queue : followed.values()) {
      queue.mark();
    }
  }

  /**
   * Handles requests, and reads the queues that are due in turn while the writer has room.
   *
   * @return whether anything was read
   */
  boolean read(long nowNanos) throws InterruptedException {
    takeWishes(nowNanos);
    int reads = 0;
    while (reads < MAX_READS && writer.hasRoom()) {
      FollowedQueue due = due(nowNanos);
      if (due == null) {
        break;
      }
      due.read(writer, nowNanos);
      followed.putLast(due.queue(), due);
      reads++;
    }
    return reads > 0;
  }

  private FollowedQueue due(long nowNanos) {
    for (FollowedQueue queue : followed.values()) {
      if (queue.dueInNanos(nowNanos) <= 0) {
        return queue;
      }
    }
    return null;
  }

  private void takeWishes(long nowNanos) throws InterruptedException {
    for (QueueId queue : owned) {
      followed.computeIfAbsent(queue, absent -> follow(absent, nowNanos)).stay();
    }
    for (Iterator<FollowedQueue> i = followed.values().iterator(); i.hasNext(); ) {
      FollowedQueue queue = i.next();
      if (!owned.contains(queue.queue())) {
        queue.leave(nowNanos);
        if (queue.ends(nowNanos)) {
          queue.mark();
          queue.abandon();
          i.remove();
        }
      }
    }
    CountDownLatch wish = drain.getAndSet(null);
    if (wish != null) {
      draining = wish;
      followed.values().forEach(queue -> queue.expectMore(nowNanos));
    }
  }

  private FollowedQueue follow(QueueId queue, long nowNanos) {
    return new FollowedQueue(
        new PacedTail<>(queue, () -> tails.open(queue), nowNanos, throttle),
        nowNanos,
        clock.millis());
  }

  /**
   * Stores settled offsets and publishes the lag.
   *
   * @return nanoseconds until work may be due; 0 for now
   */
  long mark(long nowNanos) throws InterruptedException {
    Map<QueueId, IndexLag> now = new HashMap<>();
    long idleNanos = SteppedTask.IDLE_NANOS;
    for (FollowedQueue queue : followed.values()) {
      queue.mark(nowNanos);
      now.put(queue.queue(), queue.lag());
      if (writer.hasRoom()) {
        idleNanos = Math.min(idleNanos, queue.dueInNanos(nowNanos));
      }
    }
    lag = Map.copyOf(now);
    if (draining != null && followed.values().stream().allMatch(FollowedQueue::isSettled)) {
      draining.countDown();
      draining = null;
    }
    return Math.max(0, idleNanos);
  }
}
