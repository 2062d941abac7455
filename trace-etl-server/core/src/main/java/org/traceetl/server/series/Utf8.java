package org.traceetl.server.series;

/** Operations on bytes of UTF-8. */
public final class Utf8 {
  private Utf8() {}

  /** Returns the length of the longest prefix of whole characters up to {@code max} bytes. */
  public static int cut(byte[] buffer, int offset, int length, int max) {
    if (length <= max) {
      return length;
    }
    int end = max;
    // A byte 10xxxxxx continues a character: cut before the character's first byte.
    while (end > 0 && (buffer[offset + end] & 0xC0) == 0x80) {
      end--;
    }
    return end;
  }

  /** Returns whether a string is ASCII, and so well-formed. */
  static boolean isAscii(byte[] buffer, int offset, int length) {
    int all = 0;
    for (int at = offset; at < offset + length; at++) {
      all |= buffer[at];
    }
    return all >= 0;
  }
}
