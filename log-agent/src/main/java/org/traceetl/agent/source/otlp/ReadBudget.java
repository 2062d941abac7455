package org.traceetl.agent.source.otlp;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The limit of bytes of incomplete requests, over all connections: they use memory before the
 * pipeline can refuse them. Safe for any thread.
 */
final class ReadBudget {
  static final String EXHAUSTED = "the agent has reached its limit of bytes being read";

  /**
   * Least charge for a piece of a request, bytes. A body sent byte by byte costs an object of some
   * hundred bytes for each piece.
   */
  private static final int LEAST_PIECE_BYTES = 1_024;

  private final long maxBytes;
  private final AtomicLong taken = new AtomicLong();

  ReadBudget(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Returns the charge for a piece of a request; 0 for an empty one. */
  static int charge(int bytes) {
    return bytes == 0 ? 0 : Math.max(bytes, LEAST_PIECE_BYTES);
  }

  /** Returns the bytes taken and not given back. */
  long taken() {
    return taken.get();
  }

  /** Takes bytes. Returns false, and takes none, if there is no room. */
  boolean take(long bytes) {
    if (taken.addAndGet(bytes) > maxBytes) {
      giveBack(bytes);
      return false;
    }
    return true;
  }

  void giveBack(long bytes) {
    taken.addAndGet(-bytes);
  }
}
