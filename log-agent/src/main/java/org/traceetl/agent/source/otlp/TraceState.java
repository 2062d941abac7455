package org.traceetl.agent.source.otlp;

/** Reads the rejection threshold out of a W3C tracestate: {@code ot=th:HEX}. */
final class TraceState {
  private static final int MAX_DIGITS = 14;

  private TraceState() {}

  /**
   * The threshold T of {@code ot=th} in {@code bytes[from, to)}, below 2^56; 0 when there is none
   * or it is not well-formed: the span then stands for itself alone.
   */
  static long samplingThreshold(byte[] bytes, int from, int to) {
    for (int at = from; at < to; ) {
      int memberEnd = indexOf(bytes, ',', at, to);
      int start = at;
      while (start < memberEnd && (bytes[start] == ' ' || bytes[start] == '\t')) {
        start++;
      }
      if (memberEnd - start > 3
          && bytes[start] == 'o'
          && bytes[start + 1] == 't'
          && bytes[start + 2] == '=') {
        return ofVendorValue(bytes, start + 3, memberEnd);
      }
      at = memberEnd + 1;
    }
    return 0;
  }

  private static long ofVendorValue(byte[] bytes, int from, int to) {
    for (int at = from; at < to; ) {
      int end = indexOf(bytes, ';', at, to);
      if (end - at > 3 && bytes[at] == 't' && bytes[at + 1] == 'h' && bytes[at + 2] == ':') {
        return threshold(bytes, at + 3, end);
      }
      at = end + 1;
    }
    return 0;
  }

  /** Digits left out at the end are zeros. */
  private static long threshold(byte[] bytes, int from, int to) {
    int end = to;
    while (end > from && (bytes[end - 1] == ' ' || bytes[end - 1] == '\t')) {
      end--;
    }
    if (end == from || end - from > MAX_DIGITS) {
      return 0;
    }
    long value = 0;
    for (int at = from; at < end; at++) {
      int b = bytes[at];
      int digit = b >= '0' && b <= '9' ? b - '0' : b >= 'a' && b <= 'f' ? b - 'a' + 10 : -1;
      if (digit < 0) {
        return 0;
      }
      value = value << 4 | digit;
    }
    return value << 4 * (MAX_DIGITS - (end - from));
  }

  private static int indexOf(byte[] bytes, char wanted, int from, int to) {
    int at = from;
    while (at < to && bytes[at] != wanted) {
      at++;
    }
    return at;
  }
}
