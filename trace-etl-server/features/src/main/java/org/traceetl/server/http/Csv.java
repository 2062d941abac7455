package org.traceetl.server.http;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.springframework.http.HttpHeaders;

/** Lines of comma-separated values (RFC 4180) that are safe to open in a spreadsheet. */
public final class Csv {
  private final StringBuilder text = new StringBuilder();

  /** Appends a line; null is an empty cell. */
  public void line(List<String> cells) {
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

  /** Returns the headers of an answer whose first line has the names of the columns. */
  public static HttpHeaders headers(String fileName) {
    var headers = new HttpHeaders();
    headers.set(HttpHeaders.CONTENT_TYPE, "text/csv;charset=utf-8;header=present");
    headers.set(HttpHeaders.CONTENT_DISPOSITION, "attachment; filename=\"" + fileName + "\"");
    return headers;
  }

  /** Returns all lines. */
  public byte[] toBytes() {
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }
}
