package org.traceetl.server.consume;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.journal.Journal;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.window.QueueId;

/**
 * The sealers of this process: at most one of a queue. RocketMQ tells a queue's new owner and its
 * old one at different times; here the new one waits until the old one's last window is kept, so
 * that followers hear of the release before they hear of the new owner. That holds as well where
 * the two are one and the same worker. Thread-safe.
 */
final class Sealers {
  private static final Logger log = LoggerFactory.getLogger(Sealers.class);

  /** Queues of one broker taken over at a time: each may need much memory for a moment. */
  private static final int TAKES_PER_BROKER = 2;

  /**
   * What sealers have in common.
   *
   * @param snapshots one permit: a snapshot needs the memory of a recovery
   */
  record Shared(
      Journal journal,
      Duration lease,
      List<WindowFollower> followers,
      Aggregation aggregation,
      PipelineMetrics listener,
      Semaphore snapshots,
      Clocks clocks,
      LogThrottle throttle) {}

  private final Shared shared;
  private final Map<String, Semaphore> takesOfBroker = new ConcurrentHashMap<>();
  private final Map<QueueId, Thread> running = new ConcurrentHashMap<>();
  private volatile boolean failed;
  private volatile boolean closed;

  Sealers(
      Journal journal,
      Duration lease,
      List<WindowFollower> followers,
      Aggregation aggregation,
      PipelineMetrics listener,
      Clocks clocks) {
    shared =
        new Shared(
            journal,
            lease,
            List.copyOf(followers),
            aggregation,
            listener,
            new Semaphore(1),
            clocks,
            new LogThrottle(clocks.wall()));
  }

  /**
   * Begins to take a queue over.
   *
   * @param decoder of the worker that wants it
   * @return null while a former sealer of the queue has not ended, and after {@link #close}
   */
  Sealer take(QueueId queue, BatchDecoder decoder) {
    Semaphore takes =
        takesOfBroker.computeIfAbsent(
            queue.broker(), broker -> new Semaphore(TAKES_PER_BROKER, true));
    Sealer sealer = new Sealer(queue, decoder, shared, takes);
    Thread thread =
        Thread.ofVirtual().name("trace-etl-sealer-" + queue).unstarted(() -> run(sealer));
    if (running.putIfAbsent(queue, thread) != null) {
      return null;
    }
    if (closed) {
      running.remove(queue);
      return null;
    }
    thread.start();
    return sealer;
  }

  private void run(Sealer sealer) {
    try {
      sealer.run();
    } catch (RuntimeException | Error e) {
      failed = true;
      log.error("Queue {} stands still: its sealer ended by an error", sealer.queue(), e);
      throw e;
    } finally {
      running.remove(sealer.queue());
    }
  }

  /** Whether none has ended by an error. */
  boolean alive() {
    return !failed;
  }

  /** Those that have not ended. */
  List<Thread> threads() {
    return List.copyOf(running.values());
  }

  /** Ends all as soon as the journal answers; windows under way are dropped. */
  void close() {
    closed = true;
    running.values().forEach(Thread::interrupt);
  }
}
