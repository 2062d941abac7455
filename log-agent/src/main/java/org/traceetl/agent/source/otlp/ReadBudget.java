package org.traceetl.agent.source.otlp;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Bytes of requests being read, bounded over all connections: they are held before the pipeline can
 * refuse them. Safe for any thread.
 */
final class ReadBudget {
  static final String EXHAUSTED = "the agent is at its bound of bytes being read";

  private final long maxBytes;
  private final AtomicLong taken = new AtomicLong();

  ReadBudget(long maxBytes) {
    this.maxBytes = maxBytes;
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
