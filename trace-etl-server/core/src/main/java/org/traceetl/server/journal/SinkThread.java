package org.traceetl.server.journal;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.LogThrottle;

/**
 * The thread of a sink: it makes the sink's steps, rests between them, goes on after one that
 * failed, and tells when it has ended by an error. For any thread, but for the steps.
 */
public final class SinkThread implements AutoCloseable {
  /** Longest rest between two steps. */
  public static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final Logger log = LoggerFactory.getLogger(SinkThread.class);

  /** How long {@link #close} waits for a call that is under way. */
  private static final Duration CLOSE_WAIT = Duration.ofSeconds(2);

  /** What a sink does. All on its thread. */
  public interface Steps {
    /**
     * Does what is due.
     *
     * @return nanoseconds until something else may be due; 0 for now
     */
    long step() throws InterruptedException;

    /** After the last step. */
    default void end() throws InterruptedException {}
  }

  private final Steps steps;
  private final LogThrottle throttle;
  private final Thread thread;
  private volatile boolean closed;
  private volatile boolean failed;

  /** A thread that is yet to be started. */
  public SinkThread(String name, Steps steps, LogThrottle throttle) {
    this.steps = steps;
    this.throttle = throttle;
    thread = Thread.ofPlatform().name(name).daemon().unstarted(this::run);
  }

  /** Begins with the first step. Once. */
  public void start() {
    thread.start();
  }

  /** Ends a rest: something may be due. */
  public void wake() {
    LockSupport.unpark(thread);
  }

  /** Whether it was told to end. */
  public boolean isClosed() {
    return closed;
  }

  /** Whether it has not ended by an error. */
  public boolean alive() {
    return !failed;
  }

  /** Has it end after the step under way, without waiting for that. Idempotent. */
  void finish() {
    closed = true;
    wake();
  }

  /** Ends it after the step under way, and waits for that for a while. Idempotent. */
  @Override
  public void close() {
    finish();
    try {
      // No interrupt: Lucene would take it for a broken disk.
      thread.join(CLOSE_WAIT.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try {
      while (!closed) {
        long idleNanos = stepOrIdle();
        if (idleNanos > 0) {
          LockSupport.parkNanos(this, idleNanos);
        }
      }
      steps.end();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Error e) {
      failed = true;
      log.error("Thread {} has ended by an error: its sink is no longer kept up", name(), e);
      throw e;
    }
  }

  private long stepOrIdle() throws InterruptedException {
    try {
      return steps.step();
    } catch (RuntimeException e) {
      // The thread's boundary. What was not dealt with stays in the journal.
      if (throttle.permits()) {
        log.error("A step of thread {} failed by an internal error; going on", name(), e);
      }
      return IDLE_NANOS;
    }
  }

  private String name() {
    return thread.getName();
  }
}
