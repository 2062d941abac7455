package org.traceetl.server.decode;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

/**
 * Formats numbers and booleans like Java. Longs and booleans allocate nothing; doubles, which are
 * rare in spans, do. One owner thread.
 */
public final class NumberTexts {
  private static final byte[] TRUE = "true".getBytes(ISO_8859_1);
  private static final byte[] FALSE = "false".getBytes(ISO_8859_1);

  /** Room for a sign and 19 digits. */
  private final byte[] digits = new byte[20];

  private final Texts texts;

  public NumberTexts(Texts texts) {
    this.texts = texts;
  }

  public int add(boolean value) {
    byte[] text = value ? TRUE : FALSE;
    return texts.make(text, 0, text.length);
  }

  public int add(long value) {
    int at = digits.length;
    // Uses negative numbers, because the smallest long has no positive counterpart.
    long rest = value < 0 ? value : -value;
    do {
      digits[--at] = (byte) ('0' - rest % 10);
      rest /= 10;
    } while (rest != 0);
    if (value < 0) {
      digits[--at] = '-';
    }
    return texts.make(digits, at, digits.length - at);
  }

  public int add(double value) {
    byte[] text = String.valueOf(value).getBytes(ISO_8859_1);
    return texts.make(text, 0, text.length);
  }
}
