package org.traceetl.agent.publish;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import java.util.random.RandomGenerator;
import org.traceetl.agent.route.Topology;
import org.traceetl.agent.spool.Outlet;
import org.traceetl.agent.spool.Spool;
import org.traceetl.agent.spool.SpooledBatch;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;
import org.traceetl.common.Threads;
import org.traceetl.proto.Demand;
import org.traceetl.proto.Heartbeat;

/**
 * Sends the spool's batches until the broker confirms them. Every attempt uses the batch's queue
 * and name, alone or in a bundle, so the server counts it once.
 *
 * <p>One thread owns the batches; appends and answers reach it as tasks. The spool bounds the
 * batches. Bodies in memory are bounded in bytes.
 */
public final class Publisher implements Outlet, SteppedTask, AutoCloseable {
  private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** A half-edge takes a small part of the bytes of its span. */
  private static final int EDGES_PART_OF_MEMORY = 8;

  /**
   * Age of a demand from which it permits neither bundles nor heartbeats. Servers renew it every
   * five minutes; if none does, all of them may be of a release that cannot read them.
   */
  private static final long PERMISSION_VALID_MILLIS = TimeUnit.MINUTES.toMillis(15);

  private final Spool spool;
  private final Clocks clocks;
  private final LongSupplier nanoClock;
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  // Separate, so that what waits for one topic does not hold back the other.
  private final QueueSender spans;
  private final QueueSender edges;
  private final List<QueueSender> senders;
  private final CountDownLatch idle = new CountDownLatch(1);
  private final Threads threads;
  private final SteppedThread thread;

  // Owned by the thread.
  private boolean draining;
  private long nextCheckNanos;

  /**
   * Creates a publisher, which sends the batches of earlier runs first.
   *
   * @param downMillis returns how long the agent was down since a run, which the spool's dates lack
   * @param self heartbeat of this run
   * @param random varies the pauses after failures
   */
  public Publisher(
      PublisherOptions options,
      Transport transport,
      Spool spool,
      ToLongFunction<AgentIdentity> downMillis,
      Heartbeat self,
      PublishMetrics metrics,
      Clocks clocks,
      RandomGenerator random) {
    this.spool = spool;
    this.clocks = clocks;
    nanoClock = clocks.nanoClock();
    threads = clocks.threads();
    BodyMemory spanMemory = new BodyMemory(options.mostBodyBytes());
    BodyMemory edgeMemory = new BodyMemory(options.mostBodyBytes() / EDGES_PART_OF_MEMORY);
    BrokerRoutes spanBrokers =
        new BrokerRoutes(new Detour(options.rerouteAfterNanos(), spool::partOf));
    BiFunction<BodyMemory, BrokerRoutes, QueueSender> sender =
        (memory, brokers) ->
            new QueueSender(
                options,
                transport,
                spool,
                downMillis,
                self,
                memory,
                brokers,
                metrics,
                nanoClock,
                random,
                this::submit);
    spans = sender.apply(spanMemory, spanBrokers);
    edges = sender.apply(edgeMemory, BrokerRoutes.withoutDetour());
    senders = List.of(spans, edges);
    this.nextCheckNanos = nanoClock.getAsLong();
    this.thread = new SteppedThread(clocks, "publisher", this, new LogThrottle(nanoClock));
    metrics.gauge(
        "broker_available",
        "1 while at least one broker of the topic can be reached, else 0.",
        () -> available() ? 1 : 0);
    metrics.gauge(
        "batch_memory_bytes",
        "Bytes of batches in memory; other batches are read from the spool when they are sent.",
        () -> spanMemory.bytes() + edgeMemory.bytes());
    metrics.gauge(
        "brokers_left",
        "Brokers of the topic that get no new spans, because they are unreachable or their"
            + " batches exceed their share of the spool.",
        spans.brokers::left);
    metrics.gauge(
        "bundles_permitted",
        "1 while batches of a queue may share a message, else 0.",
        () -> spans.mayBundle(nanoClock.getAsLong()) ? 1 : 0);
  }

  /** Sets the receiver of the queues for new spans. Call before the first topology. */
  public void routes(Consumer<Topology> to) {
    spans.brokers.listener(to);
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
      QueueSender sender = sender(batch);
      if (!sender.brokers.isAway(batch.queue().broker()) && sender.memory.hasRoomFor(batch)) {
        sender.memory.hold(batch);
      } else {
        batch.body(null);
      }
    }
    submit(() -> batches.forEach(this::add));
  }

  @Override
  public void forget(List<SpooledBatch> batches) {
    submit(() -> batches.forEach(batch -> sender(batch).remove(batch)));
  }

  private void add(SpooledBatch batch) {
    sender(batch).add(batch);
  }

  private QueueSender sender(SpooledBatch batch) {
    return switch (batch.queue().topic()) {
      case SPANS -> spans;
      case EDGES -> edges;
    };
  }

  /**
   * Lets batches of a queue that wait at the same time share a message if the servers' demand says
   * that they read it, until the demand is 15 minutes old.
   *
   * @param demand in force, or its renewal
   */
  public void bundles(Demand demand) {
    long untilNanos = permittedUntilNanos(demand.readsBundles(), demand);
    submit(() -> senders.forEach(sender -> sender.bundlesUntil(untilNanos)));
  }

  /**
   * Sends heartbeats if the servers' demand says that they read them, until the demand is 15
   * minutes old.
   *
   * @param demand in force, or its renewal
   */
  public void heartbeats(Demand demand) {
    long untilNanos = permittedUntilNanos(demand.readsHeartbeats(), demand);
    submit(() -> senders.forEach(sender -> sender.heartbeats.until(untilNanos)));
  }

  private long permittedUntilNanos(boolean permitted, Demand demand) {
    long ageMillis = Math.max(0, clocks.millis() - demand.decidedMillis());
    long leftMillis = permitted ? Math.max(0, PERMISSION_VALID_MILLIS - ageMillis) : 0;
    return nanoClock.getAsLong() + TimeUnit.MILLISECONDS.toNanos(leftMillis);
  }

  /** Returns false while no broker of the spans' topic can be reached. */
  public boolean available() {
    return spans.brokers.isAvailable();
  }

  /** Sets the queues of the spans' topic. */
  public void topology(Topology now) {
    submit(() -> spans.brokers.topology(now, nanoClock.getAsLong()));
  }

  /** Sets the queues of the half-edges' topic. */
  public void edges(Topology now) {
    submit(() -> edges.brokers.topology(now, nanoClock.getAsLong()));
  }

  /**
   * Sends all batches, and waits until all in the spool are confirmed or dropped. Then servers need
   * not wait for this agent, so it sends its goodbyes. No batch may be added meanwhile.
   *
   * @return false if the time was too short; unconfirmed batches stay in the spool
   */
  public boolean drain(long timeoutNanos) throws InterruptedException {
    submit(() -> {
      draining = true;
      senders.forEach(QueueSender::drain);
    });
    return threads.await(idle, Duration.ofNanos(Math.max(timeoutNanos, 0))) || spool.batches() == 0;
  }

  /** Stops sending and ends the thread. The transport and the spool stay open. */
  @Override
  public void close() {
    thread.close();
  }

  /**
   * Runs the queued tasks, and sends.
   *
   * @return time until the next check, or until a queue is due
   */
  @Override
  public long doWork() {
    // Read before the tasks, which add the batches.
    long addedUntilMillis = spool.handedOverUntilMillis();
    senders.forEach(sender -> sender.addedUntil(addedUntilMillis));
    int tasksRun = runTasks();
    long now = nanoClock.getAsLong();
    if (now - nextCheckNanos >= 0) {
      nextCheckNanos = now + CHECK_NANOS;
      senders.forEach(sender -> sender.check(now));
    }
    senders.forEach(sender -> sender.send(now));
    if (draining) {
      senders.forEach(sender -> sender.heartbeats.leaveIdle(now));
      if (spool.batches() == 0
          && senders.stream().noneMatch(sender -> sender.heartbeats.awaitsAnswer(now))) {
        idle.countDown();
      }
    }
    if (tasksRun > 0) {
      return 0;
    }
    long afterNanos = nanoClock.getAsLong();
    return Math.min(
        spans.untilDueNanos(afterNanos, CHECK_NANOS), edges.untilDueNanos(afterNanos, CHECK_NANOS));
  }

  private int runTasks() {
    int run = 0;
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
      run++;
    }
    return run;
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
}
