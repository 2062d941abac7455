package org.traceetl.server.component;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.traceetl.common.LogThrottle;

class SteppedThreadTest {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final Queue<Runnable> steps = new ConcurrentLinkedQueue<>();
  private final AtomicInteger ends = new AtomicInteger();
  private final SteppedThread thread =
      new SteppedThread("test", new Steps(), new LogThrottle(System::nanoTime));

  /** Runs one of the steps that a test has added; rests until it is woken. */
  private final class Steps implements SteppedTask {
    @Override
    public long doWork() {
      Runnable next = steps.poll();
      if (next == null) {
        return UNTIL_WOKEN;
      }
      next.run();
      return 0;
    }

    @Override
    public void onEnd() {
      ends.incrementAndGet();
    }
  }

  private void awaitStep(Runnable before) throws InterruptedException {
    CountDownLatch done = new CountDownLatch(1);
    steps.add(before);
    steps.add(done::countDown);
    thread.wake();
    assertThat(done.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void everyWakeIsFollowedByAStep() throws Exception {
    thread.start();
    for (int i = 0; i < 10_000; i++) {
      awaitStep(() -> {});
    }
    thread.finish();

    assertThat(thread.join(PATIENCE)).isTrue();
    assertThat(ends).hasValue(1);
    assertThat(thread.alive()).isTrue();
  }

  @Test
  void continuesAfterAFailedStep() throws Exception {
    thread.start();
    awaitStep(() -> {
      throw new IllegalStateException("made by the test");
    });
    thread.close();

    assertThat(thread.alive()).isTrue();
  }

  @Test
  void reportsAnEndByAnError() throws Exception {
    steps.add(() -> {
      throw new AssertionError("made by the test");
    });
    thread.start();

    assertThat(thread.join(PATIENCE)).isTrue();
    assertThat(thread.alive()).isFalse();
    assertThat(ends).hasValue(1);
  }

  @Test
  void interruptsAStepWhenItIsAborted() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    steps.add(() -> {
      begun.countDown();
      try {
        never.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    });
    thread.start();
    begun.await();
    thread.abort();

    assertThat(thread.join(PATIENCE)).isTrue();
    assertThat(thread.alive()).isTrue();
  }
}
