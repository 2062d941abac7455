package org.traceetl.server.migration;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;

/**
 * A value of the file with its place. A value of another type than expected is reported, and read
 * as absent.
 *
 * @param path keys from the root to the value, such as {@code connectors.span_metrics.namespace}
 * @param node null if the key is absent
 */
record Value(Report report, String path, Node node) {
  private static final int MAX_SHOWN = 80;
  private static final Pattern SECRET =
      Pattern.compile(
          "(?i).*(password|secret|token|api_?key|credential|header|authorization|remote_write).*");
  private static final Pattern NUMBER =
      Pattern.compile("[-+]?(\\d[\\d_]*(\\.[\\d_]*)?|\\.\\d[\\d_]*)([eE][-+]?\\d{1,3})?");

  /** Returns whether the key has a value other than null. */
  boolean present() {
    return node != null && !node.getTag().equals(Tag.NULL);
  }

  /** Returns the line, from 1; 0 if the key is absent. */
  int line() {
    return node == null || node.getStartMark() == null ? 0 : node.getStartMark().getLine() + 1;
  }

  /** Returns the path for a comment, which says whether the value is the default. */
  String origin() {
    return present() ? path : path + " (default)";
  }

  /** Returns the value for a message: shortened, and without secrets. */
  String shown() {
    if (!present()) {
      return "";
    }
    if (SECRET.matcher(path).matches()) {
      return "***";
    }
    String text =
        switch (node) {
          case ScalarNode scalar -> scalar.getValue();
          case SequenceNode items
              when items.getValue().stream().allMatch(ScalarNode.class::isInstance) ->
              items.getValue().stream()
                  .limit(MAX_SHOWN)
                  .map(item -> ((ScalarNode) item).getValue())
                  .collect(Collectors.joining(", ", "[", "]"));
          case SequenceNode items -> "a list of " + items.getValue().size();
          default -> "a section";
        };
    return text.length() <= MAX_SHOWN ? text : text.substring(0, MAX_SHOWN) + "…";
  }

  Section section() {
    return new Section(this);
  }

  List<Value> list() {
    if (!present()) {
      return List.of();
    }
    if (!(node instanceof SequenceNode items)) {
      report.problem(this, "must be a list" + variable());
      return List.of();
    }
    List<Value> values = new ArrayList<>();
    for (Node item : items.getValue()) {
      values.add(new Value(report, path + "[" + values.size() + "]", item));
    }
    return values;
  }

  /** Returns the text; null if absent. */
  String text() {
    if (!present()) {
      return null;
    }
    if (!(node instanceof ScalarNode scalar)) {
      report.problem(this, "must be a text");
      return null;
    }
    if (scalar.getValue().contains("${")) {
      report.problem(this, "has a variable; replace it by its value and import again");
      return null;
    }
    if (!Report.printable(scalar.getValue()).equals(scalar.getValue())) {
      report.problem(this, "must not have control characters");
      return null;
    }
    return scalar.getValue();
  }

  String text(String otherwise) {
    String text = text();
    return text == null ? otherwise : text;
  }

  boolean flag(boolean otherwise) {
    String text = text();
    if (text == null) {
      return otherwise;
    }
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true", "yes", "on" -> true;
      case "false", "no", "off" -> false;
      default -> {
        report.problem(this, "must be true or false");
        yield otherwise;
      }
    };
  }

  double number(double otherwise) {
    String text = text();
    if (text == null) {
      return otherwise;
    }
    if (!NUMBER.matcher(text).matches()) {
      report.problem(this, "must be a number");
      return otherwise;
    }
    return Double.parseDouble(text.replace("_", ""));
  }

  Duration duration(Duration otherwise) {
    String text = text();
    if (text == null) {
      return otherwise;
    }
    Duration duration = GoDuration.parse(text);
    if (duration == null) {
      report.problem(this, "must be a duration, such as 500ms, 15s or 10m, up to 100 years");
      return otherwise;
    }
    return duration;
  }

  String variable() {
    return node instanceof ScalarNode scalar && scalar.getValue().contains("${")
        ? "; replace the variable by its value and import again"
        : "";
  }
}
