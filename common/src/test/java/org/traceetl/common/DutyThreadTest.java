package org.traceetl.common;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class DutyThreadTest {
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final AtomicInteger ends = new AtomicInteger();
  private final DutyThread thread = new DutyThread("test", new Tasks(), System::nanoTime);

  /** Runs one task a step, and never wakes by itself. */
  private final class Tasks implements DutyCycle {
    @Override
    public int doWork() {
      Runnable task = tasks.poll();
      if (task == null) {
        return 0;
      }
      task.run();
      return 1;
    }

    @Override
    public long idleNanos() {
      return TimeUnit.HOURS.toNanos(1);
    }

    @Override
    public void onEnd() {
      ends.incrementAndGet();
    }
  }

  @Test
  void everyWakeUpIsFollowedByAStep() throws InterruptedException {
    thread.start();
    for (int i = 0; i < 10_000; i++) {
      CountDownLatch done = new CountDownLatch(1);
      tasks.add(done::countDown);
      thread.wake();
      assertThat(done.await(1, TimeUnit.MINUTES)).isTrue();
    }
    thread.close();
  }

  @Test
  void closingEndsAParkedThreadOnce() {
    thread.start();
    thread.close();
    thread.close();

    assertThat(ends).hasValue(1);
    assertThat(thread.isEnded()).isTrue();
  }

  @Test
  void continuesAfterAFailureAndAnInterrupt() throws InterruptedException {
    CountDownLatch done = new CountDownLatch(1);
    tasks.add(() -> {
      throw new IllegalStateException("planted");
    });
    tasks.add(() -> Thread.currentThread().interrupt());
    thread.start();
    tasks.add(done::countDown);
    thread.wake();

    assertThat(done.await(1, TimeUnit.MINUTES)).isTrue();
    thread.close();
  }

  @Test
  void doesNotStartAfterItsEnd() {
    thread.close();
    thread.start();

    assertThat(ends).hasValue(0);
  }
}
