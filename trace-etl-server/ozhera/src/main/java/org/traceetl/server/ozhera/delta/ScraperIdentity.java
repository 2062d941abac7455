package org.traceetl.server.ozhera.delta;

import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.util.regex.Pattern;

/**
 * Who scrapes, and for how long it waits.
 *
 * @param name what the scraper calls itself: letters, digits and {@code . _ : / -}; null if it
 *     gives no name
 * @param from the address that it asks from
 * @param scrapes whether it says how long it waits, as Prometheus does and a person does not
 * @param timeout after so long the scraper has given up
 */
record ScraperIdentity(String name, String from, boolean scrapes, Duration timeout) {
  static final String PARAMETER = "scraper";

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:/-]{1,64}");

  /** In seconds, with a fraction; Prometheus and those who do as it does send it. */
  private static final String TIMEOUT_HEADER = "X-Prometheus-Scrape-Timeout-Seconds";

  private static final Duration DEFAULT_TIMEOUT = Duration.ofMinutes(1);
  private static final double MAX_TIMEOUT_SECONDS = 300;

  /**
   * @throws IllegalArgumentException saying what is wrong with the name
   */
  static ScraperIdentity of(HttpServletRequest request) {
    String[] names = request.getParameterValues(PARAMETER);
    String seconds = request.getHeader(TIMEOUT_HEADER);
    Duration timeout = timeout(seconds);
    boolean scrapes = seconds != null;
    if (names == null) {
      return new ScraperIdentity(null, request.getRemoteAddr(), scrapes, timeout);
    }
    if (names.length > 1) {
      throw new IllegalArgumentException(PARAMETER + ": must be given once");
    }
    if (!NAME.matcher(names[0]).matches()) {
      throw new IllegalArgumentException(
          PARAMETER + ": must be 1 to 64 letters, digits and . _ : / -");
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
