package org.traceetl.server.features.rules;

import static org.traceetl.common.ConfigException.checkRange;
import static org.traceetl.common.ConfigException.orElse;

import java.nio.file.Path;
import java.time.Duration;

/**
 * Rules that servers apply while they run: {@code trace-etl.rules}. A missing value is its default.
 *
 * @param file file of rules (YAML), which the server reads again while it runs; none: the server
 *     follows the rules of other servers' files
 * @param switchAfter how long after their publication the dimensions, templates, buckets, units and
 *     measures of rules take effect, so that agents send the attributes first; 0 s to 10 min. The
 *     same on all servers
 */
public record RulesConfig(Path file, Duration switchAfter) {
  /** Maximum length of a file of rules, in bytes. */
  public static final int MAX_FILE_BYTES = 1 << 20;

  private static final Duration MAX_SWITCH_AFTER = Duration.ofMinutes(10);

  public RulesConfig {
    switchAfter = orElse(switchAfter, Duration.ofMinutes(2));
    checkRange(
        "trace-etl.rules.switch-after",
        switchAfter,
        Duration.ZERO,
        MAX_SWITCH_AFTER,
        "must be 0 s to 10 min");
  }

  static RulesConfig defaults() {
    return new RulesConfig(null, null);
  }
}
