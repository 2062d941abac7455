package org.traceetl.server.consume;

import java.io.IOException;
import java.time.Duration;
import java.util.function.BooleanSupplier;
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
  private final BooleanSupplier wanted;
  private final BackOff backOff = new BackOff(Duration.ofMillis(200), Duration.ofSeconds(5));
  private final long assignedNanos;
  private volatile UnreadReason unread = UnreadReason.BEING_TAKEN;

  /**
   * @param permits one of them is held during an attempt
   * @param wake wakes the queue's thread
   * @param wanted whether the queue is still to be taken over; also checked during an attempt
   */
  QueueClaim(
      QueueId queue,
      QueueOwnerships.Shared shared,
      FairPermits permits,
      Runnable wake,
      BooleanSupplier wanted) {
    this.queue = queue;
    this.shared = shared;
    this.permits = permits;
    this.wake = wake;
    this.wanted = wanted;
    assignedNanos = shared.clocks().nanos();
  }

  /** Returns nanoseconds until the next attempt is due; 0 or less if it is due. */
  long dueInNanos() {
    return backOff.leftNanos(shared.clocks().nanos());
  }

  /** Returns whether an attempt may begin; if not, the thread is woken when it may. */
  boolean begin() {
    return permits.tryAcquire(wake);
  }

  /** Withdraws a request to begin. */
  void withdraw() {
    permits.withdraw(wake);
  }

  /**
   * Makes one attempt, after {@link #begin}.
   *
   * @return null if it failed or the queue is no longer wanted
   */
  Journal.Taken attempt() throws InterruptedException {
    long startNanos = shared.clocks().nanos();
    try {
      Journal.Taken taken = shared.journal().take(queue, releaseWaitLeft(startNanos), wanted);
      if (taken != null) {
        shared.metrics().taken(queue, shared.clocks().nanos() - startNanos);
      }
      return taken;
    } catch (IOException | RuntimeException e) {
      backOff.failed(shared.clocks().nanos());
      shared.metrics().takeFailed(queue);
      String problem = "cannot be taken over: " + e.getMessage();
      unread = new UnreadReason(problem, e instanceof NoAnswerException);
      if (shared.throttle().permits()) {
        log.error("Queue {} {}; the server retries", queue, problem);
        log.debug("Cause", e);
      }
      return null;
    } finally {
      permits.release();
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
