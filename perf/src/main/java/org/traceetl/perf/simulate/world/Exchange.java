package org.traceetl.perf.simulate.world;

import java.util.concurrent.locks.LockSupport;

/**
 * The answer that a simulated thread waits for. Anything in the world may give it; the first one
 * counts.
 */
public final class Exchange<T> {
  private final World world;
  private T value;
  private Thread waiter;

  public Exchange(World world) {
    this.world = world;
  }

  /** Gives the answer, unless there is one already. */
  public void answer(T answer) {
    if (value == null) {
      value = answer;
      LockSupport.unpark(waiter);
    }
  }

  /** Waits in a simulated thread; returns null if there is no answer within the time. */
  public T await(long timeoutNanos) throws InterruptedException {
    long untilNanos = world.nanos() + timeoutNanos;
    waiter = Thread.currentThread();
    while (value == null && world.nanos() < untilNanos) {
      world.park(untilNanos - world.nanos());
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
    waiter = null;
    return value;
  }
}
