package org.traceetl.server.consume.ownership;

import java.io.IOException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.journal.QueueJournal;
import org.traceetl.server.journal.QueueJournal.Outcome;
import org.traceetl.server.window.QueueId;

/**
 * Keeps the lease of an owned queue alive: renews it when two thirds of it are left, unless an
 * append has extended it. When it runs out, the queue's counts are no longer shown. Confined to the
 * queue's thread.
 */
final class QueueLease {
  private static final Logger log = LoggerFactory.getLogger(QueueLease.class);
  private static final int RENEWAL_AT = 2;
  private static final int RENEWAL_OF = 3;

  private final QueueId queue;
  private final QueueJournal journal;
  private final QueueOwnerships.Shared shared;
  private final RetrySchedule retry =
      new RetrySchedule(Duration.ofMillis(100), Duration.ofSeconds(5));

  QueueLease(QueueId queue, QueueJournal journal, QueueOwnerships.Shared shared) {
    this.queue = queue;
    this.journal = journal;
    this.shared = shared;
  }

  boolean renewalDue() {
    long nowNanos = shared.clocks().nanos();
    long leftNanos = journal.shownUntilNanos() - nowNanos;
    return leftNanos <= shared.lease().toNanos() / RENEWAL_OF * RENEWAL_AT
        && retry.permits(nowNanos);
  }

  /** Renews the lease; a failure is repeated later. */
  Outcome renew() throws InterruptedException {
    try {
      Outcome outcome = journal.renew();
      if (outcome == Outcome.KEPT) {
        extended();
      }
      return outcome;
    } catch (IOException | RuntimeException e) {
      retry.failed(shared.clocks().nanos());
      shared.metrics().renewFailed(queue);
      if (shared.throttle().permits()) {
        log.error("Could not renew the lease of queue {}; the server retries", queue, e);
      }
      return Outcome.KEPT;
    }
  }

  /** Extends the time in which followers may show the queue; call it after a confirmation. */
  void extended() {
    retry.succeeded();
    shared.followers().shownUntil(queue, journal.shownUntilNanos());
  }
}
