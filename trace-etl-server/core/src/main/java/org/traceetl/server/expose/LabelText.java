package org.traceetl.server.expose;

import java.util.Arrays;
import java.util.regex.Pattern;

/** Labels in the text formats. */
public final class LabelText {
  /** In UTF-8, bytes of a character after its first one. */
  private static final int CONTINUATION_MASK = 0xc0;

  private static final int CONTINUATION = 0x80;
  private static final Pattern UNQUOTED = Pattern.compile("[a-zA-Z_][a-zA-Z0-9_]*");

  private LabelText() {}

  /** Returns the name of a label as {@link #append} needs it: in quotes if it has to be. */
  public static String name(String label) {
    if (UNQUOTED.matcher(label).matches()) {
      return label;
    }
    var out = new StringBuilder(label.length() + 2);
    appendQuoted(out, label);
    return out.toString();
  }

  /**
   * Appends a label, with a comma before it unless it is the first.
   *
   * @param name {@link #name} of the label
   */
  public static void append(StringBuilder out, String name, String value) {
    if (!out.isEmpty()) {
      out.append(',');
    }
    out.append(name).append('=');
    appendQuoted(out, value);
  }

  private static void appendQuoted(StringBuilder out, String value) {
    out.append('"');
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

  /**
   * Returns the labels with names of letters, digits and underscores only: an underscore replaces
   * each other character of the quoted names, which have no leading digit.
   *
   * @param labels labels in the form of {@link #append}
   */
  public static byte[] escaped(byte[] labels) {
    byte[] out = new byte[labels.length];
    int length = 0;
    int at = 0;
    while (at < labels.length) {
      int nameEnd = nameEnd(labels, at);
      if (labels[at] == '"') {
        length = escapeName(labels, at + 1, nameEnd - 1, out, length);
        at = nameEnd;
      }
      int end = Math.min(valueEnd(labels, nameEnd + 2) + 2, labels.length);
      System.arraycopy(labels, at, out, length, end - at);
      length += end - at;
      at = end;
    }
    return Arrays.copyOf(out, length);
  }

  private static int escapeName(byte[] labels, int from, int to, byte[] out, int length) {
    int end = length;
    for (int at = from; at < to; at++) {
      byte octet = labels[at];
      if (octet == '\\') {
        at++;
        out[end++] = '_';
      } else if ((octet & CONTINUATION_MASK) != CONTINUATION) {
        out[end++] = isUnquoted(octet) ? octet : (byte) '_';
      }
    }
    return end;
  }

  /** Returns the position of the equals sign after the name that begins at a position. */
  public static int nameEnd(byte[] labels, int begin) {
    if (labels[begin] == '"') {
      return valueEnd(labels, begin + 1) + 1;
    }
    int end = begin;
    while (labels[end] != '=') {
      end++;
    }
    return end;
  }

  /** Returns the position of the quote that ends the value, or quoted name, after its quote. */
  public static int valueEnd(byte[] labels, int begin) {
    int end = begin;
    while (labels[end] != '"') {
      end += labels[end] == '\\' ? 2 : 1;
    }
    return end;
  }

  private static boolean isUnquoted(byte octet) {
    return octet >= 'a' && octet <= 'z'
        || octet >= 'A' && octet <= 'Z'
        || octet >= '0' && octet <= '9'
        || octet == '_';
  }

  private static boolean isLoneSurrogate(int codePoint) {
    return codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
  }
}
