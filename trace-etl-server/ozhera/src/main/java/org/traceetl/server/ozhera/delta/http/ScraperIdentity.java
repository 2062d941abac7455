package org.traceetl.server.ozhera.delta.http;

import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.util.regex.Pattern;
import org.traceetl.server.http.ParameterRefused;

/**
 * The scraper of a request, and how long it waits.
 *
 * @param name name of the scraper: letters, digits and {@code . _ : / -}; null for none
 * @param from address of the scraper
 * @param scrapes whether the request states a timeout, as Prometheus does and a person does not
 * @param timeout when the scraper gives up
 */
record ScraperIdentity(String name, String from, boolean scrapes, Duration timeout) {
  static final String PARAMETER = "scraper";

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:/-]{1,64}");

  /** Seconds with a fraction, sent by Prometheus and compatible scrapers. */
  private static final String TIMEOUT_HEADER = "X-Prometheus-Scrape-Timeout-Seconds";

  private static final Duration DEFAULT_TIMEOUT = Duration.ofMinutes(1);
  private static final double MAX_TIMEOUT_SECONDS = 300;

  /**
   * @throws ParameterRefused with the error in the name, or because of a shard: a scraper receives
   *     what it lacks in one answer
   */
  static ScraperIdentity of(HttpServletRequest request) {
    if (request.getParameter("shard") != null) {
      throw new ParameterRefused(
          "shard: must be absent, because deltas have no shards; pages with"
              + " trace-etl.ozhera.temporality: cumulative have");
    }
    String[] names = request.getParameterValues(PARAMETER);
    String seconds = request.getHeader(TIMEOUT_HEADER);
    Duration timeout = timeout(seconds);
    boolean scrapes = seconds != null;
    if (names == null) {
      return new ScraperIdentity(null, request.getRemoteAddr(), scrapes, timeout);
    }
    if (names.length > 1) {
      throw new ParameterRefused(PARAMETER + ": must be given once");
    }
    if (!NAME.matcher(names[0]).matches()) {
      throw new ParameterRefused(PARAMETER + ": must be 1 to 64 letters, digits and . _ : / -");
    }
    return new ScraperIdentity(names[0], request.getRemoteAddr(), scrapes, timeout);
  }

  private static Duration timeout(String seconds) {
    if (seconds == null) {
      return DEFAULT_TIMEOUT;
    }
    try {
      double number = Double.parseDouble(seconds);
      return number > 0 && number <= MAX_TIMEOUT_SECONDS
          ? Duration.ofNanos((long) (number * 1e9))
          : DEFAULT_TIMEOUT;
    } catch (NumberFormatException e) {
      return DEFAULT_TIMEOUT;
    }
  }
}
