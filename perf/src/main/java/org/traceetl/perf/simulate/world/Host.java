package org.traceetl.perf.simulate.world;

/**
 * The host of a program: its clocks, and the process that runs the program. Methods are called by
 * the scheduler, and return at once.
 */
public abstract class Host {
  protected final World world;
  private final String name;

  /** Whether the process ends at a later operation, or has ended there. */
  private boolean dying;

  private long stepMillis;
  private double driftPpm;

  /** The last one; null before the first start. */
  private Process process;

  /** Creates a host whose program does not run. */
  protected Host(World world, String name) {
    this.world = world;
    this.name = name;
  }

  /** Starts the program in a new process. */
  protected abstract Process launch();

  /** Ends the process in order, as SIGTERM. */
  public abstract void drain();

  public final String name() {
    return name;
  }

  /** Returns the process that runs; null if none does. */
  public final Process process() {
    return isRunning() ? process : null;
  }

  /** Returns the last process, which may have ended; null before the first start. */
  protected final Process last() {
    return process;
  }

  /** Returns whether there is a process. */
  public final boolean isRunning() {
    return process != null && process.alive();
  }

  /** Starts the program, unless it runs. A kill that waits for an operation happens before. */
  public void start() {
    if (isRunning() && dying) {
      process.kill();
    }
    if (isRunning()) {
      return;
    }
    dying = false;
    process = launch();
    if (stepMillis != 0) {
      process.stepClock(stepMillis);
    }
    if (driftPpm != 0) {
      process.drift(driftPpm);
    }
  }

  /**
   * Ends the process at once, as SIGKILL; what it has written stays in the page cache.
   *
   * @param operations device operations that it still completes
   */
  public final void kill(int operations) {
    if (isRunning()) {
      dying = true;
      if (operations == 0) {
        process.kill();
      } else {
        process.killAtOperation(operations + 1L);
      }
    }
  }

  /** Stops all threads, as SIGSTOP. */
  public final void pause() {
    if (isRunning()) {
      process.stop();
    }
  }

  /** Continues them, as SIGCONT. */
  public final void resume() {
    if (isRunning()) {
      process.resume();
    }
  }

  /** Sets the wall clock of the host forward, or back. */
  public final void stepClock(long millis) {
    stepMillis += millis;
    if (isRunning()) {
      process.stepClock(millis);
    }
  }

  /** Sets the rate of the host's clocks; 0 is the true rate. */
  public final void drift(double partsPerMillion) {
    driftPpm = partsPerMillion;
    if (isRunning()) {
      process.drift(partsPerMillion);
    }
  }
}
