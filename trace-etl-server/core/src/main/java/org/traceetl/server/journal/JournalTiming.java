package org.traceetl.server.journal;

import java.time.Duration;
import java.util.random.RandomGenerator;
import org.traceetl.common.Clocks;

/**
 * Time and randomness for journals.
 *
 * @param clocks their nanosecond clock must advance while the process is suspended
 * @param random for writer names and pauses; thread-safe, and secure in a server: servers that
 *     start at once need distinct names
 * @param lease how long an owner may show a queue's counts after it has proved its ownership
 * @param snapshotInterval maximum time between two snapshots of a queue
 */
public record JournalTiming(
    Clocks clocks, RandomGenerator random, Duration lease, Duration snapshotInterval) {
  public long nowNanos() {
    return clocks.nanos();
  }

  public long nowMillis() {
    return clocks.millis();
  }

  public void pause(long nanos) throws InterruptedException {
    clocks.pause().nanos(nanos);
  }

  /**
   * Returns how long a new owner shows nothing after its claim: the previous owner's lease, plus a
   * quarter for different clock rates and late confirmations of the claim.
   */
  public long waitNanos() {
    return lease.toNanos() + lease.toNanos() / 4;
  }
}
