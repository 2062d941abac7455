package org.traceetl.server.expose;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;

/**
 * The thread that owns the state of the pages. All changes and requests reach it as messages
 * through one bounded queue. Thread-safe, except the methods of {@link Fold}.
 *
 * @param <M> type of the messages
 */
public final class FoldThread<M> implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(FoldThread.class);
  private static final int INBOX_MESSAGES = 1_024;
  private static final Duration FOREVER = Duration.ofNanos(Long.MAX_VALUE);

  /** First pause of a caller while the queue is full; the next ones double. */
  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private static final long LAST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /**
   * The work of the thread.
   *
   * @param <M> type of the messages
   */
  public interface Fold<M> {
    /** Returns the nanoseconds until work is due without a message. */
    long idleNanos();

    /** Applies a message. */
    void apply(M message);

    /**
     * Publishes the effects of the applied messages, and does work that is due without a message.
     */
    void settle();

    /**
     * Ends the fold. The last call, on the thread that ends.
     *
     * @param left messages that were not applied
     * @param ended the exception for callers that still wait
     */
    void end(List<M> left, IllegalStateException ended);
  }

  /** The thread's work, apart from {@link Fold}, which tests and simulations step. */
  private final class Steps implements SteppedTask {
    @Override
    public long doWork() {
      try {
        FoldThread.this.doWork();
        return inbox.isEmpty() ? Math.max(0, fold.idleNanos()) : 0;
      } catch (RuntimeException | Error e) {
        fail(e);
        return ENDED;
      }
    }

    @Override
    public void onEnd() {
      while (!ended && !inbox.isEmpty()) {
        doWork();
      }
      end();
    }
  }

  private final Queue<M> inbox = new ArrayBlockingQueue<>(INBOX_MESSAGES);
  private final Fold<M> fold;
  private final Clocks clocks;
  private final SteppedThread thread;
  private volatile boolean ended;

  /** The error that ended the thread; null for none. */
  private volatile Throwable failure;

  /** Creates a thread that is not started. */
  public FoldThread(Fold<M> fold, Clocks clocks) {
    this.fold = fold;
    this.clocks = clocks;
    thread = SteppedThread.daemon(clocks, "fold", new Steps(), new LogThrottle(clocks.nanoClock()));
  }

  /** Starts the thread. Call it once. */
  public void start() {
    thread.start();
  }

  /**
   * Passes a message to the thread. Waits while the queue is full, even if interrupted, because a
   * dropped message would be missing permanently.
   *
   * @throws IllegalStateException if the thread has ended
   */
  public void put(M message) {
    boolean interrupted = false;
    long pauseNanos = FIRST_PAUSE_NANOS;
    try {
      while (!added(message)) {
        interrupted |= Thread.interrupted();
        clocks.threads().park(this, pauseNanos);
        pauseNanos = Math.min(pauseNanos * 2, LAST_PAUSE_NANOS);
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Passes a message to the thread unless the queue stays full.
   *
   * @return false if the queue was full for the given time
   * @throws IllegalStateException if the thread has ended
   */
  public boolean offer(M message, long nanos) throws InterruptedException {
    long startNanos = clocks.nanos();
    long pauseNanos = FIRST_PAUSE_NANOS;
    while (!added(message)) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      long leftNanos = startNanos + nanos - clocks.nanos();
      if (leftNanos <= 0) {
        return false;
      }
      clocks.threads().park(this, Math.min(leftNanos, pauseNanos));
      pauseNanos = Math.min(pauseNanos * 2, LAST_PAUSE_NANOS);
    }
    return true;
  }

  private boolean added(M message) {
    if (ended()) {
      throw endedException();
    }
    boolean added = inbox.offer(message);
    if (added) {
      thread.wake();
      checkTaken(message);
    }
    return added;
  }

  /**
   * Fails if the thread ended meanwhile and did not take the message: it may have collected the
   * remaining messages before this one was added.
   */
  private void checkTaken(M message) {
    if (ended() && inbox.remove(message)) {
      throw endedException();
    }
  }

  /** Returns whether the thread has ended, by {@link #close} or by an error. */
  public boolean ended() {
    return ended || !thread.alive();
  }

  /** Returns whether an error has ended the thread. */
  public boolean failed() {
    return failure != null;
  }

  /** Returns the exception for callers that come after the end. */
  public IllegalStateException endedException() {
    return new IllegalStateException("the fold thread has ended; see the server's log", failure);
  }

  /** Ends the thread after the waiting messages. Idempotent. */
  @Override
  public void close() {
    thread.finish();
    try {
      // A daemon, but its steps wait for nothing.
      thread.join(FOREVER);
      end(); // if it was not started
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Applies the waiting messages, without waiting for more, and publishes their effects. Called by
   * the thread, or by a test or a simulation instead of it.
   *
   * @return the number of messages applied
   */
  public int doWork() {
    int applied = 0;
    for (M message = inbox.poll(); message != null; message = inbox.poll()) {
      fold.apply(message);
      applied++;
      if (applied == INBOX_MESSAGES) {
        break;
      }
    }
    fold.settle();
    return applied;
  }

  private void fail(Throwable e) {
    failure = e;
    try {
      log.error(
          "The pages are no longer kept up to date: the fold thread failed. Restart the"
              + " server and report the error",
          e);
    } finally {
      end();
    }
  }

  private synchronized void end() {
    if (!ended) {
      ended = true;
      List<M> left = new ArrayList<>();
      for (M message = inbox.poll(); message != null; message = inbox.poll()) {
        left.add(message);
      }
      fold.end(left, endedException());
    }
  }
}
