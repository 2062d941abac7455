package org.traceetl.agent.publish;

import java.util.concurrent.atomic.AtomicLong;
import org.traceetl.agent.spool.SpooledBatch;

/** The bytes of bodies and bundles in memory, and their limit. Safe for any thread. */
final class BodyMemory {
  private final long most;
  private final AtomicLong bytes = new AtomicLong();

  BodyMemory(long most) {
    this.most = most;
  }

  /** Returns whether the body fits into memory, in addition to the others. */
  boolean hasRoomFor(SpooledBatch batch) {
    return bytes.get() + batch.length() <= most;
  }

  /** Returns whether bodies use more than half of the memory. */
  boolean isScarce() {
    return bytes.get() > most / 2;
  }

  /** Counts a body that is in memory. */
  void hold(SpooledBatch batch) {
    bytes.addAndGet(batch.length());
  }

  /** Counts a bundle that is in memory. */
  void hold(int bundleBytes) {
    bytes.addAndGet(bundleBytes);
  }

  /** Counts a bundle no longer. */
  void release(int bundleBytes) {
    bytes.addAndGet(-bundleBytes);
  }

  /** Removes the body from memory, if it is there. */
  void release(SpooledBatch batch) {
    if (batch.body() != null) {
      bytes.addAndGet(-batch.length());
      batch.body(null);
    }
  }

  long bytes() {
    return bytes.get();
  }
}
