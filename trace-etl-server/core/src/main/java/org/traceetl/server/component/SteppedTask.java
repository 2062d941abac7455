package org.traceetl.server.component;

import java.util.concurrent.TimeUnit;

/**
 * Work that a thread does in steps. A {@link SteppedThread} runs the steps and rests between them;
 * a test or a simulation calls {@link #doWork} itself. A step may wait for a broker, never for
 * time.
 */
@FunctionalInterface
public interface SteppedTask {
  /** Rest of a task that looks for work about once a second. */
  long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Nothing is due until the thread is woken. */
  long UNTIL_WOKEN = Long.MAX_VALUE;

  /** The task has ended; no further step follows. */
  long ENDED = -1;

  /**
   * Does what is due.
   *
   * @return nanoseconds until something may be due, 0 for at once, {@link #UNTIL_WOKEN}, or {@link
   *     #ENDED}
   */
  long doWork() throws InterruptedException;

  /** Runs once after the last step, however it ended. */
  default void onEnd() throws InterruptedException {}
}
