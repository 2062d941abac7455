package org.traceetl.server.features.index;

import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;
import org.traceetl.common.Threads;
import org.traceetl.server.component.Background;
import org.traceetl.server.journal.BrokerThreads;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.journal.chain.JournalTail;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Writes the documents of the journal's windows into the index: for each queue that this process
 * owns, from the stored offset of its consumer group.
 *
 * <p>The stored offset is that of the last settled window: each of its documents is in the index,
 * or refused for good. The queue's next owner continues there. Documents have IDs, so a document
 * that is written again is in the index once. No document is lost while the store is away, as long
 * as the broker keeps the journal. Memory is bounded: while two batches or {@link
 * DocumentWriter#MAX_WAITING_BYTES} wait, no queue is read, except reads that have begun.
 *
 * <p>Concurrency: a thread for each broker reads the journals of its queues and stores offsets; one
 * thread writes. A broker that does not answer delays only its own queues.
 */
public final class IndexFollower implements WindowFollower, Background {
  /** Opens the journals of queues with the offsets of one consumer group. */
  public interface Tails {
    JournalTail open(QueueId queue) throws IOException, InterruptedException;
  }

  private final DocumentWriter writer;
  private final LongSupplier nanoTime;
  private final Threads threads;
  private final SteppedThread writing;
  private final BrokerThreads<DocumentReader> readers;

  /**
   * Creates a follower that is not started.
   *
   * @param index written only by this follower, which does not close it
   * @param tails used only by this follower
   */
  public IndexFollower(
      TraceIndex index, IndexConfig config, Tails tails, Clocks clocks, RandomGenerator random) {
    nanoTime = clocks.nanoClock();
    threads = clocks.threads();
    InstantSource clock = clocks.wall();
    writer = new DocumentWriter(index, config.batchDocuments(), clock, random);
    LogThrottle throttle = new LogThrottle(clock);
    writing = SteppedThread.daemon(clocks, "trace-index", this::write, throttle);
    readers =
        new BrokerThreads<>(
            clocks,
            "trace-index",
            broker -> new DocumentReader(tails, writer, writing::wake, clock, nanoTime, throttle),
            throttle);
  }

  @Override
  public void start() {
    writing.start();
    readers.start();
  }

  /** Follows the queue, because this process owns it. */
  @Override
  public void restored(QueueId queue, QueueImage image, long showFromNanos) {
    readers.of(queue.broker()).own(queue);
    readers.wake();
  }

  @Override
  public void window(SealedWindow window) {
    // The documents are read from the journal, so that the window need not stay in memory.
  }

  /**
   * Stops following the queue, because this process no longer owns it. What was read is still
   * written.
   */
  @Override
  public void released(QueueId queue) {
    readers.of(queue.broker()).release(queue);
    readers.wake();
  }

  /**
   * Waits until all windows that the journal has of the followed queues are settled.
   *
   * @return false after a timeout
   */
  public boolean drain(Duration atMost) throws InterruptedException {
    List<DocumentReader> all = readers.all();
    CountDownLatch settled = new CountDownLatch(all.size());
    all.forEach(reader -> reader.drain(settled));
    readers.wake();
    return threads.await(settled, atMost);
  }

  /** Documents that are not in the index stay in the journal. */
  @Override
  public void close() {
    // First, so that the readers store at their end what it settles last.
    writing.close();
    readers.close();
  }

  /** Returns the counts so far. */
  public IndexTelemetry telemetry() {
    Map<QueueId, IndexLag> lag = new HashMap<>();
    readers.all().forEach(reader -> lag.putAll(reader.lag()));
    return new IndexTelemetry(
        writer.written(),
        writer.dropped(),
        writer.retried(),
        writer.waitingDocuments(),
        writer.waitingBytes(),
        Map.copyOf(lag),
        writer.lastErrorMillis());
  }

  @Override
  public boolean alive() {
    return writing.alive() && readers.alive();
  }

  private long write() {
    long nowNanos = nanoTime.getAsLong();
    if (writer.write(nowNanos)) {
      // Readers may have room, and offsets to store.
      readers.wake();
    }
    return Math.min(SteppedTask.IDLE_NANOS, writer.dueInNanos(nowNanos));
  }

  /**
   * Does the due work of all threads.
   *
   * @return nanoseconds until work may be due; 0 for now
   */
  long step() throws InterruptedException {
    long nowNanos = nanoTime.getAsLong();
    List<DocumentReader> all = readers.all();
    for (DocumentReader reader : all) {
      reader.read(nowNanos);
    }
    long idleNanos = write();
    for (DocumentReader reader : all) {
      idleNanos = Math.min(idleNanos, reader.mark(nowNanos));
    }
    return idleNanos;
  }
}
