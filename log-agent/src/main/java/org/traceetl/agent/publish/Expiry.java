package org.traceetl.agent.publish;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.traceetl.common.Clocks;

/**
 * Limits how long a record is in force after its receipt. The monotonic clock measures this time;
 * across a restart the time of day does. Confined to the watch's thread.
 */
public final class Expiry {
  private final Duration valid;
  private final Clocks clocks;
  private long receivedNanos;
  // Milliseconds since 1970.
  private long receivedMillis;

  /**
   * @param valid how long a record is in force after its receipt
   */
  public Expiry(Duration valid, Clocks clocks) {
    this.valid = valid;
    this.clocks = clocks;
  }

  Duration valid() {
    return valid;
  }

  /** Sets the receipt to now. */
  void received() {
    receivedNanos = clocks.nanos();
    receivedMillis = clocks.millis();
  }

  /** Returns whether the time since the last receipt is over. */
  boolean isOver() {
    return clocks.nanos() - receivedNanos >= valid.toNanos();
  }

  /** Returns the receipt, 8 bytes of milliseconds since 1970, and the record. */
  byte[] stamped(byte[] record) {
    return ByteBuffer.allocate(Long.BYTES + record.length)
        .putLong(receivedMillis)
        .put(record)
        .array();
  }

  /**
   * Sets the receipt to that of an earlier run. If the time of day was set back since, the receipt
   * is at most now.
   *
   * @param stamped bytes of {@link #stamped}
   * @return the record; empty if the bytes are too few
   */
  byte[] opened(byte[] stamped) {
    if (stamped.length < Long.BYTES) {
      return new byte[0];
    }
    receivedMillis = ByteBuffer.wrap(stamped).getLong();
    long age = Math.clamp(clocks.millis() - receivedMillis, 0, valid.toMillis());
    receivedNanos = clocks.nanos() - TimeUnit.MILLISECONDS.toNanos(age);
    return Arrays.copyOfRange(stamped, Long.BYTES, stamped.length);
  }
}
