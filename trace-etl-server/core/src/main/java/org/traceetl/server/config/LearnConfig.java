package org.traceetl.server.config;

import static org.traceetl.server.config.ConfigException.check;
import static org.traceetl.server.config.ConfigException.orElse;

import java.util.List;

/**
 * Span names learnt by their variety: {@code trace-etl.series.templates.learn}. A missing value is
 * its default.
 *
 * @param enabled whether this server joins names by what is learnt, and learns where it decides;
 *     default true
 * @param moreThan different tokens at one place, above which they are joined; default 500
 * @param maxRules at which nothing more is learnt; default 1,000
 * @param keep rules that are not to be; default none
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
    check(
        moreThan >= MIN_VALUES && moreThan <= MOST_VALUES,
        PREFIX + "more-than",
        moreThan,
        "must be " + MIN_VALUES + " to " + MOST_VALUES);
    check(
        maxRules >= 1 && maxRules <= MOST_RULES,
        PREFIX + "max-rules",
        maxRules,
        "must be 1 to " + MOST_RULES);
  }

  public static LearnConfig defaults() {
    return new LearnConfig(null, null, null, null);
  }

  /**
   * Names that stay as they are; {@code *} stands for any characters.
   *
   * @param application default {@code *}
   * @param rule what they would become, up to the token that varies, {@code /users/{*}}; default
   *     {@code *}
   */
  public record Keep(String application, String rule) {
    public Keep {
      application = orElse(application, "*");
      rule = orElse(rule, "*");
    }
  }
}
