package org.traceetl.server.ozhera;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import org.traceetl.server.decode.Texts;

/** Detects texts that contain one of a few substrings. Immutable; the check allocates nothing. */
final class Substrings {
  static final Substrings NONE = new Substrings(List.of());

  private final byte[][] parts;

  /**
   * @param parts empty ones match no text
   */
  Substrings(List<String> parts) {
    this.parts =
        parts.stream()
            .filter(part -> !part.isEmpty())
            .map(part -> part.getBytes(UTF_8))
            .toArray(byte[][]::new);
  }

  /** Returns whether the text contains one of them. */
  boolean areIn(Texts texts, int text) {
    return parts.length > 0 && areIn(texts.buffer(text), texts.offset(text), texts.length(text));
  }

  boolean areIn(byte[] buffer, int offset, int length) {
    for (byte[] part : parts) {
      int last = offset + length - part.length;
      for (int at = offset; at <= last; at++) {
        if (buffer[at] == part[0] && isAt(part, buffer, at)) {
          return true;
        }
      }
    }
    return false;
  }

  private static boolean isAt(byte[] part, byte[] buffer, int at) {
    for (int i = 1; i < part.length; i++) {
      if (buffer[at + i] != part[i]) {
        return false;
      }
    }
    return true;
  }
}
