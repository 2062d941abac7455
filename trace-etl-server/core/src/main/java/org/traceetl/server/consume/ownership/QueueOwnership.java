package org.traceetl.server.consume.ownership;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;
import org.traceetl.server.consume.broker.BrokerOffsets;
import org.traceetl.server.consume.queue.FilledWindow;
import org.traceetl.server.consume.queue.OwnedQueue;
import org.traceetl.server.consume.queue.QueueAggregator;
import org.traceetl.server.decode.MessageDecoder;
import org.traceetl.server.journal.Journal;
import org.traceetl.server.journal.QueueJournal;
import org.traceetl.server.journal.QueueJournal.Outcome;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.QueueId;

/**
 * The ownership of one queue, from its claim to its release: first a {@link QueueClaim}, then a
 * {@link QueueLease} and a {@link QueueSealing}. Each queue has a virtual thread, so that a broker
 * that does not answer delays only its own queues.
 *
 * <p>If another owner has claimed the queue, or the journal contains records that only a later
 * version can read, all work in progress is dropped. The next owner reads it again.
 *
 * <p>Concurrency: the worker that wants the queue calls {@link #seal} and {@link #release}, which
 * return immediately, and polls {@link #takeRecovered} and {@link #ended}. The worker owns the
 * aggregator after it has taken it. Everything else is confined to the queue's thread.
 */
public final class QueueOwnership implements SteppedTask {
  private static final Logger log = LoggerFactory.getLogger(QueueOwnership.class);
  private static final long MAX_TEND_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** The lease and the snapshots are checked this often within a lease. */
  private static final int CHECKS_PER_LEASE = 10;

  /**
   * The state with which the worker continues.
   *
   * @param to offset after the last message that counts, or {@link BrokerOffsets#NONE}
   * @param lastMessages show whether the broker still has what was counted
   */
  public record Recovered(QueueAggregator aggregator, long to, LastMessages lastMessages) {}

  private final QueueId queue;
  private final MessageDecoder decoder;
  private final QueueOwnerships.Shared shared;
  private final QueueClaim claim;
  private final QueueSealing sealing;
  private final SteppedThread thread;
  private final long tendNanos;

  /** Null before the queue is owned. */
  private QueueJournal journal;

  private QueueLease lease;
  private boolean hidden;

  private final AtomicReference<Recovered> recovered = new AtomicReference<>();
  private volatile boolean released;
  private volatile boolean ended;

  /**
   * @param decoder of the worker that will record
   * @param permits of the queue's broker
   */
  QueueOwnership(
      QueueId queue, MessageDecoder decoder, QueueOwnerships.Shared shared, FairPermits permits) {
    this.queue = queue;
    this.decoder = decoder;
    this.shared = shared;
    thread =
        SteppedThread.virtual(
            shared.clocks(), "trace-etl-sealer-" + queue, this, shared.throttle());
    claim = new QueueClaim(queue, shared, permits, thread::wake);
    sealing = new QueueSealing(queue, shared);
    tendNanos = Math.clamp(shared.lease().toNanos() / CHECKS_PER_LEASE, 1, MAX_TEND_NANOS);
  }

  SteppedThread thread() {
    return thread;
  }

  /** Returns the recovered state once; null before it is known and after it was taken. */
  public Recovered takeRecovered() {
    return recovered.getAndSet(null);
  }

  /** Returns why the queue is not recovered. */
  public UnreadReason unread() {
    return claim.unread();
  }

  /** Returns whether no more windows are accepted: the queue is released or fenced. */
  public boolean ended() {
    return ended;
  }

  /**
   * Returns the start of the window for which the queue was released, because it must not be
   * written to the journal; {@link QueueSealing#NONE} if no window was refused.
   */
  public long refusedFrom() {
    return sealing.refusedFrom();
  }

  /**
   * Sets the start of the window that an earlier ownership refused: if it is inconsistent again, it
   * is written. Call it before the first {@link #seal}.
   */
  public void refusedBefore(long from) {
    sealing.refusedBefore(from);
  }

  /**
   * Appends a window to the journal.
   *
   * @param kept run when the journal has it, before the release; must be fast
   */
  public void seal(OwnedQueue owned, FilledWindow filled, Runnable kept) {
    sealing.add(owned, filled, kept);
    thread.wake();
  }

  /** Releases the queue after the current window; cancels a pending claim. */
  public void release() {
    released = true;
    thread.wake();
  }

  @Override
  public long doWork() {
    if (ended) {
      return ENDED;
    }
    try {
      return journal == null ? claim() : tend();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return ENDED;
    } catch (RuntimeException | Error e) {
      shared.failed().set(true);
      log.error("Queue {} is no longer processed: its thread failed; restart the server", queue, e);
      onEnd();
      if (e instanceof Error) {
        throw e;
      }
      return ENDED;
    }
  }

  @Override
  public void onEnd() {
    end();
    shared.running().remove(queue, this);
  }

  private long claim() throws InterruptedException {
    if (released) {
      end();
      return ENDED;
    }
    long waitNanos = claim.dueInNanos();
    if (waitNanos > 0) {
      return waitNanos;
    }
    if (!claim.begin()) {
      return UNTIL_WOKEN;
    }
    Journal.Taken taken = claim.step();
    if (taken != null) {
      own(taken);
      return 0;
    }
    return Math.max(0, claim.dueInNanos());
  }

  private void own(Journal.Taken taken) {
    journal = taken.journal();
    lease = new QueueLease(queue, journal, shared);
    sealing.begin(journal, lease);
    if (!released) {
      shared.followers().restored(queue, taken.image(), taken.showFromNanos());
      lease.extended();
      recovered.set(
          new Recovered(
              shared.aggregation().newAggregator(queue, decoder, shared.metrics(), taken.image()),
              taken.image().to(),
              taken.lastMessages()));
    }
  }

  /** Appends a window, releases the queue, or maintains its lease and snapshots. */
  private long tend() throws InterruptedException {
    boolean last = released; // read first: a window that was added before the release is appended
    if (sealing.hasWindow()) {
      long waitNanos = sealing.dueInNanos();
      if (waitNanos > 0) {
        return waitNanos;
      }
      if (sealing.append() == Outcome.FENCED) {
        return refusedFrom() == QueueSealing.NONE ? fenced() : releaseQueue();
      }
      if (sealing.hasWindow() || released) {
        return Math.max(0, sealing.dueInNanos());
      }
    } else if (last) {
      return releaseQueue();
    }
    Outcome outcome = lease.renewalDue() ? lease.renew() : sealing.writeSnapshotIfDue();
    return outcome == Outcome.FENCED ? fenced() : tendNanos;
  }

  private long fenced() {
    hide();
    shared.metrics().fenced(queue);
    log.warn(
        "Queue {} is dropped; its next owner reads again what the journal has not kept", queue);
    ended = true;
    return ENDED;
  }

  private long releaseQueue() throws InterruptedException {
    // Hide the queue before the release: the next owner shows it immediately.
    hide();
    try {
      journal.release();
    } catch (IOException | RuntimeException e) {
      log.warn(
          "Could not write RELEASE for queue {}; the next owner waits until the lease expires",
          queue,
          e);
    }
    ended = true;
    return ENDED;
  }

  private void end() {
    claim.withdraw();
    hide();
    ended = true;
  }

  /** Hides the queue from the followers. Idempotent. */
  private void hide() {
    if (hidden || journal == null) {
      return;
    }
    hidden = true;
    shared.followers().released(queue);
    Recovered untaken = takeRecovered();
    if (untaken != null) {
      untaken.aggregator.release();
    }
  }
}
