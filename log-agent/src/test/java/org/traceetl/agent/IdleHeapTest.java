package org.traceetl.agent;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class IdleHeapTest {
  private static final long MEBIBYTE = 1 << 20;

  private long allocated;
  private long heap = 200 * MEBIBYTE;
  private int collections;
  private final IdleHeap idleHeap = new IdleHeap(() -> allocated, () -> heap, () -> collections++);

  @Test
  void collectsOnceAfterEachRush() {
    look(1_000);
    look(1_000);
    assertThat(collections).isZero();
    look(1);
    assertThat(collections).isOne();
    look(1);
    look(0);
    assertThat(collections).isOne();
    look(1_000);
    look(0);
    assertThat(collections).isEqualTo(2);
  }

  @Test
  void leavesASmallHeapAlone() {
    heap = 10 * MEBIBYTE;
    look(1_000);
    look(1);
    assertThat(collections).isZero();
  }

  private void look(long mebibytesLater) {
    allocated += mebibytesLater * MEBIBYTE;
    idleHeap.doWork();
  }
}
