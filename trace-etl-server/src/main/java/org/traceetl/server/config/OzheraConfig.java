package org.traceetl.server.config;

import static org.traceetl.server.config.ConfigException.check;
import static org.traceetl.server.config.ConfigException.orElse;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.From;

/**
 * What metrics profile {@code ozhera} is told beside: {@code trace-etl.ozhera}. A missing value is
 * its default.
 *
 * @param env what all names of metrics begin with; default {@code staging}
 * @param rulesFile thresholds, exclusions and degradations by application, read anew when it
 *     changes; null: OzHera's defaults for all
 * @param maxScrapers who may scrape at a time, each with deltas of its own; default 16
 * @param forgetScraperAfter after so long without a scrape nothing is kept for a scraper any more;
 *     default 1 h
 */
public record OzheraConfig(
    String env, Path rulesFile, Integer maxScrapers, Duration forgetScraperAfter) {
  private static final String PREFIX = "trace-etl.ozhera.";
  private static final int MOST_SCRAPERS = 256;
  private static final Duration MIN_FORGET = Duration.ofMinutes(1);
  private static final Duration MAX_FORGET = Duration.ofDays(7);

  private static final List<Double> BOUNDS_MILLIS =
      List.of(
          50.0, 100.0, 150.0, 200.0, 250.0, 300.0, 400.0, 500.0, 700.0, 1_000.0, 2_000.0, 3_000.0,
          5_000.0);

  private static final List<Dimension> DIMENSIONS =
      Stream.of("serverIp", "serverEnv", "serverEnvId", "target", "detail", "errorCode")
          .map(label -> new Dimension("ozhera." + label, label, From.SPAN))
          .toList();

  public OzheraConfig {
    env = orElse(env, "staging");
    maxScrapers = orElse(maxScrapers, 16);
    forgetScraperAfter = orElse(forgetScraperAfter, Duration.ofHours(1));
    check(
        env.matches("[a-zA-Z_:][a-zA-Z0-9_:]*"),
        PREFIX + "env",
        env,
        "must be the beginning of a Prometheus metric name: letters, digits, _ and :");
    check(
        maxScrapers >= 1 && maxScrapers <= MOST_SCRAPERS,
        PREFIX + "max-scrapers",
        maxScrapers,
        "must be 1 to " + MOST_SCRAPERS);
    check(
        forgetScraperAfter.compareTo(MIN_FORGET) >= 0
            && forgetScraperAfter.compareTo(MAX_FORGET) <= 0,
        PREFIX + "forget-scraper-after",
        forgetScraperAfter,
        "must be 1 minute to 7 days");
  }

  /**
   * Upper bounds of the finite buckets of calls, milliseconds: no other histogram of the profile
   * has more of them.
   */
  public static List<Double> boundsMillis() {
    return BOUNDS_MILLIS;
  }

  /** What a series has beside its application, name, type and outcome. No attribute fills them. */
  static List<Dimension> dimensions() {
    return DIMENSIONS;
  }

  public static OzheraConfig defaults() {
    return new OzheraConfig(null, null, null, null);
  }
}
