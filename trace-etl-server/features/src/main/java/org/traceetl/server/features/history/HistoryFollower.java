package org.traceetl.server.features.history;

import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
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
import org.traceetl.server.journal.FleetWindows;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.chain.JournalTail;
import org.traceetl.server.journal.chain.PacedTail;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Keeps a history up to date by following the journals of all queues, so that any server answers
 * for the whole fleet. It stores no offset, because all its state is in memory: a new process reads
 * the last hour again.
 *
 * <p>Concurrency: a thread for each broker reads the journals of its queues; one thread adds what
 * they read, and owns all state except the history and the tails. A broker that does not answer
 * delays only its own queues.
 */
public final class HistoryFollower implements Background {
  /** Access to the journals of all queues. */
  public interface Journals {
    /** The existing queues. */
    Set<QueueId> queues() throws IOException, InterruptedException;

    /**
     * Opens a queue's journal at about the given time.
     *
     * @param sinceMillis milliseconds since 1970
     * @param snapshots receives the series of the first snapshot
     */
    JournalTail open(QueueId queue, long sinceMillis, Consumer<QueueImage> snapshots)
        throws IOException, InterruptedException;
  }

  private static final Logger LOG = LoggerFactory.getLogger(HistoryFollower.class);
  private static final long QUEUES_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long QUEUES_FAILED_NANOS = TimeUnit.SECONDS.toNanos(3);

  /** Ratio of operations with live series to the operations in an hour of history. */
  private static final int LIVE_TO_KEPT = 4;

  private final History history;
  private final Journals journals;
  private final FleetWindows.Listener listener;
  private final long lookBackMillis;
  private final SeriesRules rules;
  private final InstantSource clock;
  private final LongSupplier nanoTime;
  private final LogThrottle throttle;
  private final HistoryReader.Handed handed = new HistoryReader.Handed();
  private final SteppedThread adding;
  private final BrokerThreads<HistoryReader> readers;
  private final LongAdder windows = new LongAdder();
  private final LongAdder unknownRows = new LongAdder();

  // Confined to the adding thread.

  private final Operations operations;

  /** All queues so far: a queue that returns must not be added again. */
  private final Map<QueueId, HistoryReader.TailedQueue> followed = new HashMap<>();

  /** The existing queues. */
  private Set<QueueId> present = Set.of();

  private long queuesDueNanos;

  /**
   * Creates a follower that is not started.
   *
   * @param history written only by this follower
   * @param lookBack age of the oldest message to read: an hour, and long enough to include a
   *     snapshot before it
   * @param rules how series are read
   * @param maxOperations maximum number of operations in the history
   */
  public HistoryFollower(
      History history,
      Journals journals,
      Duration lookBack,
      SeriesRules rules,
      int maxOperations,
      FleetWindows.Listener listener,
      Clocks clocks) {
    this.history = history;
    this.journals = journals;
    this.lookBackMillis = lookBack.toMillis();
    this.rules = rules;
    operations = new Operations(LIVE_TO_KEPT * maxOperations, rules.kinds());
    this.listener = listener;
    clock = clocks.wall();
    nanoTime = clocks.nanoClock();
    throttle = new LogThrottle(clock);
    queuesDueNanos = nanoTime.getAsLong();
    adding = SteppedThread.daemon(clocks, "trace-history", this::add, throttle);
    readers =
        new BrokerThreads<>(
            clocks,
            "trace-history",
            broker -> new HistoryReader(handed, adding::wake, nanoTime),
            throttle);
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

  /** Returns the number of windows added. */
  public long windows() {
    return windows.sum();
  }

  /** Returns the rows of windows left out because their series are unknown. */
  public long unknownRows() {
    return unknownRows.sum();
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
    for (HistoryReader reader : readers.all()) {
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
    for (HistoryReader.Read read = handed.peek(); read != null; read = handed.peek()) {
      try {
        add(read);
      } finally {
        // A faulty read must not be repeated.
        handed.added();
        readers.wake();
      }
    }
    if (upToDate) {
      history.setUpToDate();
    }
  }

  private void add(HistoryReader.Read read) {
    SeriesOperations series = read.queue().series();
    for (QueueImage image : read.images()) {
      series.replace(image);
      listener.series(image);
    }
    for (JournalTail.Kept kept : read.windows()) {
      SealedWindow window = kept.window();
      history.add(window, series.fold(window));
      listener.window(window);
      windows.increment();
    }
    unknownRows.add(series.takeUnknownRows());
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
    history.setQueues(present);
    for (QueueId queue : present) {
      followed.computeIfAbsent(queue, absent -> follow(absent, nowNanos));
    }
    followed.forEach((queue, known) -> known.present(present.contains(queue)));
    readers.wake();
  }

  private HistoryReader.TailedQueue follow(QueueId queue, long nowNanos) {
    HistoryReader.TailedQueue known =
        new HistoryReader.TailedQueue(
            images ->
                new PacedTail<>(
                    queue,
                    () -> journals.open(queue, clock.millis() - lookBackMillis, images),
                    nowNanos,
                    throttle),
            new SeriesOperations(rules, operations));
    readers.of(queue.broker()).follow(known);
    return known;
  }
}
