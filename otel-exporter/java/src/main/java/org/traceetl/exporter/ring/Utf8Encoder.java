package org.traceetl.exporter.ring;

/**
 * Encodes text as UTF-8 without allocation. Half a surrogate pair becomes a question mark, as in
 * {@link String#getBytes(java.nio.charset.Charset)}.
 */
final class Utf8Encoder {
  private Utf8Encoder() {}

  /** Returns the bytes that {@code text} takes. */
  static int length(CharSequence text) {
    int chars = text.length();
    int bytes = chars;
    for (int i = 0; i < chars; i++) {
      char c = text.charAt(i);
      if (c >= 0x80) {
        if (c < 0x800) {
          bytes++;
        } else if (!Character.isSurrogate(c)) {
          bytes += 2;
        } else if (isPair(text, i, c)) {
          bytes += 2;
          i++;
        }
      }
    }
    return bytes;
  }

  /** Writes {@code text} from {@code at} on and returns its end; the caller ensures the room. */
  static int write(CharSequence text, byte[] out, int at) {
    int chars = text.length();
    int to = at;
    for (int i = 0; i < chars; i++) {
      char c = text.charAt(i);
      if (c < 0x80) {
        out[to++] = (byte) c;
      } else if (c < 0x800) {
        out[to++] = (byte) (0xC0 | c >> 6);
        out[to++] = (byte) (0x80 | c & 0x3F);
      } else if (!Character.isSurrogate(c)) {
        out[to++] = (byte) (0xE0 | c >> 12);
        out[to++] = (byte) (0x80 | c >> 6 & 0x3F);
        out[to++] = (byte) (0x80 | c & 0x3F);
      } else if (isPair(text, i, c)) {
        int point = Character.toCodePoint(c, text.charAt(++i));
        out[to++] = (byte) (0xF0 | point >> 18);
        out[to++] = (byte) (0x80 | point >> 12 & 0x3F);
        out[to++] = (byte) (0x80 | point >> 6 & 0x3F);
        out[to++] = (byte) (0x80 | point & 0x3F);
      } else {
        out[to++] = '?';
      }
    }
    return to;
  }

  private static boolean isPair(CharSequence text, int i, char c) {
    return Character.isHighSurrogate(c)
        && i + 1 < text.length()
        && Character.isLowSurrogate(text.charAt(i + 1));
  }
}
