package org.traceetl.perf.simulate.world;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedThread;

final class WorldTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final World world = new World(1, new Timeline(100));
  private final List<String> seen = new ArrayList<>();

  private void sleep(long nanos) {
    try {
      world.sleep(nanos);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private SteppedThread ticking(Process process) {
    SteppedThread thread =
        new SteppedThread(
            process.clocks(),
            "ticks",
            () -> {
              process.enter("tick");
              seen.add(process.name());
              return SECOND;
            },
            new LogThrottle(process.clocks().nanoClock()));
    process.start("main", thread::start);
    return thread;
  }

  @Test
  void sleepingThreadsContinueInTheOrderOfTheirTimes() {
    world.spawn(
        "late",
        () -> {
          sleep(2 * SECOND);
          seen.add("late " + world.nanos() / SECOND);
        });
    world.spawn(
        "early",
        () -> {
          sleep(SECOND);
          seen.add("early " + world.nanos() / SECOND);
        });

    world.run(3 * SECOND);

    assertThat(seen).containsExactly("early 1", "late 2");
    assertThat(world.nanos()).isGreaterThanOrEqualTo(3 * SECOND);
  }

  @Test
  void killedProcessDoesNotContinue() {
    Process process = world.process("agent-1");
    ticking(process);
    world.run(3 * SECOND);
    int before = seen.size();
    process.kill();

    world.run(10 * SECOND);

    assertThat(before).isBetween(3, 4);
    assertThat(seen).hasSize(before);
  }

  @Test
  void processIsKilledAtTheGivenOperation() {
    Process process = world.process("agent-1");
    process.killAtOperation(3);
    ticking(process);

    world.run(10 * SECOND);

    assertThat(seen).hasSize(2);
    assertThat(process.alive()).isFalse();
  }

  @Test
  void stoppedProcessContinuesWhenItIsResumed() {
    Process process = world.process("agent-1");
    ticking(process);
    world.run(SECOND / 2);
    process.stop();
    world.run(10 * SECOND);
    int before = seen.size();
    process.resume();

    world.run(12 * SECOND);

    assertThat(before).isEqualTo(1);
    assertThat(seen).hasSizeGreaterThan(2);
  }

  @Test
  void clocksOfProcessesStepAndDrift() {
    Process process = world.process("agent-1");
    long nanos = process.clocks().nanos();
    process.stepClock(-5_000);
    process.drift(100_000);

    world.run(10 * SECOND);

    assertThat(process.clocks().nanos() - nanos).isEqualTo(11 * SECOND);
    assertThat(process.clocks().millis()).isEqualTo(World.START_MILLIS + 6_000);
  }

  @Test
  void closeWaitsForTheEndOfASteppedThread() {
    Process process = world.process("agent-1");
    SteppedThread thread = ticking(process);
    process.start(
        "closer",
        () -> {
          thread.close();
          seen.add("closed");
        });

    world.run(SECOND);

    assertThat(seen).contains("closed");
  }

  @Test
  void exchangeReturnsNullWithoutAnAnswerInTime() {
    Exchange<String> answered = new Exchange<>(world);
    Exchange<String> silent = new Exchange<>(world);
    world.after(SECOND, () -> answered.answer("yes"));
    world.spawn(
        "asks",
        () -> {
          try {
            seen.add(answered.await(2 * SECOND) + " " + world.nanos() / SECOND);
            seen.add(silent.await(2 * SECOND) + " " + world.nanos() / SECOND);
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        });

    world.run(10 * SECOND);

    assertThat(seen).containsExactly("yes 1", "null 3");
  }

  @Test
  void awaitEndsWhenTheLatchOpensOrTheTimeIsOver() {
    Process process = world.process("agent-1");
    CountDownLatch latch = new CountDownLatch(1);
    world.after(SECOND, latch::countDown);
    process.start(
        "waits",
        () -> {
          try {
            seen.add("" + process.clocks().threads().await(latch, Duration.ofMillis(100)));
            seen.add("" + process.clocks().threads().await(latch, Duration.ofSeconds(100)));
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        });

    world.run(2 * SECOND);

    assertThat(seen).containsExactly("false", "true");
  }

  @Test
  void waitForRealTimeEndsTheRun() {
    // A wait that ends before the thread has left its turn resumes within it; the next one does
    // not.
    Thread waiting =
        world.spawn(
            "waits",
            () -> {
              for (int i = 0; i < 100; i++) {
                LockSupport.parkNanos(SECOND / 10);
              }
            });

    assertThatThrownBy(
            () -> {
              while (waiting.isAlive()) {
                world.run(world.nanos() + 1);
                Thread.yield();
              }
            })
        .hasMessageContaining("real time");
  }

  @Test
  void anErrorOfAProcessIsAFailureOfTheProgram() {
    Process process = world.process("agent-1");
    process.start(
        "step",
        () -> {
          throw new IllegalArgumentException("made by the test");
        });

    assertThatThrownBy(() -> world.run(SECOND))
        .isInstanceOf(ProgramFailure.class)
        .hasMessageContaining("thread step of")
        .hasRootCauseMessage("made by the test");
  }

  @Test
  void theFirstFailureEndsTheRun() {
    world.fail(new IllegalStateException("first"));
    world.fail(new IllegalStateException("second"));

    assertThatThrownBy(() -> world.run(SECOND)).hasMessage("first");
  }

  @Test
  void threadContinuesWhenAThreadOutsideOfTheWorldLeavesAMonitor() throws InterruptedException {
    Object monitor = new Object();
    CountDownLatch entered = new CountDownLatch(1);
    Thread waiter =
        world.spawn(
            "waits",
            () -> {
              synchronized (monitor) {
                seen.add("waited until " + world.nanos() / SECOND);
              }
            });
    Thread outside =
        Thread.ofPlatform()
            .start(() -> {
              synchronized (monitor) {
                entered.countDown();
                while (waiter.getState() != Thread.State.BLOCKED) {
                  Thread.yield();
                }
              }
            });
    entered.await();

    world.run(SECOND);
    outside.join();

    assertThat(seen).containsExactly("waited until 0");
  }

  /** Rarely, the monitor becomes free while a simulated thread is about to wait for it. */
  @Test
  void monitorsOfThreadsOutsideOfTheWorldDoNotChangeItsCourse() throws InterruptedException {
    Object monitor = new Object();
    long expected = courseOfMonitor(monitor);
    AtomicBoolean ends = new AtomicBoolean();
    Thread outside =
        Thread.ofPlatform()
            .start(() -> {
              RandomGenerator random = new SplittableRandom(1);
              while (!ends.get()) {
                synchronized (monitor) {
                  spin(random.nextInt(30_000));
                }
                spin(random.nextInt(60_000));
              }
            });
    try {
      for (int i = 0; i < 100; i++) {
        assertThat(courseOfMonitor(monitor)).isEqualTo(expected);
      }
    } finally {
      ends.set(true);
      outside.join();
    }
  }

  private static void spin(int nanos) {
    long endNanos = System.nanoTime() + nanos;
    while (System.nanoTime() - endNanos < 0) {
      Thread.onSpinWait();
    }
  }

  private static long courseOfMonitor(Object monitor) {
    Timeline timeline = new Timeline(10);
    World world = new World(5, timeline);
    for (int i = 0; i < 4; i++) {
      String name = "enters " + i;
      world.spawn(
          name,
          () -> {
            try {
              for (int turn = 0; turn < 3_000; turn++) {
                synchronized (monitor) {
                  timeline.operation(name, "inside");
                }
                world.sleep(500 + 100 * (turn % 7));
              }
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
          });
    }
    world.run(60 * SECOND);
    return timeline.hash();
  }

  @Test
  void threadThatWaitsForTheMonitorOfASimulatedThreadEndsTheRun() {
    world.mostBlocked(0);
    Object monitor = new Object();
    world.spawn(
        "holds",
        () -> {
          synchronized (monitor) {
            sleep(2 * SECOND);
          }
        });
    world.after(
        SECOND,
        () ->
            world.spawn(
                "wants",
                () -> {
                  synchronized (monitor) {
                    seen.add("entered");
                  }
                }));

    assertThatThrownBy(() -> world.run(3 * SECOND))
        .hasMessageContaining("wants")
        .hasMessageContaining("monitor that another simulated thread has");
    assertThat(seen).isEmpty();
  }

  @Test
  void failedThreadEndsTheRun() {
    world.spawn(
        "fails",
        () -> {
          throw new IllegalArgumentException("made by the test");
        });

    assertThatThrownBy(() -> world.run(SECOND))
        .hasMessageContaining("fails")
        .hasRootCauseMessage("made by the test");
  }

  @Test
  void equalSeedsTakeTheSameCourse() {
    assertThat(hash(7)).isEqualTo(hash(7)).isNotEqualTo(hash(8));
  }

  private static long hash(long seed) {
    Timeline timeline = new Timeline(10);
    World world = new World(seed, timeline);
    for (int i = 0; i < 5; i++) {
      Process process = world.process("agent-" + i);
      SteppedThread thread =
          new SteppedThread(
              process.clocks(),
              "ticks",
              () -> {
                process.enter("tick");
                return process.random().nextLong(SECOND);
              },
              new LogThrottle(process.clocks().nanoClock()));
      process.start("main", thread::start);
    }
    world.run(5 * SECOND);
    return timeline.hash();
  }
}
