package org.traceetl.server.consume;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.Reason;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.consume.broker.BrokerOffsets;
import org.traceetl.server.consume.broker.RocketMqSpanConsumer;
import org.traceetl.server.consume.broker.SpanConsumer;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.consume.ownership.QueueOwnership;
import org.traceetl.server.consume.ownership.QueueOwnerships;
import org.traceetl.server.consume.ownership.QueueSealing;
import org.traceetl.server.consume.ownership.RetrySchedule;
import org.traceetl.server.consume.ownership.UnreadReason;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.consume.queue.FilledWindow;
import org.traceetl.server.consume.queue.OwnedQueue;
import org.traceetl.server.consume.queue.PaneLag;
import org.traceetl.server.decode.MessageDecoder;
import org.traceetl.server.queues.QueueStatus;
import org.traceetl.server.rocketmq.Endpoint;
import org.traceetl.server.window.QueueId;

/**
 * Pulls from the queues that RocketMQ assigns to its consumer, aggregates their messages, and
 * passes filled windows to the queues' ownerships. All workers of a consumer group share the
 * topic's queues, within a process and across processes; a queue delays only its own worker.
 *
 * <p>If a queue is assigned to another worker, its open window is dropped. Nothing of it was kept,
 * so the next owner reads and counts it. Sealing it here would race with the next owner's claim.
 *
 * <p>Concurrency: the worker's thread owns its decoder, and each queue's aggregator after it has
 * taken it from the queue's ownership. The thread that rebalances only adds assignments to a queue.
 */
final class Worker implements SteppedTask {
  private static final Logger log = LoggerFactory.getLogger(Worker.class);
  private static final long POLL_MILLIS = 100;
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(POLL_MILLIS);
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long DRAIN_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final int MAX_ASSIGNMENTS = 1_024;
  private static final String NOT_BALANCED =
      "waits for the first rebalance that includes this server in the consumer group";

  /**
   * If another owner took a queue that RocketMQ assigns to this worker, the worker takes it over
   * again after this pause. By then RocketMQ has rebalanced again.
   */
  private static final long RETAKE_NANOS = TimeUnit.SECONDS.toNanos(20);

  /**
   * State that the workers of a process share.
   *
   * @param config of the spans' topic
   * @param windowMillis length of a window
   */
  record Shared(
      RocketMqConfig config,
      SpanConsumer.Connector connector,
      Aggregation aggregation,
      long windowMillis,
      QueueOwnerships ownerships,
      Committer committer,
      SpanPipelineMetrics metrics,
      Clocks clocks) {}

  private final int number;
  private final RocketMqConfig config;
  private final SpanConsumer.Connector connector;
  private final PaneLag lag;
  private final SwapSchedule swaps;
  private final QueueOwnerships ownerships;
  private final Committer committer;
  private final SpanPipelineMetrics metrics;
  private final Clocks clocks;
  private final LogThrottle throttle;
  private final SteppedThread thread;

  private final BlockingQueue<Set<MessageQueue>> assignments =
      new LinkedBlockingQueue<>(MAX_ASSIGNMENTS);
  private final Map<MessageQueue, OwnedQueue> owned = new ConcurrentHashMap<>();

  /** The assigned queues. Other threads only read. */
  private final Map<MessageQueue, AssignedQueue> assigned = new ConcurrentHashMap<>();

  /** Pauses by broker: a broker that does not answer seldom delays the worker. */
  private final Map<String, RetrySchedule> retries = new HashMap<>();

  private final Set<OwnedQueue> astray = new LinkedHashSet<>();
  private final MessageDecoder decoder;

  /** The endpoint to announce; set before the thread starts, null for none. */
  private volatile Endpoint endpoint;

  private volatile boolean draining;
  private volatile long drainDeadlineNanos;

  /** Queues whose last window is not sealed yet; null before the drain. */
  private List<AssignedQueue> unsealed;

  private volatile SpanConsumer consumer;
  private volatile boolean connected;

  /** Why the consumer is not connected. */
  private volatile String problem = "not connected yet";

  /** Monotonic time at which windows ended last. */
  private long swappedNanos;

  private final StalledRebalance stalled = new StalledRebalance();
  private int pullThreads = RocketMqSpanConsumer.MIN_PULL_THREADS;

  Worker(int number, Shared shared) {
    this.number = number;
    config = shared.config();
    connector = shared.connector();
    lag = new PaneLag(shared.aggregation().paneMillis());
    swaps = new SwapSchedule(shared.windowMillis(), lag);
    ownerships = shared.ownerships();
    committer = shared.committer();
    metrics = shared.metrics();
    clocks = shared.clocks();
    throttle = new LogThrottle(clocks.wall());
    decoder = shared.aggregation().newMessageDecoder();
    thread =
        new SteppedThread(clocks, shared.aggregation().workerName() + "-" + number, this, throttle);
  }

  SteppedThread thread() {
    return thread;
  }

  /** Sets the endpoint that the brokers announce to the group. Call it before the start. */
  void announce(Endpoint here) {
    endpoint = here;
  }

  @Override
  public long doWork() throws InterruptedException {
    if (draining) {
      return sealRest();
    }
    if (connected) {
      return step();
    }
    if (connect()) {
      swaps.begin(clocks.millis());
      swappedNanos = clocks.nanos();
      stalled.begin(clocks.nanos());
      return 0;
    }
    return RETRY_NANOS;
  }

  @Override
  public void onEnd() {
    if (unsealed != null) {
      unsealed.forEach(queue -> queue.ownership.release());
    }
  }

  private boolean connect() {
    if (consumer == null) {
      try {
        consumer = connector.connect(number, endpoint, pullThreads, this::assigned);
      } catch (MQClientException | RuntimeException e) {
        // Includes TlsRefused: its files were valid at the start, and may become valid again.
        logDisconnected(e);
        return false;
      }
    }
    try {
      int queues = consumer.queueCount();
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

  /** Reconnects: the number of pull threads is fixed before the number of queues is known. */
  private void startOver() {
    consumer.close();
    consumer = null;
    assignments.clear();
  }

  private void logDisconnected(Exception e) {
    problem = "the topic is not known to name server " + config.nameServer();
    if (throttle.permits()) {
      log.warn(
          "Topic {} is not known to name server {}: start RocketMQ or create the topic; the worker"
              + " retries: {}",
          config.topic(),
          config.nameServer(),
          Reason.of(e));
    }
  }

  /** Replaces the assigned queues by those that RocketMQ assigned. Called by the client. */
  void assigned(Set<MessageQueue> queues) {
    // Sorted, so that a simulation takes them over in the same order each time.
    if (!assignments.offer(new TreeSet<>(queues))) {
      log.error("Worker {} is stuck: it does not process its queue assignments", number);
    }
  }

  /** The worker's boundary: a failure is counted, and the worker continues. */
  private long step() {
    try {
      applyAssignments();
      giveUpLost();
      takeOver();
      findLeft();
      rewind();
      List<MessageExt> messages = consumer.poll(POLL_MILLIS);
      if (!messages.isEmpty()) {
        take(messages);
      }
      swapIfDue(clocks.millis());
      rebalanceIfStalled();
      return 0;
    } catch (RuntimeException e) {
      metrics.failed();
      if (throttle.permits()) {
        log.error("A step of worker {} failed; the worker continues", number, e);
      }
      return POLL_NANOS;
    }
  }

  private void rebalanceIfStalled() {
    long nowNanos = clocks.nanos();
    if (!stalled.look(nowNanos, consumer.rebalances())) {
      return;
    }
    if (throttle.permits()) {
      log.warn(
          "RocketMQ's client has not rebalanced for {} s: the wall clock was set back, or no broker"
              + " lists the members of the consumer group; worker {} rebalances instead",
          TimeUnit.NANOSECONDS.toSeconds(stalled.sinceNanos(nowNanos)),
          number);
    }
    consumer.rebalance();
    stalled.rebalanced(consumer.rebalances());
  }

  private void applyAssignments() {
    for (Set<MessageQueue> mine = assignments.poll(); mine != null; mine = assignments.poll()) {
      for (MessageQueue queue : List.copyOf(assigned.keySet())) {
        if (!mine.contains(queue)) {
          giveUp(queue);
          assigned.remove(queue);
        }
      }
      if (mine.size() > pullThreads) {
        log.error(
            "Worker {} has {} queues but only {} threads that pull, so queues without messages"
                + " delay the others; restart the server, because the topic has more queues than"
                + " before",
            number,
            mine.size(),
            pullThreads);
      }
      for (MessageQueue queue : mine) {
        assigned.computeIfAbsent(queue, absent -> new AssignedQueue(absent, clocks.nanos()));
      }
    }
  }

  /** Gives up queues that are no longer this worker's; others may wait for them. */
  private void giveUpLost() {
    for (MessageQueue queue : consumer.lost()) {
      if (assigned.containsKey(queue)) {
        log.warn(
            "Queue {} is no longer assigned to worker {}, but RocketMQ's client did not take it"
                + " away; the worker gives it up",
            assigned.get(queue).id,
            number);
        giveUp(queue);
        assigned.remove(queue);
        consumer.pause(queue);
      }
    }
  }

  private void giveUp(MessageQueue queue) {
    AssignedQueue assignedQueue = assigned.get(queue);
    OwnedQueue left = owned.remove(queue);
    if (left != null) {
      log.info("Worker {} releases queue {} at offset {}", number, left.id(), left.next());
      astray.remove(left);
      left.release();
    } else if (assignedQueue.recovered != null) {
      assignedQueue.recovered.aggregator().release();
    }
    assignedQueue.recovered = null;
    assignedQueue.unread = null;
    if (assignedQueue.ownership != null) {
      assignedQueue.ownership.release();
    }
  }

  /** Advances each assigned queue towards being read, or gives it up. */
  private void takeOver() {
    long nowNanos = clocks.nanos();
    for (AssignedQueue assignedQueue : assigned.values()) {
      QueueOwnership ownership = assignedQueue.ownership;
      if (ownership == null) {
        if (nowNanos - assignedQueue.notBeforeNanos >= 0) {
          takeOver(assignedQueue);
        }
      } else if (ownership.ended()) {
        giveUp(assignedQueue.queue);
        assignedQueue.ownership = null;
        assignedQueue.notBeforeNanos = assignedQueue.retaking ? nowNanos : nowNanos + RETAKE_NANOS;
        assignedQueue.retaking = false;
        if (ownership.refusedFrom() != QueueSealing.NONE) {
          pauseAfterRefusal(assignedQueue, ownership.refusedFrom(), nowNanos);
        }
      } else if (!owned.containsKey(assignedQueue.queue)) {
        if (assignedQueue.recovered == null) {
          assignedQueue.recovered = ownership.takeRecovered();
        }
        if (assignedQueue.recovered != null) {
          ask(assignedQueue.queue, () -> begin(assignedQueue));
        }
      }
    }
  }

  private void takeOver(AssignedQueue assignedQueue) {
    QueueOwnership taken = ownerships.take(assignedQueue.id, decoder);
    if (taken != null) {
      taken.refusedBefore(assignedQueue.refusedWindow());
      assignedQueue.ownership = taken;
      assignedQueue.unread = null;
    }
  }

  /** Takes a queue over again later, because its next window may be refused as well. */
  private void pauseAfterRefusal(AssignedQueue assignedQueue, long from, long nowNanos) {
    assignedQueue.refused(from, nowNanos);
    log.warn(
        "The window of queue {} from offset {} was refused; worker {} takes the queue over again in"
            + " {} s",
        assignedQueue.id,
        from,
        number,
        TimeUnit.NANOSECONDS.toSeconds(assignedQueue.notBeforeNanos - nowNanos));
  }

  private void begin(AssignedQueue assignedQueue) throws MQClientException {
    MessageQueue queue = assignedQueue.queue;
    QueueOwnership.Recovered recovered = assignedQueue.recovered;
    BrokerOffsets offsets = consumer.offsets();
    String address = offsets.address(queue);
    BrokerOffsets.Range range;
    try {
      range = offsets.of(queue);
    } catch (MQClientException e) {
      boolean answered = e.getCause() instanceof MQBrokerException;
      assignedQueue.unread =
          new UnreadReason("its broker does not return its offsets: " + e, !answered);
      throw e;
    }
    boolean comparable = !recovered.lastMessages().isEmpty();
    long next = comparable ? recovered.to() : range.next(recovered.to());
    if (next < recovered.to()) {
      log.error(
          "Queue {} was read up to offset {} but ends at {}: the broker lost messages, or the topic"
              + " was recreated; reading continues at offset {}",
          assignedQueue.id,
          recovered.to(),
          range.max(),
          next);
      metrics.replaced(assignedQueue.id, recovered.to() - next);
    }
    OwnedQueue taken =
        new OwnedQueue(
            assignedQueue.id,
            queue,
            recovered.aggregator(),
            metrics,
            next,
            recovered.lastMessages(),
            consumer.resumedPulls(queue),
            assignedQueue.refusedFrom(recovered.to()),
            lag);
    taken.compare(range, offsets);
    consumer.seek(queue, Math.clamp(taken.next(), range.min(), range.max()), address);
    owned.put(queue, taken);
    assignedQueue.recovered = null;
    log.info("Worker {} reads queue {} from offset {}", number, assignedQueue.id, taken.next());
  }

  private void take(List<MessageExt> messages) {
    MessageExt first = messages.getFirst();
    OwnedQueue queue =
        owned.get(new MessageQueue(first.getTopic(), first.getBrokerName(), first.getQueueId()));
    if (queue == null) {
      return; // pulled before the queue was taken over, which pulls again
    }
    switch (queue.take(messages, clocks.millis())) {
      case TAKEN -> endIfCrowded(queue);
      case REWIND -> astray.add(queue);
      case FAILED -> retake(queue);
    }
  }

  /** Ends a queue's window early if a backlog gives it many panes, so that it stays small. */
  private void endIfCrowded(OwnedQueue queue) {
    long nowMillis = clocks.millis();
    if (!queue.isCrowded(nowMillis)) {
      return;
    }
    long startNanos = clocks.nanos();
    FilledWindow filled = queue.swapEarly(nowMillis);
    if (filled != null) {
      metrics.swapped(queue.id(), clocks.nanos() - startNanos);
      seal(queue, filled);
    }
  }

  /**
   * Drops a queue's open window, which contains part of a message, and takes the queue over again.
   * Reading and de-duplication restart at the last kept window.
   */
  private void retake(OwnedQueue queue) {
    metrics.failed();
    AssignedQueue assignedQueue = assigned.get(queue.messageQueue());
    int failures = assignedQueue.failed(queue.failedOffset());
    log.error(
        "Queue {} is dropped and read again from its last kept window, because message {} could not"
            + " be recorded; attempt {} of {}",
        assignedQueue.id,
        queue.failedOffset(),
        failures,
        AssignedQueue.MAX_FAILURES);
    giveUp(assignedQueue.queue);
    assignedQueue.retaking = true;
  }

  /** Finds queues that RocketMQ's client does not pull where the worker has sought. */
  private void findLeft() {
    for (OwnedQueue queue : owned.values()) {
      if (consumer.hasLeft(queue.messageQueue())) {
        astray.add(queue);
      }
    }
  }

  /** Goes back to messages that were missing. */
  private void rewind() {
    for (OwnedQueue queue : List.copyOf(astray)) {
      ask(
          queue.messageQueue(),
          () -> {
            BrokerOffsets offsets = consumer.offsets();
            String address = offsets.address(queue.messageQueue());
            BrokerOffsets.Range range = offsets.of(queue.messageQueue());
            queue.compare(range, offsets);
            long next = Math.clamp(queue.next(), range.min(), range.max());
            consumer.seek(queue.messageQueue(), next, address);
            queue.rewound(range, offsets);
            astray.remove(queue);
          });
    }
  }

  private interface Question {
    void ask() throws MQClientException;
  }

  /**
   * Sends a request to a queue's broker, unless its back-off lasts. A broker that does not answer
   * costs the queues of other brokers only one timeout per pause.
   *
   * @return whether the broker answered
   */
  private boolean ask(MessageQueue queue, Question question) {
    RetrySchedule retry =
        retries.computeIfAbsent(queue.getBrokerName(), name -> new RetrySchedule());
    if (!retry.permits(clocks.nanos())) {
      return false;
    }
    try {
      question.ask();
      retry.succeeded();
      return true;
    } catch (MQClientException e) {
      // The broker or the network failed: not counted as a failure of the program.
      retry.failed(clocks.nanos());
      if (throttle.permits()) {
        log.warn(
            "The broker of queue {} did not answer worker {}: {}; the worker retries",
            queue,
            number,
            e.toString());
      }
      return false;
    } catch (RuntimeException e) {
      retry.failed(clocks.nanos());
      metrics.failed();
      if (throttle.permits()) {
        log.error("Worker {} failed to read queue {}; it retries", number, queue, e);
      }
      return false;
    }
  }

  private void swapIfDue(long nowMillis) {
    if (!swaps.isDue(nowMillis)) {
      return;
    }
    long startNanos = clocks.nanos();
    long passedMillis = TimeUnit.NANOSECONDS.toMillis(startNanos - swappedNanos);
    swappedNanos = startNanos;
    Map<OwnedQueue, FilledWindow> ended = new LinkedHashMap<>();
    try {
      endWindows(nowMillis, passedMillis, ended);
    } finally {
      // Last, because a woken queue thread takes the core, and the remaining queues would wait.
      ended.forEach(this::seal);
    }
    for (OwnedQueue queue : owned.values()) {
      committer.visit(queue, consumer.offsets());
    }
    metrics.paused(clocks.nanos() - startNanos);
    swaps.ended(nowMillis);
  }

  private void endWindows(long nowMillis, long passedMillis, Map<OwnedQueue, FilledWindow> ended) {
    for (OwnedQueue queue : owned.values()) {
      long startNanos = clocks.nanos();
      FilledWindow filled =
          queue.awaitsPanes(nowMillis) ? null : queue.swap(nowMillis, passedMillis);
      if (filled != null) {
        ended.put(queue, filled);
        metrics.swapped(queue.id(), clocks.nanos() - startNanos);
      }
    }
  }

  /**
   * Releases each queue as soon as its previous window is kept: a queue whose broker does not
   * answer must not delay the release of other queues.
   */
  private long sealRest() {
    if (unsealed == null) {
      applyAssignments(); // the new owner of a reassigned queue reads it again
      unsealed = new ArrayList<>(assigned.values());
    }
    unsealed.removeIf(this::sealedLast);
    boolean late = clocks.nanos() - drainDeadlineNanos >= 0;
    return unsealed.isEmpty() || late ? ENDED : DRAIN_POLL_NANOS;
  }

  /** Seals a queue's last window and releases it; false while the previous one is not kept. */
  private boolean sealedLast(AssignedQueue queue) {
    OwnedQueue read = owned.get(queue.queue);
    QueueOwnership ownership = queue.ownership;
    if (read != null && !ownership.ended()) {
      if (!read.canSwap()) {
        return false;
      }
      FilledWindow filled = read.swap(clocks.millis());
      if (filled != null) {
        seal(read, filled);
      }
    }
    if (ownership != null) {
      ownership.release();
    }
    return true;
  }

  private void seal(OwnedQueue queue, FilledWindow filled) {
    assigned
        .get(queue.messageQueue())
        .ownership
        .seal(queue, filled, () -> committer.visit(queue, consumer.offsets()));
  }

  /**
   * Returns why this worker does not read queues, by queue or topic. Empty if it reads them all,
   * and if a rebalance gave it none.
   */
  Map<String, UnreadReason> unread() {
    if (!connected) {
      return Map.of(config.topic(), new UnreadReason(problem, false));
    }
    SpanConsumer latest = consumer;
    Set<MessageQueue> mine = latest.queues();
    if (mine == null) {
      return Map.of(config.topic(), new UnreadReason(NOT_BALANCED, false));
    }
    Map<String, UnreadReason> unread = new TreeMap<>();
    for (MessageQueue queue : mine) {
      if (!owned.containsKey(queue)) {
        unread.put(
            new QueueId(queue.getBrokerName(), queue.getQueueId()).toString(),
            unread(queue, latest));
      }
    }
    return unread;
  }

  private UnreadReason unread(MessageQueue queue, SpanConsumer latest) {
    AssignedQueue assignedQueue = assigned.get(queue);
    if (assignedQueue == null) {
      return latest.isWithheld(queue) ? UnreadReason.WITHHELD : UnreadReason.ASSIGNED;
    }
    UnreadReason known = assignedQueue.unread;
    if (known != null) {
      return known;
    }
    QueueOwnership ownership = assignedQueue.ownership;
    return ownership == null ? UnreadReason.WAITS : ownership.unread();
  }

  List<QueueStatus> queues() {
    return owned.values().stream().map(OwnedQueue::status).toList();
  }

  /** Seals what was recorded and ends the thread, at the deadline at the latest. */
  void drain(long deadlineNanos) {
    drainDeadlineNanos = deadlineNanos;
    draining = true;
    thread.wake();
  }

  /** Ends the thread. The next owner reads again what was not sealed. */
  void close() {
    thread.finish();
  }

  /** Leaves the consumer group. Called after the threads of worker and queues have ended. */
  void leave() {
    SpanConsumer started = consumer;
    if (started != null) {
      started.close();
    }
  }
}
