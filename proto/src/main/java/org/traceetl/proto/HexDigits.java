package org.traceetl.proto;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Eight hex digits in a long, one per byte, the first in the highest: each method works on all of
 * them at once.
 */
final class HexDigits {
  private static final long EACH_BYTE = 0x0101_0101_0101_0101L;
  private static final long LOW_NIBBLES = 0x0f0f_0f0f_0f0f_0f0fL;
  private static final long HIGH_NIBBLES = ~LOW_NIBBLES;

  /** Whether {@link Long#compress} and {@link Long#expand} are one quick instruction each. */
  private static final boolean MOVES_BITS =
      movesBits(System.getProperty("os.arch"), Path.of("/proc/cpuinfo"));

  private static final int FIRST_QUICK_AMD_FAMILY = 25; // Zen 3; it is microcode before

  private HexDigits() {}

  static boolean movesBits(String architecture, Path processors) {
    if (!architecture.equals("amd64")) {
      return false;
    }
    try {
      return movesBits(Files.readString(processors));
    } catch (IOException | SecurityException e) {
      return false; // Not Linux: the other way is right everywhere.
    }
  }

  /**
   * Reads what Linux says of its x86 processors.
   *
   * @return true of those of Intel and AMD that have the instructions and are quick at them
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

  /** Whether all are hex digits of either case. */
  static boolean areHex(long first, long second) {
    return areHex(first, second, first, second);
  }

  static boolean areHex(long first, long second, long third, long fourth) {
    long outOfRow = notInARow(first) | notInARow(second) | notInARow(third) | notInARow(fourth);
    long ofOtherKind = otherKind(first) | otherKind(second) | otherKind(third) | otherKind(fourth);
    return (outOfRow & HIGH_NIBBLES | ofOtherKind & 0x40 * EACH_BYTE) == 0;
  }

  /** The upper half of each byte is 0 if it is from '0' to '?' in a row. */
  private static long notInARow(long digits) {
    return inARow(digits) ^ 0x30 * EACH_BYTE;
  }

  /** Bit 6 of each byte is 0 if it is past the nine in a row because it is a letter. */
  private static long otherKind(long digits) {
    return inARow(digits) + 6 * EACH_BYTE ^ digits;
  }

  /** The number that eight hex digits are, below 2^32. */
  static long value(long digits) {
    return MOVES_BITS ? compressed(digits) : shifted(digits);
  }

  static long compressed(long digits) {
    return Long.compress(inARow(digits), LOW_NIBBLES);
  }

  static long shifted(long digits) {
    long nibbles = inARow(digits) & LOW_NIBBLES;
    // Pairs, fours, eights: the more significant half is the higher one.
    nibbles = (nibbles | nibbles >>> 4) & 0x00ff_00ff_00ff_00ffL;
    nibbles = (nibbles | nibbles >>> 8) & 0x0000_ffff_0000_ffffL;
    return (nibbles | nibbles >>> 16) & 0xffff_ffffL;
  }

  /** The lower 32 bits as lower-case digits. */
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
   * Letters of either case moved behind the nine, so that a digit's lower half is its value.
   * Nothing is carried: what is moved is at least 0x60.
   */
  private static long inARow(long digits) {
    long letters = digits >>> 6 & EACH_BYTE;
    return (digits | letters << 5) - letters * ('a' - '0' - 10);
  }
}
