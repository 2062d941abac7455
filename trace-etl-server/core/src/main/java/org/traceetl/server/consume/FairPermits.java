package org.traceetl.server.consume;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Permits that are granted in the order of requests, without blocking: a requester without a permit
 * is run, to ask again, when its turn may have come. Thread-safe.
 */
final class FairPermits {
  private final Deque<Runnable> waiting = new ArrayDeque<>();
  private int free;

  FairPermits(int permits) {
    free = permits;
  }

  /**
   * Takes a permit if there is one and no earlier requester waits for it.
   *
   * @param requester the same object in each request; only to be woken by it
   */
  boolean tryAcquire(Runnable requester) {
    boolean acquired;
    synchronized (this) {
      if (!waiting.contains(requester)) {
        waiting.add(requester);
      }
      acquired = free > 0 && waiting.peek() == requester;
      if (acquired) {
        waiting.remove();
        free--;
      }
    }
    if (acquired) {
      wakeNext();
    }
    return acquired;
  }

  /** Gives a permit back. */
  void release() {
    synchronized (this) {
      free++;
    }
    wakeNext();
  }

  /** Ends a request that was not granted. */
  void withdraw(Runnable requester) {
    boolean removed;
    synchronized (this) {
      removed = waiting.remove(requester);
    }
    if (removed) {
      wakeNext();
    }
  }

  private void wakeNext() {
    Runnable next;
    synchronized (this) {
      next = free > 0 ? waiting.peek() : null;
    }
    if (next != null) {
      next.run();
    }
  }
}
