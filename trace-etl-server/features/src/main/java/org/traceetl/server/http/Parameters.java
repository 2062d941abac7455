package org.traceetl.server.http;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The parameters of a request: each known, and given once. */
public final class Parameters {
  /** Of a name, in characters: longer ones no series has by default. */
  public static final int MAX_NAME = 20_000;

  private static final int MAX_SEARCH = 1_000;
  private static final int MAX_OFFSET = 1_000_000;

  private final Map<String, String[]> given;

  /**
   * @param known names that there are
   * @throws IllegalArgumentException saying which parameter, and what would be right
   */
  public Parameters(Map<String, String[]> given, Set<String> known) {
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

  /** All of them as a query, with one of them as it is said here. */
  public String with(String name, String value) {
    Map<String, String> all = new TreeMap<>();
    given.forEach((other, values) -> all.put(other, values[0]));
    all.put(name, value);
    return all.entrySet().stream()
        .map(one -> encoded(one.getKey()) + "=" + encoded(one.getValue()))
        .collect(Collectors.joining("&"));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  /** Null for an absent or empty one: a form sends its empty fields. */
  public String text(String name) {
    String[] values = given.get(name);
    return values == null || values[0].isEmpty() ? null : values[0];
  }

  /**
   * @throws IllegalArgumentException if it is longer
   */
  public String text(String name, int maxLength) {
    String text = text(name);
    if (text != null && text.codePointCount(0, text.length()) > maxLength) {
      throw new IllegalArgumentException(
          name + ": must have at most " + maxLength + " characters; it has " + text.length());
    }
    return text;
  }

  /**
   * @throws IllegalArgumentException if it is absent or too long
   */
  public String name(String name) {
    String text = text(name, MAX_NAME);
    if (text == null) {
      throw new IllegalArgumentException(name + ": must be given");
    }
    return text;
  }

  /** Part of a name that is looked for; empty for all. */
  public String search() {
    String search = text("search", MAX_SEARCH);
    return search == null ? "" : search;
  }

  /** How many to leave out. */
  public int offset() {
    return number("offset", 0, MAX_OFFSET, 0);
  }

  public boolean flag(String name) {
    return choice(name, List.of("false", "true"), "false").equals("true");
  }

  /**
   * @throws IllegalArgumentException unless it is one of these, or absent
   */
  public String choice(String name, List<String> choices, String otherwise) {
    String text = text(name);
    if (text == null) {
      return otherwise;
    }
    if (!choices.contains(text)) {
      throw new IllegalArgumentException(
          name + " = " + text + ": must be one of " + String.join(", ", choices));
    }
    return text;
  }

  /**
   * @throws IllegalArgumentException unless it is a number from 1 to {@code max}, or absent
   */
  public int number(String name, int max, int otherwise) {
    return number(name, 1, max, otherwise);
  }

  private int number(String name, int min, int max, int otherwise) {
    String text = text(name);
    if (text == null) {
      return otherwise;
    }
    try {
      int number = Integer.parseInt(text);
      if (number >= min && number <= max) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw new IllegalArgumentException(
        name + " = " + text + ": must be a number from " + min + " to " + max);
  }
}
