package org.traceetl.server.web;

import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.util.regex.Pattern;

/**
 * Who scrapes, and for how long it waits.
 *
 * @param name what the scraper calls itself; else it is made of its address and its program, and
 *     all that share these share it. Bounded, of letters, digits and {@code . _ : / -}
 * @param from where it asks from; of one without a name its address is the name, so that its port
 *     tells
 * @param lasting whether it scrapes again and again, by all signs: it has a name of its own, or
 *     says how long it waits
 * @param timeout after so long the scraper has given up
 */
record ScraperIdentity(String name, String from, boolean lasting, Duration timeout) {
  static final String PARAMETER = "scraper";

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:/-]{1,64}");
  private static final Pattern NOT_IN_NAMES = Pattern.compile("[^A-Za-z0-9._:-]");
  private static final int MAX_PROGRAM = 32;

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
    if (names == null) {
      String address = NOT_IN_NAMES.matcher(request.getRemoteAddr()).replaceAll("_");
      return new ScraperIdentity(
          address + "/" + program(request.getHeader("User-Agent")),
          address + " port " + request.getRemotePort(),
          seconds != null,
          timeout);
    }
    if (names.length > 1) {
      throw new IllegalArgumentException(PARAMETER + ": must be given once");
    }
    if (!NAME.matcher(names[0]).matches()) {
      throw new IllegalArgumentException(
          PARAMETER + ": must be 1 to 64 letters, digits and . _ : / -");
    }
    return new ScraperIdentity(names[0], request.getRemoteAddr(), true, timeout);
  }

  /** The product that stands first, without its version: an update is no other scraper. */
  private static String program(String userAgent) {
    if (userAgent == null) {
      return "unknown";
    }
    String product = userAgent.strip().split("[/ ]", 2)[0];
    String cut = product.substring(0, Math.min(product.length(), MAX_PROGRAM));
    return cut.isEmpty() ? "unknown" : NOT_IN_NAMES.matcher(cut).replaceAll("_");
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
