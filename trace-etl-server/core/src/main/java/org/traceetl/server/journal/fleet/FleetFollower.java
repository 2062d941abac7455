package org.traceetl.server.journal.fleet;

import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.Reason;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;
import org.traceetl.server.component.Background;
import org.traceetl.server.journal.BrokerThreads;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.chain.JournalTail;
import org.traceetl.server.journal.chain.PacedTail;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Follows the journals of all queues, so that any server can answer for the whole fleet. It stores
 * no offset, because its sink keeps all state in memory: a new process reads the look-back again.
 *
 * <p>Concurrency: a thread for each broker reads the journals of its queues; one thread passes what
 * they read to the sink, and owns all state except the tails. A broker that does not answer delays
 * only its own queues.
 */
public final class FleetFollower implements Background {
  /** Receives what is read, in the order of each journal. All calls are on one thread. */
  public interface Sink {
    /** Receives the existing queues, each time they are listed. */
    default void queues(Set<QueueId> present) {}

    /** Receives all series of a queue before its next window; read-only, not to be kept. */
    void series(QueueId queue, QueueImage image);

    /** Receives each window of each queue, once. */
    void window(SealedWindow window);

    /** Reports that the journals of all existing queues were read to their ends. */
    void upToDate();
  }

  private static final Logger LOG = LoggerFactory.getLogger(FleetFollower.class);
  private static final long QUEUES_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long QUEUES_FAILED_NANOS = TimeUnit.SECONDS.toNanos(3);

  private final FleetJournals journals;
  private final long lookBackMillis;
  private final Sink sink;
  private final InstantSource clock;
  private final LongSupplier nanoTime;
  private final LogThrottle throttle;
  private final FleetReader.Handed handed = new FleetReader.Handed();
  private final SteppedThread adding;
  private final BrokerThreads<FleetReader> readers;
  private final LongAdder windows = new LongAdder();

  // Confined to the adding thread.

  /** All queues so far: a queue that returns must not be added again. */
  private final Map<QueueId, FleetReader.TailedQueue> followed = new HashMap<>();

  /** The existing queues. */
  private Set<QueueId> present = Set.of();

  private long queuesDueNanos;

  /**
   * Creates a follower that is not started.
   *
   * @param name of the thread that calls the sink; prefix of the names of the reading threads
   * @param lookBack age of the oldest message to read; long enough to include a snapshot before the
   *     first window that the sink needs
   * @param sink called by this follower only
   */
  public FleetFollower(
      String name, FleetJournals journals, Duration lookBack, Sink sink, Clocks clocks) {
    this.journals = journals;
    this.lookBackMillis = lookBack.toMillis();
    this.sink = sink;
    clock = clocks.wall();
    nanoTime = clocks.nanoClock();
    throttle = new LogThrottle(clock);
    queuesDueNanos = nanoTime.getAsLong();
    adding = SteppedThread.daemon(clocks, name, this::add, throttle);
    readers =
        new BrokerThreads<>(
            clocks, name, broker -> new FleetReader(handed, adding::wake, nanoTime), throttle);
  }

  @Override
  public void start() {
    adding.start();
    readers.start();
  }

  @Override
  public void close() {
    adding.close();
    readers.close();
  }

  /** Returns the number of windows that the sink received. */
  public long windows() {
    return windows.sum();
  }

  @Override
  public boolean alive() {
    return adding.alive() && readers.alive();
  }

  /**
   * Does the due work of all threads.
   *
   * @return nanoseconds until work may be due; 0 for now
   */
  long step() throws InterruptedException {
    long nowNanos = nanoTime.getAsLong();
    findQueuesIfDue(nowNanos);
    long idleNanos = SteppedTask.IDLE_NANOS;
    for (FleetReader reader : readers.all()) {
      idleNanos = Math.min(idleNanos, reader.read(nowNanos));
      addRead();
    }
    return idleNanos;
  }

  /** Lists the queues if due, and adds what was read. */
  private long add() throws InterruptedException {
    findQueuesIfDue(nanoTime.getAsLong());
    addRead();
    return SteppedTask.IDLE_NANOS;
  }

  private void addRead() {
    // Checked first: all earlier reads are passed on by then.
    boolean upToDate = !present.isEmpty();
    for (QueueId id : present) {
      upToDate &= followed.get(id).atEnd();
    }
    for (FleetReader.Read read = handed.peek(); read != null; read = handed.peek()) {
      try {
        add(read);
      } finally {
        // A faulty read must not be repeated.
        handed.added();
        readers.wake();
      }
    }
    if (upToDate) {
      sink.upToDate();
    }
  }

  private void add(FleetReader.Read read) {
    for (QueueImage image : read.images()) {
      sink.series(read.queue().id(), image);
    }
    for (JournalTail.Kept kept : read.windows()) {
      sink.window(kept.window());
      windows.increment();
    }
  }

  private void findQueuesIfDue(long nowNanos) throws InterruptedException {
    if (queuesDueNanos - nowNanos <= 0) {
      findQueues(nowNanos);
    }
  }

  private void findQueues(long nowNanos) throws InterruptedException {
    try {
      present = journals.queues();
    } catch (IOException e) {
      queuesDueNanos = nowNanos + QUEUES_FAILED_NANOS;
      if (throttle.permits()) {
        LOG.warn("Could not list the journal's queues, trying again: {}", Reason.of(e));
      }
      return;
    }
    queuesDueNanos = nowNanos + QUEUES_NANOS;
    sink.queues(present);
    for (QueueId queue : present) {
      followed.computeIfAbsent(queue, absent -> follow(absent, nowNanos));
    }
    followed.forEach((queue, known) -> known.present(present.contains(queue)));
    readers.wake();
  }

  private FleetReader.TailedQueue follow(QueueId queue, long nowNanos) {
    FleetReader.TailedQueue known =
        new FleetReader.TailedQueue(
            queue,
            images ->
                new PacedTail<>(
                    queue,
                    () -> journals.open(queue, clock.millis() - lookBackMillis, images),
                    nowNanos,
                    throttle));
    readers.of(queue.broker()).follow(known);
    return known;
  }
}
