package org.traceetl.server.decode;

/**
 * Reads decimal numbers as whole millionths, from the texts into which agents turn numbers. The
 * result of each text depends on its bytes only, and nothing is allocated.
 */
final class Millionths {
  /** The text is no number. */
  static final long NOT_A_NUMBER = -1;

  /** The number is negative. */
  static final long NEGATIVE = -2;

  /** The number is above {@link #MAX_UNITS}. */
  static final long TOO_LARGE = -3;

  /** Highest number. Its millionths are below 2^63. */
  static final long MAX_UNITS = 9_000_000_000_000L;

  private static final int NONE = -1;
  private static final int DECIMALS = 6;
  private static final long MAX = MAX_UNITS * 1_000_000;

  /** Longest text of a number, in bytes. */
  private static final int MAX_BYTES = 64;

  private static final int MAX_EXPONENT = 1_000;

  /** The highest power of ten in a long. */
  private static final int MAX_POWER = 18;

  private static final long[] POWERS = new long[MAX_POWER + 1];

  static {
    POWERS[0] = 1;
    for (int i = 1; i < POWERS.length; i++) {
      POWERS[i] = POWERS[i - 1] * 10;
    }
  }

  private Millionths() {}

  /**
   * Returns the millionths of a number, rounded half up.
   *
   * @return at least 0; or {@link #NOT_A_NUMBER}, {@link #NEGATIVE} or {@link #TOO_LARGE}
   */
  static long of(byte[] text, int offset, int length) {
    int end = offset + length;
    int at = offset;
    boolean isNegative = length > 0 && text[at] == '-';
    if (isNegative || length > 0 && text[at] == '+') {
      at++;
    }
    if (length > MAX_BYTES) {
      return NOT_A_NUMBER;
    }
    long digits = 0;
    int firstDropped = NONE;
    int exponent = 0;
    int read = 0;
    boolean isFraction = false;
    for (; at < end; at++) {
      int digit = text[at] - '0';
      if (digit >= 0 && digit <= 9) {
        read++;
        // Holds 18 or 19 significant digits. Only the first of the others can change the result.
        if (digits <= MAX / 10) {
          digits = digits * 10 + digit;
          exponent -= isFraction ? 1 : 0;
        } else {
          firstDropped = firstDropped == NONE ? digit : firstDropped;
          exponent += isFraction ? 0 : 1;
        }
      } else if (text[at] == '.' && !isFraction) {
        isFraction = true;
      } else {
        break;
      }
    }
    if (read == 0) {
      return NOT_A_NUMBER;
    }
    if (at < end) {
      if ((text[at] | 0x20) != 'e') {
        return NOT_A_NUMBER;
      }
      int power = power(text, at + 1, end);
      if (power == Integer.MIN_VALUE) {
        return NOT_A_NUMBER;
      }
      exponent += power;
    }
    if (digits == 0) {
      return 0;
    }
    return isNegative ? NEGATIVE : scaled(digits, exponent + DECIMALS, firstDropped >= 5);
  }

  /** Returns a whole number; {@link Integer#MIN_VALUE} if it is none. */
  private static int power(byte[] text, int from, int end) {
    int at = from;
    boolean isNegative = at < end && text[at] == '-';
    if (at < end && (isNegative || text[at] == '+')) {
      at++;
    }
    if (at == end) {
      return Integer.MIN_VALUE;
    }
    int power = 0;
    for (; at < end; at++) {
      int digit = text[at] - '0';
      if (digit < 0 || digit > 9) {
        return Integer.MIN_VALUE;
      }
      power = Math.min(power * 10 + digit, MAX_EXPONENT);
    }
    return isNegative ? -power : power;
  }

  /**
   * Returns digits times a power of ten.
   *
   * @param digits above {@link #MAX} / 10 if digits after them were dropped
   * @param isHalf whether the dropped digits are at least half of the last digit's place
   */
  private static long scaled(long digits, int power, boolean isHalf) {
    if (power > 0) {
      return power > MAX_POWER || digits > MAX / POWERS[power] ? TOO_LARGE : digits * POWERS[power];
    }
    if (power < -MAX_POWER) {
      return power == -MAX_POWER - 1 && digits >= 5 * POWERS[MAX_POWER] ? 1 : 0;
    }
    long divisor = POWERS[-power];
    long rest = digits % divisor;
    boolean isRoundedUp = power == 0 ? isHalf : rest >= divisor - rest;
    long rounded = digits / divisor + (isRoundedUp ? 1 : 0);
    return rounded > MAX ? TOO_LARGE : rounded;
  }
}
