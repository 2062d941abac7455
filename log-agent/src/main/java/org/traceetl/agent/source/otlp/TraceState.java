package org.traceetl.agent.source.otlp;

import org.traceetl.agent.flow.SpanView;

/**
 * Reads the sampling values of a W3C tracestate: rejection threshold and randomness of {@code
 * ot=th:HEX;rv:HEX}.
 */
final class TraceState {
  private static final int MAX_DIGITS = 14;
  private static final int NAME_LENGTH = 3;

  private TraceState() {}

  /**
   * Reads {@code bytes[from, to)}. Absent values do not change the span. A malformed threshold is
   * 0, so that the span represents only itself; a malformed randomness is -1.
   */
  static void read(byte[] bytes, int from, int to, SpanView span) {
    for (int at = from; at < to; ) {
      int memberEnd = indexOf(bytes, ',', at, to);
      int start = at;
      while (start < memberEnd && isSpace(bytes[start])) {
        start++;
      }
      if (memberEnd - start > NAME_LENGTH
          && bytes[start] == 'o'
          && bytes[start + 1] == 't'
          && bytes[start + 2] == '=') {
        readVendorValue(bytes, start + NAME_LENGTH, memberEnd, span);
        return;
      }
      at = memberEnd + 1;
    }
  }

  private static void readVendorValue(byte[] bytes, int from, int to, SpanView span) {
    boolean thresholdRead = false;
    boolean randomnessRead = false;
    for (int at = from; at < to; ) {
      int end = indexOf(bytes, ';', at, to);
      if (!thresholdRead && isNamed(bytes, at, end, 't', 'h')) {
        span.samplingThreshold = threshold(bytes, at + NAME_LENGTH, end);
        thresholdRead = true;
      } else if (!randomnessRead && isNamed(bytes, at, end, 'r', 'v')) {
        span.randomness = randomness(bytes, at + NAME_LENGTH, end);
        randomnessRead = true;
      }
      at = end + 1;
    }
  }

  private static boolean isNamed(byte[] bytes, int at, int end, char first, char second) {
    return end - at > NAME_LENGTH
        && bytes[at] == first
        && bytes[at + 1] == second
        && bytes[at + 2] == ':';
  }

  /** Parses a threshold; omitted trailing digits are zeros. */
  private static long threshold(byte[] bytes, int from, int to) {
    int end = withoutSpace(bytes, from, to);
    long value = hex(bytes, from, end);
    return value < 0 ? 0 : value << 4 * (MAX_DIGITS - (end - from));
  }

  /** Parses a randomness, which must have all digits. */
  private static long randomness(byte[] bytes, int from, int to) {
    int end = withoutSpace(bytes, from, to);
    return end - from == MAX_DIGITS ? hex(bytes, from, end) : -1;
  }

  private static int withoutSpace(byte[] bytes, int from, int to) {
    int end = to;
    while (end > from && isSpace(bytes[end - 1])) {
      end--;
    }
    return end;
  }

  /** Parses 1 to 14 lower-case digits; returns -1 for other input. */
  private static long hex(byte[] bytes, int from, int end) {
    if (end == from || end - from > MAX_DIGITS) {
      return -1;
    }
    long value = 0;
    for (int at = from; at < end; at++) {
      int b = bytes[at];
      int digit = b >= '0' && b <= '9' ? b - '0' : b >= 'a' && b <= 'f' ? b - 'a' + 10 : -1;
      if (digit < 0) {
        return -1;
      }
      value = value << 4 | digit;
    }
    return value;
  }

  private static boolean isSpace(byte b) {
    return b == ' ' || b == '\t';
  }

  private static int indexOf(byte[] bytes, char wanted, int from, int to) {
    int at = from;
    while (at < to && bytes[at] != wanted) {
      at++;
    }
    return at;
  }
}
