package org.traceetl.perf.simulate.world;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import org.traceetl.common.Clocks;
import org.traceetl.common.Threads;

/**
 * A process of the simulated operating system, on a machine with a clock of its own. After {@link
 * #kill} none of its threads runs again, wherever they are.
 */
public final class Process {
  private static final long CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** Largest origin of the nanosecond clock. */
  private static final long MOST_ORIGIN_NANOS = TimeUnit.DAYS.toNanos(100);

  private final World world;
  private final String name;
  private final RandomGenerator random;
  private final Clocks clocks;
  private final List<World.Turn> held = new ArrayList<>();

  // The clock: at since, it showed nanos, and has run at rate since then.
  private long sinceNanos;
  private long shownNanos;
  private double rate = 1;
  private final long originNanos;
  private long stepMillis;

  private final long startNanos;
  private long endNanos;
  private boolean alive = true;
  private boolean stopped;
  private long operationsLeft = Long.MAX_VALUE;

  Process(World world, String name, long seed) {
    this.world = world;
    this.name = name;
    random = new SplittableRandom(seed);
    startNanos = world.nanos();
    sinceNanos = startNanos;
    shownNanos = sinceNanos;
    originNanos = random.nextLong(MOST_ORIGIN_NANOS);
    clocks =
        new Clocks(
            () -> originNanos + ownNanos(),
            () -> Instant.ofEpochMilli(ownMillis()),
            this::sleep,
            new OwnThreads());
  }

  public String name() {
    return name;
  }

  /** Returns the name of its host: its own name without the number of its start. */
  public String host() {
    int dot = name.lastIndexOf('.');
    return dot < 0 ? name : name.substring(0, dot);
  }

  public World world() {
    return world;
  }

  public boolean alive() {
    return alive;
  }

  /** Returns the nanoseconds from its start to its end, or to now. */
  public long aliveNanos() {
    return (alive ? world.nanos() : endNanos) - startNanos;
  }

  /** Returns time and threads as the process sees them. */
  public Clocks clocks() {
    return clocks;
  }

  public RandomGenerator random() {
    return random;
  }

  /** Starts a thread. */
  public Thread start(String thread, Runnable body) {
    Thread started = clocks.threads().create(Threads.Kind.PLATFORM, thread, body);
    started.start();
    return started;
  }

  /** Ends the process at once, as SIGKILL does. */
  public void kill() {
    if (alive) {
      alive = false;
      endNanos = world.nanos();
      held.clear();
      world.timeline().note(name, "killed");
    }
  }

  /** Kills the process at one of its next operations on devices: 1 for the next one. */
  public void killAtOperation(long operations) {
    operationsLeft = operations;
  }

  /** Suspends all threads, as SIGSTOP does. */
  public void stop() {
    stopped = true;
    world.timeline().note(name, "stopped");
  }

  /** Resumes all threads, as SIGCONT does. */
  public void resume() {
    if (stopped) {
      stopped = false;
      held.forEach(world::add);
      held.clear();
      world.timeline().note(name, "resumed");
    }
  }

  /** Sets the time of day of the process's machine forward, or back. */
  public void stepClock(long millis) {
    stepMillis += millis;
    world.timeline().note(name, "clock stepped by " + millis + " ms");
  }

  /** Lets the clocks of the process's machine run too fast, or too slow, by parts per million. */
  public void drift(double ppm) {
    shownNanos = ownNanos();
    sinceNanos = world.nanos();
    rate = 1 + ppm / 1e6;
    world.timeline().note(name, "clock drifts by " + ppm + " ppm");
  }

  /**
   * Begins an operation on a simulated device, by a thread of this process. Does not return if the
   * process is killed.
   */
  public void enter(String operation) {
    if (alive && --operationsLeft == 0) {
      world.timeline().note(name, "at operation " + operation);
      kill();
    }
    if (!alive) {
      hang();
    }
    world.timeline().operation(name, operation);
  }

  private static void hang() {
    while (true) {
      LockSupport.park();
      // Interrupts do not reach a killed process, but would end the wait.
      Thread.interrupted();
    }
  }

  /** Returns whether a turn may run now; otherwise keeps it until it may. */
  boolean mayRun(World.Turn turn) {
    if (alive && stopped) {
      held.add(turn);
    }
    return alive && !stopped;
  }

  private long ownNanos() {
    return shownNanos + (long) ((world.nanos() - sinceNanos) * rate);
  }

  private long ownMillis() {
    return world.startMillis() + stepMillis + TimeUnit.NANOSECONDS.toMillis(ownNanos());
  }

  private void sleep(long nanos) throws InterruptedException {
    world.sleep(trueNanos(nanos));
  }

  private long trueNanos(long nanos) {
    return nanos == Long.MAX_VALUE ? nanos : (long) Math.ceil(nanos / rate);
  }

  private final class OwnThreads implements Threads {
    @Override
    public Thread create(Kind kind, String thread, Runnable work) {
      return world.thread(
          Process.this,
          thread,
          work,
          e -> new ProgramFailure("thread " + thread + " of " + name + " ended with an error", e));
    }

    @Override
    public void park(Object blocker, long nanos) {
      world.park(trueNanos(nanos));
    }

    @Override
    public boolean join(Thread thread, Duration atMost) throws InterruptedException {
      long left = TimeUnit.NANOSECONDS.convert(atMost);
      while (thread.isAlive() && left > 0) {
        sleep(CHECK_NANOS);
        left -= CHECK_NANOS;
      }
      return !thread.isAlive();
    }

    @Override
    public boolean await(CountDownLatch latch, Duration atMost) throws InterruptedException {
      long left = TimeUnit.NANOSECONDS.convert(atMost);
      while (latch.getCount() > 0 && left > 0) {
        sleep(CHECK_NANOS);
        left -= CHECK_NANOS;
      }
      return latch.getCount() == 0;
    }
  }
}
