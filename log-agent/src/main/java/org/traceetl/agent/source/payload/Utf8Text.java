package org.traceetl.agent.source.payload;

import com.google.common.base.Utf8;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Validates and repairs UTF-8: one malformed byte would spoil a page of metrics. */
public final class Utf8Text {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
  private static final long HIGH_BITS = 0x8080_8080_8080_8080L;

  private Utf8Text() {}

  /** Returns whether {@code bytes[from, to)} are all below 128. */
  public static boolean isAscii(byte[] bytes, int from, int to) {
    int last = to - Long.BYTES;
    if (last < from) {
      byte all = 0;
      for (int at = from; at < to; at++) {
        all |= bytes[at];
      }
      return all >= 0;
    }
    // Starts with the last eight bytes, which may overlap those of the loop.
    long all = (long) LONG.get(bytes, last);
    for (int at = from; at < last; at += Long.BYTES) {
      all |= (long) LONG.get(bytes, at);
    }
    return (all & HIGH_BITS) == 0;
  }

  public static boolean isWellFormed(byte[] bytes, int offset, int length) {
    return isAscii(bytes, offset, offset + length) || Utf8.isWellFormed(bytes, offset, length);
  }

  /** Returns a copy with U+FFFD in place of malformed bytes. */
  public static byte[] repaired(byte[] bytes, int offset, int length) {
    return new String(bytes, offset, length, StandardCharsets.UTF_8)
        .getBytes(StandardCharsets.UTF_8);
  }
}
