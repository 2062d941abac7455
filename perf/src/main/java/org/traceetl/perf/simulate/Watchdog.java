package org.traceetl.perf.simulate;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.ObjectName;
import org.traceetl.perf.simulate.fault.Schedule;

/**
 * Ends the JVM if simulated time makes no progress, for example in an endless loop of a program's
 * thread. Time in which threads waited for a processor does not count, because on a busy machine a
 * run with a low priority may stand still for minutes.
 */
final class Watchdog {
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final long CHECK_MILLIS = 10_000;
  private static final Path THREADS = Path.of("/proc/self/task");

  /** The simulated time that a run has reached. */
  private record Progress(long seed, long simulatedNanos) {}

  private volatile Progress last = new Progress(0, 0);

  // Of the watching thread
  private Progress seen = last;
  private long stalledNanos;

  /** Receives the simulated time that the run of a seed has reached. */
  void progress(long seed, long simulatedNanos) {
    last = new Progress(seed, simulatedNanos);
  }

  /**
   * Returns the failure if there was no progress for too long.
   *
   * @param nanos real time since the last call
   * @param waitedNanos how long threads waited for a processor meanwhile, added up
   */
  Optional<String> stall(long nanos, long waitedNanos) {
    Progress known = last;
    if (!known.equals(seen)) {
      seen = known;
      stalledNanos = 0;
      return Optional.empty();
    }
    // The sum of the living threads falls when one ends.
    stalledNanos += Math.max(0, nanos - Math.max(0, waitedNanos));
    return stalledNanos <= LIMIT.toNanos()
        ? Optional.empty()
        : Optional.of(
            "FAILED: seed "
                + known.seed
                + " has made no progress for "
                + LIMIT.toMinutes()
                + " minutes; simulated "
                + Schedule.time(TimeUnit.NANOSECONDS.toMillis(known.simulatedNanos)));
  }

  /** Starts a thread that ends the JVM with exit code 1 if simulated time stalls. */
  void start() {
    Thread.ofPlatform().daemon().name("watchdog").start(this::watch);
  }

  private void watch() {
    try {
      long atNanos = System.nanoTime();
      long waitedNanos = waitedNanos();
      while (true) {
        Thread.sleep(CHECK_MILLIS);
        long nowNanos = System.nanoTime();
        long nowWaitedNanos = waitedNanos();
        stall(nowNanos - atNanos, nowWaitedNanos - waitedNanos)
            .ifPresent(message -> {
              System.out.println(message);
              System.out.println(stacks());
              Runtime.getRuntime().halt(1);
            });
        atNanos = nowNanos;
        waitedNanos = nowWaitedNanos;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Returns how long the living threads have waited for a processor in all, as Linux counts it
   * (sched-stats.rst, the second number of schedstat); 0 elsewhere.
   */
  private static long waitedNanos() {
    long nanos = 0;
    try (Stream<Path> threads = Files.list(THREADS)) {
      for (Path thread : threads.toList()) {
        nanos += waitedNanos(thread.resolve("schedstat"));
      }
    } catch (IOException e) {
      return 0;
    }
    return nanos;
  }

  private static long waitedNanos(Path schedstat) {
    try {
      return Long.parseLong(Files.readString(schedstat).split(" ")[1]);
    } catch (IOException e) {
      return 0; // the thread has ended
    }
  }

  /** Returns the stacks of all threads, with that of the simulated thread that runs. */
  static String stacks() {
    try {
      return (String)
          ManagementFactory.getPlatformMBeanServer()
              .invoke(
                  new ObjectName("com.sun.management:type=DiagnosticCommand"),
                  "threadPrint",
                  new Object[] {new String[0]},
                  new String[] {String[].class.getName()});
    } catch (JMException e) {
      return "the stacks cannot be read: " + e;
    }
  }
}
