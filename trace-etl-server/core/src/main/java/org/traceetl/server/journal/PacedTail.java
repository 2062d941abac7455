package org.traceetl.server.journal;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.LogThrottle;
import org.traceetl.server.window.QueueId;

/**
 * A queue's tail in the hands of a sink that reads many from one thread: read again at once while
 * there is something new, about once a second when there is nothing, and left alone for a while
 * after a failure, so that a broker that is away does not hold up the queues of the others. One
 * thread at a time.
 */
public final class PacedTail {
  /** Opens the tail. */
  public interface Opening {
    JournalTail open() throws IOException, InterruptedException;
  }

  private static final Logger LOG = LoggerFactory.getLogger(PacedTail.class);
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long FAILED_NANOS = TimeUnit.SECONDS.toNanos(3);

  /** Between two reads that found no window, though there are messages: they may lag behind. */
  private static final long EMPTY_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final QueueId queue;
  private final Opening opening;
  private final LogThrottle throttle;

  /** Null until it could be opened. */
  private JournalTail tail;

  private long dueNanos;
  private long lagDueNanos;
  private long lag;
  private boolean atEnd;
  private boolean failed;

  /**
   * A tail that is opened when it is read first.
   *
   * @param nowNanos from when on it is due
   * @param throttle of the sink's lines on failures
   */
  public PacedTail(QueueId queue, Opening opening, long nowNanos, LogThrottle throttle) {
    this.queue = queue;
    this.opening = opening;
    this.throttle = throttle;
    dueNanos = nowNanos;
    lagDueNanos = nowNanos;
  }

  /** Nanoseconds until it should be read; 0 or less: now. */
  public long dueInNanos(long nowNanos) {
    return dueNanos - nowNanos;
  }

  /** There may be more than the last read found: it is due now, unless it fails. */
  public void expectMore(long nowNanos) {
    atEnd = false;
    if (!failed) {
      dueNanos = nowNanos;
    }
  }

  /** The windows that come next; empty if there are none, or none that can be read now. */
  public List<JournalTail.Kept> read(long nowNanos) throws InterruptedException {
    try {
      if (tail == null) {
        tail = opening.open();
      }
      List<JournalTail.Kept> windows = tail.poll();
      failed = false;
      if (!windows.isEmpty()) {
        atEnd = false;
        dueNanos = nowNanos;
        return windows;
      }
      if (!atEnd) {
        lag = tail.lag();
        lagDueNanos = nowNanos + IDLE_NANOS;
        atEnd = lag == 0;
      }
      dueNanos = nowNanos + (atEnd ? IDLE_NANOS : EMPTY_NANOS);
      return windows;
    } catch (IOException e) {
      failed(nowNanos, e.toString(), null);
    } catch (RuntimeException e) {
      // The boundary of the sink's thread: the other queues go on.
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

  /** Finds out how much there is to read, for a queue that is not read just now. */
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

  /** Marks how far the sink has come. A mark that cannot be set now is left to the next one. */
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
   * Offset to mark once all windows read have been dealt with, or {@link JournalLog#NONE} if there
   * is none yet.
   */
  public long restart() {
    return tail == null ? JournalLog.NONE : tail.restart();
  }

  public QueueId queue() {
    return queue;
  }

  /** Whether the last read found that there was nothing more. */
  public boolean atEnd() {
    return atEnd;
  }

  /** Messages that are not read yet, as far as is known. */
  public long lag() {
    return lag;
  }
}
