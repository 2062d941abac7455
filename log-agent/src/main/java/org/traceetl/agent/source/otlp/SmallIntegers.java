package org.traceetl.agent.source.otlp;

/** The decimal text of integers from 0 to 16383, which have at most 14 bits. */
final class SmallIntegers {
  private static final int COUNT = 1 << 14;
  private static final int MOST_DIGITS = 5;

  /** The texts; read only. */
  static final byte[] TEXT = text();

  private SmallIntegers() {}

  static int offset(int number) {
    return MOST_DIGITS * number;
  }

  /** Returns the digits of a number; without branches, which numbers of all lengths mispredict. */
  static int length(int number) {
    return 1
        + (9 - number >>> 31)
        + (99 - number >>> 31)
        + (999 - number >>> 31)
        + (9_999 - number >>> 31);
  }

  private static byte[] text() {
    byte[] text = new byte[MOST_DIGITS * COUNT];
    for (int number = 0; number < COUNT; number++) {
      int rest = number;
      for (int at = offset(number) + length(number) - 1; at >= offset(number); at--) {
        text[at] = (byte) ('0' + rest % 10);
        rest /= 10;
      }
    }
    return text;
  }
}
