package org.traceetl.agent.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Tests which batches are kept for reuse. */
final class BatchPoolTest {
  private long nowNanos = Long.MAX_VALUE - 10;
  private final BatchPool pool = new BatchPool(Long.MAX_VALUE, () -> nowNanos);

  private void use(int batches) {
    OpenBatch[] taken = new OpenBatch[batches];
    for (int i = 0; i < batches; i++) {
      taken[i] = pool.take();
    }
    for (OpenBatch batch : taken) {
      pool.give(batch);
    }
  }

  private void trimAfter(long nanos) {
    nowNanos += nanos;
    pool.trim();
  }

  @Test
  void batchesAreReused() {
    OpenBatch batch = pool.take();
    pool.give(batch);

    assertThat(pool.take()).isSameAs(batch);
  }

  @Test
  void unusedBatchesAreFreed() {
    use(32);
    trimAfter(BatchPool.UNUSED_NANOS);
    assertThat(pool.size()).isEqualTo(32);

    trimAfter(BatchPool.UNUSED_NANOS - 1);
    assertThat(pool.size()).isEqualTo(32);

    trimAfter(1);
    assertThat(pool.size()).isZero();
  }

  @Test
  void usedBatchesAreKept() {
    use(32);
    trimAfter(BatchPool.UNUSED_NANOS);
    use(3);
    use(2);
    trimAfter(BatchPool.UNUSED_NANOS);

    assertThat(pool.size()).isEqualTo(3);
  }

  @Test
  void largeBatchesAreNotKept() {
    BatchPool small = new BatchPool(0, () -> nowNanos);
    small.give(small.take());

    assertThat(small.size()).isZero();
  }
}
