package org.traceetl.server.features.history;

import static org.traceetl.server.config.ConfigException.check;
import static org.traceetl.server.config.ConfigException.orElse;

/**
 * The live history: {@code trace-etl.history}. A missing value is its default.
 *
 * @param enabled whether this server keeps the last hour of the whole fleet, which most paths below
 *     {@code /api} need
 * @param maxApplications applications; further ones are added up as {@code _other}; 1 to 1000000
 * @param maxOperations operations (application, span name, kind); further ones are added up as
 *     {@code _other} of their application; 1 to 1000000. A busy operation or application takes 1 to
 *     4 KB with default buckets
 */
public record HistoryConfig(Boolean enabled, Integer maxApplications, Integer maxOperations) {
  private static final int MOST = 1_000_000;

  public HistoryConfig {
    enabled = orElse(enabled, true);
    maxApplications = orElse(maxApplications, 10_000);
    maxOperations = orElse(maxOperations, 50_000);
    checkRange("max-applications", maxApplications);
    checkRange("max-operations", maxOperations);
  }

  public static HistoryConfig defaults() {
    return new HistoryConfig(null, null, null);
  }

  private static void checkRange(String name, int value) {
    check(value >= 1 && value <= MOST, "trace-etl.history." + name, value, "must be 1 to " + MOST);
  }
}
