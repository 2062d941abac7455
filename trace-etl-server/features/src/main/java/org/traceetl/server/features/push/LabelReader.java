package org.traceetl.server.features.push;

import java.util.Arrays;
import java.util.List;

/** Reads labels in the text form of pages, {@code a="x",b="y"} with \ before \, " and n. */
final class LabelReader {
  private LabelReader() {}

  /** Appends the names and values of labels; empty values are left out. */
  static void read(byte[] labels, List<Symbol> names, List<Symbol> values) {
    byte[] value = new byte[labels.length];
    int at = 0;
    while (at < labels.length) {
      int nameEnd = at;
      while (labels[nameEnd] != '=') {
        nameEnd++;
      }
      int length = 0;
      int from = nameEnd + 2;
      for (; labels[from] != '"'; from++) {
        byte octet = labels[from];
        if (octet == '\\') {
          from++;
          octet = labels[from] == 'n' ? (byte) '\n' : labels[from];
        }
        value[length++] = octet;
      }
      if (length > 0) {
        names.add(new Symbol(Arrays.copyOfRange(labels, at, nameEnd)));
        values.add(new Symbol(Arrays.copyOf(value, length)));
      }
      at = from + 2;
    }
  }
}
