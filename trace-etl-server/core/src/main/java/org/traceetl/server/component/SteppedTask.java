package org.traceetl.server.component;

import java.util.concurrent.TimeUnit;

/**
 * A task that a thread does in steps. A {@link SteppedThread} runs the steps and parks between
 * them; a test or a simulation calls {@link #doWork} itself. A step may wait for a broker, but must
 * not sleep.
 */
@FunctionalInterface
public interface SteppedTask {
  /** Pause of a task that looks for work about once a second. */
  long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Pause until the thread is woken. */
  long UNTIL_WOKEN = Long.MAX_VALUE;

  /** The task has ended; no more steps follow. */
  long ENDED = -1;

  /**
   * Does the work that is due.
   *
   * @return nanoseconds until work may be due, 0 for immediately, {@link #UNTIL_WOKEN}, or {@link
   *     #ENDED}
   */
  long doWork() throws InterruptedException;

  /** Runs once after the last step, even if it failed. */
  default void onEnd() throws InterruptedException {}
}
