package org.traceetl.perf.simulate.mutation;

import java.time.Duration;
import org.traceetl.server.journal.JournalTiming;

/** A main class that finds mutant 2 with seed 3, crashes with seed 100, and never ends with 200. */
final class PretendedSimulation {
  private PretendedSimulation() {}

  public static void main(String... arguments) throws InterruptedException {
    long seed = Long.parseLong(arguments[0].substring("--seed=".length()));
    if (seed == 100) {
      throw new IllegalStateException("the simulation is wrong");
    }
    if (seed == 200) {
      Thread.sleep(Long.MAX_VALUE);
    }
    long lease = 1_000_000_000;
    JournalTiming timing = new JournalTiming(null, null, Duration.ofNanos(lease), null);
    System.out.println("hours=0.5");
    if (seed >= 3 && timing.waitNanos() < lease) {
      System.out.println("FAILED queue a/1 is shown by server-1 and server-2");
      System.exit(1);
    }
  }
}
