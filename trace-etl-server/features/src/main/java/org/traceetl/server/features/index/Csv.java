package org.traceetl.server.features.index;

import java.util.List;

/** Lines of comma-separated values (RFC 4180) that a spreadsheet may open, whoever wrote them. */
final class Csv {
  private final StringBuilder text = new StringBuilder();

  /** Adds a line; null stands for an empty cell. */
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
    // Spreadsheets would run such a cell as a formula; behind an apostrophe it is text to them.
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
