package org.traceetl.server.migration;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as Go writes them, such as {@code 1h30m} and {@code 1.5s}. */
final class GoDuration {
  private static final Pattern WHOLE =
      Pattern.compile("0|(\\d{1,15}(\\.\\d{1,9})?(ns|us|µs|μs|ms|s|m|h|d)){1,8}");
  private static final Pattern PART = Pattern.compile("([\\d.]+)([a-zµμ]+)");
  private static final BigDecimal MAX_NANOS = BigDecimal.valueOf(100L * 365 * 86_400_000_000_000L);

  private GoDuration() {}

  /** Returns the duration; null if the text is none, or is longer than 100 years. */
  static Duration parse(String text) {
    if (!WHOLE.matcher(text).matches()) {
      return null;
    }
    BigDecimal nanos = BigDecimal.ZERO;
    Matcher part = PART.matcher(text);
    while (part.find()) {
      nanos = nanos.add(new BigDecimal(part.group(1)).multiply(nanos(part.group(2))));
    }
    return nanos.compareTo(MAX_NANOS) > 0 ? null : Duration.ofNanos(nanos.longValue());
  }

  private static BigDecimal nanos(String unit) {
    return BigDecimal.valueOf(
        switch (unit) {
          case "ns" -> 1L;
          case "us", "µs", "μs" -> 1_000L;
          case "ms" -> 1_000_000L;
          case "s" -> 1_000_000_000L;
          case "m" -> 60_000_000_000L;
          case "h" -> 3_600_000_000_000L;
          default -> 86_400_000_000_000L;
        });
  }
}
