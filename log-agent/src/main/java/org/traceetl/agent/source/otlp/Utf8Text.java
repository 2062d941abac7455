package org.traceetl.agent.source.otlp;

import com.google.common.base.Utf8;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Tells UTF-8 from what only claims to be: one bad byte would spoil a whole page of metrics. */
final class Utf8Text {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
  private static final long HIGH_BITS = 0x8080_8080_8080_8080L;

  private Utf8Text() {}

  static boolean isWellFormed(byte[] bytes, int offset, int length) {
    int end = offset + length;
    int at = offset;
    while (end - at >= Long.BYTES) {
      if (((long) LONG.get(bytes, at) & HIGH_BITS) != 0) {
        return Utf8.isWellFormed(bytes, at, end - at);
      }
      at += Long.BYTES;
    }
    for (; at < end; at++) {
      if (bytes[at] < 0) {
        return Utf8.isWellFormed(bytes, at, end - at);
      }
    }
    return true;
  }

  /** A copy with U+FFFD in the place of what is malformed. */
  static byte[] repaired(byte[] bytes, int offset, int length) {
    return new String(bytes, offset, length, StandardCharsets.UTF_8)
        .getBytes(StandardCharsets.UTF_8);
  }
}
