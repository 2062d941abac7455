package org.traceetl.proto;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Eight hex digits in a long, one per byte, the first in the highest byte. Each method processes
 * all digits at once.
 */
final class HexDigits {
  private static final long EACH_BYTE = 0x0101_0101_0101_0101L;
  private static final long LOW_NIBBLES = 0x0f0f_0f0f_0f0f_0f0fL;
  private static final long HIGH_NIBBLES = ~LOW_NIBBLES;

  /** Whether {@link Long#compress} and {@link Long#expand} are one fast instruction each. */
  private static final boolean MOVES_BITS =
      movesBits(System.getProperty("os.arch"), Path.of("/proc/cpuinfo"));

  private static final int FIRST_QUICK_AMD_FAMILY = 25; // Zen 3; earlier ones use microcode

  private HexDigits() {}

  static boolean movesBits(String architecture, Path processors) {
    if (!architecture.equals("amd64")) {
      return false;
    }
    try {
      return movesBits(Files.readString(processors));
    } catch (IOException | SecurityException e) {
      return false; // Not Linux: use the portable variant.
    }
  }

  /**
   * Parses Linux's description of the x86 processors.
   *
   * @return true for Intel and AMD processors on which the instructions are fast
   */
  static boolean movesBits(String processors) {
    String vendor = "";
    int family = 0;
    boolean has = false;
    for (String line : processors.lines().takeWhile(line -> !line.isBlank()).toList()) {
      int colon = line.indexOf(':');
      String value = line.substring(colon + 1).strip();
      switch (line.substring(0, Math.max(colon, 0)).strip()) {
        case "vendor_id" -> vendor = value;
        case "cpu family" -> family = value.matches("\\d{1,4}") ? Integer.parseInt(value) : 0;
        case "flags" -> has = (' ' + value + ' ').contains(" bmi2 ");
        default -> {}
      }
    }
    return has
        && (vendor.equals("GenuineIntel")
            || vendor.equals("AuthenticAMD") && family >= FIRST_QUICK_AMD_FAMILY);
  }

  /** Returns whether all are hex digits of either case. */
  static boolean areHex(long first, long second) {
    return areHex(first, second, first, second);
  }

  static boolean areHex(long first, long second, long third, long fourth) {
    long outOfRow = notInARow(first) | notInARow(second) | notInARow(third) | notInARow(fourth);
    long ofOtherKind = otherKind(first) | otherKind(second) | otherKind(third) | otherKind(fourth);
    return (outOfRow & HIGH_NIBBLES | ofOtherKind & 0x40 * EACH_BYTE) == 0;
  }

  /** The upper half of a byte is 0 if its value is between '0' and '?' after {@link #inARow}. */
  private static long notInARow(long digits) {
    return inARow(digits) ^ 0x30 * EACH_BYTE;
  }

  /** Bit 6 of a byte is 0 if it exceeds nine because it is a letter. */
  private static long otherKind(long digits) {
    return inARow(digits) + 6 * EACH_BYTE ^ digits;
  }

  /** Returns the value of eight hex digits, below 2^32. */
  static long value(long digits) {
    return MOVES_BITS ? compressed(digits) : shifted(digits);
  }

  static long compressed(long digits) {
    return Long.compress(inARow(digits), LOW_NIBBLES);
  }

  static long shifted(long digits) {
    long nibbles = inARow(digits) & LOW_NIBBLES;
    // Merge pairs, fours and eights; the higher half is the more significant one.
    nibbles = (nibbles | nibbles >>> 4) & 0x00ff_00ff_00ff_00ffL;
    nibbles = (nibbles | nibbles >>> 8) & 0x0000_ffff_0000_ffffL;
    return (nibbles | nibbles >>> 16) & 0xffff_ffffL;
  }

  /** Returns the lower 32 bits as lower-case digits. */
  static long of(long value) {
    return digits(MOVES_BITS ? expanded(value) : spread(value));
  }

  static long expanded(long value) {
    return Long.expand(value, LOW_NIBBLES);
  }

  static long spread(long value) {
    long nibbles = value & 0xffff_ffffL;
    nibbles = (nibbles | nibbles << 16) & 0x0000_ffff_0000_ffffL;
    nibbles = (nibbles | nibbles << 8) & 0x00ff_00ff_00ff_00ffL;
    return (nibbles | nibbles << 4) & LOW_NIBBLES;
  }

  private static long digits(long nibbles) {
    long letters = nibbles + 6 * EACH_BYTE >>> 4 & EACH_BYTE;
    return nibbles + '0' * EACH_BYTE + letters * ('a' - '0' - 10);
  }

  /**
   * Moves letters of either case next to '9', so that the lower half of a byte is its value. No
   * byte borrows: letters are at least 0x60 before.
   */
  private static long inARow(long digits) {
    long letters = digits >>> 6 & EACH_BYTE;
    return (digits | letters << 5) - letters * ('a' - '0' - 10);
  }
}
