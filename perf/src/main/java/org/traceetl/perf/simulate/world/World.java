package org.traceetl.perf.simulate.world;

import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/**
 * Runs simulated threads one at a time, on the thread that calls {@link #run}, in simulated time.
 * The next thread is drawn from those that can run, so a seed determines the whole run. Time passes
 * when no thread can run, and a microsecond with each turn of a thread.
 *
 * <p>A simulated thread is a virtual thread. It runs until it waits: in {@link #sleep}, in an
 * {@link Exchange}, for a lock, or parked. It must not wait for real time, nor for a monitor that
 * another simulated thread has while it waits, since threads of the JVM end such waits at any time;
 * the run then fails.
 */
public final class World {
  /** Time of day at the usual start: 2026-01-01T00:00:00Z. */
  public static final long START_MILLIS = 1_767_225_600_000L;

  private static final long TURN_NANOS = 1_000;

  /** The JDK's thread that resumes virtual threads that waited for monitors. */
  private static final String UNBLOCKER = "VirtualThread-unblocker";

  /** Real time after which a monitor is taken to be that of a simulated thread. */
  private static final long MOST_BLOCKED_NANOS = TimeUnit.SECONDS.toNanos(20);

  /** Longest time that threads may run without a pause of all. */
  private static final long MOST_BUSY_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final Timeline timeline;
  private final long startMillis;
  private final RandomGenerator random;
  private final SplittableRandom order;
  private final PriorityQueue<Timer> timers = new PriorityQueue<>();
  private final List<Turn> ready = new ArrayList<>();
  private final ThreadLocal<Waiting> waiting = ThreadLocal.withInitial(Waiting::new);
  private long mostBlockedNanos = MOST_BLOCKED_NANOS;
  private Thread carrier;
  private long nowNanos;
  private long timersMade;
  private long idleNanos;

  /** The process whose thread runs; null for the world's own. */
  private Process running;

  /** Why the run cannot continue; null if it can. Set by any thread, once. */
  private final AtomicReference<RuntimeException> failure = new AtomicReference<>();

  private record Timer(long atNanos, long number, Runnable action) implements Comparable<Timer> {
    @Override
    public int compareTo(Timer other) {
      int byTime = Long.compare(atNanos, other.atNanos);
      return byTime == 0 ? Long.compare(number, other.number) : byTime;
    }
  }

  /** A thread's part between two waits. */
  record Turn(Scheduler scheduler, Runnable part) {
    Process process() {
      return scheduler.process;
    }
  }

  /** The number of a thread's wait, by which a timer detects that its wait is over. */
  private static final class Waiting {
    private long number;
  }

  /** Receives the turns of one thread. */
  final class Scheduler implements Executor {
    /** Null for a thread of the world itself. */
    private final Process process;

    private final String name;

    /** The turn of a thread that waited for a monitor of a thread outside of the world. */
    private final AtomicReference<Runnable> unblocked = new AtomicReference<>();

    private Thread thread;

    /** Whether the thread has a turn that did not begin. */
    private boolean queued;

    Scheduler(Process process, String name) {
      this.process = process;
      this.name = name;
    }

    @Override
    public void execute(Runnable part) {
      // A thread's start is submitted by the thread that starts it, all else by the carrier.
      Thread submitter = Thread.currentThread();
      if (submitter.getName().equals(UNBLOCKER) || VirtualThreads.isUnblocked(thread)) {
        // By the carrier, if the thread could have the monitor before it had left its turn.
        unblocked.set(part);
      } else if (submitter == carrier || submitter.isVirtual()) {
        queued = true;
        add(new Turn(this, part));
      } else {
        fail(new IllegalStateException(this + " waited for real time"));
      }
    }

    /**
     * Runs a turn. If the thread waits for a monitor that a thread outside of the world has, such
     * as one that writes to the same log, it continues at once when it has it.
     */
    void run(Runnable part) {
      queued = false;
      Runnable next = part;
      while (next != null) {
        next.run();
        next = !queued && isBlocked(thread.getState()) ? awaitUnblocked() : null;
      }
    }

    /** A thread that left its turn to wait for a monitor may have it by now, and be runnable. */
    private static boolean isBlocked(Thread.State state) {
      return state == Thread.State.BLOCKED || state == Thread.State.RUNNABLE;
    }

    private Runnable awaitUnblocked() {
      long startNanos = System.nanoTime();
      Runnable next = unblocked.getAndSet(null);
      while (next == null && failure.get() == null) {
        if (System.nanoTime() - startNanos > mostBlockedNanos) {
          var e =
              new IllegalStateException(
                  this + " waits for a monitor that another simulated thread has");
          e.setStackTrace(thread.getStackTrace());
          fail(e);
          return null;
        }
        Thread.yield();
        next = unblocked.getAndSet(null);
      }
      return next;
    }

    @Override
    public String toString() {
      return "simulated thread " + name + " of " + (process == null ? "the world" : process.name());
    }
  }

  /**
   * Creates a world at its start. The calling thread runs it.
   *
   * @param seed determines all random numbers and the order of the threads
   */
  public World(long seed, Timeline timeline) {
    this(seed, timeline, START_MILLIS);
  }

  /**
   * Creates a world that starts at another time of day, such as the end of an earlier world. Its
   * random numbers are other ones than those of the earlier world.
   */
  public World(long seed, Timeline timeline, long startMillis) {
    this.timeline = timeline;
    this.startMillis = startMillis;
    var seeds = new SplittableRandom(seed ^ startMillis - START_MILLIS);
    random = seeds.split();
    order = seeds.split();
    carrier = Thread.currentThread();
    timeline.clock(this::nanos);
  }

  /** Sets the real time after which a monitor is taken to be that of a simulated thread. */
  void mostBlocked(long nanos) {
    mostBlockedNanos = nanos;
  }

  /** Returns the source for devices and faults. */
  public RandomGenerator random() {
    return random;
  }

  /** Returns nanoseconds since the start. */
  public long nanos() {
    return nowNanos;
  }

  /** Returns the true time of day in milliseconds since 1970. */
  public long unixMillis() {
    return startMillis + TimeUnit.NANOSECONDS.toMillis(nowNanos);
  }

  /** Returns the time of day at the start. */
  long startMillis() {
    return startMillis;
  }

  public Timeline timeline() {
    return timeline;
  }

  /** Returns the name of the process whose thread runs now; "world" outside of processes. */
  public String running() {
    return running == null ? "world" : running.name();
  }

  /** Creates a running process without threads. */
  public Process process(String name) {
    return new Process(this, name, order.nextLong());
  }

  /**
   * Creates a thread that is not started.
   *
   * @param process null for none
   * @param failed makes what ends the run if the thread ends with an error
   */
  Thread thread(
      Process process, String name, Runnable work, Function<Throwable, RuntimeException> failed) {
    Scheduler scheduler = new Scheduler(process, name);
    scheduler.thread =
        VirtualThreads.builder(scheduler)
            .name(name)
            .uncaughtExceptionHandler((thread, e) -> fail(failed.apply(e)))
            .unstarted(work);
    return scheduler.thread;
  }

  /** Runs an action after a time, outside of simulated threads; it must not wait. */
  public void after(long nanos, Runnable action) {
    timers.add(new Timer(nowNanos + Math.max(0, nanos), timersMade++, action));
  }

  /** Starts a thread that belongs to no process. */
  public Thread spawn(String name, Runnable body) {
    Thread thread =
        thread(
            null,
            name,
            body,
            e ->
                e instanceof ProgramFailure found
                    ? found
                    : new IllegalStateException(
                        "simulated thread " + name + " ended with an error", e));
    thread.start();
    return thread;
  }

  /** Waits in the current simulated thread. */
  public void sleep(long nanos) throws InterruptedException {
    long untilNanos = nowNanos + nanos;
    while (nowNanos < untilNanos) {
      park(untilNanos - nowNanos);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
  }

  /** Parks the current simulated thread until it is unparked or the time has passed. */
  void park(long nanos) {
    if (nanos <= 0) {
      return;
    }
    if (nanos == Long.MAX_VALUE) {
      LockSupport.park(this);
      return;
    }
    Waiting wait = waiting.get();
    long number = ++wait.number;
    Thread current = Thread.currentThread();
    after(
        nanos,
        () -> {
          if (wait.number == number) {
            LockSupport.unpark(current);
          }
        });
    LockSupport.park(this);
    wait.number++;
  }

  /** Ends the run, unless it has failed before. Safe for any thread. */
  public void fail(RuntimeException e) {
    failure.compareAndSet(null, e);
  }

  /**
   * Runs until a time since the start, or at most until the failure of a simulated thread.
   *
   * @throws ProgramFailure if a thread of a process ended with an error
   * @throws IllegalStateException if the simulation itself failed
   */
  public void run(long untilNanos) {
    carrier = Thread.currentThread();
    while (nowNanos < untilNanos) {
      RuntimeException found = failure.get();
      if (found != null) {
        throw found;
      }
      runDueTimers();
      if (!ready.isEmpty()) {
        turn();
      } else if (timers.isEmpty() || timers.peek().atNanos >= untilNanos) {
        nowNanos = Math.max(nowNanos, untilNanos);
        idleNanos = nowNanos;
      } else {
        nowNanos = Math.max(nowNanos, timers.peek().atNanos);
        idleNanos = nowNanos;
      }
    }
  }

  private void runDueTimers() {
    while (!timers.isEmpty() && timers.peek().atNanos <= nowNanos) {
      timers.poll().action.run();
    }
  }

  private void turn() {
    int drawn = ready.size() == 1 ? 0 : order.nextInt(ready.size());
    Turn turn = ready.get(drawn);
    Turn last = ready.removeLast();
    if (drawn < ready.size()) {
      ready.set(drawn, last);
    }
    Process process = turn.process();
    if (process != null && !process.mayRun(turn)) {
      return;
    }
    nowNanos += TURN_NANOS;
    if (nowNanos - idleNanos > MOST_BUSY_NANOS) {
      fail(
          new IllegalStateException(
              "threads ran without a pause for "
                  + TimeUnit.NANOSECONDS.toSeconds(MOST_BUSY_NANOS)
                  + " s of simulated time; the last one was of "
                  + (process == null ? "the world" : process.name())));
    }
    running = process;
    turn.scheduler.run(turn.part);
    running = null;
  }

  /** Adds a turn to those that can run. */
  void add(Turn turn) {
    ready.add(turn);
  }
}
