package org.traceetl.agent.source.otlp;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Bytes of requests being read, bounded over all connections: they are held before the pipeline can
 * refuse them. Safe for any thread.
 */
final class ReadBudget {
  static final String EXHAUSTED = "the agent is at its bound of bytes being read";

  /**
   * What a piece of a request counts for at least. Whoever sends a body byte by byte has as many
   * objects made to hold them, of some hundred bytes each.
   */
  private static final int LEAST_PIECE_BYTES = 1_024;

  private final long maxBytes;
  private final AtomicLong taken = new AtomicLong();

  ReadBudget(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** What a piece of a request counts for; nothing for none. */
  static int charge(int bytes) {
    return bytes == 0 ? 0 : Math.max(bytes, LEAST_PIECE_BYTES);
  }

  /** Bytes taken and not given back. */
  long taken() {
    return taken.get();
  }

  /** False when there is no room for these; none are taken then. */
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
