package org.traceetl.server.series;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** A hash of bytes, eight at a time. */
public final class TextHash {
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private TextHash() {}

  /**
   * Returns the hash of a slice.
   *
   * @param seed random, so that senders cannot prepare collisions; may be the hash of an earlier
   *     slice
   */
  public static long of(long seed, byte[] buffer, int offset, int length) {
    long hash = seed ^ length;
    int at = offset;
    int end = offset + length;
    for (; at + Long.BYTES <= end; at += Long.BYTES) {
      hash = mix(hash ^ (long) LONG.get(buffer, at));
    }
    long tail = 0;
    for (; at < end; at++) {
      tail = (tail << Byte.SIZE) | (buffer[at] & 0xFF);
    }
    return mix(hash ^ tail);
  }

  private static long mix(long value) {
    long high = Math.multiplyHigh(value, MIX);
    return high ^ (value * MIX) ^ (value >>> 29);
  }
}
