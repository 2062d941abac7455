package org.traceetl.agent.publish;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.publish.QueueBacklog.Attempt;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.spool.DamagedBatchException;
import org.traceetl.agent.spool.Settlement;
import org.traceetl.agent.spool.Spool;
import org.traceetl.agent.spool.SpooledBatch;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.common.BackOff;
import org.traceetl.common.LogThrottle;
import org.traceetl.proto.BatchAges;
import org.traceetl.proto.BundleWriter;
import org.traceetl.proto.Heartbeat;

/**
 * Sends the batches of each queue of a topic, alone or several in a bundle, and settles them by the
 * broker's answers. Bodies that are not in memory are read from the spool before they are sent.
 * Confined to the publisher thread.
 */
final class QueueSender {
  private static final Logger log = LoggerFactory.getLogger(QueueSender.class);

  /** Consecutive failures of one queue after which its broker is unreachable. */
  private static final int FAILURES_TO_AWAY = 3;

  /**
   * Age of the first batch that the broker confirms for a queue from which on the other queues'
   * messages still say that it may be missing. Servers allow for younger ones.
   */
  private static final long LATE_MILLIS = TimeUnit.SECONDS.toMillis(3);

  /** How long they say so: within this time, servers have read the batch and ended its window. */
  private static final long READ_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** Consecutive failed reads of a batch that the agent tolerates before it drops the batch. */
  private static final int MOST_READ_FAILURES = 10;

  final BodyMemory memory;
  final BrokerRoutes brokers;
  final Heartbeats heartbeats;
  private final PublisherOptions options;
  private final Transport transport;
  private final Spool spool;
  private final ToLongFunction<AgentIdentity> downMillis;
  private final PublishMetrics metrics;
  private final LongSupplier nanoClock;
  private final Executor publisherThread;
  private final BackOff backOff;
  private final LogThrottle failureLog;
  private final LogThrottle dropLog;
  private final Map<BrokerQueue, QueueBacklog> backlogs = new HashMap<>();

  /**
   * Date of the first batch in the backlog of each queue in which servers do not wait for this
   * agent, because the broker has confirmed no batch. Messages to other queues say that batches may
   * be missing from this date on.
   */
  private final Map<QueueBacklog, Long> unknown = new HashMap<>();

  private final BundleWriter bundle = new BundleWriter();
  private boolean draining;

  /** Date before which no batch is missing in the backlogs. */
  private long addedUntilMillis;

  /** Date of a late first batch that servers may not have read yet. */
  private long unreadMillis;

  private long unreadUntilNanos;

  // Changed by the publisher thread only.
  private volatile long bundlesUntilNanos;

  QueueSender(
      PublisherOptions options,
      Transport transport,
      Spool spool,
      ToLongFunction<AgentIdentity> downMillis,
      Heartbeat self,
      BodyMemory memory,
      BrokerRoutes brokers,
      PublishMetrics metrics,
      LongSupplier nanoClock,
      RandomGenerator random,
      Executor publisherThread) {
    this.options = options;
    this.transport = transport;
    this.spool = spool;
    this.downMillis = downMillis;
    this.metrics = metrics;
    this.nanoClock = nanoClock;
    this.publisherThread = publisherThread;
    this.memory = memory;
    this.brokers = brokers;
    backOff = new BackOff(options.retryFirstNanos(), options.retryMaxNanos(), random);
    failureLog = new LogThrottle(nanoClock);
    dropLog = new LogThrottle(nanoClock);
    bundlesUntilNanos = nanoClock.getAsLong();
    unreadUntilNanos = nanoClock.getAsLong();
    heartbeats =
        new Heartbeats(
            self,
            transport,
            queue -> isBusy(queue) || !unknown.isEmpty(),
            this::ages,
            metrics,
            publisherThread,
            nanoClock.getAsLong());
  }

  /** Sets the date before which no batch is missing in the backlogs, by the spool's clock. */
  void addedUntil(long millis) {
    addedUntilMillis = millis;
  }

  void add(SpooledBatch batch) {
    if (batch.isSettled()) {
      memory.release(batch);
    } else {
      QueueBacklog backlog =
          backlogs.computeIfAbsent(batch.queue(), queue -> new QueueBacklog(this::date));
      backlog.add(batch, nanoClock.getAsLong());
      if (!heartbeats.isKnown(batch.queue())) {
        unknown.merge(backlog, date(batch), Math::min);
      }
    }
  }

  void remove(SpooledBatch batch) {
    memory.release(batch);
    QueueBacklog backlog = backlogs.get(batch.queue());
    if (backlog != null) {
      backlog.remove(batch);
    }
  }

  /** Lets batches of a queue that wait at the same time share a message until the given time. */
  void bundlesUntil(long nanos) {
    bundlesUntilNanos = nanos;
  }

  /** Returns whether batches of a queue may share a message. Safe for any thread. */
  boolean mayBundle(long nowNanos) {
    return nowNanos - bundlesUntilNanos < 0;
  }

  /** Sends batches from now on without waiting for others to share a bundle. */
  void drain() {
    draining = true;
  }

  /** Sends what each queue may send now. */
  void send(long nowNanos) {
    backlogs.values().forEach(backlog -> send(backlog, nowNanos));
  }

  /** Finds lost answers, old batches, queues that are gone and idle brokers. */
  void check(long nowNanos) {
    findLost(nowNanos);
    backlogs.values().forEach(this::dropTooOld);
    backlogs
        .entrySet()
        .removeIf(entry -> !brokers.has(entry.getKey()) && !entry.getValue().isBusy());
    unknown.keySet().removeIf(backlog -> !backlog.isBusy());
    brokers.reachedExcept(
        backlogs.entrySet().stream()
            .filter(entry -> entry.getValue().isBusy())
            .map(entry -> entry.getKey().broker())
            .collect(Collectors.toSet()));
    brokers.route(nowNanos);
    heartbeats.check(nowNanos);
  }

  private boolean isBusy(BrokerQueue queue) {
    QueueBacklog backlog = backlogs.get(queue);
    return backlog != null && backlog.isBusy();
  }

  /**
   * Returns the time until a paused queue is tried again, or waiting batches are sent without
   * others, at most the given time.
   */
  long untilDueNanos(long nowNanos, long mostNanos) {
    return backlogs.values().stream()
        .mapToLong(backlog ->
            backlog.isPaused(nowNanos)
                ? backlog.pausedUntilNanos() - nowNanos
                : lingerNanos(backlog, nowNanos))
        .filter(nanos -> nanos > 0)
        .reduce(mostNanos, Math::min);
  }

  private void send(QueueBacklog backlog, long nowNanos) {
    Attempt attempt = nextDue(backlog, nowNanos);
    while (attempt != null) {
      if (mayBundle(nowNanos)) {
        fill(backlog, attempt, nowNanos);
      }
      BrokerQueue queue = attempt.first().queue();
      heartbeats.sent(queue, nowNanos);
      send(queue, message(attempt), ages(backlog, attempt), answerTo(backlog, attempt));
      attempt = nextDue(backlog, nowNanos);
    }
  }

  private Attempt nextDue(QueueBacklog backlog, long nowNanos) {
    return lingerNanos(backlog, nowNanos) > 0 ? null : next(backlog, nowNanos);
  }

  /**
   * Returns how long the queue's batches still wait for others to share a bundle; 0 if they are
   * sent now. They do not wait if that would make senders wait, because memory or spool fill up.
   */
  private long lingerNanos(QueueBacklog backlog, long nowNanos) {
    boolean lingers =
        mayBundle(nowNanos)
            && options.lingerNanos() > 0
            && !draining
            && backlog.hasWaiting()
            && !backlog.isRetrying();
    if (!lingers) {
      return 0;
    }
    long nanos = backlog.waitingSinceNanos() + options.lingerNanos() - nowNanos;
    return nanos <= 0 || memory.isScarce() || spool.isScarce() || backlog.hasFullBundle()
        ? 0
        : nanos;
  }

  /** Takes the next batch that may be sent now, with its body; null without one. */
  private Attempt next(QueueBacklog backlog, long nowNanos) {
    SpooledBatch batch = backlog.peek(nowNanos);
    while (batch != null && (batch.body() != null || hasRoomFor(batch, backlog))) {
      Attempt attempt = backlog.take(nowNanos);
      if (batch.body() != null || load(backlog, attempt)) {
        return attempt;
      }
      batch = backlog.peek(nowNanos);
    }
    return null;
  }

  /** Adds the batches that follow to an attempt while they fit into one message. */
  private void fill(QueueBacklog backlog, Attempt attempt, long nowNanos) {
    if (backlog.isAlone(attempt.first())) {
      return;
    }
    bundle.begin();
    bundle.add(attempt.first().body());
    Attempt following = next(backlog, nowNanos);
    while (following != null
        && !backlog.isAlone(following.first())
        && bundle.add(following.first().body())) {
      backlog.join(attempt, following);
      following = next(backlog, nowNanos);
    }
    if (following != null) {
      backlog.putBack(following);
    }
    if (!attempt.isBundle()) {
      bundle.begin();
    }
  }

  /** Returns the bytes to send. Bodies leave memory if a bundle repeats them. */
  private byte[] message(Attempt attempt) {
    if (!attempt.isBundle()) {
      return attempt.first().body();
    }
    byte[] message = bundle.finish();
    attempt.batches.forEach(memory::release);
    attempt.bundleBytes = message.length;
    memory.hold(message.length);
    return message;
  }

  /** Returns the ages of the batches when the message leaves. */
  private Supplier<String> ages(QueueBacklog backlog, Attempt attempt) {
    return ages(
        attempt.batches.stream().mapToLong(this::date).toArray(),
        missingFrom(backlog, backlog.oldestExcept(attempt.batches)));
  }

  /** Returns the ages of a message without batches. */
  private Supplier<String> ages(BrokerQueue queue) {
    QueueBacklog backlog = backlogs.get(queue);
    SpooledBatch oldest = backlog == null ? null : backlog.oldestExcept(List.of());
    return ages(new long[0], missingFrom(backlog, oldest));
  }

  private Supplier<String> ages(long[] dates, long missingFromMillis) {
    return () -> {
      long nowMillis = spool.nowMillis();
      long[] ages = Arrays.stream(dates).map(date -> nowMillis - date).toArray();
      return BatchAges.text(ages, ages.length, Math.max(0, nowMillis - missingFromMillis));
    };
  }

  /** Returns the date of a batch, by a clock that also ran while the agent was down. */
  private long date(SpooledBatch batch) {
    return batch.createdMillis() - downMillis.applyAsLong(batch.agent());
  }

  /**
   * Returns the date from which on batches may be missing after a message: in its queue, or in one
   * in which servers do not wait for this agent.
   *
   * @param backlog of the queue; null without one
   * @param oldest of its unconfirmed batches that are not in the message; null without one
   */
  private long missingFrom(QueueBacklog backlog, SpooledBatch oldest) {
    long millis = addedUntilMillis;
    if (oldest != null) {
      millis = Math.min(millis, date(oldest));
    }
    for (Map.Entry<QueueBacklog, Long> other : unknown.entrySet()) {
      if (other.getKey() != backlog) {
        millis = Math.min(millis, other.getValue());
      }
    }
    return nanoClock.getAsLong() - unreadUntilNanos < 0 ? Math.min(millis, unreadMillis) : millis;
  }

  private void send(
      BrokerQueue queue, byte[] message, Supplier<String> ages, Transport.Answer answer) {
    try {
      transport.send(queue, message, ages, answer);
    } catch (RuntimeException e) {
      // A transport must not throw; if it does for one queue, the other queues still send.
      answer.failed(Transport.Failure.CLIENT, e.toString());
    }
  }

  /**
   * Returns whether the body may be loaded; one of each queue always may, so that no queue blocks
   * another.
   */
  private boolean hasRoomFor(SpooledBatch batch, QueueBacklog backlog) {
    return !backlog.hasInFlight() || memory.hasRoomFor(batch);
  }

  /** Reads the body; returns false if there is nothing to send. */
  private boolean load(QueueBacklog backlog, Attempt attempt) {
    SpooledBatch batch = attempt.first();
    try {
      byte[] body = spool.read(batch);
      if (body == null) {
        backlog.answered(attempt);
        return false;
      }
      backlog.readable();
      batch.body(body);
      memory.hold(batch);
      return true;
    } catch (DamagedBatchException e) {
      backlog.answered(attempt);
      drop(batch, Settlement.DAMAGED, e.getMessage());
    } catch (IOException e) {
      pause(backlog, backlog.failed(attempt, nanoClock.getAsLong()));
      if (backlog.unreadable() > MOST_READ_FAILURES) {
        // Otherwise it would block its queue for ever.
        backlog.remove(batch);
        drop(batch, Settlement.DAMAGED, "cannot read it from the spool: " + e);
        backlog.readable();
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

  private Transport.Answer answerTo(QueueBacklog backlog, Attempt attempt) {
    return new Transport.Answer() {
      @Override
      public void confirmed() {
        publisherThread.execute(() -> onConfirmed(backlog, attempt));
      }

      @Override
      public void failed(Transport.Failure failure, String detail) {
        publisherThread.execute(() -> onFailed(backlog, attempt, failure, detail));
      }

      @Override
      public void refused(String detail) {
        publisherThread.execute(() -> onRefused(backlog, attempt, detail));
      }
    };
  }

  private void onConfirmed(QueueBacklog backlog, Attempt attempt) {
    brokers.reached(attempt.first().queue().broker());
    heartbeats.confirmed(attempt.first().queue());
    known(backlog);
    backlog.succeeded();
    backlog.answered(attempt);
    release(attempt);
    if (attempt.isBundle()) {
      metrics.bundlesPublished.inc();
    }
    for (SpooledBatch batch : attempt.batches) {
      if (spool.settle(batch, Settlement.PUBLISHED)) {
        metrics.published(batch, nanoClock.getAsLong() - attempt.startNanos);
      }
    }
  }

  /** Records that servers wait for this agent in a queue, when they have read what is confirmed. */
  private void known(QueueBacklog backlog) {
    Long firstMillis = unknown.remove(backlog);
    if (firstMillis == null || spool.nowMillis() - firstMillis <= LATE_MILLIS) {
      return;
    }
    long nowNanos = nanoClock.getAsLong();
    unreadMillis =
        nowNanos - unreadUntilNanos < 0 ? Math.min(unreadMillis, firstMillis) : firstMillis;
    unreadUntilNanos = nowNanos + READ_NANOS;
  }

  private void release(Attempt attempt) {
    memory.release(attempt.bundleBytes);
    attempt.bundleBytes = 0;
    attempt.batches.forEach(memory::release);
  }

  private void onFailed(
      QueueBacklog backlog, Attempt attempt, Transport.Failure failure, String detail) {
    metrics.sendFailures.labels(failure.label()).inc();
    int failures = backlog.failed(attempt, nanoClock.getAsLong());
    if (failures == 0) {
      return;
    }
    pause(backlog, failures);
    release(attempt);
    String broker = attempt.first().queue().broker();
    if (failure.isAnswer()) {
      brokers.reached(broker);
    } else if (failures >= FAILURES_TO_AWAY) {
      away(broker, detail);
    }
    if (failureLog.permits()) {
      log.warn(
          "The broker did not confirm {} of queue {} ({}); the agent sends it again",
          attempt,
          attempt.first().queue(),
          detail);
    }
  }

  private void pause(QueueBacklog backlog, int failures) {
    backlog.pauseUntil(nanoClock.getAsLong() + backOff.nanos(failures));
  }

  private void away(String broker, String detail) {
    if (brokers.away(broker, nanoClock.getAsLong())) {
      log.warn(
          "Broker {} is unreachable ({}). The agent keeps its batches in the spool and retries;"
              + " the spool holds {} batches",
          broker,
          detail,
          spool.batches());
    }
    // Frees memory for the other brokers' batches.
    backlogs.forEach((queue, backlog) -> {
      if (queue.broker().equals(broker)) {
        backlog.forEachWaiting(memory::release);
      }
    });
  }

  private void onRefused(QueueBacklog backlog, Attempt attempt, String detail) {
    brokers.reached(attempt.first().queue().broker());
    metrics.sendFailures.labels("refused").inc();
    if (attempt.isBundle()) {
      backlog.refused(attempt);
      release(attempt);
      if (failureLog.permits()) {
        log.warn(
            "The broker refused {} of queue {} ({}); the agent sends its batches one by one",
            attempt,
            attempt.first().queue(),
            detail);
      }
      return;
    }
    backlog.answered(attempt);
    drop(
        attempt.first(),
        Settlement.REFUSED_BY_BROKER,
        "the broker refuses it permanently: " + detail);
  }

  private void drop(SpooledBatch batch, Settlement why, String detail) {
    memory.release(batch);
    if (spool.settle(batch, why) && dropLog.permits()) {
      log.error(
          "Dropped batch {} of queue {} with {} spans and {} half-edges: {}",
          batch.sequence(),
          batch.queue(),
          batch.spans(),
          batch.halfEdges(),
          detail);
    }
  }

  private void findLost(long nowNanos) {
    for (QueueBacklog backlog : backlogs.values()) {
      for (Attempt attempt : backlog.startedBefore(nowNanos - options.answerNanos())) {
        onFailed(backlog, attempt, Transport.Failure.NO_ANSWER, "the broker did not answer");
      }
    }
  }

  private void dropTooOld(QueueBacklog backlog) {
    long oldestAllowed = spool.nowMillis() - options.mostAgeMillis();
    SpooledBatch batch = backlog.oldest();
    while (batch != null && batch.createdMillis() < oldestAllowed) {
      boolean gone = brokers.isKnown() && !brokers.has(batch.queue());
      backlog.remove(batch);
      drop(
          batch,
          gone ? Settlement.QUEUE_GONE : Settlement.AGE,
          gone
              ? "it is older than spool.max-age-hours, and the queue is no longer in the topic"
              : "it is older than spool.max-age-hours");
      batch = backlog.oldest();
    }
  }
}
