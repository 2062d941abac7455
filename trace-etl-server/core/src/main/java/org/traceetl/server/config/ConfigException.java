package org.traceetl.server.config;

import java.util.Locale;

/** An invalid configuration. The message contains the value and what is allowed. */
public final class ConfigException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  ConfigException(String name, Object value, String rule) {
    super(name + " = " + value + ": " + rule);
  }

  /** Throws unless {@code holds}; {@code rule} says what is allowed. */
  public static void check(boolean holds, String name, Object value, String rule) {
    if (!holds) {
      throw new ConfigException(name, value, rule);
    }
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
