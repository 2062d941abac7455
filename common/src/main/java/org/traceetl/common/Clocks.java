package org.traceetl.common;

import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The source of a program's time and threads. The main program passes {@link #SYSTEM} to its parts;
 * tests and simulations pass their own.
 *
 * @param nanoClock nanoseconds from an arbitrary origin, monotonic; as {@link System#nanoTime}
 * @param wall the time of day, which an operator may set
 * @param pause how a step waits
 * @param threads how threads are created, and wait between steps
 */
public record Clocks(LongSupplier nanoClock, InstantSource wall, Pause pause, Threads threads) {
  /** The clocks and threads of the machine. */
  public static final Clocks SYSTEM = new Clocks(System::nanoTime, InstantSource.system());

  /** How a thread waits. */
  @FunctionalInterface
  public interface Pause {
    void nanos(long nanos) throws InterruptedException;
  }

  /** Creates a source whose pauses take real time. */
  public Clocks(LongSupplier nanoClock, InstantSource wall) {
    this(nanoClock, wall, TimeUnit.NANOSECONDS::sleep);
  }

  /** Creates a source with the threads of the machine. */
  public Clocks(LongSupplier nanoClock, InstantSource wall, Pause pause) {
    this(nanoClock, wall, pause, Threads.SYSTEM);
  }

  /** Returns nanoseconds from an arbitrary origin. */
  public long nanos() {
    return nanoClock.getAsLong();
  }

  /** Returns the time of day in milliseconds since 1970. */
  public long millis() {
    return wall.millis();
  }

  /**
   * Returns a clock of milliseconds since 1970. If the wall clock is set back, the returned clock
   * advances by elapsed time.
   */
  public LongSupplier latestMillis() {
    long startMillis = wall.millis();
    long startNanos = nanoClock.getAsLong();
    return () ->
        Math.max(
            wall.millis(),
            startMillis + TimeUnit.NANOSECONDS.toMillis(nanoClock.getAsLong() - startNanos));
  }
}
