package org.traceetl.agent.publish;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.RocketMqConfig;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.route.Topology;
import org.traceetl.agent.telemetry.AgentMetrics;
import org.traceetl.agent.telemetry.LogThrottle;

/**
 * Sends batches until the broker confirms them, each to its own queue and under its own name, so
 * that the server counts it once however often it arrives.
 *
 * <p>One thread owns the lanes; appends and answers reach it as tasks. Tasks and batches are
 * bounded by the pipeline, which accepts nothing while too many bytes are unconfirmed.
 */
public final class Publisher implements Spool, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Publisher.class);

  /** Failures in a row to reach a broker for one queue that mean it is away. */
  private static final int FAILURES_TO_AWAY = 3;

  /** How long the topic may be without a queue before what waits for it is given up. */
  private static final long GONE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final Transport transport;
  private final RocketMqConfig config;
  private final AgentMetrics metrics;
  private final LongSupplier nanoClock;
  private final LogThrottle failureLog;
  private final LogThrottle refusalLog;
  private final LinkedBlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
  private final Map<BrokerQueue, Lane> lanes = new HashMap<>();
  private final Set<String> awayBrokers = new HashSet<>();
  private final CompletableFuture<Void> idle = new CompletableFuture<>();
  private final Thread thread;

  // Owned by the thread.
  private int unconfirmed;
  private boolean draining;
  private boolean stopped;
  private Set<BrokerQueue> queues = Set.of();
  private long nextCheckNanos;

  private final AtomicLong unconfirmedBytes = new AtomicLong();
  private volatile boolean available = true;

  public Publisher(
      Transport transport, RocketMqConfig config, AgentMetrics metrics, LongSupplier nanoClock) {
    this.transport = transport;
    this.config = config;
    this.metrics = metrics;
    this.nanoClock = nanoClock;
    this.failureLog = new LogThrottle(10, TimeUnit.SECONDS, nanoClock);
    this.refusalLog = new LogThrottle(10, TimeUnit.SECONDS, nanoClock);
    this.nextCheckNanos = nanoClock.getAsLong();
    this.thread = Thread.ofPlatform().name("publisher").unstarted(this::run);
    metrics.gauge(
        "broker_available",
        "1 while a broker of the topic can be reached, 0 while none can.",
        () -> available ? 1 : 0);
    metrics.gauge(
        "unconfirmed_bytes",
        "Bytes of the batches that the broker has not confirmed.",
        unconfirmedBytes::get);
  }

  /** Starts the thread. */
  public void start() {
    thread.start();
  }

  @Override
  public void append(Batch batch) {
    unconfirmedBytes.addAndGet(batch.body().length);
    tasks.add(() -> add(batch));
  }

  @Override
  public long unconfirmedBytes() {
    return unconfirmedBytes.get();
  }

  @Override
  public boolean available() {
    return available;
  }

  /** Tells which queues the topic has now. */
  public void topology(Topology topology) {
    Set<BrokerQueue> now = Set.copyOf(topology.queues());
    tasks.add(() -> {
      queues = now;
      updateAvailable();
    });
  }

  /**
   * Waits until all that was appended before is confirmed or given up.
   *
   * @return false when the time was too short; {@link #close} then fails what is left
   */
  public boolean drain(long timeoutNanos) throws InterruptedException {
    tasks.add(() -> draining = true);
    try {
      idle.get(Math.max(timeoutNanos, 0), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Fails what is not confirmed and ends the thread. The transport stays open. */
  @Override
  public void close() {
    tasks.add(() -> stopped = true);
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    while (!stopped) {
      try {
        step(waitNanos());
      } catch (InterruptedException e) {
        // Nobody else has this thread; close() is the way to end it.
        log.warn("The publisher's thread was interrupted and goes on");
      } catch (RuntimeException e) {
        log.error("The publisher goes on after an unexpected failure", e);
      }
    }
    for (Lane lane : lanes.values()) {
      lane.removeAll().forEach(batch -> giveUp(batch, "agent_stops", "the agent stops"));
    }
  }

  /** Runs the tasks that are there, waiting for the first at most this long, and sends. */
  private void step(long waitNanos) throws InterruptedException {
    Runnable task = tasks.poll(waitNanos, TimeUnit.NANOSECONDS);
    while (task != null) {
      task.run();
      task = tasks.poll();
    }
    if (stopped) {
      return;
    }
    long now = nanoClock.getAsLong();
    if (now - nextCheckNanos >= 0) {
      nextCheckNanos = now + TimeUnit.SECONDS.toNanos(1);
      findLost(now);
      dropGone(now);
    }
    lanes.values().forEach(lane -> send(lane, now));
    if (draining && unconfirmed == 0) {
      idle.complete(null);
    }
  }

  private long waitNanos() {
    long now = nanoClock.getAsLong();
    long wait = TimeUnit.SECONDS.toNanos(1);
    for (Lane lane : lanes.values()) {
      if (lane.isPaused(now)) {
        wait = Math.min(wait, lane.pausedUntilNanos() - now);
      }
    }
    return wait;
  }

  private void add(Batch batch) {
    unconfirmed++;
    lanes.computeIfAbsent(batch.queue(), queue -> new Lane(nanoClock.getAsLong())).add(batch);
  }

  private void send(Lane lane, long nowNanos) {
    Lane.Attempt attempt = lane.next(nowNanos);
    while (attempt != null) {
      transport.send(attempt.batch, answerTo(lane, attempt));
      attempt = lane.next(nowNanos);
    }
  }

  private Transport.Answer answerTo(Lane lane, Lane.Attempt attempt) {
    return new Transport.Answer() {
      @Override
      public void confirmed() {
        tasks.add(() -> onConfirmed(lane, attempt));
      }

      @Override
      public void failed(Transport.Failure failure, String detail) {
        tasks.add(() -> onFailed(lane, attempt, failure, detail));
      }

      @Override
      public void refused(String detail) {
        tasks.add(() -> onRefused(lane, attempt, detail));
      }
    };
  }

  private void onConfirmed(Lane lane, Lane.Attempt attempt) {
    reached(attempt.batch.queue().broker());
    if (lane.confirmed(attempt)) {
      Batch batch = attempt.batch;
      settled(batch);
      metrics.sendSeconds.observe((nanoClock.getAsLong() - attempt.startNanos) / 1e9);
      metrics.batchesPublished.inc();
      metrics.spansPublished.inc(batch.spans());
      metrics.bytesPublished.inc(batch.body().length);
      batch.outcome().confirmed();
    }
  }

  private void onFailed(Lane lane, Lane.Attempt attempt, Transport.Failure failure, String detail) {
    metrics.sendFailures.labels(failure.label()).inc();
    long now = nanoClock.getAsLong();
    int failures = lane.failed(attempt, now);
    if (failures == 0) {
      return;
    }
    lane.pauseUntil(now + backOffNanos(failures));
    String broker = attempt.batch.queue().broker();
    if (failure == Transport.Failure.BROKER) {
      reached(broker);
    } else if (failures >= FAILURES_TO_AWAY && awayBrokers.add(broker)) {
      log.warn(
          "Broker {} is away ({}): its batches are kept and sent again; {} are unconfirmed",
          broker,
          detail,
          unconfirmed);
      updateAvailable();
    }
    if (failureLog.permits()) {
      log.warn(
          "Batch {} of queue {} was not confirmed ({}): it is sent again",
          attempt.batch.sequence(),
          attempt.batch.queue(),
          detail);
    }
  }

  private void reached(String broker) {
    if (awayBrokers.remove(broker)) {
      log.info("Broker {} is back", broker);
      updateAvailable();
    }
  }

  /** Spans are refused only when no broker is left for them; else the bytes in flight decide. */
  private void updateAvailable() {
    available =
        queues.isEmpty()
            || !queues.stream().map(BrokerQueue::broker).allMatch(awayBrokers::contains);
  }

  private void onRefused(Lane lane, Lane.Attempt attempt, String detail) {
    reached(attempt.batch.queue().broker());
    metrics.sendFailures.labels("refused").inc();
    if (lane.refused(attempt)) {
      if (refusalLog.permits()) {
        log.error(
            "The broker refuses batch {} of queue {} for good: {}",
            attempt.batch.sequence(),
            attempt.batch.queue(),
            detail);
      }
      countFailed(attempt.batch, "refused");
      attempt.batch.outcome().refused();
    }
  }

  private void giveUp(Batch batch, String reason, String detail) {
    countFailed(batch, reason);
    batch.outcome().failed(detail);
  }

  private void settled(Batch batch) {
    unconfirmed--;
    unconfirmedBytes.addAndGet(-batch.body().length);
  }

  private void countFailed(Batch batch, String reason) {
    settled(batch);
    metrics.batchesFailed.labels(reason).inc();
    metrics.spansFailed.labels(reason).inc(batch.spans());
  }

  private void findLost(long nowNanos) {
    for (Lane lane : lanes.values()) {
      for (Lane.Attempt attempt : lane.startedBefore(nowNanos - lostAfterNanos())) {
        onFailed(lane, attempt, Transport.Failure.NO_ANSWER, "no answer at all");
      }
    }
  }

  /**
   * Gives up what waits for queues that the topic no longer has: nobody would ever take it, and its
   * payloads would hold their share of the bytes in flight, and their files, for ever.
   */
  private void dropGone(long nowNanos) {
    boolean dropped =
        lanes
            .entrySet()
            .removeIf(entry -> {
              BrokerQueue queue = entry.getKey();
              Lane lane = entry.getValue();
              if (queues.isEmpty() || queues.contains(queue)) {
                lane.listed(nowNanos);
              }
              if (nowNanos - lane.lastListedNanos() < GONE_NANOS) {
                return false;
              }
              Collection<Batch> left = lane.removeAll();
              log.warn(
                  "The topic no longer has queue {}: {} batches are given up", queue, left.size());
              left.forEach(
                  batch -> giveUp(batch, "queue_gone", "the queue is gone from the topic"));
              return true;
            });
    if (dropped) {
      // Where nothing waits nothing is tried, so that a broker would stay away for ever.
      awayBrokers.retainAll(
          lanes.entrySet().stream()
              .filter(entry -> !entry.getValue().isEmpty())
              .map(entry -> entry.getKey().broker())
              .collect(Collectors.toSet()));
      updateAvailable();
    }
  }

  /** The transport answers within its timeout; well after that its answer is lost. */
  private long lostAfterNanos() {
    return TimeUnit.MILLISECONDS.toNanos(10_000L + 2L * config.sendTimeoutMillis());
  }

  /**
   * Doubles with each failure up to the maximum; a fifth of it is chance, so that agents spread.
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
