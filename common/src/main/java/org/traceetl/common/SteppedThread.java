package org.traceetl.common;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that repeats the steps of a {@link SteppedTask}, and parks until the next step is due or
 * {@link #wake} is called. It starts at most once, and not after its end. It continues after a
 * failed step and after an interrupt. All methods may be called by any thread.
 */
public final class SteppedThread implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(SteppedThread.class);

  /** First pause after a failed step; each further failure in a row doubles it. */
  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** How long {@link #close} waits for the current step of a daemon. */
  private static final Duration DAEMON_WAIT = Duration.ofSeconds(2);

  private final Threads.Kind kind;
  private final SteppedTask task;
  private final SteppedTask.Parking parking = this::park;
  private final LogThrottle failureLog;
  private final Threads threads;
  private final Thread thread;

  /** Not the permit of LockSupport alone: a lock that a step waits for would consume it. */
  private final AtomicBoolean woken = new AtomicBoolean();

  private volatile boolean closed;
  private volatile boolean failed;

  /** Pause after the next failed step. Confined to the thread. */
  private long retryNanos = RETRY_NANOS;

  /** Creates a platform thread that is not started. {@link #close} waits for its end. */
  public SteppedThread(Clocks clocks, String name, SteppedTask task, LogThrottle failureLog) {
    this(clocks, Threads.Kind.PLATFORM, name, task, failureLog);
  }

  private SteppedThread(
      Clocks clocks, Threads.Kind kind, String name, SteppedTask task, LogThrottle failureLog) {
    this.kind = kind;
    this.task = task;
    this.failureLog = failureLog;
    threads = clocks.threads();
    thread = threads.create(kind, name, this::run);
  }

  /** Creates a platform daemon that is not started: for steps that may wait long for others. */
  public static SteppedThread daemon(
      Clocks clocks, String name, SteppedTask task, LogThrottle failureLog) {
    return new SteppedThread(clocks, Threads.Kind.DAEMON, name, task, failureLog);
  }

  /** Creates a virtual thread that is not started. {@link #close} waits for it as for a daemon. */
  public static SteppedThread virtual(
      Clocks clocks, String name, SteppedTask task, LogThrottle failureLog) {
    return new SteppedThread(clocks, Threads.Kind.VIRTUAL, name, task, failureLog);
  }

  /** Starts the thread, unless it was started or has ended. */
  public synchronized void start() {
    if (!closed && thread.getState() == Thread.State.NEW) {
      thread.start();
    }
  }

  /** Wakes the thread for another step. Call it after the work has been handed over. */
  public void wake() {
    if (!woken.get() && woken.compareAndSet(false, true)) {
      LockSupport.unpark(thread);
    }
  }

  /** Returns whether the thread was asked to end. */
  public boolean isClosed() {
    return closed;
  }

  /** Returns false if an error ended the thread. */
  public boolean alive() {
    return !failed;
  }

  /** Ends the thread after the current step, without waiting. Idempotent. */
  public void finish() {
    synchronized (this) {
      closed = true;
    }
    woken.set(true);
    LockSupport.unpark(thread);
    task.endPause();
  }

  /** Ends the thread and interrupts the current step, without waiting. Idempotent. */
  public void abort() {
    finish();
    thread.interrupt();
  }

  /**
   * Waits for the end of the thread.
   *
   * @return whether it has ended, or was not started
   */
  public boolean join(Duration atMost) throws InterruptedException {
    return thread.getState() == Thread.State.NEW || threads.join(thread, atMost);
  }

  /** Ends the thread after the current step, and waits for it; for a daemon up to two seconds. */
  @Override
  public void close() {
    finish();
    try {
      // Not interrupted: Lucene closes its files when a thread that reads them is interrupted.
      if (kind == Threads.Kind.PLATFORM) {
        thread.join();
      } else {
        join(DAEMON_WAIT);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try {
      boolean more = true;
      while (more && !closed) {
        more = step();
      }
      end();
    } catch (Error e) {
      failed = true;
      log.error("Thread {} ended with an error; restart the program", thread.getName(), e);
      throw e;
    }
  }

  private boolean step() {
    try {
      long idleNanos = task.doWork();
      if (idleNanos == SteppedTask.ENDED) {
        return false;
      }
      retryNanos = RETRY_NANOS;
      if (idleNanos > 0) {
        task.pause(idleNanos, parking);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception e) {
      if (failureLog.permits()) {
        log.error("A step of thread {} failed; the thread continues", thread.getName(), e);
      }
      park(retryNanos);
      retryNanos = Math.min(2 * retryNanos, SteppedTask.IDLE_NANOS);
    }
    if (Thread.interrupted()) {
      continueUnlessAborted();
    }
    return true;
  }

  private void continueUnlessAborted() {
    if (closed) {
      // The last work must not wait either.
      Thread.currentThread().interrupt();
    } else {
      log.warn("Thread {} was interrupted and continues", thread.getName());
    }
  }

  private void park(long nanos) {
    if (!woken.get() && !closed) {
      threads.park(this, nanos);
    }
    // Before the next step looks for work, so that no wake-up is lost.
    woken.set(false);
  }

  private void end() {
    try {
      task.onEnd();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception e) {
      log.error("The last step of thread {} failed", thread.getName(), e);
    }
  }
}
