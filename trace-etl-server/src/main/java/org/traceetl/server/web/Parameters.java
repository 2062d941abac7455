package org.traceetl.server.web;

import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The parameters of a request: each known, and given once. */
final class Parameters {
  private final Map<String, String[]> given;

  /**
   * @param known names that there are
   * @throws IllegalArgumentException saying which parameter, and what would be right
   */
  Parameters(Map<String, String[]> given, Set<String> known) {
    this.given = given;
    for (Map.Entry<String, String[]> parameter : given.entrySet()) {
      if (!known.contains(parameter.getKey())) {
        throw new IllegalArgumentException(
            parameter.getKey() + ": is no parameter; there are " + new TreeSet<>(known));
      }
      if (parameter.getValue().length > 1) {
        throw new IllegalArgumentException(parameter.getKey() + ": must be given once");
      }
    }
  }

  /** Null for an absent or empty one: a form sends its empty fields. */
  String text(String name) {
    String[] values = given.get(name);
    return values == null || values[0].isEmpty() ? null : values[0];
  }

  /**
   * @throws IllegalArgumentException unless it is a number from 1 to {@code max}, or absent
   */
  int number(String name, int max, int otherwise) {
    String text = text(name);
    if (text == null) {
      return otherwise;
    }
    try {
      int number = Integer.parseInt(text);
      if (number >= 1 && number <= max) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw new IllegalArgumentException(name + " = " + text + ": must be a number from 1 to " + max);
  }
}
