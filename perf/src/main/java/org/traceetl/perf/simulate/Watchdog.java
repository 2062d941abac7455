package org.traceetl.perf.simulate;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.ObjectName;
import org.traceetl.perf.simulate.fault.Schedule;

/**
 * Ends the JVM if simulated time makes no progress, for example in an endless loop of a program's
 * thread. Time in which a thread waited for a processor does not count, because on a busy machine a
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
   * @param waitedNanos the longest time for which a thread waited for a processor meanwhile
   */
  Optional<String> stall(long nanos, long waitedNanos) {
    Progress known = last;
    if (!known.equals(seen)) {
      seen = known;
      stalledNanos = 0;
      return Optional.empty();
    }
    stalledNanos += Math.max(0, nanos - waitedNanos);
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
      Map<String, Long> waited = waitedNanos();
      while (true) {
        Thread.sleep(CHECK_MILLIS);
        long nowNanos = System.nanoTime();
        Map<String, Long> nowWaited = waitedNanos();
        // More has passed if the JVM was stopped.
        long passedNanos =
            Math.min(nowNanos - atNanos, TimeUnit.MILLISECONDS.toNanos(2 * CHECK_MILLIS));
        stall(passedNanos, longestWaitNanos(waited, nowWaited))
            .ifPresent(message -> {
              System.out.println(message);
              System.out.println(stacks());
              Runtime.getRuntime().halt(1);
            });
        atNanos = nowNanos;
        waited = nowWaited;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static long longestWaitNanos(Map<String, Long> before, Map<String, Long> now) {
    return now.entrySet().stream()
        .mapToLong(thread -> thread.getValue() - before.getOrDefault(thread.getKey(), 0L))
        .max()
        .orElse(0);
  }

  /**
   * Returns how long each living thread has waited for a processor, as Linux counts it
   * (sched-stats.rst, the second number of schedstat); none elsewhere.
   */
  private static Map<String, Long> waitedNanos() {
    Map<String, Long> nanos = new HashMap<>();
    try (Stream<Path> threads = Files.list(THREADS)) {
      threads.forEach(thread -> nanos.put(thread.toString(), waitedNanos(thread)));
    } catch (IOException | UncheckedIOException e) {
      return Map.of();
    }
    return nanos;
  }

  private static long waitedNanos(Path thread) {
    try {
      String[] numbers = Files.readString(thread.resolve("schedstat")).split(" ");
      return numbers.length < 2 ? 0 : Long.parseLong(numbers[1]);
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
