package org.traceetl.server.index;

import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.traceetl.server.config.IndexConfig;
import org.traceetl.server.journal.JournalTail;
import org.traceetl.server.journal.PacedTail;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.SinkThread;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.log.LogThrottle;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Brings the documents of the journal's windows into the index: for each queue that this process
 * owns, from the mark of its consumer group on.
 *
 * <p>A mark stands at the last window that is settled: each of its documents is in the index, or
 * refused for good. Whoever owns the queue next goes on there; what is written again is in the
 * index once, because documents have names. So nothing is lost while the store is away, for as long
 * as the broker keeps the journal, and what waits in memory is bounded: while two batches or {@link
 * DocumentWriter#MAX_WAITING_BYTES} wait, no queue is read.
 *
 * <p>Concurrency: one thread reads, writes and marks, step by step, and owns everything but the
 * references in which others leave their wishes and find what was done.
 */
public final class IndexFollower implements WindowFollower, AutoCloseable {
  /** Opens the journals of queues with the marks of one consumer group. */
  public interface Tails {
    JournalTail open(QueueId queue) throws IOException, InterruptedException;
  }

  /** Most reads of a step: queues without documents must not keep the others from being written. */
  private static final int MAX_READS = 64;

  private final Tails tails;
  private final DocumentWriter writer;
  private final InstantSource clock;
  private final LongSupplier nanoTime;
  private final LogThrottle throttle;
  private final SinkThread thread;

  // Wishes.
  private final Set<QueueId> owned = ConcurrentHashMap.newKeySet();
  private final AtomicReference<CountDownLatch> drain = new AtomicReference<>();

  // The thread's own.
  private final LinkedHashMap<QueueId, FollowedQueue> followed = new LinkedHashMap<>();
  private CountDownLatch draining;

  private volatile Waiting waiting = new Waiting(0, 0, Map.of());

  /** What was not in the index after the last step. */
  private record Waiting(int documents, long bytes, Map<QueueId, IndexLag> lag) {}

  /**
   * A follower that is yet to be started.
   *
   * @param index written by this follower alone; not closed by it
   * @param tails for this follower alone
   */
  public IndexFollower(TraceIndex index, IndexConfig config, Tails tails, InstantSource clock) {
    this(index, config, tails, clock, System::nanoTime);
  }

  IndexFollower(
      TraceIndex index,
      IndexConfig config,
      Tails tails,
      InstantSource clock,
      LongSupplier nanoTime) {
    this.tails = tails;
    this.clock = clock;
    this.nanoTime = nanoTime;
    writer = new DocumentWriter(index, config.batchDocuments(), clock);
    throttle = new LogThrottle(clock);
    thread =
        new SinkThread(
            "trace-index",
            new SinkThread.Steps() {
              @Override
              public long step() throws InterruptedException {
                return IndexFollower.this.step();
              }

              @Override
              public void end() throws InterruptedException {
                markAll();
              }
            },
            throttle);
  }

  /** Begins to follow. Once. */
  public void start() {
    thread.start();
  }

  /** This process owns the queue: its documents are brought into the index from here. */
  @Override
  public void restored(QueueId queue, QueueImage image, long showFromNanos) {
    owned.add(queue);
    thread.wake();
  }

  @Override
  public void window(SealedWindow window) {
    // Read from the journal, so that it need not be kept until the store has it.
  }

  /** This process does not own the queue any more. What it read is still written. */
  @Override
  public void released(QueueId queue) {
    owned.remove(queue);
    thread.wake();
  }

  /**
   * Waits until all that the journal has of the queues that are followed is settled.
   *
   * @return false if it was not when the time was over
   */
  public boolean drain(Duration atMost) throws InterruptedException {
    CountDownLatch settled = new CountDownLatch(1);
    drain.set(settled);
    thread.wake();
    return settled.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Ends the following; what is not in the index stays in the journal. Idempotent. */
  @Override
  public void close() {
    thread.close();
  }

  /** What has been done so far. */
  public IndexTelemetry telemetry() {
    Waiting now = waiting;
    return new IndexTelemetry(
        writer.written(),
        writer.dropped(),
        writer.retried(),
        now.documents(),
        now.bytes(),
        now.lag(),
        writer.lastErrorMillis());
  }

  /** Whether its thread has not ended by an error. */
  public boolean alive() {
    return thread.alive();
  }

  /**
   * Does what is due.
   *
   * @return nanoseconds until something else may be due; 0 for now
   */
  long step() throws InterruptedException {
    long nowNanos = nanoTime.getAsLong();
    takeWishes(nowNanos);
    readAhead(nowNanos);
    writer.write(nowNanos);
    for (FollowedQueue queue : followed.values()) {
      queue.mark(nowNanos);
    }
    show();
    return idleNanos(nowNanos);
  }

  private void markAll() throws InterruptedException {
    for (FollowedQueue queue : followed.values()) {
      queue.mark();
    }
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
          writer.remove(queue);
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
        new PacedTail(queue, () -> tails.open(queue), nowNanos, throttle),
        nowNanos,
        clock.millis());
  }

  /** Reads what is due, a read a queue in turn, while there is room. */
  private void readAhead(long nowNanos) throws InterruptedException {
    for (int reads = 0; reads < MAX_READS && writer.hasRoom(); reads++) {
      FollowedQueue due = null;
      for (FollowedQueue queue : followed.values()) {
        if (queue.dueInNanos(nowNanos) <= 0) {
          due = queue;
          break;
        }
      }
      if (due == null) {
        return;
      }
      due.read(writer, nowNanos);
      followed.putLast(due.queue(), due);
    }
  }

  private void show() {
    Map<QueueId, IndexLag> lag = new HashMap<>();
    followed.forEach((id, queue) -> lag.put(id, queue.lag()));
    waiting = new Waiting(writer.waitingDocuments(), writer.waitingBytes(), Map.copyOf(lag));
    if (draining != null && followed.values().stream().allMatch(FollowedQueue::isSettled)) {
      draining.countDown();
      draining = null;
    }
  }

  private long idleNanos(long nowNanos) {
    long idleNanos = Math.min(SinkThread.IDLE_NANOS, writer.dueInNanos(nowNanos));
    if (writer.hasRoom()) {
      for (FollowedQueue queue : followed.values()) {
        idleNanos = Math.min(idleNanos, queue.dueInNanos(nowNanos));
      }
    }
    return Math.max(0, idleNanos);
  }
}
