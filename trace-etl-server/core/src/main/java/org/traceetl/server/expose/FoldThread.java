package org.traceetl.server.expose;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that owns the state of the pages. All changes and requests reach it as messages
 * through one bounded queue. Thread-safe, except the methods of {@link Fold}.
 *
 * @param <M> type of the messages
 */
public final class FoldThread<M> implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(FoldThread.class);
  private static final int INBOX_MESSAGES = 1_024;
  private static final long PUT_MILLIS = 500;

  /** The last message: ends the thread after all earlier messages. */
  private static final Object END = new Object();

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

  private final BlockingQueue<Object> inbox = new ArrayBlockingQueue<>(INBOX_MESSAGES);
  private final Fold<M> fold;
  private final Thread thread;
  private volatile boolean ended;

  /** The message that ended a wait; null for none. Confined to the thread. */
  private Object first;

  /** Whether the last message was reached. Confined to the thread. */
  private boolean last;

  /** The error that ended the thread; null for none. */
  private volatile Throwable failure;

  /** Creates a thread that is not started. */
  public FoldThread(Fold<M> fold) {
    this.fold = fold;
    thread = Thread.ofPlatform().name("fold").daemon().unstarted(this::run);
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
    putAny(message);
  }

  private void putAny(Object message) {
    boolean interrupted = false;
    try {
      while (true) {
        if (ended) {
          throw endedException();
        }
        try {
          if (inbox.offer(message, PUT_MILLIS, TimeUnit.MILLISECONDS)) {
            checkTaken(message);
            return;
          }
        } catch (InterruptedException e) {
          interrupted = true;
        }
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
    if (ended) {
      throw endedException();
    }
    boolean offered = inbox.offer(message, nanos, TimeUnit.NANOSECONDS);
    if (offered) {
      checkTaken(message);
    }
    return offered;
  }

  /**
   * Fails if the thread ended meanwhile and did not take the message: it may have collected the
   * remaining messages before this one was added.
   */
  private void checkTaken(Object message) {
    if (ended && inbox.remove(message)) {
      throw endedException();
    }
  }

  /** Returns whether the thread has ended, by {@link #close} or by an error. */
  public boolean ended() {
    return ended;
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
    if (thread.getState() == Thread.State.NEW) {
      if (!ended) {
        ended = true;
        fold.end(left(), endedException());
      }
      return;
    }
    try {
      if (!ended) {
        putAny(END);
      }
    } catch (IllegalStateException e) {
      // The thread has just ended by itself.
    }
    try {
      thread.join();
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
  @SuppressWarnings("unchecked")
  public int doWork() {
    int applied = 0;
    while (!last && applied < INBOX_MESSAGES) {
      Object message = first == null ? inbox.poll() : first;
      first = null;
      if (message == null) {
        break;
      }
      last = message == END;
      if (!last) {
        fold.apply((M) message);
        applied++;
      }
    }
    fold.settle();
    return applied;
  }

  private void run() {
    try {
      while (!last) {
        first = inbox.poll(fold.idleNanos(), TimeUnit.NANOSECONDS);
        doWork();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Throwable e) {
      failure = e;
      log.error(
          "The pages are no longer kept up to date: the fold thread failed. Restart the"
              + " server and report the error",
          e);
      throw e;
    } finally {
      ended = true;
      fold.end(left(), endedException());
    }
  }

  @SuppressWarnings("unchecked")
  private List<M> left() {
    List<M> left = new ArrayList<>();
    for (Object message = inbox.poll(); message != null; message = inbox.poll()) {
      if (message != END) {
        left.add((M) message);
      }
    }
    return left;
  }
}
