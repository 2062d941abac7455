package org.traceetl.server.journal;

import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * Time and chance, as owners have them.
 *
 * @param nanoTime as {@link System#nanoTime}; must go on while the process is stopped
 * @param clock of the wall
 * @param random for writers' names and pauses; safe for any thread
 * @param pause how a thread waits
 * @param lease how long after a proof of its ownership an owner may show a queue's counts
 * @param snapshotInterval longest time between two snapshots of a queue
 */
public record JournalTiming(
    LongSupplier nanoTime,
    InstantSource clock,
    RandomGenerator random,
    Pause pause,
    Duration lease,
    Duration snapshotInterval) {
  /** How a thread waits. */
  @FunctionalInterface
  public interface Pause {
    void nanos(long nanos) throws InterruptedException;
  }

  /** What processes have. */
  public static JournalTiming system(
      InstantSource clock, Duration lease, Duration snapshotInterval) {
    return new JournalTiming(
        System::nanoTime,
        clock,
        // Writers' names must differ between machines started at the same moment.
        new SecureRandom(),
        TimeUnit.NANOSECONDS::sleep,
        lease,
        snapshotInterval);
  }

  long nowNanos() {
    return nanoTime.getAsLong();
  }

  /**
   * How long after its claim a new owner shows nothing: the old one's lease, and a part of it for
   * what clocks differ in pace and for a log that tells the old owner of the claim a bit late.
   */
  long waitNanos() {
    return lease.toNanos() + lease.toNanos() / 4;
  }
}
