package org.traceetl.server.migration;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Collects what a translation reports about its file: gaps and errors, one line each. */
final class Report {
  private static final int MAX_PROBLEMS = 20;

  /** Characters that would end a line, a comment or a terminal's good behaviour. */
  private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{C}\\p{Zl}\\p{Zp}]");

  private final Path file;
  private final List<String> gaps = new ArrayList<>();

  /** A value that is read twice is reported once. */
  private final Set<String> problems = new LinkedHashSet<>();

  Report(Path file) {
    this.file = file;
  }

  /** Adds a key that has no exact counterpart. */
  void gap(Value value, String effect) {
    gaps.add(where(value) + ": " + effect);
  }

  /** Adds an absent key whose default has no counterpart. */
  void gapOfDefault(String path, String value, String effect) {
    gaps.add(file + ": " + path + " (default: " + value + "): " + effect);
  }

  /** Adds a key that cannot be translated because it is invalid. */
  void problem(Value value, String rule) {
    if (problems.size() < MAX_PROBLEMS) {
      problems.add(where(value) + ": " + rule);
    }
  }

  private String where(Value value) {
    return file
        + (value.line() > 0 ? ":" + value.line() : "")
        + ": "
        + (value.path().isEmpty() ? "the file" : value.path())
        + (value.shown().isEmpty() ? "" : " = " + value.shown());
  }

  List<String> gaps() {
    return gaps.stream().map(Report::printable).toList();
  }

  /**
   * @throws IllegalArgumentException with all problems, one a line, if there are some
   */
  void throwIfAnyProblem() {
    if (!problems.isEmpty()) {
      throw new IllegalArgumentException(
          String.join("\n", problems.stream().map(Report::printable).toList()));
    }
  }

  static String printable(String text) {
    return UNPRINTABLE.matcher(text).replaceAll("?");
  }
}
