package org.traceetl.server.ozhera;

import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.checkRange;
import static org.traceetl.common.ConfigException.orElse;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.traceetl.common.ConfigException;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.From;

/**
 * The keys of profile {@code ozhera}: {@code trace-etl.ozhera}. A missing value is its default.
 *
 * @param env start of all metric names: OzHera's {@code query.env}
 * @param rulesFile path of the rules file. Reloaded. None: spans above 1 s are slow, all spans
 *     count, and labels are complete
 * @param temporality {@code delta}: since the last answer to the scraper; {@code cumulative}:
 *     counters. The same on all servers; upgrade all before {@code cumulative}
 * @param scrapers names of the Prometheus servers that receive deltas, up to 256, each of 1 to 64
 *     letters, digits and {@code . _ : / -}; required for {@code delta}, refused for {@code
 *     cumulative}
 * @param forgetScraperAfter a scraper that is silent this long is forgotten; 1 min to 7 d; no
 *     effect with {@code cumulative}
 */
public record OzheraConfig(
    String env,
    Path rulesFile,
    Temporality temporality,
    List<String> scrapers,
    Duration forgetScraperAfter) {
  private static final String PREFIX = "trace-etl.ozhera.";
  private static final int MOST_SCRAPERS = 256;
  private static final Pattern SCRAPER = Pattern.compile("[A-Za-z0-9._:/-]{1,64}");
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
    temporality = orElse(temporality, Temporality.DELTA);
    scrapers = List.copyOf(orElse(scrapers, List.of()));
    forgetScraperAfter = orElse(forgetScraperAfter, Duration.ofHours(1));
    check(
        env.matches("[a-zA-Z_:][a-zA-Z0-9_:]*"),
        PREFIX + "env",
        env,
        "must be a prefix of a Prometheus metric name: letters, digits, _ and :");
    check(
        scrapers.size() <= MOST_SCRAPERS,
        PREFIX + "scrapers",
        scrapers.size() + " names",
        "must be at most " + MOST_SCRAPERS);
    for (String scraper : scrapers) {
      check(
          SCRAPER.matcher(scraper).matches(),
          PREFIX + "scrapers",
          scraper,
          "must be 1 to 64 letters, digits and . _ : / -");
      check(
          scrapers.indexOf(scraper) == scrapers.lastIndexOf(scraper),
          PREFIX + "scrapers",
          scraper,
          "must be configured once");
    }
    checkRange(
        PREFIX + "forget-scraper-after",
        forgetScraperAfter,
        MIN_FORGET,
        MAX_FORGET,
        "must be 1 minute to 7 days");
  }

  /** The meaning of the metrics' values. */
  public enum Temporality {
    /** Counts since the scraper's last answer, as in OzHera. */
    DELTA,

    /** Counts since the start of the series, as in Prometheus. */
    CUMULATIVE
  }

  /**
   * Upper bounds of the finite buckets of calls in milliseconds; no other histogram of the profile
   * has more buckets.
   */
  public static List<Double> boundsMillis() {
    return BOUNDS_MILLIS;
  }

  /**
   * The dimensions of a series in addition to application, name, type and outcome. No attribute
   * fills them.
   */
  public static List<Dimension> dimensions() {
    return DIMENSIONS;
  }

  /**
   * Checks that scrapers are configured if and only if values are deltas: names are never guessed
   * from requests.
   *
   * @throws ConfigException if they are not
   */
  public void requireScrapers() {
    if (temporality == Temporality.CUMULATIVE) {
      check(
          scrapers.isEmpty(),
          PREFIX + "scrapers",
          scrapers,
          "must be absent with trace-etl.ozhera.temporality = cumulative, which allows any"
              + " scraper at any time");
      return;
    }
    check(
        !scrapers.isEmpty(),
        PREFIX + "scrapers",
        "[]",
        "must list each Prometheus that receives deltas, such as trace-etl.ozhera.scrapers:"
            + " [prometheus-a, prometheus-b], and the scrape configuration of each Prometheus"
            + " must contain its name, such as params: {scraper: [prometheus-a]}. Alternatively,"
            + " set trace-etl.ozhera.temporality: cumulative, which needs no names");
  }

  public static OzheraConfig defaults() {
    return new OzheraConfig(null, null, null, null, null);
  }
}
