package org.traceetl.server.features.history;

import static org.traceetl.common.ConfigException.checkRange;
import static org.traceetl.common.ConfigException.orElse;

/**
 * The live history: {@code trace-etl.history}. A missing value is its default.
 *
 * @param enabled whether this server keeps the last hour of the whole fleet, which most paths below
 *     {@code /api} need
 * @param maxApplications applications; further ones are added up as {@code _other}; 1 to 1000000
 * @param maxOperations operations (application, span name, kind) and objectives; further operations
 *     are added up as {@code _other} of their application, further objectives are left out; 1 to
 *     1000000. A busy operation or application takes 1 to 4 KB with default buckets
 */
public record HistoryConfig(Boolean enabled, Integer maxApplications, Integer maxOperations) {
  private static final int MOST = 1_000_000;

  public HistoryConfig {
    enabled = orElse(enabled, true);
    maxApplications = orElse(maxApplications, 10_000);
    maxOperations = orElse(maxOperations, 50_000);
    checkRange("trace-etl.history.max-applications", maxApplications, 1, MOST);
    checkRange("trace-etl.history.max-operations", maxOperations, 1, MOST);
  }

  public static HistoryConfig defaults() {
    return new HistoryConfig(null, null, null);
  }
}
