package org.traceetl.agent.pipeline;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Closed batches for reuse, some 200 KiB each. It frees what a busier time needed, so an idle agent
 * has none. Confined to the pipeline thread.
 */
final class BatchPool {
  /** A batch that is unused for this duration is freed, within twice the duration. */
  static final long UNUSED_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final LongSupplier nanoClock;
  private final long mostHeldByBatch;
  // The one used last is the first.
  private final ArrayDeque<OpenBatch> free = new ArrayDeque<>();
  // The fewest free batches since the last trimming: they were not used.
  private int unused;
  private long trimDueNanos;

  /**
   * @param mostHeldByBatch bytes; a larger batch is not kept, because its arrays do not shrink
   */
  BatchPool(long mostHeldByBatch, LongSupplier nanoClock) {
    this.mostHeldByBatch = mostHeldByBatch;
    this.nanoClock = nanoClock;
    trimDueNanos = nanoClock.getAsLong() + UNUSED_NANOS;
  }

  OpenBatch take() {
    OpenBatch batch = free.isEmpty() ? new OpenBatch() : free.pop();
    unused = Math.min(unused, free.size());
    return batch;
  }

  void give(OpenBatch batch) {
    if (batch.heldBytes() <= mostHeldByBatch) {
      free.push(batch);
    }
  }

  /** Frees batches that were unused since the last time, if that is long enough ago. */
  void trim() {
    long now = nanoClock.getAsLong();
    if (now - trimDueNanos < 0) {
      return;
    }
    trimDueNanos = now + UNUSED_NANOS;
    for (; unused > 0; unused--) {
      free.removeLast();
    }
    unused = free.size();
  }

  int size() {
    return free.size();
  }
}
