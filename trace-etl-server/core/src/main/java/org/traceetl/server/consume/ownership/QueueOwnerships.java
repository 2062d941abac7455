package org.traceetl.server.consume.ownership;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedThread;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.decode.MessageDecoder;
import org.traceetl.server.journal.Journal;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.window.QueueId;

/**
 * The queue ownerships of this process, at most one per queue. RocketMQ informs a queue's new owner
 * and its old one at different times. Here the new one waits until the old one has ended, even if
 * both are the same worker. So followers get the release before the take-over. Thread-safe.
 */
public final class QueueOwnerships {
  /** Concurrent claims of one broker's queues: each may need much memory for a short time. */
  private static final int CLAIMS_PER_BROKER = 2;

  /**
   * State that all ownerships share.
   *
   * @param snapshots one permit: a snapshot needs the memory of a recovery
   * @param running ownerships that have not ended
   * @param failed whether one has ended with an error
   */
  record Shared(
      Journal journal,
      Duration lease,
      WindowFollower followers,
      Aggregation aggregation,
      SpanPipelineMetrics metrics,
      Clocks clocks,
      Semaphore snapshots,
      LogThrottle throttle,
      Map<QueueId, QueueOwnership> running,
      AtomicBoolean failed) {
    Shared(
        Journal journal,
        Duration lease,
        WindowFollower followers,
        Aggregation aggregation,
        SpanPipelineMetrics metrics,
        Clocks clocks) {
      this(
          journal,
          lease,
          followers,
          aggregation,
          metrics,
          clocks,
          new Semaphore(1),
          new LogThrottle(clocks.wall()),
          new ConcurrentHashMap<>(),
          new AtomicBoolean());
    }
  }

  private final Shared shared;
  private final Consumer<SteppedThread> starter;
  private final Map<String, FairPermits> claimsOfBroker = new ConcurrentHashMap<>();
  private volatile boolean closed;

  public QueueOwnerships(
      Journal journal,
      Duration lease,
      List<WindowFollower> followers,
      Aggregation aggregation,
      SpanPipelineMetrics metrics,
      Clocks clocks) {
    this(
        new Shared(
            journal,
            lease,
            new IsolatedFollowers(followers, metrics),
            aggregation,
            metrics,
            clocks),
        SteppedThread::start);
  }

  /**
   * @param starter starts the thread of an ownership; a simulation steps it instead
   */
  QueueOwnerships(Shared shared, Consumer<SteppedThread> starter) {
    this.shared = shared;
    this.starter = starter;
  }

  /**
   * Starts a take-over of a queue.
   *
   * @param decoder of the worker that wants it
   * @return null while an earlier ownership of the queue has not ended, and after {@link #close}
   */
  public QueueOwnership take(QueueId queue, MessageDecoder decoder) {
    if (shared.running().containsKey(queue)) {
      return null;
    }
    FairPermits claims =
        claimsOfBroker.computeIfAbsent(
            queue.broker(), broker -> new FairPermits(CLAIMS_PER_BROKER));
    QueueOwnership ownership = new QueueOwnership(queue, decoder, shared, claims);
    if (shared.running().putIfAbsent(queue, ownership) != null) {
      return null;
    }
    if (closed) {
      shared.running().remove(queue);
      return null;
    }
    starter.accept(ownership.thread());
    return ownership;
  }

  /** Returns whether none has ended with an error. */
  public boolean alive() {
    return !shared.failed().get();
  }

  /** Returns the queues whose ownership has not ended, in order. */
  public List<QueueId> queues() {
    return shared.running().keySet().stream().sorted().toList();
  }

  /** Returns the threads that have not ended. */
  public List<SteppedThread> threads() {
    return shared.running().values().stream().map(QueueOwnership::thread).toList();
  }

  /** Ends all ownerships when the journal answers; windows in progress are dropped. */
  public void close() {
    closed = true;
    threads().forEach(SteppedThread::abort);
  }
}
