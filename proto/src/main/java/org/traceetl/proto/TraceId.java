package org.traceetl.proto;

import java.nio.charset.StandardCharsets;

/**
 * Converts a trace ID, 16 bytes as two big-endian longs, to and from 32 hex digits without
 * allocation. To parse the halves, use {@link SpanId#parseHex} at {@code offset} and at {@code
 * offset + SpanId.HEX_LENGTH}.
 */
public final class TraceId {
  /** Length in hex digits. */
  public static final int HEX_LENGTH = 32;

  private TraceId() {}

  /** Returns whether {@code in[offset, offset + 32)} are hex digits of either case. */
  public static boolean isHex(byte[] in, int offset) {
    return HexDigits.areHex(
        (long) SpanId.LONG.get(in, offset),
        (long) SpanId.LONG.get(in, offset + Long.BYTES),
        (long) SpanId.LONG.get(in, offset + 2 * Long.BYTES),
        (long) SpanId.LONG.get(in, offset + 3 * Long.BYTES));
  }

  /** Writes 32 lower-case hex digits (ASCII) to {@code out[offset, offset + 32)}. */
  public static void writeHex(long high, long low, byte[] out, int offset) {
    SpanId.writeHex(high, out, offset);
    SpanId.writeHex(low, out, offset + SpanId.HEX_LENGTH);
  }

  /** Returns the ID as 32 lower-case hex digits. */
  public static String toHex(long high, long low) {
    byte[] hex = new byte[HEX_LENGTH];
    writeHex(high, low, hex, 0);
    return new String(hex, StandardCharsets.ISO_8859_1);
  }
}
