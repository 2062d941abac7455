package org.traceetl.perf.bench;

import java.util.List;
import org.traceetl.perf.bench.process.CpuClock;
import org.traceetl.perf.bench.process.Usage;
import org.traceetl.testkit.Program;

/**
 * A program that sends series, and the same program with the same work that sends none. The
 * difference of their CPU is the cost of sending.
 *
 * @param written what the first one has sent
 * @param threads prefixes of the names of threads that only send, cut to 15 characters; empty if
 *     there are no such threads
 */
record Pusher(String name, Program pushing, Program plain, Written written, List<String> threads) {
  private static final List<String> COMPILERS = List.of("C1 Compiler", "C2 Compiler");

  /**
   * CPU and counts so far.
   *
   * @param threadNanos CPU of the living threads that only send
   * @param compilerNanos CPU of the living threads that compile Java, less that of the other
   *     program
   */
  record Snapshot(
      long pushingNanos,
      long plainNanos,
      long threadNanos,
      long compilerNanos,
      Written.Totals totals) {
    Snapshot since(Snapshot before) {
      return new Snapshot(
          pushingNanos - before.pushingNanos,
          plainNanos - before.plainNanos,
          threadNanos - before.threadNanos,
          compilerNanos - before.compilerNanos,
          totals.since(before.totals));
    }

    /** CPU of a million samples without compilation, in seconds. */
    double cpuPerMillion() {
      return perMillion(pushingNanos - plainNanos - compilerNanos);
    }

    /** CPU of a million samples in threads that only send, in seconds. */
    double threadCpuPerMillion() {
      return perMillion(threadNanos);
    }

    /**
     * CPU of a million samples for compilation; below 0 if the other program compiled more. A JVM
     * that has run for long does not need it.
     */
    double compilerCpuPerMillion() {
      return perMillion(compilerNanos);
    }

    private double perMillion(long nanos) {
      return nanos / 1e3 / totals.samples();
    }

    double bytesPerSample() {
      return (double) totals.bytes() / totals.samples();
    }
  }

  Snapshot now() {
    return new Snapshot(
        new CpuClock(pushing.pid()).nanos(),
        new CpuClock(plain.pid()).nanos(),
        nanos(usage(), threads),
        nanos(usage(), COMPILERS) - nanos(new Usage(plain.pid()), COMPILERS),
        written.totals());
  }

  private static long nanos(Usage usage, List<String> threads) {
    return usage.cpuNanosByThread().values().stream()
        .filter(thread -> threads.stream().anyMatch(thread.name()::startsWith))
        .mapToLong(Usage.ThreadTime::cpuNanos)
        .sum();
  }

  /** Returns the counters of the program that sends. */
  Usage usage() {
    return new Usage(pushing.pid());
  }
}
