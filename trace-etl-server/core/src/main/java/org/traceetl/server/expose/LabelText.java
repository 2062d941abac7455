package org.traceetl.server.expose;

/** Labels in the text formats. */
public final class LabelText {
  private LabelText() {}

  /** Appends a label, with a comma before it unless it is the first. */
  public static void append(StringBuilder out, String label, String value) {
    if (!out.isEmpty()) {
      out.append(',');
    }
    out.append(label).append("=\"");
    for (int i = 0; i < value.length(); ) {
      int c = value.codePointAt(i);
      switch (c) {
        case '\\' -> out.append("\\\\");
        case '"' -> out.append("\\\"");
        case '\n' -> out.append("\\n");
        // Prometheus' lexer treats a zero byte as the end of the page.
        case 0 -> out.append('\uFFFD');
        default -> out.appendCodePoint(isLoneSurrogate(c) ? '\uFFFD' : c);
      }
      i += Character.charCount(c);
    }
    out.append('"');
  }

  private static boolean isLoneSurrogate(int codePoint) {
    return codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
  }
}
