package org.traceetl.server.decisions;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;
import org.traceetl.proto.RecordFormat;
import org.traceetl.proto.RoutingRecord;
import org.traceetl.server.component.Background;
import org.traceetl.server.journal.FleetWindows;
import org.traceetl.server.window.QueueId;

/**
 * Reads one kind of record in the topic of decisions, on a thread of its own. The owner of the
 * lowest queue of the span topic also decides. If two servers briefly decide, {@link
 * RoutingRecord#holdsOver} selects the same record everywhere.
 */
public abstract class Decider<R extends RoutingRecord>
    implements FleetWindows.Listener, Background {
  protected final DecisionLog decisions;
  protected final InstantSource clock;
  protected final LongSupplier nanoTime;
  protected final LogThrottle throttle;

  /** Confined to the thread, except {@link PublishedRecord#refused}. */
  protected final PublishedRecord<R> published;

  private final SteppedThread thread;
  private final long firstNanos;
  private long dueNanos;

  /**
   * Creates a decider that is not started.
   *
   * @param thread name of the thread
   * @param topic topic of the record
   * @param nothing creates an empty record with the given epoch
   * @param firstAfter pause before the first look
   */
  protected Decider(
      String thread,
      String topic,
      RecordFormat<R, ?> format,
      LongFunction<R> nothing,
      Duration firstAfter,
      DecisionLog decisions,
      Clocks clocks) {
    this.decisions = decisions;
    clock = clocks.wall();
    nanoTime = clocks.nanoClock();
    throttle = new LogThrottle(clock);
    published =
        new PublishedRecord<>(
            topic, format, nothing, decisions, clock, nanoTime, throttle, this::adopted);
    // A daemon: a step may wait long for brokers, and its end must not delay that of the server.
    this.thread = SteppedThread.daemon(clocks, thread, this::step, throttle);
    firstNanos = firstAfter.toNanos();
    dueNanos = nanoTime.getAsLong() + firstNanos;
  }

  /**
   * Reads the topic, and decides if this server does.
   *
   * @return nanoseconds until the next look
   */
  protected abstract long look() throws InterruptedException;

  /** Receives each record that comes into force. */
  protected abstract void adopted(R now);

  /** Returns whether this server decides. */
  protected final boolean decides(Set<QueueId> queues) {
    return !queues.isEmpty() && decisions.owned().contains(new TreeSet<>(queues).first());
  }

  /**
   * Looks if it is due.
   *
   * @return nanoseconds until the next look
   */
  public final long step() throws InterruptedException {
    long restNanos = dueNanos - nanoTime.getAsLong();
    if (restNanos > 0) {
      return restNanos;
    }
    long startNanos = nanoTime.getAsLong();
    // A look that fails is not repeated at once, because it may have counted already.
    dueNanos = startNanos + Math.max(firstNanos, SteppedTask.IDLE_NANOS);
    long pauseNanos = look();
    dueNanos = startNanos + pauseNanos;
    return pauseNanos;
  }

  /** Returns the number of records that could not be read. Any thread. */
  public final long refused() {
    return published.refused();
  }

  @Override
  public final void start() {
    thread.start();
  }

  @Override
  public final boolean alive() {
    return thread.alive();
  }

  @Override
  public final void close() {
    thread.close();
  }
}
