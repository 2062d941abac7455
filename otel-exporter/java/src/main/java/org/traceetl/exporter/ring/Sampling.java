package org.traceetl.exporter.ring;

/**
 * Reads and writes a tracestate's member {@code ot}: rejection threshold and randomness of {@code
 * th:HEX;rv:HEX}.
 */
public final class Sampling {
  /** Bits of a threshold and of a trace's randomness. */
  public static final int BITS = 56;

  private static final int MAX_DIGITS = BITS / 4;

  private Sampling() {}

  /** Returns the threshold, below 2^56; 0 if it is missing or malformed. Omitted digits are 0. */
  public static long threshold(String member) {
    int at = field(member, 't', 'h');
    if (at < 0) {
      return 0;
    }
    int end = end(member, at);
    long value = hex(member, at, end);
    return value < 0 ? 0 : value << 4 * (MAX_DIGITS - (end - at));
  }

  /** Returns the randomness, below 2^56; -1 if it is missing, malformed or has omitted digits. */
  public static long randomness(String member) {
    int at = field(member, 'r', 'v');
    if (at < 0) {
      return -1;
    }
    int end = end(member, at);
    return end - at == MAX_DIGITS ? hex(member, at, end) : -1;
  }

  /**
   * Returns the member with this threshold in place of its own.
   *
   * @param member null: only the threshold
   * @param threshold above 0, below 2^56
   */
  public static String withThreshold(String member, long threshold) {
    int zeros = Long.numberOfTrailingZeros(threshold) / 4;
    StringBuilder made = new StringBuilder("th:");
    for (int digit = MAX_DIGITS - 1; digit >= zeros; digit--) {
      made.append(Character.forDigit((int) (threshold >>> 4 * digit) & 0xF, 16));
    }
    if (member != null) {
      for (String field : member.split(";")) {
        if (!field.startsWith("th:") && !field.isEmpty()) {
          made.append(';').append(field);
        }
      }
    }
    return made.toString();
  }

  /** Returns the start of the value of the first field of this name; -1 if there is none. */
  private static int field(String member, char first, char second) {
    int length = member.length();
    for (int at = 0; at < length; ) {
      if (length - at > 3
          && member.charAt(at) == first
          && member.charAt(at + 1) == second
          && member.charAt(at + 2) == ':'
          && member.charAt(at + 3) != ';') {
        return at + 3;
      }
      int separator = member.indexOf(';', at);
      at = separator < 0 ? length : separator + 1;
    }
    return -1;
  }

  private static int end(String member, int at) {
    int separator = member.indexOf(';', at);
    int end = separator < 0 ? member.length() : separator;
    while (end > at && (member.charAt(end - 1) == ' ' || member.charAt(end - 1) == '\t')) {
      end--;
    }
    return end;
  }

  /** Parses 1 to 14 lower-case digits; returns -1 for other input. */
  private static long hex(String text, int from, int end) {
    if (end == from || end - from > MAX_DIGITS) {
      return -1;
    }
    long value = 0;
    for (int at = from; at < end; at++) {
      char c = text.charAt(at);
      int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
      if (digit < 0) {
        return -1;
      }
      value = value << 4 | digit;
    }
    return value;
  }
}
