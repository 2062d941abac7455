package org.traceetl.server.index;

import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.config.IndexConfig;
import org.traceetl.server.index.WriteResult.Refusal;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.log.LogThrottle;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.TraceDocument;

/**
 * Brings the documents of sealed windows into the index: a bounded queue in memory, and one thread
 * that writes from it in batches.
 *
 * <p>A write that fails is repeated, with pauses that grow and vary, until it succeeds or the
 * follower is closed; the store may be away for as long as the queue has room. What the store
 * refuses for good is dropped alone. When the queue is full, documents of new windows are dropped:
 * the journal, once windows are read from it, makes that queue unnecessary, because a follower then
 * waits at its own offset.
 *
 * <p>Concurrency: {@link #window} may be called by several threads; it holds the lock for as long
 * as it takes to append to a list. Every document that was offered is written, dropped by reason,
 * or queued; {@link #telemetry} says how many.
 */
public final class IndexFollower implements WindowFollower, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(IndexFollower.class);

  /** Reasons of drops beside those that an index gives. */
  static final String QUEUE_FULL = "queue_full";

  static final String SHUTDOWN = "shutdown";
  static final String INTERNAL = "internal";

  /** Most bytes in one write, as the heap counts them; a store's limits are well above. */
  private static final long MAX_BATCH_BYTES = 8L << 20;

  private static final long FIRST_PAUSE_MILLIS = 100;
  private static final long MAX_PAUSE_MILLIS = 5_000;

  /** How long {@link #close} waits for a write that is under way. */
  private static final Duration CLOSE_WAIT = Duration.ofSeconds(2);

  private final TraceIndex index;
  private final IndexConfig config;
  private final InstantSource clock;
  private final Thread writer;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition arrived = lock.newCondition();
  private final Condition settled = lock.newCondition();

  /** Under the lock: documents that nobody writes yet. */
  private final ArrayDeque<TraceDocument> waiting = new ArrayDeque<>();

  /** Under the lock: documents that wait or are being written, and their bytes. */
  private int queuedDocuments;

  private long queuedBytes;
  private boolean closed;

  private final LongAdder written = new LongAdder();
  private final LongAdder retried = new LongAdder();
  private final Map<String, LongAdder> dropped = new ConcurrentHashMap<>();
  private final AtomicLong lastErrorMillis = new AtomicLong();
  private final LogThrottle fullLog;
  private final LogThrottle failureLog;
  private final LogThrottle refusalLog;

  /**
   * A follower that is yet to be started.
   *
   * @param index written by this follower alone; not closed by it
   */
  public IndexFollower(TraceIndex index, IndexConfig config, InstantSource clock) {
    this.index = index;
    this.config = config;
    this.clock = clock;
    this.fullLog = new LogThrottle(clock);
    this.failureLog = new LogThrottle(clock);
    this.refusalLog = new LogThrottle(clock);
    this.writer = Thread.ofPlatform().name("trace-index-writer").daemon().unstarted(this::run);
  }

  /** Begins to write. Once. */
  public void start() {
    writer.start();
  }

  @Override
  public void window(SealedWindow window) {
    offer(window.documents());
  }

  @Override
  public void released(QueueId queue) {
    // Documents belong to no queue once they are here.
  }

  void offer(List<TraceDocument> documents) {
    int full = 0;
    int late = 0;
    lock.lock();
    try {
      for (TraceDocument document : documents) {
        long bytes = Documents.heapBytes(document);
        if (closed) {
          late++;
        } else if (queuedDocuments >= config.queueDocuments()
            || queuedBytes + bytes > config.queueBytes()) {
          full++;
        } else {
          waiting.add(document);
          queuedDocuments++;
          queuedBytes += bytes;
        }
      }
      arrived.signal();
    } finally {
      lock.unlock();
    }
    countDropped(SHUTDOWN, late);
    countDropped(QUEUE_FULL, full);
    if (full > 0 && fullLog.permits()) {
      LOG.warn(
          "The index queue is full (index.queue-documents = {}, index.queue-bytes = {}): {}"
              + " documents dropped so far; the store is slow or away",
          config.queueDocuments(),
          config.queueBytes(),
          dropped.get(QUEUE_FULL).sum());
    }
  }

  /**
   * Waits until every document offered before is settled.
   *
   * @return false if some were not when the time was over
   */
  public boolean drain(Duration atMost) throws InterruptedException {
    long leftNanos = atMost.toNanos();
    lock.lock();
    try {
      while (queuedDocuments > 0) {
        if (leftNanos <= 0 || closed) {
          return false;
        }
        leftNanos = settled.awaitNanos(leftNanos);
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Ends the writing; what is still queued is dropped and counted. Idempotent. */
  @Override
  public void close() {
    int left;
    lock.lock();
    try {
      closed = true;
      left = waiting.size();
      settle(List.copyOf(waiting));
      waiting.clear();
      arrived.signalAll();
    } finally {
      lock.unlock();
    }
    countDropped(SHUTDOWN, left);
    try {
      // No interrupt: Lucene would take it for a broken disk.
      writer.join(CLOSE_WAIT.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (left > 0) {
      LOG.warn("{} documents were not written to the index before the end", left);
    }
  }

  /** What has been done so far. */
  public IndexTelemetry telemetry() {
    lock.lock();
    try {
      return new IndexTelemetry(
          written.sum(),
          dropped.entrySet().stream()
              .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, e -> e.getValue().sum())),
          retried.sum(),
          queuedDocuments,
          queuedBytes,
          lastErrorMillis.get());
    } finally {
      lock.unlock();
    }
  }

  private void run() {
    try {
      for (List<TraceDocument> batch = take(); !batch.isEmpty(); batch = take()) {
        write(batch);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The next batch, once there is one; empty when the follower is closed. */
  private List<TraceDocument> take() throws InterruptedException {
    lock.lock();
    try {
      while (waiting.isEmpty() && !closed) {
        arrived.await();
      }
      List<TraceDocument> batch = new ArrayList<>();
      long bytes = 0;
      while (!waiting.isEmpty() && batch.size() < config.batchDocuments()) {
        bytes += Documents.heapBytes(waiting.peek());
        if (bytes > MAX_BATCH_BYTES && !batch.isEmpty()) {
          break;
        }
        batch.add(waiting.poll());
      }
      return batch;
    } finally {
      lock.unlock();
    }
  }

  /** Writes the batch until each of its documents is kept or refused, or the follower is closed. */
  private void write(List<TraceDocument> batch) throws InterruptedException {
    List<TraceDocument> left = batch;
    int failures = 0;
    while (true) {
      WriteResult result = tryOnce(left);
      written.add(result.kept());
      result.refused().forEach(this::refuse);
      failures = result.again().size() < left.size() ? 0 : failures + 1;
      left = result.again();
      if (left.isEmpty()) {
        break;
      }
      if (pausedUntilClosed(pauseMillis(failures, ThreadLocalRandom.current()))) {
        countDropped(SHUTDOWN, left.size());
        LOG.warn("{} documents were being retried when the index was closed", left.size());
        break;
      }
      retried.add(left.size());
    }
    lock.lock();
    try {
      settle(batch);
    } finally {
      lock.unlock();
    }
  }

  private WriteResult tryOnce(List<TraceDocument> documents) {
    try {
      WriteResult result = index.write(documents);
      if (!result.again().isEmpty()) {
        failed(result.again().size(), "the store is busy", null);
      }
      return result;
    } catch (IOException e) {
      failed(documents.size(), e.toString(), null);
      return new WriteResult(0, List.of(), documents);
    } catch (RuntimeException e) {
      // The thread's boundary: a fault of ours must not repeat itself for ever.
      failed(documents.size(), "an internal error", e);
      return new WriteResult(
          0,
          documents.stream().map(d -> new Refusal(d, INTERNAL, e.getClass().getName())).toList(),
          List.of());
    }
  }

  private void failed(int documents, String why, RuntimeException fault) {
    lastErrorMillis.set(clock.millis());
    if (failureLog.permits()) {
      LOG.warn("{} documents could not be written to the index: {}", documents, why, fault);
    }
  }

  private void refuse(Refusal refusal) {
    countDropped(refusal.reason(), 1);
    if (refusalLog.permits()) {
      LOG.warn(
          "The index refused document {} ({}: {}); {} dropped for this reason so far",
          Documents.id(refusal.document()),
          refusal.reason(),
          refusal.detail(),
          dropped.get(refusal.reason()).sum());
    }
  }

  private void countDropped(String reason, int documents) {
    if (documents > 0) {
      dropped.computeIfAbsent(reason, r -> new LongAdder()).add(documents);
    }
  }

  /** With the lock held: the documents take no room any more. */
  private void settle(List<TraceDocument> documents) {
    queuedDocuments -= documents.size();
    for (TraceDocument document : documents) {
      queuedBytes -= Documents.heapBytes(document);
    }
    if (queuedDocuments == 0) {
      settled.signalAll();
    }
  }

  /** Waits; true if the follower is closed. */
  private boolean pausedUntilClosed(long millis) throws InterruptedException {
    long leftNanos = TimeUnit.MILLISECONDS.toNanos(millis);
    lock.lock();
    try {
      while (!closed && leftNanos > 0) {
        leftNanos = arrived.awaitNanos(leftNanos);
      }
      return closed;
    } finally {
      lock.unlock();
    }
  }

  /**
   * How long to wait after so many failures in a row: twice as long each time up to a bound, less
   * up to half of it by chance, so that servers do not come back all at once.
   */
  static long pauseMillis(int failures, RandomGenerator random) {
    long full = Math.min(MAX_PAUSE_MILLIS, FIRST_PAUSE_MILLIS << Math.min(failures, 16));
    return random.nextLong(full / 2, full + 1);
  }
}
