package org.traceetl.agent.source.file;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * The beginning of a line, for the log. It is short and ends before the attributes, which may be
 * confidential. Characters that could control a terminal or forge a log line are escaped.
 */
final class LineSample {
  private static final int MOST_BYTES = 200;

  /** Most separators before the attributes. */
  private static final int MOST_SEPARATORS = 8;

  private LineSample() {}

  static String of(byte[] bytes, int from, int to) {
    int end = Math.min(to, from + MOST_BYTES);
    int separators = 0;
    for (int i = from; i + 3 < end; i++) {
      if (bytes[i] == '#' && bytes[i + 1] == '#' && bytes[i + 2] == '#') {
        separators++;
        i += 2;
        if (separators == MOST_SEPARATORS) {
          end = i + 1;
          break;
        }
      }
    }
    // JSON starts the attributes, wherever it is in a malformed line.
    for (int i = from; i < end; i++) {
      if (bytes[i] == '{' || bytes[i] == '[') {
        end = i;
        break;
      }
    }
    StringBuilder text = new StringBuilder(end - from + 8).append('"');
    new String(bytes, from, end - from, UTF_8)
        .codePoints()
        .forEach(character -> {
          if (character == '"' || character == '\\') {
            text.append('\\').appendCodePoint(character);
          } else if (isHarmless(character)) {
            text.appendCodePoint(character);
          } else {
            text.append("\\u%04x".formatted(character));
          }
        });
    return text.append(end < to ? "\"..." : "\"").toString();
  }

  private static boolean isHarmless(int character) {
    return switch (Character.getType(character)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }
}
