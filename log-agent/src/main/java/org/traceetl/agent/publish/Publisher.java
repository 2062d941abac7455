package org.traceetl.agent.publish;

import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.RocketMqConfig;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.route.Topology;
import org.traceetl.agent.spool.DamagedBatchException;
import org.traceetl.agent.spool.Outlet;
import org.traceetl.agent.spool.Settlement;
import org.traceetl.agent.spool.Spool;
import org.traceetl.agent.spool.SpooledBatch;
import org.traceetl.agent.telemetry.AgentMetrics;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;

/**
 * Sends the spool's batches until the broker confirms them. Every attempt uses the batch's queue
 * and name, so the server counts it once.
 *
 * <p>One thread owns the lanes; appends and answers reach it as tasks. The spool bounds the
 * batches. Bodies in memory are bounded in bytes; other bodies are read from the spool before they
 * are sent.
 */
public final class Publisher implements Outlet, SteppedTask, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Publisher.class);

  /** Consecutive failures of one queue after which its broker is unreachable. */
  private static final int FAILURES_TO_AWAY = 3;

  /** Consecutive failed reads of a batch that the agent tolerates before it drops the batch. */
  private static final int MOST_READ_FAILURES = 10;

  private final Transport transport;
  private final RocketMqConfig config;
  private final Spool spool;
  private final long mostBodyBytes;
  private final long mostAgeMillis;
  private final AgentMetrics metrics;
  private final LongSupplier nanoClock;
  private final LongSupplier millis;
  private final LogThrottle failureLog;
  private final LogThrottle dropLog;
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final Map<BrokerQueue, QueueBacklog> lanes = new HashMap<>();
  private final CompletableFuture<Void> idle = new CompletableFuture<>();
  private final SteppedThread thread;

  // Owned by the thread.
  private boolean draining;
  private Set<BrokerQueue> queues = Set.of();
  private Topology topology;
  private Topology routed;
  private final Detour detour;
  private final Map<String, Long> awaySinceNanos = new HashMap<>();
  private long nextCheckNanos;

  // Changed by the publisher thread only; the pipeline thread reads it.
  private final Set<String> awayBrokers = ConcurrentHashMap.newKeySet();
  // Bytes of the bodies in memory.
  private final AtomicLong bodyBytes = new AtomicLong();
  private volatile boolean available = true;
  private volatile int brokersLeft;
  private volatile Consumer<Topology> routes = routed -> {};

  /**
   * Creates a publisher, which sends the batches of earlier runs first.
   *
   * @param mostBodyBytes limit of the bytes of bodies in memory; each queue may exceed it by one
   *     body
   * @param mostAgeMillis older batches are dropped
   * @param rerouteAfterNanos how long a broker is unreachable before new spans are routed to others
   * @param millis the spool's clock, which dates batches and advances by elapsed time only
   */
  public Publisher(
      Transport transport,
      RocketMqConfig config,
      Spool spool,
      long mostBodyBytes,
      long mostAgeMillis,
      long rerouteAfterNanos,
      AgentMetrics metrics,
      LongSupplier nanoClock,
      LongSupplier millis) {
    this.transport = transport;
    this.config = config;
    this.spool = spool;
    this.mostBodyBytes = mostBodyBytes;
    this.mostAgeMillis = mostAgeMillis;
    this.detour = new Detour(rerouteAfterNanos, spool::partOf);
    this.metrics = metrics;
    this.nanoClock = nanoClock;
    this.millis = millis;
    this.failureLog = new LogThrottle(nanoClock);
    this.dropLog = new LogThrottle(nanoClock);
    this.nextCheckNanos = nanoClock.getAsLong();
    this.thread = new SteppedThread("publisher", this, new LogThrottle(nanoClock));
    metrics.gauge(
        "broker_available",
        "1 while at least one broker of the topic can be reached, else 0.",
        () -> available ? 1 : 0);
    metrics.gauge(
        "batch_memory_bytes",
        "Bytes of batches in memory; other batches are read from the spool when they are sent.",
        bodyBytes::get);
    metrics.gauge(
        "brokers_left",
        "Brokers of the topic that get no new spans, because they are unreachable or their"
            + " batches exceed their share of the spool.",
        () -> brokersLeft);
  }

  /** Sets the receiver of the queues for new spans. Call before the first topology. */
  public void routes(Consumer<Topology> to) {
    routes = to;
  }

  /** Starts the thread, and becomes the spool's outlet. */
  public void start() {
    List<SpooledBatch> recovered = spool.takeRecovered();
    submit(() -> recovered.forEach(this::add));
    spool.outlet(this);
    thread.start();
  }

  @Override
  public void append(List<SpooledBatch> batches) {
    for (SpooledBatch batch : batches) {
      boolean kept =
          !awayBrokers.contains(batch.queue().broker())
              && bodyBytes.get() + batch.length() <= mostBodyBytes;
      if (kept) {
        bodyBytes.addAndGet(batch.length());
      } else {
        batch.body(null);
      }
    }
    submit(() -> batches.forEach(this::add));
  }

  @Override
  public void forget(List<SpooledBatch> batches) {
    submit(() -> batches.forEach(this::remove));
  }

  /** Returns false while no broker of the topic can be reached. */
  public boolean available() {
    return available;
  }

  /** Sets the topic's queues. */
  public void topology(Topology now) {
    Set<BrokerQueue> nowQueues = Set.copyOf(now.queues());
    submit(() -> {
      topology = now;
      queues = nowQueues;
      updateAvailable();
      route(nanoClock.getAsLong());
    });
  }

  /** Routes new spans around avoided brokers; existing batches keep their queues. */
  private void route(long nowNanos) {
    if (topology == null) {
      return;
    }
    Topology now = detour.around(topology, awaySinceNanos, nowNanos);
    if (now.equals(routed)) {
      return;
    }
    routed = now;
    Set<String> left = brokers(topology);
    left.removeAll(brokers(now));
    if (left.size() != brokersLeft) {
      log.warn(
          "New spans are not routed to {} of the topic's brokers, because they are unreachable"
              + " or their batches exceed their share of the spool: brokers={}",
          left.size(),
          left);
    }
    brokersLeft = left.size();
    routes.accept(now);
  }

  private static Set<String> brokers(Topology topology) {
    return topology.queues().stream()
        .map(BrokerQueue::broker)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /**
   * Waits until all batches in the spool are confirmed or dropped. No batch may be added meanwhile.
   *
   * @return false if the time was too short; unconfirmed batches stay in the spool
   */
  public boolean drain(long timeoutNanos) throws InterruptedException {
    submit(() -> draining = true);
    try {
      idle.get(Math.max(timeoutNanos, 0), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException e) {
      return spool.batches() == 0;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Stops sending and ends the thread. The transport and the spool stay open. */
  @Override
  public void close() {
    thread.close();
  }

  /**
   * Runs the queued tasks, and sends.
   *
   * @return time until the next check, or until a paused queue is tried again
   */
  @Override
  public long doWork() {
    int tasksRun = runTasks();
    long now = nanoClock.getAsLong();
    if (now - nextCheckNanos >= 0) {
      nextCheckNanos = now + TimeUnit.SECONDS.toNanos(1);
      findLost(now);
      lanes.values().forEach(this::dropTooOld);
      leaveGone();
      forgetIdleAway();
      route(now);
    }
    lanes.values().forEach(lane -> send(lane, now));
    if (draining && spool.batches() == 0) {
      idle.complete(null);
    }
    return tasksRun > 0 ? 0 : idleNanos();
  }

  private int runTasks() {
    int run = 0;
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
      run++;
    }
    return run;
  }

  private long idleNanos() {
    long now = nanoClock.getAsLong();
    long wait = TimeUnit.SECONDS.toNanos(1);
    for (QueueBacklog lane : lanes.values()) {
      if (lane.isPaused(now)) {
        wait = Math.min(wait, lane.pausedUntilNanos() - now);
      }
    }
    return wait;
  }

  /** Settles confirmed batches; sends nothing more. */
  @Override
  public void onEnd() {
    runTasks();
  }

  private void submit(Runnable task) {
    tasks.add(task);
    thread.wake();
  }

  private void add(SpooledBatch batch) {
    if (batch.isSettled()) {
      releaseBody(batch);
    } else {
      lanes.computeIfAbsent(batch.queue(), queue -> new QueueBacklog()).add(batch);
    }
  }

  private void remove(SpooledBatch batch) {
    releaseBody(batch);
    QueueBacklog lane = lanes.get(batch.queue());
    if (lane != null) {
      lane.remove(batch);
    }
  }

  private void releaseBody(SpooledBatch batch) {
    if (batch.body() != null) {
      bodyBytes.addAndGet(-batch.length());
      batch.body(null);
    }
  }

  private void send(QueueBacklog lane, long nowNanos) {
    SpooledBatch batch = lane.peek(nowNanos);
    while (batch != null && (batch.body() != null || hasRoomFor(batch, lane))) {
      QueueBacklog.Attempt attempt = lane.take(nowNanos);
      if (batch.body() != null || load(lane, attempt)) {
        send(batch, answerTo(lane, attempt));
      }
      batch = lane.peek(nowNanos);
    }
  }

  private void send(SpooledBatch batch, Transport.Answer answer) {
    try {
      transport.send(batch, answer);
    } catch (RuntimeException e) {
      // A transport must not throw; if it does for one queue, the other queues still send.
      answer.failed(Transport.Failure.CLIENT, e.toString());
    }
  }

  /**
   * Returns whether the body may be loaded; one of each queue always may, so that no queue blocks
   * another.
   */
  private boolean hasRoomFor(SpooledBatch batch, QueueBacklog lane) {
    return !lane.hasInFlight() || bodyBytes.get() + batch.length() <= mostBodyBytes;
  }

  /** Reads the body; returns false if there is nothing to send. */
  private boolean load(QueueBacklog lane, QueueBacklog.Attempt attempt) {
    SpooledBatch batch = attempt.batch;
    try {
      byte[] body = spool.read(batch);
      if (body == null) {
        lane.answered(attempt);
        return false;
      }
      lane.readable();
      batch.body(body);
      bodyBytes.addAndGet(body.length);
      return true;
    } catch (DamagedBatchException e) {
      lane.answered(attempt);
      drop(batch, Settlement.DAMAGED, e.getMessage());
    } catch (IOException e) {
      pause(lane, lane.failed(attempt, nanoClock.getAsLong()));
      if (lane.unreadable() > MOST_READ_FAILURES) {
        // Otherwise it would block its queue for ever.
        lane.remove(batch);
        drop(batch, Settlement.DAMAGED, "cannot read it from the spool: " + e);
        lane.readable();
      } else if (failureLog.permits()) {
        log.warn(
            "Cannot read batch {} of queue {} from the spool ({}); the agent retries",
            batch.sequence(),
            batch.queue(),
            e.toString());
      }
    }
    return false;
  }

  private Transport.Answer answerTo(QueueBacklog lane, QueueBacklog.Attempt attempt) {
    return new Transport.Answer() {
      @Override
      public void confirmed() {
        submit(() -> onConfirmed(lane, attempt));
      }

      @Override
      public void failed(Transport.Failure failure, String detail) {
        submit(() -> onFailed(lane, attempt, failure, detail));
      }

      @Override
      public void refused(String detail) {
        submit(() -> onRefused(lane, attempt, detail));
      }
    };
  }

  private void onConfirmed(QueueBacklog lane, QueueBacklog.Attempt attempt) {
    SpooledBatch batch = attempt.batch;
    reached(batch.queue().broker());
    lane.succeeded();
    lane.answered(attempt);
    releaseBody(batch);
    if (spool.settle(batch, Settlement.PUBLISHED)) {
      metrics.sendSeconds.observe((nanoClock.getAsLong() - attempt.startNanos) / 1e9);
      metrics.batchesPublished.inc();
      metrics.spansPublished.inc(batch.spans());
      metrics.bytesPublished.inc(batch.length());
    }
  }

  private void onFailed(
      QueueBacklog lane, QueueBacklog.Attempt attempt, Transport.Failure failure, String detail) {
    metrics.sendFailures.labels(failure.label()).inc();
    int failures = lane.failed(attempt, nanoClock.getAsLong());
    if (failures == 0) {
      return;
    }
    pause(lane, failures);
    releaseBody(attempt.batch);
    String broker = attempt.batch.queue().broker();
    if (failure.isAnswer()) {
      reached(broker);
    } else if (failures >= FAILURES_TO_AWAY) {
      away(broker, detail);
    }
    if (failureLog.permits()) {
      log.warn(
          "Batch {} of queue {} was not confirmed ({}); the agent sends it again",
          attempt.batch.sequence(),
          attempt.batch.queue(),
          detail);
    }
  }

  private void pause(QueueBacklog lane, int failures) {
    lane.pauseUntil(nanoClock.getAsLong() + backOffNanos(failures));
  }

  private void away(String broker, String detail) {
    if (awayBrokers.add(broker)) {
      awaySinceNanos.put(broker, nanoClock.getAsLong());
      log.warn(
          "Broker {} is unreachable ({}). The agent keeps its batches in the spool and retries;"
              + " the spool holds {} batches",
          broker,
          detail,
          spool.batches());
      updateAvailable();
    }
    // Frees memory for the other brokers' batches.
    lanes.forEach((queue, lane) -> {
      if (queue.broker().equals(broker)) {
        lane.forEachWaiting(this::releaseBody);
      }
    });
  }

  private void reached(String broker) {
    if (awayBrokers.remove(broker)) {
      awaySinceNanos.remove(broker);
      log.info("Broker {} is reachable again", broker);
      updateAvailable();
    }
  }

  private void updateAvailable() {
    available =
        queues.isEmpty()
            || !queues.stream().map(BrokerQueue::broker).allMatch(awayBrokers::contains);
  }

  private void onRefused(QueueBacklog lane, QueueBacklog.Attempt attempt, String detail) {
    reached(attempt.batch.queue().broker());
    metrics.sendFailures.labels("refused").inc();
    lane.answered(attempt);
    drop(
        attempt.batch,
        Settlement.REFUSED_BY_BROKER,
        "the broker refuses it permanently: " + detail);
  }

  private void drop(SpooledBatch batch, Settlement why, String detail) {
    releaseBody(batch);
    if (spool.settle(batch, why) && dropLog.permits()) {
      log.error(
          "Dropped batch {} of queue {} with {} spans: {}",
          batch.sequence(),
          batch.queue(),
          batch.spans(),
          detail);
    }
  }

  private void findLost(long nowNanos) {
    for (QueueBacklog lane : lanes.values()) {
      for (QueueBacklog.Attempt attempt : lane.startedBefore(nowNanos - lostAfterNanos())) {
        onFailed(lane, attempt, Transport.Failure.NO_ANSWER, "the broker did not answer");
      }
    }
  }

  private void dropTooOld(QueueBacklog lane) {
    long oldestAllowed = millis.getAsLong() - mostAgeMillis;
    SpooledBatch batch = lane.oldest();
    while (batch != null && batch.createdMillis() < oldestAllowed) {
      boolean gone = !queues.isEmpty() && !queues.contains(batch.queue());
      lane.remove(batch);
      drop(
          batch,
          gone ? Settlement.QUEUE_GONE : Settlement.AGE,
          gone
              ? "it is older than spool.max-age-hours, and the queue is no longer in the topic"
              : "it is older than spool.max-age-hours");
      batch = lane.oldest();
    }
  }

  /** Removes queues that are no longer in the topic and have nothing to send. */
  private void leaveGone() {
    lanes
        .entrySet()
        .removeIf(entry ->
            !queues.contains(entry.getKey())
                && entry.getValue().isEmpty()
                && !entry.getValue().hasInFlight());
  }

  /**
   * Treats brokers without batches as reachable: without attempts, they would stay unreachable for
   * ever.
   */
  private void forgetIdleAway() {
    if (awayBrokers.isEmpty()) {
      return;
    }
    Set<String> busy = new HashSet<>();
    lanes.forEach((queue, lane) -> {
      if (!lane.isEmpty() || lane.hasInFlight()) {
        busy.add(queue.broker());
      }
    });
    if (awayBrokers.retainAll(busy)) {
      awaySinceNanos.keySet().retainAll(busy);
      updateAvailable();
    }
  }

  /** Returns the nanoseconds after which an answer is lost; well above the transport's timeout. */
  private long lostAfterNanos() {
    return TimeUnit.MILLISECONDS.toNanos(10_000L + 2L * config.sendTimeoutMillis());
  }

  /**
   * Returns a pause that doubles with each failure up to the maximum, less up to 20 % at random, so
   * that agents spread.
   */
  private long backOffNanos(int failures) {
    long millis =
        Math.min(
            config.retryMaxMillis(),
            (long) config.retryFirstMillis() << Math.min(failures - 1, 20));
    long nanos = TimeUnit.MILLISECONDS.toNanos(millis);
    return nanos - (long) (ThreadLocalRandom.current().nextDouble() * 0.2 * nanos);
  }
}
