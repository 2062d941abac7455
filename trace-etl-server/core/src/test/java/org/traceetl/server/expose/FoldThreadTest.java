package org.traceetl.server.expose;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;

class FoldThreadTest {
  private static final int INBOX_MESSAGES = 1_024;
  private static final int LATE = 64;

  /** Waits in its first message, then fails with an error. */
  private static final class Failing implements FoldThread.Fold<Integer> {
    final CountDownLatch entered = new CountDownLatch(1);
    final CountDownLatch fail = new CountDownLatch(1);
    final Set<Integer> left = ConcurrentHashMap.newKeySet();

    @Override
    public long idleNanos() {
      return Long.MAX_VALUE;
    }

    @Override
    public void apply(Integer message) {
      entered.countDown();
      try {
        fail.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      throw new IllegalArgumentException("as the test wants it");
    }

    @Override
    public void settle() {}

    @Override
    public void end(List<Integer> messages, IllegalStateException ended) {
      left.addAll(messages);
    }
  }

  @Test
  void aMessageThatComesWhileTheThreadEndsIsLeftOrRefused() throws Exception {
    var fold = new Failing();
    var thread = new FoldThread<>(fold, Clocks.SYSTEM);
    thread.start();
    thread.put(-1);
    fold.entered.await();
    for (int message = 0; message < INBOX_MESSAGES; message++) {
      thread.put(message);
    }
    Set<Integer> refused = ConcurrentHashMap.newKeySet();
    List<Thread> late = new ArrayList<>();
    for (int i = 0; i < LATE; i++) {
      int message = INBOX_MESSAGES + i;
      late.add(
          Thread.ofPlatform()
              .start(() -> {
                try {
                  thread.put(message);
                } catch (IllegalStateException e) {
                  refused.add(message);
                }
              }));
    }
    for (Thread putting : late) {
      await().until(() -> putting.getState() == Thread.State.TIMED_WAITING);
    }
    fold.fail.countDown();
    for (Thread putting : late) {
      putting.join();
    }
    thread.close();

    for (int i = 0; i < LATE; i++) {
      int message = INBOX_MESSAGES + i;
      assertThat(fold.left.contains(message) ^ refused.contains(message)).isTrue();
    }
  }

  private static final class Recording implements FoldThread.Fold<Integer> {
    final List<Integer> applied = new ArrayList<>();
    final List<Integer> left = new ArrayList<>();

    @Override
    public long idleNanos() {
      return Long.MAX_VALUE;
    }

    @Override
    public void apply(Integer message) {
      applied.add(message);
    }

    @Override
    public void settle() {}

    @Override
    public void end(List<Integer> messages, IllegalStateException ended) {
      left.addAll(messages);
    }
  }

  @Test
  void stepsReplaceTheThread() {
    var fold = new Recording();
    var thread = new FoldThread<>(fold, Clocks.SYSTEM);
    thread.put(1);
    thread.put(2);
    assertThat(thread.doWork()).isEqualTo(2);
    assertThat(fold.applied).containsExactly(1, 2);
    assertThat(thread.doWork()).isZero();
    thread.put(3);
    thread.close();
    assertThat(fold.left).containsExactly(3);
  }
}
