package org.traceetl.proto;

/** A span ID, 8 bytes, as a long (big-endian), to and from 16 hex digits without allocation. */
public final class SpanId {
  /** Length in hex digits. */
  public static final int HEX_LENGTH = 16;

  private SpanId() {}

  /** True if {@code in[offset, offset + 16)} are hex digits of either case. */
  public static boolean isHex(byte[] in, int offset) {
    throw new IllegalStateException("skeleton");
  }

  /**
   * Reads 16 hex digits of either case; half of a trace ID reads the same way. What is not a hex
   * digit gives an undefined value: ask {@link #isHex} first.
   */
  public static long parseHex(byte[] in, int offset) {
    throw new IllegalStateException("skeleton");
  }

  /** Writes 16 lower-case hex digits (ASCII) to {@code out[offset, offset + 16)}. */
  public static void writeHex(long id, byte[] out, int offset) {
    throw new IllegalStateException("skeleton");
  }
}
