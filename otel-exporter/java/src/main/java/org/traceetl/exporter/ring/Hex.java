package org.traceetl.exporter.ring;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Parses trace and span IDs. */
public final class Hex {
  public static final int DIGITS_OF_LONG = 16;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private Hex() {}

  /** Parses 16 lower-case digits from {@code at} on. Other characters give an undefined value. */
  public static long parse(CharSequence digits, int at) {
    long value = 0;
    for (int i = at; i < at + DIGITS_OF_LONG; i++) {
      int c = digits.charAt(i);
      value = value << 4 | (c & 0xF) + 9 * (c >>> 6);
    }
    return value;
  }

  /** Parses 16 digits from {@code at} on. Other characters give an undefined value. */
  static long parse(byte[] digits, int at) {
    return eight((long) LONG.get(digits, at)) << 32 | eight((long) LONG.get(digits, at + 8));
  }

  /** Parses eight digits; the first is in the lowest byte and is the most significant. */
  private static long eight(long digits) {
    long values =
        (digits & 0x0F0F0F0F0F0F0F0FL) + 9 * (digits >>> 6 & 0x0101010101010101L)
            & 0x0F0F0F0F0F0F0F0FL;
    long bytes = (values & 0x000F000F000F000FL) << 4 | values >>> 8 & 0x000F000F000F000FL;
    long halves = (bytes & 0x000000FF000000FFL) << 8 | bytes >>> 16 & 0x000000FF000000FFL;
    return (halves & 0xFFFF) << 16 | halves >>> 32;
  }
}
