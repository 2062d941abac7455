package org.traceetl.common;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SteppedThreadTest {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final Queue<Runnable> steps = new ConcurrentLinkedQueue<>();
  private final AtomicInteger ends = new AtomicInteger();
  private final SteppedThread thread = thread(new Steps());

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

  private static SteppedThread thread(SteppedTask task) {
    return new SteppedThread(Clocks.SYSTEM, "test", task, new LogThrottle(System::nanoTime));
  }

  @AfterEach
  void end() {
    thread.close();
  }

  private void awaitStep() throws InterruptedException {
    CountDownLatch done = new CountDownLatch(1);
    steps.add(done::countDown);
    thread.wake();
    assertThat(done.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  private static void fail() {
    throw new IllegalStateException("made by the test");
  }

  @Test
  void everyWakeIsFollowedByAStep() throws Exception {
    thread.start();
    for (int i = 0; i < 10_000; i++) {
      awaitStep();
    }
    thread.finish();

    assertThat(thread.join(PATIENCE)).isTrue();
    assertThat(ends).hasValue(1);
    assertThat(thread.alive()).isTrue();
  }

  @Test
  void closingEndsAParkedThreadOnce() {
    thread.start();
    thread.close();
    thread.close();

    assertThat(ends).hasValue(1);
    assertThat(thread.isClosed()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void continuesAfterFailedStepsAndAnInterrupt(int failures) throws Exception {
    for (int i = 0; i < failures; i++) {
      steps.add(SteppedThreadTest::fail);
    }
    steps.add(() -> Thread.currentThread().interrupt());
    thread.start();
    awaitStep();

    assertThat(thread.alive()).isTrue();
  }

  @Test
  void reportsAnEndByAnErrorWithoutALastStep() throws Exception {
    steps.add(() -> {
      throw new AssertionError("made by the test");
    });
    thread.start();

    assertThat(thread.join(PATIENCE)).isTrue();
    assertThat(thread.alive()).isFalse();
    assertThat(ends).hasValue(0);
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
    assertThat(ends).hasValue(1);
  }

  @Test
  void endsWhenItsTaskHasEnded() throws Exception {
    SteppedThread ending = thread(() -> SteppedTask.ENDED);
    ending.start();

    assertThat(ending.join(PATIENCE)).isTrue();
    assertThat(ending.alive()).isTrue();
    assertThat(ending.isClosed()).isFalse();
  }

  @Test
  void doesNotStartAfterItsEnd() throws Exception {
    thread.close();
    thread.start();

    assertThat(thread.join(PATIENCE)).isTrue();
    assertThat(ends).hasValue(0);
  }

  @Test
  void waitsForADaemonOnlyForALimitedTime() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    SteppedThread daemon =
        SteppedThread.daemon(
            Clocks.SYSTEM,
            "test",
            () -> {
              goOn.await();
              return 0;
            },
            new LogThrottle(System::nanoTime));
    daemon.start();
    daemon.close();
    goOn.countDown();

    assertThat(daemon.join(PATIENCE)).isTrue();
  }
}
