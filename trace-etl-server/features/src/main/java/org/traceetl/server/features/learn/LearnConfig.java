package org.traceetl.server.features.learn;

import static org.traceetl.common.ConfigException.checkRange;
import static org.traceetl.common.ConfigException.orElse;

import java.util.List;

/**
 * Span names learnt by their variety: {@code trace-etl.series.templates.learn}. A missing value is
 * its default.
 *
 * @param enabled whether this server joins names by learnt rules, and learns them while it decides
 *     on hotspots, which {@code hotspots.enabled: false} does not prevent; needs {@code
 *     templates.enabled}
 * @param moreThan distinct tokens at one place above which it varies; 20 to 10000
 * @param maxRules rules at which learning stops; 1 to 1000; 100 for one application
 * @param keep rules that match both keys are not learnt and are withdrawn
 */
public record LearnConfig(Boolean enabled, Integer moreThan, Integer maxRules, List<Keep> keep) {
  private static final String PREFIX = "trace-etl.series.templates.learn.";
  private static final int MIN_VALUES = 20;
  private static final int MOST_VALUES = 10_000;
  private static final int MOST_RULES = 1_000;

  public LearnConfig {
    enabled = orElse(enabled, true);
    moreThan = orElse(moreThan, 500);
    maxRules = orElse(maxRules, MOST_RULES);
    keep = List.copyOf(orElse(keep, List.of()));
    checkRange(PREFIX + "more-than", moreThan, MIN_VALUES, MOST_VALUES);
    checkRange(PREFIX + "max-rules", maxRules, 1, MOST_RULES);
  }

  static LearnConfig defaults() {
    return new LearnConfig(null, null, null, null);
  }

  /**
   * Names that stay unchanged; {@code *} matches any characters.
   *
   * @param application application, with {@code *} as wildcard; default all
   * @param rule rule as the API shows it, such as {@code /api/{*}}; {@code /api/*} matches all that
   *     start so; default all
   */
  public record Keep(String application, String rule) {
    public Keep {
      application = orElse(application, "*");
      rule = orElse(rule, "*");
    }
  }
}
