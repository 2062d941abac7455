package org.traceetl.common;

/**
 * The work of one thread, as steps. A {@link DutyThread} repeats the steps; a test or a simulation
 * calls them itself. All methods are called by one thread at a time.
 */
public interface DutyCycle {
  /**
   * Does what can be done now. Does not wait for work.
   *
   * @return how much was done; 0 if the thread may now wait for {@link #idleNanos}
   */
  int doWork() throws Exception;

  /** Returns how long the thread may wait for a {@linkplain DutyThread#wake wake-up} at most. */
  long idleNanos();

  /** Waits until the thread is woken or the time has passed. Only for work that waits by itself. */
  default void idle(long nanos, Parking parking) throws Exception {
    parking.park(nanos);
  }

  /**
   * Ends a wait in an overridden {@link #idle}, because the thread must end. Called by any thread.
   */
  default void endWait() {}

  /** Finishes the work after the last step, on the same thread. */
  default void onEnd() throws Exception {}

  /** Waits in the usual way. */
  @FunctionalInterface
  interface Parking {
    /** Parks the thread until it is woken or the time has passed. */
    void park(long nanos);
  }
}
