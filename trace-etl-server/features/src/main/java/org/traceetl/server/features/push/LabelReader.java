package org.traceetl.server.features.push;

import java.util.Arrays;
import java.util.List;
import org.traceetl.server.expose.LabelText;

/** Reads labels in the text form of pages, {@code a="x","b.c"="y"} with \ before \, " and n. */
final class LabelReader {
  private LabelReader() {}

  /** Appends the names and values of labels; empty values are left out. */
  static void read(byte[] labels, List<Symbol> names, List<Symbol> values) {
    int at = 0;
    while (at < labels.length) {
      int nameEnd = LabelText.nameEnd(labels, at);
      int valueEnd = LabelText.valueEnd(labels, nameEnd + 2);
      if (valueEnd > nameEnd + 2) {
        names.add(
            labels[at] == '"'
                ? unescaped(labels, at + 1, nameEnd - 1)
                : new Symbol(Arrays.copyOfRange(labels, at, nameEnd)));
        values.add(unescaped(labels, nameEnd + 2, valueEnd));
      }
      at = valueEnd + 2;
    }
  }

  private static Symbol unescaped(byte[] labels, int begin, int end) {
    byte[] text = new byte[end - begin];
    int length = 0;
    for (int at = begin; at < end; at++) {
      byte octet = labels[at];
      if (octet == '\\') {
        at++;
        octet = labels[at] == 'n' ? (byte) '\n' : labels[at];
      }
      text[length++] = octet;
    }
    return new Symbol(Arrays.copyOf(text, length));
  }
}
