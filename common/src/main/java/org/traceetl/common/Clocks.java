package org.traceetl.common;

import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Where a program's time comes from. The main program gives its parts {@link #SYSTEM}; tests and
 * simulations give clocks of their own.
 *
 * @param nanoClock nanoseconds from some origin, never back; as {@link System#nanoTime}
 * @param wall the time of day, which may be set
 */
public record Clocks(LongSupplier nanoClock, InstantSource wall) {
  /** Those of the machine. */
  public static final Clocks SYSTEM = new Clocks(System::nanoTime, InstantSource.system());

  /**
   * Milliseconds since 1970; after the wall clock was set back, what they would be otherwise.
   *
   * @return a clock that begins now
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
