package org.traceetl.common;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that repeats the steps of a {@link DutyCycle}. It parks while there is nothing to do. It
 * starts at most once, and not after its end. An exception of a step is logged, and the thread
 * continues after a pause. All methods may be called by any thread.
 */
public final class DutyThread implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(DutyThread.class);

  /** How long the thread waits after a step failed. */
  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final DutyCycle work;
  private final LogThrottle failureLog;
  private final Thread thread;
  // Not the permit of LockSupport alone: a lock that a step waits for would consume it.
  private final AtomicBoolean woken = new AtomicBoolean();
  private volatile boolean ended;

  /** Creates a platform thread that is not started. */
  public DutyThread(String name, DutyCycle work, LongSupplier nanoClock) {
    this(Thread.ofPlatform().name(name), work, nanoClock);
  }

  /**
   * Creates a thread that is not started.
   *
   * @param builder a daemon's builder if a step may block for long, because {@link #close} does not
   *     wait for daemons
   */
  public DutyThread(Thread.Builder builder, DutyCycle work, LongSupplier nanoClock) {
    this.work = work;
    failureLog = new LogThrottle(nanoClock);
    thread = builder.unstarted(this::run);
  }

  /** Starts the thread, unless it was started or has ended. */
  public synchronized void start() {
    if (!ended && thread.getState() == Thread.State.NEW) {
      thread.start();
    }
  }

  /** Wakes the thread for another step. Call it after the work has been handed over. */
  public void wake() {
    if (!woken.get() && woken.compareAndSet(false, true)) {
      LockSupport.unpark(thread);
    }
  }

  /** Returns whether {@link #close} was called. */
  public boolean isEnded() {
    return ended;
  }

  /** Ends the thread after the current step, and waits for it unless it is a platform daemon. */
  @Override
  public void close() {
    synchronized (this) {
      ended = true;
    }
    woken.set(true);
    LockSupport.unpark(thread);
    work.endWait();
    // Virtual threads are daemons too, but their steps do not block for long.
    if (!thread.isDaemon() || thread.isVirtual()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void run() {
    while (!ended) {
      guard(this::step);
    }
    guard(work::onEnd);
  }

  private void step() throws Exception {
    if (work.doWork() == 0 && !ended) {
      work.idle(work.idleNanos(), this::park);
    }
  }

  private void park(long nanos) {
    if (nanos > 0 && !woken.get()) {
      LockSupport.parkNanos(this, nanos);
    }
    // Before the next step looks for work, so that no wake-up is lost.
    woken.set(false);
    if (Thread.interrupted()) {
      log.warn("Thread {} was interrupted and continues", thread.getName());
    }
  }

  @FunctionalInterface
  private interface Step {
    void run() throws Exception;
  }

  private void guard(Step step) {
    try {
      step.run();
    } catch (InterruptedException e) {
      log.warn("Thread {} was interrupted and continues", thread.getName());
    } catch (Exception e) {
      if (failureLog.permits()) {
        log.error("Thread {} continues after an unexpected failure", thread.getName(), e);
      }
      park(RETRY_NANOS);
    }
  }
}
