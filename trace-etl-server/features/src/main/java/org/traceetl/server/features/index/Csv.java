package org.traceetl.server.features.index;

import java.util.List;

/** Lines of comma-separated values (RFC 4180) that are safe to open in a spreadsheet. */
final class Csv {
  private final StringBuilder text = new StringBuilder();

  /** Appends a line; null is an empty cell. */
  void line(List<String> cells) {
    for (int i = 0; i < cells.size(); i++) {
      if (i > 0) {
        text.append(',');
      }
      cell(cells.get(i) == null ? "" : cells.get(i));
    }
    text.append("\r\n");
  }

  private void cell(String value) {
    // Spreadsheets would run such a cell as a formula; after an apostrophe it is text.
    String harmless = !value.isEmpty() && "=+-@\t\r".indexOf(value.charAt(0)) >= 0 ? "'" : "";
    boolean quoted = value.chars().anyMatch(c -> c == ',' || c == '"' || c == '\r' || c == '\n');
    text.append(quoted ? "\"" : "")
        .append(harmless)
        .append(value.replace("\"", "\"\""))
        .append(quoted ? "\"" : "");
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
