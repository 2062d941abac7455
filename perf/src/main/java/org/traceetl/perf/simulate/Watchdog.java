package org.traceetl.perf.simulate;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import javax.management.JMException;
import javax.management.ObjectName;
import org.traceetl.perf.simulate.fault.Schedule;

/**
 * Ends the JVM if simulated time makes no progress, for example in an endless loop of a program's
 * thread.
 */
final class Watchdog {
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final long CHECK_MILLIS = 10_000;

  /** The simulated time that a run had reached at a real time. */
  private record Progress(long realNanos, long seed, long simulatedNanos) {}

  private volatile Progress last;

  Watchdog(long realNanos) {
    last = new Progress(realNanos, 0, 0);
  }

  /** Receives the simulated time that the run of a seed has reached. */
  void progress(long realNanos, long seed, long simulatedNanos) {
    last = new Progress(realNanos, seed, simulatedNanos);
  }

  /** Returns the failure if the last progress is too old. */
  Optional<String> stall(long realNanos) {
    Progress known = last;
    return realNanos - known.realNanos <= LIMIT.toNanos()
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
      while (true) {
        Thread.sleep(CHECK_MILLIS);
        stall(System.nanoTime())
            .ifPresent(message -> {
              System.out.println(message);
              System.out.println(stacks());
              Runtime.getRuntime().halt(1);
            });
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
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
