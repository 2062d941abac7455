package org.traceetl.perf.simulate.mutation;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.traceetl.server.journal.JournalTiming;

/**
 * A main class that finds mutant 2 with seed 3, crashes with seed 100, stalls with 150, and never
 * ends with 200.
 */
final class PretendedSimulation {
  private static final Duration LEASE = Duration.ofSeconds(1);

  private PretendedSimulation() {}

  public static void main(String... arguments) throws InterruptedException {
    long first = number(arguments[0]);
    for (long seed = first; seed < first + number(arguments[1]); seed++) {
      run(seed);
    }
  }

  private static long number(String argument) {
    return Long.parseLong(argument.substring(argument.indexOf('=') + 1));
  }

  private static void run(long seed) throws InterruptedException {
    if (seed == 100) {
      System.out.println("FAILED: the simulation cannot continue: it is wrong");
      System.exit(1);
    }
    if (seed == 150) {
      System.out.println("FAILED: seed 150 has made no progress for 5 minutes; simulated 0:01:00");
      System.exit(1);
    }
    if (seed == 200) {
      new CountDownLatch(1).await();
    }
    JournalTiming timing = new JournalTiming(null, null, LEASE, null);
    boolean fails = seed >= 3 && timing.waitNanos() < LEASE.toNanos();
    System.out.println("seed=" + seed + " outcome=" + (fails ? "failed" : "passed") + " hours=0.5");
    if (fails) {
      System.out.println("FAILED: queue a/1 is shown by server-1 and server-2");
      System.exit(1);
    }
  }
}
