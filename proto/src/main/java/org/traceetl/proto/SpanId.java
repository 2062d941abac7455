package org.traceetl.proto;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** A span ID, 8 bytes, as a long (big-endian), to and from 16 hex digits without allocation. */
public final class SpanId {
  /** Length in hex digits. */
  public static final int HEX_LENGTH = 16;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private static final long EACH_BYTE = 0x0101_0101_0101_0101L;
  private static final long LOW_NIBBLES = 0x0f0f_0f0f_0f0f_0f0fL;
  private static final long TOP_BITS = 0x8080_8080_8080_8080L;

  private SpanId() {}

  /** True if {@code in[offset, offset + 16)} are hex digits of either case. */
  public static boolean isHex(byte[] in, int offset) {
    return areHexDigits((long) LONG.get(in, offset))
        && areHexDigits((long) LONG.get(in, offset + Long.BYTES));
  }

  /**
   * Reads 16 hex digits of either case; half of a trace ID reads the same way. What is not a hex
   * digit gives an undefined value: ask {@link #isHex} first.
   */
  public static long parseHex(byte[] in, int offset) {
    return valueOfDigits((long) LONG.get(in, offset)) << 32
        | valueOfDigits((long) LONG.get(in, offset + Long.BYTES));
  }

  /** Writes 16 lower-case hex digits (ASCII) to {@code out[offset, offset + 16)}. */
  public static void writeHex(long id, byte[] out, int offset) {
    LONG.set(out, offset, digitsOf(id >>> 32));
    LONG.set(out, offset + Long.BYTES, digitsOf(id & 0xffff_ffffL));
  }

  // Eight digits stand in a long, one per byte; each method works on all of them at once. Sums stay
  // below 256 in every byte, so nothing carries into a neighbour.

  private static boolean areHexDigits(long digits) {
    if ((digits & TOP_BITS) != 0) {
      return false;
    }
    long lowerCase = digits | 0x20 * EACH_BYTE;
    // Top bit of each byte: the byte is at least the bound.
    long from0 = digits + (0x80 - '0') * EACH_BYTE;
    long past9 = digits + (0x80 - '9' - 1) * EACH_BYTE;
    long fromA = lowerCase + (0x80 - 'a') * EACH_BYTE;
    long pastF = lowerCase + (0x80 - 'f' - 1) * EACH_BYTE;
    return (((from0 & ~past9) | (fromA & ~pastF)) & TOP_BITS) == TOP_BITS;
  }

  private static long valueOfDigits(long digits) {
    // Letters, and only they, have bit 6; their low nibble is 1 to 6.
    long nibbles = (digits & LOW_NIBBLES) + 9 * ((digits >>> 6) & EACH_BYTE);
    // Pairs, fours, eights: the more significant half is the higher one.
    nibbles = (nibbles | nibbles >>> 4) & 0x00ff_00ff_00ff_00ffL;
    nibbles = (nibbles | nibbles >>> 8) & 0x0000_ffff_0000_ffffL;
    return (nibbles | nibbles >>> 16) & 0xffff_ffffL;
  }

  private static long digitsOf(long value) {
    long nibbles = (value | value << 16) & 0x0000_ffff_0000_ffffL;
    nibbles = (nibbles | nibbles << 8) & 0x00ff_00ff_00ff_00ffL;
    nibbles = (nibbles | nibbles << 4) & LOW_NIBBLES;
    long letters = ((nibbles + 6 * EACH_BYTE) >>> 4) & EACH_BYTE;
    return nibbles + '0' * EACH_BYTE + letters * ('a' - '0' - 10);
  }
}
