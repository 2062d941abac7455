package org.traceetl.server.config;

import static org.traceetl.server.config.ConfigException.check;
import static org.traceetl.server.config.ConfigException.orElse;

/**
 * The live history: {@code trace-etl.history}. A missing value is its default.
 *
 * @param enabled whether this server keeps the last hour of the whole fleet; default true
 * @param maxApplications applications told apart; those above are added up as {@code _other}. One
 *     takes about 15 KB with the default buckets; default 2,000
 */
public record HistoryConfig(Boolean enabled, Integer maxApplications) {
  private static final int MOST_APPLICATIONS = 1_000_000;

  public HistoryConfig {
    enabled = orElse(enabled, true);
    maxApplications = orElse(maxApplications, 2_000);
    check(
        maxApplications >= 1 && maxApplications <= MOST_APPLICATIONS,
        "trace-etl.history.max-applications",
        maxApplications,
        "must be 1 to " + MOST_APPLICATIONS);
  }

  public static HistoryConfig defaults() {
    return new HistoryConfig(null, null);
  }
}
