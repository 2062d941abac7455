package org.traceetl.server.consume.ownership;

import java.io.IOException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.journal.Journal;
import org.traceetl.server.journal.NoAnswerException;
import org.traceetl.server.window.QueueId;

/**
 * Takes a queue over: reads its state from the journal and claims it; retries failures after a
 * pause. Confined to the queue's thread, except {@link #unread}.
 */
final class QueueClaim {
  private static final Logger log = LoggerFactory.getLogger(QueueClaim.class);

  /**
   * RocketMQ assigns a queue to its new owner and withdraws it from the old one within about a
   * second. The old owner gets this long, from the assignment, to release the queue: after an
   * earlier claim the queue's counts would be hidden for a lease.
   */
  private static final Duration RELEASE_WAIT = Duration.ofSeconds(3);

  private final QueueId queue;
  private final QueueOwnerships.Shared shared;
  private final FairPermits permits;
  private final Runnable wake;
  private final RetrySchedule retry =
      new RetrySchedule(Duration.ofMillis(200), Duration.ofSeconds(5));
  private final long assignedNanos;

  /** The current attempt, which holds a permit; null for none. */
  private Journal.TakeOver takeOver;

  private long startNanos;
  private volatile UnreadReason unread = UnreadReason.BEING_TAKEN;

  /**
   * @param permits one of them is held during an attempt
   * @param wake wakes the queue's thread
   */
  QueueClaim(QueueId queue, QueueOwnerships.Shared shared, FairPermits permits, Runnable wake) {
    this.queue = queue;
    this.shared = shared;
    this.permits = permits;
    this.wake = wake;
    assignedNanos = shared.clocks().nanos();
  }

  /** Returns nanoseconds until the next step is due; 0 or less if it is due. */
  long dueInNanos() {
    return takeOver == null ? retry.leftNanos(shared.clocks().nanos()) : takeOver.dueInNanos();
  }

  /**
   * Returns whether an attempt is in progress or begins; if not, the thread is woken when it may.
   */
  boolean begin() {
    if (takeOver == null && permits.tryAcquire(wake)) {
      startNanos = shared.clocks().nanos();
      takeOver = shared.journal().takeOver(queue, releaseWaitLeft(startNanos));
    }
    return takeOver != null;
  }

  /** Withdraws a request to begin, or the current attempt. */
  void withdraw() {
    permits.withdraw(wake);
    endAttempt();
  }

  private void endAttempt() {
    if (takeOver != null) {
      takeOver = null;
      permits.release();
    }
  }

  /**
   * Makes one step of an attempt, after {@link #begin}.
   *
   * @return null if it failed or more steps follow
   */
  Journal.Taken step() throws InterruptedException {
    try {
      Journal.Taken taken = takeOver.step();
      if (taken != null) {
        shared.metrics().taken(queue, shared.clocks().nanos() - startNanos);
        endAttempt();
      }
      return taken;
    } catch (IOException | RuntimeException e) {
      retry.failed(shared.clocks().nanos());
      shared.metrics().takeFailed(queue);
      String problem = "cannot be taken over: " + e.getMessage();
      unread = new UnreadReason(problem, e instanceof NoAnswerException);
      if (shared.throttle().permits()) {
        log.error("Queue {} {}; the server retries", queue, problem);
        log.debug("Cause", e);
      }
      endAttempt();
      return null;
    }
  }

  private Duration releaseWaitLeft(long nowNanos) {
    Duration left = RELEASE_WAIT.minusNanos(nowNanos - assignedNanos);
    return left.isNegative() ? Duration.ZERO : left;
  }

  /** Returns why the queue is not taken yet. Any thread. */
  UnreadReason unread() {
    return unread;
  }
}
