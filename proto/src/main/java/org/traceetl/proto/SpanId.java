package org.traceetl.proto;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** A span ID: 8 bytes as a big-endian long, read and written as hex without allocation. */
public final class SpanId {
  /** Length in hex digits. */
  public static final int HEX_LENGTH = 16;

  static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private SpanId() {}

  /** Returns whether {@code in[offset, offset + 16)} are hex digits of either case. */
  public static boolean isHex(byte[] in, int offset) {
    return HexDigits.areHex((long) LONG.get(in, offset), (long) LONG.get(in, offset + Long.BYTES));
  }

  /**
   * Reads 16 hex digits of either case; also half of a trace ID. Other characters give an undefined
   * value: check with {@link #isHex} first.
   */
  public static long parseHex(byte[] in, int offset) {
    return HexDigits.value((long) LONG.get(in, offset)) << 32
        | HexDigits.value((long) LONG.get(in, offset + Long.BYTES));
  }

  /** Writes 16 lower-case hex digits (ASCII) to {@code out[offset, offset + 16)}. */
  public static void writeHex(long id, byte[] out, int offset) {
    LONG.set(out, offset, HexDigits.of(id >>> 32));
    LONG.set(out, offset + Long.BYTES, HexDigits.of(id));
  }
}
