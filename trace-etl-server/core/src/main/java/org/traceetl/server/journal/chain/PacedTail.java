package org.traceetl.server.journal.chain;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.LogThrottle;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.window.QueueId;

/**
 * A queue's tail for a sink that reads many queues from one thread. It is due immediately while
 * there is something new, about once a second otherwise, and after a pause if a read failed. So an
 * unavailable broker does not delay the queues of other brokers. For one thread at a time.
 *
 * @param <T> what the sink receives
 */
public final class PacedTail<T> {
  /** Opens the tail. */
  public interface Opening<T> {
    Tail<T> open() throws IOException, InterruptedException;
  }

  private static final Logger LOG = LoggerFactory.getLogger(PacedTail.class);
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long FAILED_NANOS = TimeUnit.SECONDS.toNanos(3);

  /**
   * Pause between two reads that found messages but nothing for the sink, because reads may lag.
   */
  private static final long EMPTY_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final QueueId queue;
  private final Opening<T> opening;
  private final LogThrottle throttle;

  /** Null until it is opened. */
  private Tail<T> tail;

  private long dueNanos;
  private long lagDueNanos;
  private long lag;
  private boolean atEnd;
  private boolean failed;

  /**
   * Creates a tail that is opened at the first read.
   *
   * @param nowNanos when it is first due
   * @param throttle limits the sink's log lines on failures
   */
  public PacedTail(QueueId queue, Opening<T> opening, long nowNanos, LogThrottle throttle) {
    this.queue = queue;
    this.opening = opening;
    this.throttle = throttle;
    dueNanos = nowNanos;
    lagDueNanos = nowNanos;
  }

  /** Returns nanoseconds until the next read; 0 or less if it is due. */
  public long dueInNanos(long nowNanos) {
    return dueNanos - nowNanos;
  }

  /** Makes the tail due now, unless the last read failed: there may be new messages. */
  public void expectMore(long nowNanos) {
    atEnd = false;
    if (!failed) {
      dueNanos = nowNanos;
    }
  }

  /** Returns what is next; empty if there is nothing, or it cannot be read now. */
  public List<T> read(long nowNanos) throws InterruptedException {
    try {
      if (tail == null) {
        tail = opening.open();
      }
      List<T> polled = tail.poll();
      failed = false;
      if (!polled.isEmpty()) {
        atEnd = false;
        dueNanos = nowNanos;
        return polled;
      }
      if (!atEnd) {
        lag = tail.lag();
        lagDueNanos = nowNanos + IDLE_NANOS;
        atEnd = lag == 0;
      }
      dueNanos = nowNanos + (atEnd ? IDLE_NANOS : EMPTY_NANOS);
      return polled;
    } catch (IOException e) {
      failed(nowNanos, e.toString(), null);
    } catch (RuntimeException e) {
      // Failures of one queue must not stop the sink's thread.
      failed(nowNanos, "an internal error", e);
    }
    return List.of();
  }

  private void failed(long nowNanos, String why, RuntimeException fault) {
    failed = true;
    atEnd = false;
    dueNanos = nowNanos + FAILED_NANOS;
    if (throttle.permits()) {
      LOG.warn("Could not read the journal of queue {}: {}; the server retries", queue, why, fault);
    }
  }

  /** Determines how much there is to read, for a queue that is not being read. */
  public void observe(long nowNanos) throws InterruptedException {
    if (failed || tail == null || lagDueNanos - nowNanos > 0) {
      return;
    }
    lagDueNanos = nowNanos + IDLE_NANOS;
    try {
      lag = tail.lag();
      atEnd &= lag == 0;
    } catch (IOException e) {
      failed(nowNanos, e.toString(), null);
    }
  }

  /** Marks the sink's progress; returns false if that failed. The next mark then replaces it. */
  public boolean mark(long offset) throws InterruptedException {
    try {
      tail.mark(offset);
      return true;
    } catch (IOException e) {
      if (throttle.permits()) {
        LOG.warn(
            "Could not set mark {} in the journal of queue {}: {}; the next mark replaces it",
            offset,
            queue,
            e.toString());
      }
      return false;
    }
  }

  /**
   * Returns the offset to mark after all that was read is processed, or {@link JournalLog#NONE} if
   * there is none yet.
   */
  public long restart() {
    return tail == null ? JournalLog.NONE : tail.restart();
  }

  public QueueId queue() {
    return queue;
  }

  /** Returns whether the last read reached the end. */
  public boolean atEnd() {
    return atEnd;
  }

  /** Returns the number of unread messages, as of the last look. */
  public long lag() {
    return lag;
  }
}
