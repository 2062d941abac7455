package org.traceetl.server.consume.ownership;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Grants permits in the order of requests, without blocking. When the turn of a waiting requester
 * may have come, it is run and has to ask again. Thread-safe.
 */
final class FairPermits {
  private final Deque<Runnable> waiting = new ArrayDeque<>();
  private int free;

  FairPermits(int permits) {
    free = permits;
  }

  /**
   * Takes a permit if one is free and no earlier requester waits.
   *
   * @param requester the same object in each request; run only to wake its thread
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

  /** Withdraws a request that was not granted. */
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
