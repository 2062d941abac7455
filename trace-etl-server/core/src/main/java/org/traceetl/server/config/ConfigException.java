package org.traceetl.server.config;

import java.util.Locale;

/** A configuration that cannot be run. The message says which value, and what would be right. */
public final class ConfigException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  ConfigException(String name, Object value, String rule) {
    super(name + " = " + value + ": " + rule);
  }

  /** Throws unless {@code holds}; {@code rule} says what would be right. */
  public static void check(boolean holds, String name, Object value, String rule) {
    if (!holds) {
      throw new ConfigException(name, value, rule);
    }
  }

  public static <T> T orElse(T value, T otherwise) {
    return value == null ? otherwise : value;
  }

  /** A name as the configuration has it: {@code span-batch} for {@code SPAN_BATCH}. */
  static String canonical(String name) {
    return name.toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
