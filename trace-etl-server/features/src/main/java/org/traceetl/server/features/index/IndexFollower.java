package org.traceetl.server.features.index;

import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.traceetl.common.LogThrottle;
import org.traceetl.server.component.SteppedTask;
import org.traceetl.server.component.SteppedThread;
import org.traceetl.server.config.IndexConfig;
import org.traceetl.server.journal.BrokerThreads;
import org.traceetl.server.journal.JournalTail;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.WindowFollower;
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
 * DocumentWriter#MAX_WAITING_BYTES} wait, no queue is read. Each broker's reader may be in one read
 * then.
 *
 * <p>Concurrency: a thread for each broker reads the journals of its queues and marks them; one
 * thread writes. A broker that does not answer holds up its own queues alone.
 */
public final class IndexFollower implements WindowFollower, AutoCloseable {
  /** Opens the journals of queues with the marks of one consumer group. */
  public interface Tails {
    JournalTail open(QueueId queue) throws IOException, InterruptedException;
  }

  private final DocumentWriter writer;
  private final LongSupplier nanoTime;
  private final SteppedThread writing;
  private final BrokerThreads<DocumentReader> readers;

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
    this.nanoTime = nanoTime;
    writer = new DocumentWriter(index, config.batchDocuments(), clock);
    LogThrottle throttle = new LogThrottle(clock);
    writing = new SteppedThread("trace-index", this::write, throttle);
    readers =
        new BrokerThreads<>(
            "trace-index",
            broker -> new DocumentReader(tails, writer, writing::wake, clock, nanoTime, throttle),
            throttle);
  }

  /** Begins to follow. Once. */
  public void start() {
    writing.start();
    readers.start();
  }

  /** This process owns the queue: its documents are brought into the index from here. */
  @Override
  public void restored(QueueId queue, QueueImage image, long showFromNanos) {
    readers.of(queue.broker()).own(queue);
    readers.wake();
  }

  @Override
  public void window(SealedWindow window) {
    // Read from the journal, so that it need not be kept until the store has it.
  }

  /** This process does not own the queue any more. What it read is still written. */
  @Override
  public void released(QueueId queue) {
    readers.of(queue.broker()).release(queue);
    readers.wake();
  }

  /**
   * Waits until all that the journal has of the queues that are followed is settled.
   *
   * @return false if it was not when the time was over
   */
  public boolean drain(Duration atMost) throws InterruptedException {
    List<DocumentReader> all = readers.all();
    CountDownLatch settled = new CountDownLatch(all.size());
    all.forEach(reader -> reader.drain(settled));
    readers.wake();
    return settled.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Ends the following; what is not in the index stays in the journal. Idempotent. */
  @Override
  public void close() {
    // First: what it settles last is marked by the readers at their end.
    writing.close();
    readers.close();
  }

  /** What has been done so far. */
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

  /** Whether none of its threads has ended by an error. */
  public boolean alive() {
    return writing.alive() && readers.alive();
  }

  private long write() {
    long nowNanos = nanoTime.getAsLong();
    if (writer.write(nowNanos)) {
      // There may be room, and something to mark.
      readers.wake();
    }
    return Math.min(SteppedTask.IDLE_NANOS, writer.dueInNanos(nowNanos));
  }

  /**
   * Does what is due, of all threads.
   *
   * @return nanoseconds until something else may be due; 0 for now
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
