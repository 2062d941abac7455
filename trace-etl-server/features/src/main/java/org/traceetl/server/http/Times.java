package org.traceetl.server.http;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;

/** Reads parameters that are times. */
public final class Times {
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final long NANOS_PER_SECOND = 1_000_000_000;

  private Times() {}

  /**
   * Returns a time in nanoseconds since 1970.
   *
   * @param text null for none
   * @param otherwise the result without a text
   * @throws ParameterRefused if the text is no such time
   */
  public static long unixNanos(String name, String text, long otherwise) {
    if (text == null) {
      return otherwise;
    }
    try {
      if (text.chars().allMatch(c -> c >= '0' && c <= '9')) {
        return Math.multiplyExact(Long.parseLong(text), NANOS_PER_MILLI);
      }
      Instant instant = OffsetDateTime.parse(text).toInstant();
      return Math.addExact(
          Math.multiplyExact(instant.getEpochSecond(), NANOS_PER_SECOND), instant.getNano());
    } catch (DateTimeException | ArithmeticException | NumberFormatException e) {
      throw new ParameterRefused(
          name
              + " = "
              + text
              + ": must be a time as RFC 3339 (2026-11-21T10:00:00Z) or milliseconds since 1970",
          e);
    }
  }
}
