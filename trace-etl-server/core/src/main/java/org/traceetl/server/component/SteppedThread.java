package org.traceetl.server.component;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.LogThrottle;

/**
 * Runs a {@link SteppedTask}: parks until its next step is due or {@link #wake} is called, and
 * continues after a step that failed. Thread-safe.
 */
public final class SteppedThread implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(SteppedThread.class);

  /** How long {@link #close} waits for the current step. */
  private static final Duration CLOSE_WAIT = Duration.ofSeconds(2);

  private final SteppedTask task;
  private final LogThrottle throttle;
  private final Thread thread;

  /** Separate from the thread's permit to park, which a lock within a step would consume. */
  private final AtomicBoolean woken = new AtomicBoolean();

  private volatile boolean closed;
  private volatile boolean failed;

  /** Creates a daemon thread that is not started. */
  public SteppedThread(String name, SteppedTask task, LogThrottle throttle) {
    this(Thread.ofPlatform().name(name).daemon(), task, throttle);
  }

  /** Creates a thread that is not started. */
  public SteppedThread(Thread.Builder builder, SteppedTask task, LogThrottle throttle) {
    this.task = task;
    this.throttle = throttle;
    thread = builder.unstarted(this::run);
  }

  /** Starts the thread. Called once. */
  public void start() {
    thread.start();
  }

  /** Wakes the thread, because work may be due. */
  public void wake() {
    woken.set(true);
    LockSupport.unpark(thread);
  }

  /** Returns whether the thread was asked to end. */
  public boolean isClosed() {
    return closed;
  }

  /** Returns false if the thread ended without a request. */
  public boolean alive() {
    return !failed;
  }

  /** Ends the thread after the current step, without waiting. Idempotent. */
  public void finish() {
    closed = true;
    wake();
  }

  /** Ends the thread and interrupts the current step, without waiting. Idempotent. */
  public void abort() {
    closed = true;
    thread.interrupt();
  }

  /**
   * Waits for the end of the thread.
   *
   * @return whether it has ended
   */
  public boolean join(Duration atMost) throws InterruptedException {
    return thread.getState() == Thread.State.NEW || thread.join(atMost);
  }

  /** Ends the thread after the current step, and waits for it for up to two seconds. */
  @Override
  public void close() {
    finish();
    try {
      // Not interrupted: Lucene closes its files when a thread that reads them is interrupted.
      join(CLOSE_WAIT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try {
      long idleNanos = 0;
      while (!closed && idleNanos != SteppedTask.ENDED) {
        idleNanos = step();
        if (idleNanos > 0 && !woken.get() && !closed) {
          LockSupport.parkNanos(this, idleNanos);
        }
        woken.set(false); // before the next step looks for work
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
      }
    } catch (InterruptedException e) {
      failed = !closed;
      Thread.currentThread().interrupt();
    } catch (Error e) {
      failed = true;
      log.error("Thread {} ended with an error; restart the server", thread.getName(), e);
      throw e;
    } finally {
      end();
    }
  }

  private long step() throws InterruptedException {
    try {
      return task.doWork();
    } catch (RuntimeException e) {
      // A failed step must not end the thread. Unfinished work is still in the journal.
      if (throttle.permits()) {
        log.error("A step of thread {} failed; the thread continues", thread.getName(), e);
      }
      return SteppedTask.IDLE_NANOS;
    }
  }

  private void end() {
    try {
      task.onEnd();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      log.error("The last step of thread {} failed", thread.getName(), e);
    }
  }
}
