package org.traceetl.server.migration;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/** The server's configuration that is being written. Each key has a comment with its origin. */
final class ServerYaml {
  /** Texts that no reader of YAML takes for something else. */
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z][A-Za-z0-9_./-]{3,}");

  private static final Pattern WORD = Pattern.compile("(?i)true|false|null");

  /** Lines by section, in the order of writing. */
  private final Map<String, List<String>> sections = new LinkedHashMap<>();

  private final List<String> head = new ArrayList<>();

  void head(String comment) {
    head.add("# " + Report.printable(comment));
  }

  void put(String section, String key, String value, String origin) {
    comment(section, origin);
    lines(section).add("    " + key + ": " + value);
  }

  /** Adds a list whose elements have keys. */
  void putAll(String section, String key, List<Map<String, String>> elements, String origin) {
    if (elements.isEmpty()) {
      return;
    }
    comment(section, origin);
    lines(section).add("    " + key + ":");
    for (Map<String, String> element : elements) {
      String start = "      - ";
      for (Map.Entry<String, String> entry : element.entrySet()) {
        lines(section).add(start + entry.getKey() + ": " + entry.getValue());
        start = "        ";
      }
    }
  }

  /** Adds a section that is a list whose elements have keys. */
  void putList(String section, List<Map<String, String>> elements, String origin) {
    if (elements.isEmpty()) {
      return;
    }
    comment(section, origin);
    for (Map<String, String> element : elements) {
      String start = "    - ";
      for (Map.Entry<String, String> entry : element.entrySet()) {
        lines(section).add(start + entry.getKey() + ": " + entry.getValue());
        start = "      ";
      }
    }
  }

  private void comment(String section, String origin) {
    lines(section).add("    # " + Report.printable(origin));
  }

  private List<String> lines(String section) {
    return sections.computeIfAbsent(section, name -> new ArrayList<>());
  }

  /** Returns a text in quotes if it needs them. */
  static String text(String text) {
    if (PLAIN.matcher(text).matches() && !WORD.matcher(text).matches()) {
      return text;
    }
    StringBuilder quoted = new StringBuilder("\"");
    text.codePoints()
        .forEach(c -> {
          if (c == '"' || c == '\\') {
            quoted.append('\\').appendCodePoint(c);
          } else if (c < ' ' || c > '~') {
            quoted.append(String.format(Locale.ROOT, "\\U%08x", c));
          } else {
            quoted.appendCodePoint(c);
          }
        });
    return quoted.append('"').toString();
  }

  static String texts(List<String> texts) {
    return "[" + String.join(", ", texts.stream().map(ServerYaml::text).toList()) + "]";
  }

  static String duration(Duration duration) {
    long millis = duration.toMillis();
    if (millis % 86_400_000 == 0) {
      return millis / 86_400_000 + "d";
    }
    if (millis % 3_600_000 == 0) {
      return millis / 3_600_000 + "h";
    }
    if (millis % 60_000 == 0) {
      return millis / 60_000 + "m";
    }
    return millis % 1_000 == 0 ? millis / 1_000 + "s" : millis + "ms";
  }

  static String number(double number) {
    return new BigDecimal(Double.toString(number)).stripTrailingZeros().toPlainString();
  }

  @Override
  public String toString() {
    StringBuilder yaml = new StringBuilder();
    head.forEach(line -> yaml.append(line).append('\n'));
    yaml.append("trace-etl:\n");
    sections.forEach((section, lines) -> {
      yaml.append("  ").append(section).append(":\n");
      lines.forEach(line -> yaml.append(line).append('\n'));
    });
    return yaml.toString();
  }
}
