package org.traceetl.server.consume;

import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.log.LogThrottle;
import org.traceetl.server.window.QueueId;

/**
 * A thread with a RocketMQ consumer of its own: it pulls from the queues that RocketMQ assigns to
 * it, aggregates their messages, and hands filled windows to the sealer. All workers of a consumer
 * group share the topic's queues, within a process and across processes; a worker is never held up
 * by another one's queue.
 *
 * <p>A queue that is taken away loses its open window: nothing of it was committed, so the next
 * owner reads it again and counts it. Were it sealed here, the next owner, which may have begun
 * already, would count it too.
 *
 * <p>Concurrency: the thread owns its decoder and its queues' aggregators. RocketMQ's rebalancing
 * thread only puts assignments into a queue.
 */
final class Worker implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(Worker.class);
  private static final long POLL_MILLIS = 100;
  private static final long RETRY_MILLIS = 1_000;
  private static final int MAX_ASSIGNMENTS = 1_024;

  private enum State {
    RUNNING,
    DRAINING,
    CLOSED
  }

  private final int number;
  private final RocketMqConfig config;
  private final Aggregation aggregation;
  private final long windowMillis;
  private final QueueOwners owners;
  private final Sealer sealer;
  private final Committer committer;
  private final PipelineListener listener;
  private final Clock clock;
  private final LogThrottle throttle;

  private final BlockingQueue<Set<MessageQueue>> assignments =
      new LinkedBlockingQueue<>(MAX_ASSIGNMENTS);
  private final Map<MessageQueue, OwnedQueue> owned = new ConcurrentHashMap<>();
  private final Set<MessageQueue> wanted = new HashSet<>();

  /**
   * By broker: when to ask it again, so that one that does not answer seldom holds the worker up.
   */
  private final Map<String, BackOff> backOffs = new HashMap<>();

  private final Set<OwnedQueue> astray = new HashSet<>();
  private final CountDownLatch stop = new CountDownLatch(1);
  private final BatchDecoder decoder;

  private volatile State state = State.RUNNING;
  private volatile long drainDeadlineNanos;
  private volatile DefaultLitePullConsumer consumer;
  private volatile BrokerOffsets offsets;
  private volatile boolean connected;
  private int pullThreads = SpanConsumers.MIN_PULL_THREADS;
  private long dueMillis = Long.MAX_VALUE;

  Worker(
      int number,
      RocketMqConfig config,
      Aggregation aggregation,
      long windowMillis,
      QueueOwners owners,
      Sealer sealer,
      Committer committer,
      PipelineListener listener,
      Clock clock) {
    this.number = number;
    this.config = config;
    this.aggregation = aggregation;
    this.windowMillis = windowMillis;
    this.owners = owners;
    this.sealer = sealer;
    this.committer = committer;
    this.listener = listener;
    this.clock = clock;
    throttle = new LogThrottle(clock);
    decoder = aggregation.newDecoder();
  }

  @Override
  public void run() {
    try {
      while (state == State.RUNNING && !connect()) {
        stop.await(RETRY_MILLIS, TimeUnit.MILLISECONDS);
      }
      schedule(clock.millis());
      while (state == State.RUNNING) {
        step();
      }
      if (state == State.DRAINING) {
        sealRest();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Error e) {
      log.error("Worker {} ended by an error; its queues stand still", number, e);
      throw e;
    }
  }

  private boolean connect() {
    if (consumer == null) {
      DefaultLitePullConsumer fresh = SpanConsumers.newConsumer(config, number, pullThreads);
      try {
        fresh.subscribe(config.topic(), "*", (topic, all, mine) -> assigned(mine));
        fresh.start();
      } catch (MQClientException | RuntimeException e) {
        fresh.shutdown();
        logDisconnected(e);
        return false;
      }
      offsets = SpanConsumers.offsets(fresh, config);
      consumer = fresh;
    }
    try {
      int queues = consumer.fetchMessageQueues(config.topic()).size();
      if (queues > pullThreads) {
        pullThreads = queues;
        startOver();
        return false;
      }
      connected = queues > 0;
    } catch (MQClientException | RuntimeException e) {
      logDisconnected(e);
    }
    return connected;
  }

  /** Pull threads are given to a consumer before it can be asked how many queues there are. */
  private void startOver() {
    consumer.shutdown();
    consumer = null;
    assignments.clear();
  }

  private void logDisconnected(Exception e) {
    if (throttle.permits()) {
      log.warn(
          "Topic {} is not found at name server {}: start RocketMQ, or make the topic; trying on: {}",
          config.topic(),
          config.nameServer(),
          e.toString());
    }
  }

  /** RocketMQ has given this worker these queues, and no others. Called by its thread. */
  void assigned(Set<MessageQueue> queues) {
    if (!assignments.offer(Set.copyOf(queues))) {
      log.error("Worker {} stands still: it does not take note of its queues", number);
    }
  }

  /** The worker's boundary: whatever fails in here is counted, and the worker goes on. */
  private void step() throws InterruptedException {
    try {
      applyAssignments();
      takeOver();
      rewind();
      List<MessageExt> messages = consumer.poll(POLL_MILLIS);
      if (!messages.isEmpty()) {
        take(messages);
      }
      swapIfDue(clock.millis());
    } catch (RuntimeException e) {
      listener.failed();
      if (throttle.permits()) {
        log.error("Worker {} failed and goes on", number, e);
      }
      stop.await(POLL_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  private void applyAssignments() throws InterruptedException {
    for (Set<MessageQueue> mine = assignments.poll(); mine != null; mine = assignments.poll()) {
      for (MessageQueue queue : new ArrayList<>(owned.keySet())) {
        if (!mine.contains(queue)) {
          giveUp(owned.remove(queue));
        }
      }
      if (mine.size() > pullThreads) {
        log.error(
            "Worker {} has {} queues and {} threads to pull from them, so silent queues hold up"
                + " others: the topic has grown, start the server again",
            number,
            mine.size(),
            pullThreads);
      }
      wanted.clear();
      wanted.addAll(mine);
      wanted.removeAll(owned.keySet());
    }
  }

  private void giveUp(OwnedQueue queue) throws InterruptedException {
    log.info("Worker {} gives up queue {} at {}", number, queue.id(), queue.next());
    astray.remove(queue);
    queue.release();
    sealer.release(queue);
  }

  /** Begins with queues assigned, as soon as their last owner in this process has ended. */
  private void takeOver() {
    for (MessageQueue queue : List.copyOf(wanted)) {
      QueueId id = new QueueId(queue.getBrokerName(), queue.getQueueId());
      if (!owners.acquire(id)) {
        continue;
      }
      if (ask(queue, () -> begin(id, queue))) {
        wanted.remove(queue);
      } else {
        owners.release(id, BrokerOffsets.NONE);
      }
    }
  }

  private void begin(QueueId id, MessageQueue queue) throws MQClientException {
    BrokerOffsets.Range range = offsets.of(queue);
    long kept = owners.keptTo(id);
    long next = range.next(kept);
    if (next < Math.max(range.committed(), kept)) {
      log.error(
          "Queue {} was read to {} and now ends at {}: the broker lost messages, or the topic was"
              + " made again; reading on from {}",
          id,
          Math.max(range.committed(), kept),
          range.max(),
          next);
    }
    consumer.seek(queue, Math.max(next, range.min()));
    owned.put(
        queue,
        new OwnedQueue(
            id, queue, aggregation.newAggregator(id, decoder, listener), listener, next));
    log.info("Worker {} reads queue {} from {}", number, id, next);
  }

  private void take(List<MessageExt> messages) {
    MessageExt first = messages.getFirst();
    OwnedQueue queue =
        owned.get(new MessageQueue(first.getTopic(), first.getBrokerName(), first.getQueueId()));
    if (queue == null) {
      return; // pulled before the queue was taken over, which pulls again
    }
    if (queue.take(messages, clock.millis()) == OwnedQueue.Outcome.REWIND) {
      astray.add(queue);
    }
  }

  /** Goes back to messages that were missing. */
  private void rewind() {
    for (OwnedQueue queue : List.copyOf(astray)) {
      ask(
          queue.messageQueue(),
          () -> {
            BrokerOffsets.Range range = offsets.of(queue.messageQueue());
            long next = Math.clamp(queue.next(), range.min(), range.max());
            consumer.seek(queue.messageQueue(), next);
            queue.rewound();
            astray.remove(queue);
          });
    }
  }

  private interface Question {
    void ask() throws MQClientException;
  }

  /**
   * Asks a queue's broker something, unless it is to be left alone. A broker that does not answer
   * costs the other brokers' queues one timeout a pause, and nothing else.
   *
   * @return whether it was asked and answered
   */
  private boolean ask(MessageQueue queue, Question question) {
    BackOff backOff = backOffs.computeIfAbsent(queue.getBrokerName(), name -> new BackOff());
    if (!backOff.permits(System.nanoTime())) {
      return false;
    }
    try {
      question.ask();
      backOff.succeeded();
      return true;
    } catch (MQClientException | RuntimeException e) {
      backOff.failed(System.nanoTime());
      listener.failed();
      if (throttle.permits()) {
        log.error("Worker {} cannot read queue {}; trying again", number, queue, e);
      }
      return false;
    }
  }

  private void schedule(long nowMillis) {
    dueMillis = (Math.floorDiv(nowMillis, windowMillis) + 1) * windowMillis;
  }

  private void swapIfDue(long nowMillis) throws InterruptedException {
    boolean setBack = nowMillis < dueMillis - windowMillis;
    if (nowMillis < dueMillis && !setBack) {
      return;
    }
    for (OwnedQueue queue : owned.values()) {
      long startNanos = System.nanoTime();
      FilledWindow filled = queue.swap(nowMillis);
      if (filled != null) {
        listener.swapped(queue.id(), System.nanoTime() - startNanos);
        sealer.seal(queue, filled, () -> committer.visit(queue, offsets));
      }
      committer.visit(queue, offsets);
    }
    schedule(nowMillis);
  }

  private void sealRest() throws InterruptedException {
    applyAssignments(); // what went to another owner meanwhile is read again there
    for (OwnedQueue queue : owned.values()) {
      FilledWindow filled =
          queue.awaitSwap(clock.millis(), Math.max(0, drainDeadlineNanos - System.nanoTime()));
      if (filled != null) {
        sealer.seal(queue, filled, () -> committer.visit(queue, offsets));
      }
    }
  }

  boolean isConnected() {
    return connected;
  }

  List<QueueStatus> queues() {
    return owned.values().stream().map(OwnedQueue::status).toList();
  }

  /** Ends the thread after sealing what it has, if the queues' metrics are back by the deadline. */
  void drain(long deadlineNanos) {
    drainDeadlineNanos = deadlineNanos;
    if (state == State.RUNNING) {
      state = State.DRAINING;
    }
    stop.countDown();
  }

  /** Ends the thread. What was not sealed will be read again by the next owner. */
  void close() {
    state = State.CLOSED;
    stop.countDown();
  }

  /** Leaves the consumer group. After the thread and the sealer have ended. */
  void leave() {
    DefaultLitePullConsumer started = consumer;
    if (started != null) {
      started.shutdown();
    }
  }
}
