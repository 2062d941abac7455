package org.traceetl.server.config;

import java.util.Set;
import org.traceetl.common.ConfigException;

/**
 * The keys of a feature: {@code trace-etl.<prefix>}.
 *
 * @param <K> the record that the keys are bound to
 * @param <C> the configuration that is made of it
 */
public interface ConfigSection<K extends Record, C extends Record> {
  /** Keys that are the configuration. */
  static <C extends Record> ConfigSection<C, C> of(String prefix, Class<C> type, C defaults) {
    return new ConfigSection<>() {
      @Override
      public String prefix() {
        return prefix;
      }

      @Override
      public Class<C> keys() {
        return type;
      }

      @Override
      public Class<C> type() {
        return type;
      }

      @Override
      public C config(C keys, Profile profile) {
        return keys == null ? defaults : keys;
      }
    };
  }

  /** Below {@code trace-etl}; in lower case, with dashes. */
  String prefix();

  Class<K> keys();

  Class<C> type();

  /**
   * The configuration.
   *
   * @param keys null if none is given
   * @throws ConfigException if a value is wrong
   */
  C config(K keys, Profile profile);

  /**
   * Checks it together with the rest of the configuration.
   *
   * @param topics that other parts use
   * @throws ConfigException if they do not fit together
   */
  default void validate(C own, Profile profile, Set<String> topics) {}

  /**
   * Checks it together with the names of series.
   *
   * @throws ConfigException if they do not fit together
   */
  default void validate(C own, MetricsConfig metrics) {}

  /** Which documents are kept with this configuration. */
  default DocumentsConfig documents(C own, DocumentsConfig documents) {
    return documents;
  }

  /**
   * Reads the files that its keys name, to find out whether they can be used.
   *
   * @throws IllegalArgumentException if one cannot be used
   */
  default void checkFiles(C own) {}
}
