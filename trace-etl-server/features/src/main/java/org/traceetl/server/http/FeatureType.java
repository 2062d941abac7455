package org.traceetl.server.http;

import org.traceetl.server.assembly.ServerContext;
import org.traceetl.server.config.ConfigSection;

/** A feature in the server's list: its keys, and how it is constructed. */
public interface FeatureType {
  /** Its keys; null if it has none of its own. */
  default ConfigSection<?, ?> section() {
    return null;
  }

  /**
   * Constructs the feature, yet to be started.
   *
   * @param own its configuration; null if it has no keys
   */
  Feature create(Record own, ServerContext context);

  /** Whether it starts before the first span counts. */
  default boolean startsBeforeSpans() {
    return true;
  }
}
