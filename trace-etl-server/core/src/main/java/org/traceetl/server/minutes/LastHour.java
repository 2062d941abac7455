package org.traceetl.server.minutes;

import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;

/**
 * The minutes of the last hour, as numbers since 1970, and how much of them was observed. One
 * thread observes, others read.
 */
public final class LastHour {
  /** Minutes in memory, including the current one and one more that has ended. */
  public static final int MINUTES = 60;

  /** How far the minutes in memory go back. */
  public static final Duration LENGTH = Duration.ofMinutes(MINUTES + 1);

  /** Length of a minute in milliseconds. */
  public static final long MINUTE_MILLIS = TimeUnit.MINUTES.toMillis(1);

  private static final long MIN_OBSERVED_MILLIS = TimeUnit.SECONDS.toMillis(1);

  /**
   * The earliest minute with spans.
   *
   * @param fromMillis begin of its earliest pane or window
   * @param toMillis end of its latest one
   */
  private record FirstMinute(long minute, long fromMillis, long toMillis) {
    /** Time that they cover; they begin in the minute, but may end after it. */
    long observedMillis() {
      return Math.clamp(toMillis - fromMillis, MIN_OBSERVED_MILLIS, MINUTE_MILLIS);
    }
  }

  private final InstantSource clock;

  /** Null before the first spans. */
  private volatile FirstMinute first;

  public LastHour(InstantSource clock) {
    this.clock = clock;
  }

  /** Returns the current minute. */
  public long now() {
    return minute(clock.millis());
  }

  /** Returns the minute of a time in milliseconds since 1970. */
  public static long minute(long millis) {
    return Math.floorDiv(millis, MINUTE_MILLIS);
  }

  /**
   * Returns whether a minute is in the future. The minute after the current one is not, because it
   * may have begun at another server.
   */
  public static boolean isFuture(long minute, long now) {
    return minute > now + 1;
  }

  /** Returns whether a minute is kept in memory. */
  public static boolean isKept(long minute, long now) {
    return minute >= now - MINUTES && !isFuture(minute, now);
  }

  /**
   * Records that there are spans of an interval, which counts in the minute of its begin.
   *
   * @param fromMillis milliseconds since 1970
   * @param toMillis milliseconds since 1970
   */
  public void observe(long fromMillis, long toMillis) {
    long minute = minute(fromMillis);
    FirstMinute known = first;
    if (known == null || minute < known.minute) {
      first = new FirstMinute(minute, fromMillis, toMillis);
    } else if (minute == known.minute) {
      first =
          new FirstMinute(
              minute, Math.min(known.fromMillis, fromMillis), Math.max(known.toMillis, toMillis));
    }
  }

  /**
   * Returns how many milliseconds of some minutes, both ends inclusive, were observed: those after
   * the first spans. It is 0 if there are no spans up to them.
   */
  public long observedMillis(long from, long to) {
    FirstMinute known = first;
    if (known == null || known.minute > to) {
      return 0;
    }
    return known.minute < from
        ? (to - from + 1) * MINUTE_MILLIS
        : (to - known.minute) * MINUTE_MILLIS + known.observedMillis();
  }

  /** Returns the first minute from a given one on that was observed; the given one for none. */
  public long observedFrom(long from) {
    FirstMinute known = first;
    return known == null ? from : Math.max(from, known.minute);
  }
}
