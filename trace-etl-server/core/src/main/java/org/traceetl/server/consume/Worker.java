package org.traceetl.server.consume;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.TlsRefused;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.queues.QueueStatus;
import org.traceetl.server.rocketmq.Endpoint;
import org.traceetl.server.window.QueueId;

/**
 * A thread with a RocketMQ consumer of its own: it pulls from the queues that RocketMQ assigns to
 * it, aggregates their messages, and hands filled windows to the queues' sealers. All workers of a
 * consumer group share the topic's queues, within a process and across processes; a worker is never
 * held up by another one's queue.
 *
 * <p>A queue that is taken away loses its open window: nothing of it was kept, so the next owner
 * reads it again and counts it. To seal it here would only race with that one's claim.
 *
 * <p>Concurrency: the thread owns its decoder and its queues' aggregators, each from the moment it
 * takes it from the sealer that recovered it. Whatever thread rebalances only puts assignments into
 * a queue.
 */
final class Worker implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(Worker.class);
  private static final long POLL_MILLIS = 100;
  private static final long RETRY_MILLIS = 1_000;
  private static final long DRAIN_POLL_MILLIS = 10;
  private static final int MAX_ASSIGNMENTS = 1_024;
  private static final String NOT_BALANCED =
      "waits for the first rebalance that knows this server as a member of the consumer group";

  /**
   * A queue that another owner took, although RocketMQ gives it to this worker, is taken again
   * after RocketMQ has had time to agree with itself: the interval at which it rebalances.
   */
  private static final long RETAKE_NANOS = TimeUnit.SECONDS.toNanos(20);

  /** A message whose recording fails so often is rejected, so that its queue goes on. */
  private static final int MAX_FAILURES = 3;

  private enum State {
    RUNNING,
    DRAINING,
    CLOSED
  }

  /** A queue assigned, on its way to being read. The worker's, but for what is volatile. */
  private static final class Holding {
    private final MessageQueue queue;
    private final QueueId id;
    private long notBeforeNanos;
    private Sealer.Recovered recovered;

    /** Why a queue that was taken over is not read; null if that is not known. */
    private volatile Unread unread;

    /**
     * How often the recording of a message failed, by offset. Only of messages that no kept window
     * has: each costs the queue some take-overs, so there are few.
     */
    private final Map<Long, Integer> failures = new HashMap<>();

    /** It was given up to be taken over again at once. */
    private boolean retaking;

    /** Null while the queue is not to be taken, or an earlier sealer of it has not ended. */
    private volatile Sealer sealer;

    Holding(MessageQueue queue, long nowNanos) {
      this.queue = queue;
      notBeforeNanos = nowNanos;
      id = new QueueId(queue.getBrokerName(), queue.getQueueId());
    }

    /** The messages that are not tried again, of those that come after the last kept window. */
    Set<Long> refusedFrom(long to) {
      failures.keySet().removeIf(offset -> offset < to);
      return failures.entrySet().stream()
          .filter(entry -> entry.getValue() >= MAX_FAILURES)
          .map(Map.Entry::getKey)
          .collect(Collectors.toUnmodifiableSet());
    }
  }

  private final int number;
  private final RocketMqConfig config;
  private final Aggregation aggregation;
  private final long windowMillis;
  private final Sealers sealers;
  private final Committer committer;
  private final PipelineMetrics listener;
  private final Clocks clocks;
  private final LogThrottle throttle;

  private final BlockingQueue<Set<MessageQueue>> assignments =
      new LinkedBlockingQueue<>(MAX_ASSIGNMENTS);
  private final Map<MessageQueue, OwnedQueue> owned = new ConcurrentHashMap<>();

  /** The queues assigned. Other threads only look. */
  private final Map<MessageQueue, Holding> holdings = new ConcurrentHashMap<>();

  /**
   * By broker: when to ask it again, so that one that does not answer seldom holds the worker up.
   */
  private final Map<String, BackOff> backOffs = new HashMap<>();

  private final Set<OwnedQueue> astray = new HashSet<>();
  private final CountDownLatch stop = new CountDownLatch(1);
  private final BatchDecoder decoder;

  /** What it announces; set before its thread starts, null for nothing. */
  private volatile Endpoint endpoint;

  private volatile State state = State.RUNNING;
  private volatile long drainDeadlineNanos;
  private volatile DefaultLitePullConsumer consumer;
  private volatile BrokerOffsets offsets;
  private ResumedPulls resumed;
  private volatile boolean connected;

  /** Why it is not connected. */
  private volatile String problem = "not connected yet";

  /** Which queues are this worker's, as of the last rebalance. */
  private volatile ObservedAllocation allocation = new ObservedAllocation();

  private final StalledRebalance stalled = new StalledRebalance();
  private int pullThreads = SpanConsumers.MIN_PULL_THREADS;
  private long dueMillis = Long.MAX_VALUE;

  Worker(
      int number,
      RocketMqConfig config,
      Aggregation aggregation,
      long windowMillis,
      Sealers sealers,
      Committer committer,
      PipelineMetrics listener,
      Clocks clocks) {
    this.number = number;
    this.config = config;
    this.aggregation = aggregation;
    this.windowMillis = windowMillis;
    this.sealers = sealers;
    this.committer = committer;
    this.listener = listener;
    this.clocks = clocks;
    throttle = new LogThrottle(clocks.wall());
    decoder = aggregation.newDecoder();
  }

  /** Has the brokers tell others where this server is. Before the start. */
  void announce(Endpoint here) {
    endpoint = here;
  }

  @Override
  public void run() {
    try {
      while (state == State.RUNNING && !connect()) {
        stalled.look(clocks.millis(), clocks.nanos(), allocation.rebalances());
        stop.await(RETRY_MILLIS, TimeUnit.MILLISECONDS);
      }
      schedule(clocks.millis());
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
      DefaultLitePullConsumer fresh;
      try {
        fresh = SpanConsumers.newConsumer(config, number, endpoint, pullThreads, clocks.nanos());
      } catch (TlsRefused e) {
        // Its files were right at the start, and may be again.
        logDisconnected(e);
        return false;
      }
      fresh.setAllocateMessageQueueStrategy(allocation);
      try {
        fresh.subscribe(config.topic(), "*", (topic, all, mine) -> assigned(mine));
        fresh.start();
      } catch (MQClientException | RuntimeException e) {
        fresh.shutdown();
        logDisconnected(e);
        return false;
      }
      offsets = SpanConsumers.offsets(fresh, config);
      resumed = SpanConsumers.resumedPulls(fresh, config);
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
    allocation = new ObservedAllocation();
    assignments.clear();
  }

  private void logDisconnected(Exception e) {
    problem = "the topic is not found at name server " + config.nameServer();
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
    allocation.handedOver(Set.copyOf(queues));
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
      swapIfDue(clocks.millis());
      rebalanceIfStalled();
    } catch (RuntimeException e) {
      listener.failed();
      if (throttle.permits()) {
        log.error("Worker {} failed and goes on", number, e);
      }
      stop.await(POLL_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  private void rebalanceIfStalled() {
    long nowMillis = clocks.millis();
    if (!stalled.look(nowMillis, clocks.nanos(), allocation.rebalances())) {
      return;
    }
    if (throttle.permits()) {
      log.warn(
          "The wall clock was set back by {} s, and RocketMQ's client does not rebalance until it"
              + " catches up: worker {} rebalances in its place",
          TimeUnit.MILLISECONDS.toSeconds(stalled.behindMillis(nowMillis)),
          number);
    }
    SpanConsumers.rebalance(consumer, config);
    stalled.rebalanced(allocation.rebalances());
  }

  private void applyAssignments() {
    for (Set<MessageQueue> mine = assignments.poll(); mine != null; mine = assignments.poll()) {
      for (MessageQueue queue : List.copyOf(holdings.keySet())) {
        if (!mine.contains(queue)) {
          giveUp(queue);
          holdings.remove(queue);
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
      for (MessageQueue queue : mine) {
        holdings.computeIfAbsent(queue, absent -> new Holding(absent, clocks.nanos()));
      }
    }
  }

  private void giveUp(MessageQueue queue) {
    Holding holding = holdings.get(queue);
    OwnedQueue left = owned.remove(queue);
    if (left != null) {
      log.info("Worker {} gives up queue {} at {}", number, left.id(), left.next());
      astray.remove(left);
      left.release();
    } else if (holding.recovered != null) {
      holding.recovered.aggregator().release();
    }
    holding.recovered = null;
    holding.unread = null;
    if (holding.sealer != null) {
      holding.sealer.release();
    }
  }

  /** Brings each queue assigned one step nearer to being read, or gives it up. */
  private void takeOver() {
    long nowNanos = clocks.nanos();
    for (Holding holding : holdings.values()) {
      Sealer sealer = holding.sealer;
      if (sealer == null) {
        if (nowNanos - holding.notBeforeNanos >= 0) {
          holding.sealer = sealers.take(holding.id, decoder);
        }
      } else if (sealer.ended()) {
        giveUp(holding.queue);
        holding.sealer = null;
        holding.notBeforeNanos = holding.retaking ? nowNanos : nowNanos + RETAKE_NANOS;
        holding.retaking = false;
      } else if (!owned.containsKey(holding.queue)) {
        if (holding.recovered == null) {
          holding.recovered = sealer.takeRecovered();
        }
        if (holding.recovered != null) {
          ask(holding.queue, () -> begin(holding));
        }
      }
    }
  }

  private void begin(Holding holding) throws MQClientException {
    MessageQueue queue = holding.queue;
    Sealer.Recovered recovered = holding.recovered;
    String address = offsets.address(queue);
    BrokerOffsets.Range range;
    try {
      range = offsets.of(queue);
    } catch (MQClientException e) {
      boolean answered = e.getCause() instanceof MQBrokerException;
      holding.unread = new Unread("its broker does not give its offsets: " + e, !answered);
      throw e;
    }
    boolean comparable = !recovered.lastMessages().isEmpty();
    long next = comparable ? recovered.to() : range.next(recovered.to());
    if (next < recovered.to()) {
      log.error(
          "Queue {} counts up to {} and now ends at {}: the broker lost messages, or the topic was"
              + " made again; reading on from {}",
          holding.id,
          recovered.to(),
          range.max(),
          next);
      listener.replaced(holding.id, recovered.to() - next);
    }
    OwnedQueue taken =
        new OwnedQueue(
            holding.id,
            queue,
            recovered.aggregator(),
            listener,
            next,
            recovered.lastMessages(),
            resumed.of(queue),
            holding.refusedFrom(recovered.to()));
    taken.compare(range, offsets);
    resumed.sought(queue, address);
    consumer.seek(queue, Math.clamp(taken.next(), range.min(), range.max()));
    owned.put(queue, taken);
    holding.recovered = null;
    log.info("Worker {} reads queue {} from {}", number, holding.id, taken.next());
  }

  private void take(List<MessageExt> messages) {
    MessageExt first = messages.getFirst();
    OwnedQueue queue =
        owned.get(new MessageQueue(first.getTopic(), first.getBrokerName(), first.getQueueId()));
    if (queue == null) {
      return; // pulled before the queue was taken over, which pulls again
    }
    switch (queue.take(messages, clocks.millis())) {
      case TAKEN -> {}
      case REWIND -> astray.add(queue);
      case FAILED -> retake(queue);
    }
  }

  /**
   * Drops a queue's open window, which has a part of a message, and takes the queue over again:
   * from its last kept window on, also without the names of the batches that came after it.
   */
  private void retake(OwnedQueue queue) {
    listener.failed();
    Holding holding = holdings.get(queue.messageQueue());
    int failures = holding.failures.merge(queue.failedOffset(), 1, Integer::sum);
    log.error(
        "Queue {} is dropped and read again from its last kept window: recording message {} failed"
            + " {} of {} times",
        holding.id,
        queue.failedOffset(),
        failures,
        MAX_FAILURES);
    giveUp(holding.queue);
    holding.retaking = true;
  }

  /** Goes back to messages that were missing. */
  private void rewind() {
    for (OwnedQueue queue : List.copyOf(astray)) {
      ask(
          queue.messageQueue(),
          () -> {
            String address = offsets.address(queue.messageQueue());
            BrokerOffsets.Range range = offsets.of(queue.messageQueue());
            queue.compare(range, offsets);
            long next = Math.clamp(queue.next(), range.min(), range.max());
            resumed.sought(queue.messageQueue(), address);
            consumer.seek(queue.messageQueue(), next);
            queue.rewound(range, offsets);
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
    if (!backOff.permits(clocks.nanos())) {
      return false;
    }
    try {
      question.ask();
      backOff.succeeded();
      return true;
    } catch (MQClientException e) {
      // The broker's failure, or the network's: not counted as the program's.
      backOff.failed(clocks.nanos());
      if (throttle.permits()) {
        log.warn(
            "The broker of queue {} gave no answer to worker {}: {}. The worker asks again.",
            queue,
            number,
            e.toString());
      }
      return false;
    } catch (RuntimeException e) {
      backOff.failed(clocks.nanos());
      listener.failed();
      if (throttle.permits()) {
        log.error("Worker {} failed to read queue {}; it tries again.", number, queue, e);
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
    long startNanos = clocks.nanos();
    Map<OwnedQueue, FilledWindow> ended = new HashMap<>();
    try {
      endWindows(nowMillis, ended);
    } finally {
      // Not before: a sealer that wakes up takes the core, and the rest of the queues would wait.
      ended.forEach(this::seal);
    }
    for (OwnedQueue queue : owned.values()) {
      committer.visit(queue, offsets);
    }
    listener.paused(clocks.nanos() - startNanos);
    schedule(nowMillis);
  }

  private void endWindows(long nowMillis, Map<OwnedQueue, FilledWindow> ended) {
    for (OwnedQueue queue : owned.values()) {
      long startNanos = clocks.nanos();
      FilledWindow filled = queue.swap(nowMillis);
      if (filled != null) {
        ended.put(queue, filled);
        listener.swapped(queue.id(), clocks.nanos() - startNanos);
      }
    }
  }

  /**
   * Ends each queue as soon as its window before is kept: one whose broker is away must not keep
   * the others from being released.
   */
  private void sealRest() throws InterruptedException {
    applyAssignments(); // what went to another owner meanwhile is read again there
    List<Holding> left = new ArrayList<>(holdings.values());
    while (true) {
      left.removeIf(this::sealedLast);
      boolean late = clocks.nanos() - drainDeadlineNanos >= 0;
      if (left.isEmpty() || late || state != State.DRAINING) {
        break;
      }
      clocks.pause().nanos(TimeUnit.MILLISECONDS.toNanos(DRAIN_POLL_MILLIS));
    }
    left.forEach(holding -> holding.sealer.release());
  }

  /** Seals a queue's last window and releases it; false while the window before is under way. */
  private boolean sealedLast(Holding holding) {
    OwnedQueue queue = owned.get(holding.queue);
    Sealer sealer = holding.sealer;
    if (queue != null && !sealer.ended()) {
      if (!queue.canSwap()) {
        return false;
      }
      FilledWindow filled = queue.swap(clocks.millis());
      if (filled != null) {
        seal(queue, filled);
      }
    }
    if (sealer != null) {
      sealer.release();
    }
    return true;
  }

  private void seal(OwnedQueue queue, FilledWindow filled) {
    holdings
        .get(queue.messageQueue())
        .sealer
        .seal(queue, filled, () -> committer.visit(queue, offsets));
  }

  /**
   * What keeps this worker from reading all its queues: by queue, or by topic, why. Empty when it
   * reads them all, and when a rebalance gave it none.
   */
  Map<String, Unread> unread() {
    if (!connected) {
      return Map.of(config.topic(), new Unread(problem, false));
    }
    ObservedAllocation latest = allocation;
    Set<MessageQueue> mine = latest.queues();
    if (mine == null) {
      return Map.of(config.topic(), new Unread(NOT_BALANCED, false));
    }
    Map<String, Unread> unread = new TreeMap<>();
    for (MessageQueue queue : mine) {
      if (!owned.containsKey(queue)) {
        unread.put(
            new QueueId(queue.getBrokerName(), queue.getQueueId()).toString(),
            unread(queue, latest));
      }
    }
    return unread;
  }

  private Unread unread(MessageQueue queue, ObservedAllocation latest) {
    Holding holding = holdings.get(queue);
    if (holding == null) {
      return latest.isWithheld(queue) ? Unread.WITHHELD : Unread.ASSIGNED;
    }
    Unread offsetless = holding.unread;
    Sealer sealer = holding.sealer;
    return sealer == null ? Unread.WAITS : offsetless == null ? sealer.unread() : offsetless;
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
