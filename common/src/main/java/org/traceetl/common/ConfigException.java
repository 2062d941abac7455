package org.traceetl.common;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * An invalid configuration. Each problem has the form {@code key = value: what is allowed}, without
 * a value if the key is absent.
 */
public final class ConfigException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  private final transient List<String> problems;

  public ConfigException(String name, Object value, String rule) {
    this(List.of(name + (value == null ? "" : " = " + value) + ": " + rule));
  }

  public ConfigException(List<String> problems) {
    super(String.join("\n", problems));
    this.problems = List.copyOf(problems);
  }

  /** Returns all problems that were found, not only the first. */
  public List<String> problems() {
    return problems;
  }

  /** Throws unless {@code holds}; {@code rule} says what is allowed. */
  public static void check(boolean holds, String name, Object value, String rule) {
    if (!holds) {
      throw new ConfigException(name, value, rule);
    }
  }

  /** Throws unless the value is in {@code [min, max]}. */
  public static void checkRange(String name, long value, long min, long max) {
    check(value >= min && value <= max, name, value, "must be " + min + " to " + max);
  }

  /** Throws unless the value is in {@code [min, max]}; {@code rule} says so. */
  public static void checkRange(
      String name, Duration value, Duration min, Duration max, String rule) {
    check(value.compareTo(min) >= 0 && value.compareTo(max) <= 0, name, value, rule);
  }

  /**
   * Throws unless the file is null or readable.
   *
   * @param what what it must be, such as {@code a readable file of keys}
   */
  public static void checkReadable(String name, Path file, String what) {
    check(file == null || Files.isReadable(file), name, file, "must be " + what);
  }

  public static <T> T orElse(T value, T otherwise) {
    return value == null ? otherwise : value;
  }

  /**
   * Returns the name of a constant in the configuration: {@code span-batch} for {@code SPAN_BATCH}.
   */
  public static String canonical(String name) {
    return name.toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
