package org.traceetl.server.expose;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that owns what pages are made of. What changes that, and whoever wants something of
 * it, comes to it as a message through one bounded queue; all but the fold's own calls are for any
 * thread.
 *
 * @param <M> messages
 */
public final class FoldThread<M> implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(FoldThread.class);
  private static final int INBOX_MESSAGES = 1_024;
  private static final long PUT_MILLIS = 500;

  /** Comes after all that waits when the thread is to end. */
  private static final Object END = new Object();

  /**
   * What is done on the thread.
   *
   * @param <M> messages
   */
  public interface Fold<M> {
    /** Nanoseconds until something is due without a message. */
    long idleNanos();

    /** Takes a message in. */
    void apply(M message);

    /** What waited is taken in, or something is due without a message. */
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

  /** Why it ended by itself; null unless it did. */
  private volatile Throwable failure;

  /** A thread that is yet to be started. */
  public FoldThread(Fold<M> fold) {
    this.fold = fold;
    thread = Thread.ofPlatform().name("fold").daemon().unstarted(this::run);
  }

  /** Begins. Once. */
  public void start() {
    thread.start();
  }

  /**
   * Hands a message over. Waits while the queue is full, whatever happens: what is dropped would be
   * missing for good.
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
   * Hands a message over that may be given up.
   *
   * @return false if the queue was full for that long
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
   * A thread that ended meanwhile may have looked for what is left before the message was there.
   */
  private void checkTaken(Object message) {
    if (ended && inbox.remove(message)) {
      throw endedException();
    }
  }

  /** Whether it has ended, by {@link #close} or by an error. */
  public boolean ended() {
    return ended;
  }

  /** Whether it has ended by an error. */
  public boolean failed() {
    return failure != null;
  }

  /** What to tell those who come too late. */
  public IllegalStateException endedException() {
    return new IllegalStateException("the fold thread has ended; see the server's log", failure);
  }

  /** Ends it after what waits. Idempotent. */
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
      // It ended by itself, just now.
    }
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try {
      boolean more = true;
      while (more) {
        Object first = inbox.poll(fold.idleNanos(), TimeUnit.NANOSECONDS);
        more = first == null || apply(first);
        for (int i = 0; more && i < INBOX_MESSAGES && !inbox.isEmpty(); i++) {
          more = apply(inbox.take());
        }
        fold.settle();
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

  /** False if this was the last message. */
  @SuppressWarnings("unchecked")
  private boolean apply(Object message) {
    if (message == END) {
      return false;
    }
    fold.apply((M) message);
    return true;
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
