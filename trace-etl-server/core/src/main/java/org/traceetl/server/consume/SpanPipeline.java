package org.traceetl.server.consume;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.SteppedThread;
import org.traceetl.common.Threads;
import org.traceetl.server.component.Component;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.consume.broker.SpanConsumer;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.consume.ownership.QueueOwnerships;
import org.traceetl.server.consume.ownership.UnreadReason;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.journal.Journal;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.queues.QueueStatus;
import org.traceetl.server.rocketmq.Endpoint;

/**
 * Processes spans from the topic to the journal: workers pull and aggregate, each queue's ownership
 * appends its windows, and a committer commits offsets at the brokers. {@link #start} once; end
 * with {@link #drain} or {@link #close}. Thread-safe.
 */
public final class SpanPipeline implements Component {
  private static final Logger log = LoggerFactory.getLogger(SpanPipeline.class);
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

  /** Key in {@link #missing} for problems of the whole process. */
  private static final String PIPELINE = "pipeline";

  private final List<Worker> workers = new ArrayList<>();
  private final QueueOwnerships ownerships;
  private final Committer committer;
  private final Aggregation aggregation;
  private final Clocks clocks;
  private volatile boolean started;

  /** Whether threads end because of a drain or close. */
  private volatile boolean ending;

  private boolean ended;

  /**
   * @param consumers connects the workers to the brokers
   * @param lease how long the journal lets a queue be shown
   * @param journal stores the windows; not closed here
   * @param followers receive updates of each queue from its take-over to its release
   * @param clocks determine when windows end, and the times of series and documents
   */
  public SpanPipeline(
      RocketMqConfig rocketMq,
      SpanConsumer.Connector consumers,
      Duration lease,
      WindowConfig window,
      Aggregation aggregation,
      Journal journal,
      List<WindowFollower> followers,
      Clocks clocks,
      SpanPipelineMetrics metrics) {
    this.aggregation = aggregation;
    this.clocks = clocks;
    ownerships = new QueueOwnerships(journal, lease, followers, aggregation, metrics, clocks);
    committer = new Committer(metrics, clocks);
    Worker.Shared shared =
        new Worker.Shared(
            rocketMq,
            consumers,
            aggregation,
            window.length().toMillis(),
            ownerships,
            committer,
            metrics,
            clocks);
    for (int i = 0; i < rocketMq.workers(); i++) {
      workers.add(new Worker(i, shared));
    }
  }

  @Override
  public void metrics(MetricRegistry registry) {
    queueGauge(
        registry, "lag_messages", "Messages of a queue that are not read yet.", QueueStatus::lag);
    queueGauge(registry, "series", "Live series of a queue.", QueueStatus::series);
    queueGauge(
        registry, "symbols", "Distinct strings in the series of a queue.", QueueStatus::symbols);
    queueGauge(
        registry,
        "agents",
        "Agents of a queue whose batch names are kept for de-duplication.",
        QueueStatus::agents);
    registry.gauge(
        "trace_etl_series_left", "Series that this process can still create.", this::seriesLeft);
    registry.gauge("trace_etl_ready", "1 if /ready returns 200, else 0.", () -> ready() ? 1 : 0);
    registry.gauge(
        "trace_etl_missing_queues",
        "Queues assigned to this server that it does not read yet; /ready returns the reasons.",
        () -> missing().size());
    registry.gauge(
        "trace_etl_panes_written",
        "1 while new windows are written with their panes, else 0.",
        () -> aggregation.writesPanes() ? 1 : 0);
  }

  private void queueGauge(
      MetricRegistry registry, String what, String help, Function<QueueStatus, Number> value) {
    registry.gauge(
        "trace_etl_queue_" + what,
        help,
        "queue",
        () ->
            queues().stream()
                .collect(
                    Collectors.toMap(
                        status -> status.queue().toString(), value, (first, second) -> second)));
  }

  /** Starts like {@link #start()}, and announces this server's endpoint to the group. */
  @Override
  public synchronized void start(Endpoint here) {
    if (!started && !ended) {
      workers.forEach(worker -> worker.announce(here));
      start();
    }
  }

  /** Starts the threads. Returns immediately; {@link #missing} returns what is not read yet. */
  public synchronized void start() {
    if (started || ended) {
      return;
    }
    threads().forEach(SteppedThread::start);
    started = true;
  }

  private Stream<SteppedThread> threads() {
    return Stream.concat(Stream.of(committer.thread()), workers.stream().map(Worker::thread));
  }

  /** Returns whether no thread has failed: the queues of a failed thread are not processed. */
  @Override
  public boolean healthy() {
    return !started || ending || threads().allMatch(SteppedThread::alive) && ownerships.alive();
  }

  /**
   * Returns why this process does not read queues that RocketMQ gave it, by queue or topic. Empty
   * if it reads them all, or a rebalance gave it none.
   */
  @Override
  public Map<String, String> missing() {
    Map<String, String> missing = new TreeMap<>();
    unread().forEach((what, unread) -> missing.put(what, unread.reason()));
    return missing;
  }

  /**
   * Returns whether only queues whose brokers do not answer are missing, and not all queues. No
   * server can read such a queue: if it counted, one broker could make all servers unready. A queue
   * that pauses after an inconsistent window does not count either.
   */
  @Override
  public boolean ready() {
    List<UnreadReason> unread =
        unread().values().stream().filter(reason -> reason != UnreadReason.REFUSED).toList();
    return unread.isEmpty()
        || unread.stream().allMatch(UnreadReason::silent) && !queues().isEmpty();
  }

  private Map<String, UnreadReason> unread() {
    if (!started || ending) {
      return Map.of(
          PIPELINE, new UnreadReason(ending ? "is shutting down" : "is not started", false));
    }
    Map<String, UnreadReason> unread = new TreeMap<>();
    workers.forEach(worker -> unread.putAll(worker.unread()));
    if (!healthy()) {
      unread.put(
          PIPELINE, new UnreadReason("one of its threads ended with an error; see the log", false));
    }
    return unread;
  }

  /** Returns the queues that this process reads. */
  public List<QueueStatus> queues() {
    return workers.stream().flatMap(worker -> worker.queues().stream()).toList();
  }

  /** Returns the number of series that this process can still create. */
  public int seriesLeft() {
    return aggregation.budget.left();
  }

  /**
   * Stops pulling, seals what was recorded, appends, releases the queues, commits and leaves the
   * consumer group.
   *
   * @param timeout after which the rest is dropped; the queues' next owners read it again
   * @return whether everything was kept and committed in time
   */
  @Override
  public synchronized boolean drain(Duration timeout) {
    if (ended || !started) {
      close();
      return true;
    }
    ending = true;
    long startNanos = clocks.nanos();
    long deadlineNanos = startNanos + timeout.toNanos();
    int owned = queues().size();
    workers.forEach(worker -> worker.drain(deadlineNanos));
    boolean inTime = joined(workers.stream().map(Worker::thread).toList(), deadlineNanos);
    if (inTime) {
      inTime = joined(ownerships.threads(), deadlineNanos);
      committer.finish();
      inTime &= joined(List.of(committer.thread()), deadlineNanos);
    }
    if (inTime) {
      log.info(
          "Drained: {} queues sealed and released in {} ms",
          owned,
          TimeUnit.NANOSECONDS.toMillis(clocks.nanos() - startNanos));
    } else {
      log.warn(
          "Could not seal and commit everything within {} ms; the next owners read the rest again;"
              + " queues={}",
          timeout.toMillis(),
          ownerships.queues());
    }
    close();
    return inTime;
  }

  /** Stops immediately. The queues' next owners read again what was not sealed. */
  @Override
  public synchronized void close() {
    if (ended) {
      return;
    }
    ending = true;
    ended = true;
    workers.forEach(Worker::close);
    ownerships.close();
    committer.close();
    if (started) {
      long deadlineNanos = clocks.nanos() + CLOSE_TIMEOUT.toNanos();
      joined(Stream.concat(threads(), ownerships.threads().stream()).toList(), deadlineNanos);
      Threads system = clocks.threads();
      List<Thread> leaving =
          workers.stream()
              .map(worker -> system.create(Threads.Kind.VIRTUAL, "trace-etl-leave", worker::leave))
              .toList();
      leaving.forEach(Thread::start);
      try {
        for (Thread thread : leaving) {
          system.join(thread, left(deadlineNanos));
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private boolean joined(List<SteppedThread> threads, long deadlineNanos) {
    try {
      boolean all = true;
      for (SteppedThread thread : threads) {
        all &= thread.join(left(deadlineNanos));
      }
      return all;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private Duration left(long deadlineNanos) {
    return Duration.ofNanos(Math.max(1, deadlineNanos - clocks.nanos()));
  }
}
