package org.traceetl.server.features.index;

import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.LogThrottle;
import org.traceetl.server.features.index.WriteResult.Refusal;
import org.traceetl.server.window.TraceDocument;

/**
 * Writes the documents of windows into an index, in batches across windows and queues, and reports
 * to each queue which of its windows are settled: every document stored or refused for good.
 *
 * <p>A failed write is repeated with growing, random pauses until it succeeds. A write that fails
 * by a fault of this program is repeated document by document; the faulty document is dropped.
 *
 * <p>Concurrency: one thread at a time writes. Any thread adds windows, those of a queue one at a
 * time, and reads the room and the counts.
 */
final class DocumentWriter {
  private static final Logger LOG = LoggerFactory.getLogger(DocumentWriter.class);

  /** A reason of drops in addition to those of the index. */
  static final String INTERNAL = "internal";

  /** Heap size of waiting documents above which no more windows are taken. */
  static final long MAX_WAITING_BYTES = 8L << 20;

  /** Maximum heap size of the documents in one write; the limits of a store are well above. */
  private static final long MAX_BATCH_BYTES = 4L << 20;

  private static final long FIRST_PAUSE_MILLIS = 100;
  private static final long MAX_PAUSE_MILLIS = 5_000;

  private final TraceIndex index;
  private final int batchDocuments;
  private final InstantSource clock;
  private final RandomGenerator random;

  /**
   * Windows that the writing thread has not taken yet. Bounded by the room and one read of each
   * reader.
   */
  private final ConcurrentLinkedQueue<Window> added = new ConcurrentLinkedQueue<>();

  /** Windows that are not settled, in the order of writing. */
  private final ArrayDeque<Window> waiting = new ArrayDeque<>();

  private final AtomicInteger waitingDocuments = new AtomicInteger();
  private final AtomicLong waitingBytes = new AtomicLong();

  /** The batch: documents that are neither stored nor refused. */
  private List<TraceDocument> left = List.of();

  /** Whether the batch is written document by document. */
  private boolean singly;

  /** Number of consecutive failed writes. */
  private int failures;

  /** End of the pause after a failure. */
  private long pausedUntilNanos;

  private final LongAdder written = new LongAdder();
  private final LongAdder retried = new LongAdder();
  private final Map<String, LongAdder> dropped = new ConcurrentHashMap<>();
  private volatile long lastErrorMillis;
  private final LogThrottle failureLog;
  private final LogThrottle refusalLog;

  /**
   * @param batchDocuments maximum number of documents in one write
   */
  DocumentWriter(
      TraceIndex index, int batchDocuments, InstantSource clock, RandomGenerator random) {
    this.index = index;
    this.batchDocuments = batchDocuments;
    this.clock = clock;
    this.random = random;
    failureLog = new LogThrottle(clock);
    refusalLog = new LogThrottle(clock);
  }

  /** A window whose documents wait; those before {@code next} are in the batch or settled. */
  private static final class Window {
    private final FollowedQueue queue;
    private final List<TraceDocument> documents;

    private int next;

    private Window(FollowedQueue queue, List<TraceDocument> documents) {
      this.queue = queue;
      this.documents = documents;
    }
  }

  /** Returns whether there is room for more windows; a single window may exceed the room. */
  boolean hasRoom() {
    return waitingDocuments.get() < 2 * batchDocuments && waitingBytes.get() < MAX_WAITING_BYTES;
  }

  /** Adds the documents of the queue's next window, at least one. */
  void add(FollowedQueue queue, List<TraceDocument> documents) {
    waitingDocuments.addAndGet(documents.size());
    waitingBytes.addAndGet(bytes(documents));
    added.add(new Window(queue, documents));
  }

  /** Takes the added windows, and drops those of another server; a batch is written unchanged. */
  private void takeAdded() {
    for (Window window = added.poll(); window != null; window = added.poll()) {
      waiting.add(window);
    }
    waiting.removeIf(window -> {
      if (!window.queue.isAbandoned()) {
        return false;
      }
      release(window);
      return true;
    });
  }

  /** Returns the nanoseconds until work is due; 0 for now, a long time for none. */
  long dueInNanos(long nowNanos) {
    if (waiting.isEmpty() && left.isEmpty()) {
      return Long.MAX_VALUE;
    }
    return failures == 0 ? 0 : Math.max(0, pausedUntilNanos - nowNanos);
  }

  /**
   * Tries once to write the waiting documents, unless it pauses.
   *
   * @return whether it tried
   */
  boolean write(long nowNanos) {
    takeAdded();
    if (dueInNanos(nowNanos) > 0) {
      return false;
    }
    if (left.isEmpty()) {
      left = nextBatch();
      singly = false;
    } else {
      retried.add(singly ? 1 : left.size());
    }
    List<TraceDocument> now = singly ? left.subList(0, 1) : left;
    int failuresBefore = failures;
    WriteResult result = tryOnce(now);
    written.add(result.kept());
    result.refused().forEach(this::refuse);
    left = joined(result.again(), left.subList(now.size(), left.size()));
    if (result.kept() > 0 || failures == failuresBefore) {
      failures -= failuresBefore;
    }
    long pauseMillis = pauseMillis(failures, random);
    pausedUntilNanos = nowNanos + TimeUnit.MILLISECONDS.toNanos(pauseMillis);
    if (left.isEmpty()) {
      settle();
    }
    return true;
  }

  private static List<TraceDocument> joined(List<TraceDocument> a, List<TraceDocument> b) {
    List<TraceDocument> joined = new ArrayList<>(a);
    joined.addAll(b);
    return joined;
  }

  private List<TraceDocument> nextBatch() {
    List<TraceDocument> batch = new ArrayList<>();
    long bytes = 0;
    for (Window window : waiting) {
      while (window.next < window.documents.size()) {
        TraceDocument document = window.documents.get(window.next);
        bytes += Documents.heapBytes(document);
        if (!batch.isEmpty() && (batch.size() == batchDocuments || bytes > MAX_BATCH_BYTES)) {
          return batch;
        }
        batch.add(document);
        window.next++;
      }
    }
    return batch;
  }

  /** Settles windows in their order, as soon as none of their documents waits. */
  private void settle() {
    while (!waiting.isEmpty() && waiting.peek().next == waiting.peek().documents.size()) {
      Window window = waiting.poll();
      release(window);
      window.queue.settled();
    }
  }

  private void release(Window window) {
    waitingDocuments.addAndGet(-window.documents.size());
    waitingBytes.addAndGet(-bytes(window.documents));
  }

  private static long bytes(List<TraceDocument> documents) {
    return documents.stream().mapToLong(Documents::heapBytes).sum();
  }

  private WriteResult tryOnce(List<TraceDocument> documents) {
    try {
      WriteResult result = index.write(documents);
      if (!result.again().isEmpty()) {
        failed(result.again().size(), "the index is busy", null);
      }
      return result;
    } catch (IOException e) {
      failed(documents.size(), e.toString(), null);
      return new WriteResult(0, List.of(), documents);
    } catch (RuntimeException e) {
      // The thread's boundary: a fault of this program must not repeat itself forever.
      failed(documents.size(), "an internal error", e);
      if (singly || documents.size() == 1) {
        return new WriteResult(
            0,
            List.of(new Refusal(documents.getFirst(), INTERNAL, e.getClass().getName())),
            List.of());
      }
      singly = true;
      return new WriteResult(0, List.of(), documents);
    }
  }

  private void failed(int documents, String why, RuntimeException fault) {
    failures++;
    lastErrorMillis = clock.millis();
    if (failureLog.permits()) {
      LOG.warn(
          "{} documents could not be written to the index, trying again: {}",
          documents,
          why,
          fault);
    }
  }

  private void refuse(Refusal refusal) {
    LongAdder count = dropped.computeIfAbsent(refusal.reason(), reason -> new LongAdder());
    count.increment();
    if (refusalLog.permits()) {
      LOG.warn(
          "The index refused document {}, which is dropped; reason={}, detail={},"
              + " droppedForThisReason={}",
          Documents.id(refusal.document()),
          refusal.reason(),
          refusal.detail(),
          count.sum());
    }
  }

  /**
   * Returns the pause after consecutive failures: it doubles up to a bound, less a random part of
   * at most half, so that servers do not return all at once.
   */
  static long pauseMillis(int failures, RandomGenerator random) {
    long full = Math.min(MAX_PAUSE_MILLIS, FIRST_PAUSE_MILLIS << Math.min(failures, 16));
    return random.nextLong(full / 2, full + 1);
  }

  /** Returns the number of waiting documents, including the batch. */
  int waitingDocuments() {
    return waitingDocuments.get();
  }

  /** Returns their approximate heap size in bytes. */
  long waitingBytes() {
    return waitingBytes.get();
  }

  /** Returns the number of stored documents. */
  long written() {
    return written.sum();
  }

  /** Returns the number of repeated documents. */
  long retried() {
    return retried.sum();
  }

  /** Returns the number of refused documents by reason. */
  Map<String, Long> dropped() {
    return dropped.entrySet().stream()
        .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, e -> e.getValue().sum()));
  }

  /** Returns the time of the last failure, milliseconds since 1970; 0 for none. */
  long lastErrorMillis() {
    return lastErrorMillis;
  }
}
