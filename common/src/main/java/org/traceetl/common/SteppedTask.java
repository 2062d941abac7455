package org.traceetl.common;

import java.util.concurrent.TimeUnit;

/**
 * The work of one thread, as steps. A {@link SteppedThread} repeats the steps; a test or a
 * simulation calls them itself. One thread at a time calls the methods, except {@link #endPause}.
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
   * Does the work that is due. May wait for a broker or a disk, but not for work or for a time.
   *
   * @return nanoseconds until work may be due, 0 for immediately, {@link #UNTIL_WOKEN}, or {@link
   *     #ENDED}
   */
  long doWork() throws Exception;

  /** Waits until the thread is woken or the time has passed. Only for tasks that wait otherwise. */
  default void pause(long nanos, Parking parking) throws Exception {
    parking.park(nanos);
  }

  /** Ends a wait in an overridden {@link #pause}. Called by any thread. */
  default void endPause() {}

  /** Finishes the work after the last step, on the same thread; not after an {@link Error}. */
  default void onEnd() throws Exception {}

  /** Waits in the usual way. */
  @FunctionalInterface
  interface Parking {
    /** Parks the thread until it is woken or the time has passed. */
    void park(long nanos);
  }
}
