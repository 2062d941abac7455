package org.traceetl.server.history;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The last hour of each application, by the minute. Safe for any thread: one adds, any number ask,
 * and nobody waits for longer than one addition or one answer takes.
 *
 * <p>Bounded: so many applications, each with a tally for every minute in which it had spans. One
 * without spans for an hour makes room; while there is none, the others are {@link #OTHER}.
 */
public final class History {
  /** Minutes that are kept, the one that has not ended included. */
  public static final int MINUTES = 60;

  /** How far back it goes. */
  public static final Duration LENGTH = Duration.ofMinutes(MINUTES);

  /** Stands for the applications that found no room. */
  public static final String OTHER = "_other";

  /**
   * What happened in a stretch of time.
   *
   * @param startMillis when it began, milliseconds since 1970
   * @param ended false for the minute that has just begun
   * @param errors those of the calls with status ERROR
   * @param durationMillis sum of the calls' durations, milliseconds
   * @param p50Millis median of the durations, milliseconds; NaN without calls, like the others
   */
  public record Interval(
      long startMillis,
      boolean ended,
      long calls,
      long errors,
      double durationMillis,
      double p50Millis,
      double p95Millis,
      double p99Millis) {}

  /** What happened to an application. */
  public record Total(String application, Interval interval) {}

  private static final long MINUTE_MILLIS = TimeUnit.MINUTES.toMillis(1);
  private static final double NANOS_PER_MILLI = 1e6;

  /** One more than are shown: another server's clock may be ahead. */
  private static final int SLOTS = MINUTES + 1;

  private final int maxApplications;
  private final double[] boundsMillis;
  private final InstantSource clock;
  private final Map<String, Minutes> applications = new HashMap<>();
  private long sweptMinute;
  private long misdated;
  private volatile boolean upToDate;

  /**
   * An empty history.
   *
   * @param maxApplications most that are told apart
   * @param boundsNanos upper bounds of a tally's finite buckets, rising
   */
  public History(int maxApplications, long[] boundsNanos, InstantSource clock) {
    this.maxApplications = maxApplications;
    this.clock = clock;
    boundsMillis = new double[boundsNanos.length];
    for (int bound = 0; bound < boundsNanos.length; bound++) {
      boundsMillis[bound] = boundsNanos[bound] / NANOS_PER_MILLI;
    }
  }

  /** Adds what a window that began at this time has of each application. */
  synchronized void add(long openedMillis, Map<String, Tally> tallies) {
    long minute = Math.floorDiv(openedMillis, MINUTE_MILLIS);
    long now = minuteNow();
    if (minute <= now - MINUTES || minute > now + 1) {
      misdated += minute > now ? 1 : 0;
      return;
    }
    sweep(now);
    tallies.forEach((name, tally) -> minutes(name).at(minute, boundsMillis.length + 1).add(tally));
  }

  private Minutes minutes(String name) {
    Minutes minutes = applications.get(name);
    if (minutes == null) {
      boolean room = applications.size() < maxApplications;
      minutes = applications.computeIfAbsent(room ? name : OTHER, any -> new Minutes());
    }
    return minutes;
  }

  /** Once a minute. */
  private void sweep(long now) {
    if (now != sweptMinute) {
      sweptMinute = now;
      applications.values().removeIf(minutes -> minutes.endedBefore(now - MINUTES + 1));
    }
  }

  /**
   * An application's last minutes, oldest first; the last one has not ended.
   *
   * @param count 1 to {@value #MINUTES}
   * @return empty if the application had no spans in the last hour
   */
  public synchronized List<Interval> minutes(String application, int count) {
    Minutes minutes = applications.get(application);
    long now = minuteNow();
    if (minutes == null || minutes.endedBefore(now - MINUTES + 1)) {
      return List.of();
    }
    List<Interval> intervals = new ArrayList<>(count);
    for (long minute = now - count + 1; minute <= now; minute++) {
      intervals.add(interval(minute, minutes.sum(minute, minute, boundsMillis.length + 1), now));
    }
    return intervals;
  }

  /**
   * What happened to each application in the last minutes that have ended; the one with most calls
   * first.
   *
   * @param count 1 to {@value #MINUTES} - 1
   */
  public synchronized List<Total> totals(int count) {
    long now = minuteNow();
    List<Total> totals = new ArrayList<>();
    applications.forEach((name, minutes) -> {
      if (!minutes.endedBefore(now - MINUTES + 1)) {
        Tally sum = minutes.sum(now - count, now - 1, boundsMillis.length + 1);
        totals.add(new Total(name, interval(now - count, sum, now)));
      }
    });
    totals.sort(
        Comparator.comparingLong((Total total) -> -total.interval().calls())
            .thenComparing(Total::application));
    return totals;
  }

  /** Windows left out because they began in the future: a clock is wrong. */
  public synchronized long misdated() {
    return misdated;
  }

  /** Whether all that the journal has was added once; before, tallies are too low. */
  public boolean upToDate() {
    return upToDate;
  }

  void setUpToDate() {
    upToDate = true;
  }

  /** Applications told apart. */
  public synchronized int applications() {
    return applications.size();
  }

  private Interval interval(long minute, Tally tally, long now) {
    return new Interval(
        minute * MINUTE_MILLIS,
        minute < now,
        tally.calls(),
        tally.errors(),
        tally.durationMillis(),
        tally.quantileMillis(boundsMillis, 0.5),
        tally.quantileMillis(boundsMillis, 0.95),
        tally.quantileMillis(boundsMillis, 0.99));
  }

  private long minuteNow() {
    return Math.floorDiv(clock.millis(), MINUTE_MILLIS);
  }

  /** An application's tallies: the one of a minute takes the place of that an hour before. */
  private static final class Minutes {
    private final Tally[] tallies = new Tally[SLOTS];
    private final long[] minuteOf = new long[SLOTS];
    private long newest;

    Tally at(long minute, int buckets) {
      int slot = (int) Math.floorMod(minute, SLOTS);
      if (tallies[slot] == null || minuteOf[slot] != minute) {
        tallies[slot] = new Tally(buckets);
        minuteOf[slot] = minute;
        newest = Math.max(newest, minute);
      }
      return tallies[slot];
    }

    Tally sum(long from, long to, int buckets) {
      Tally sum = new Tally(buckets);
      for (int slot = 0; slot < SLOTS; slot++) {
        if (tallies[slot] != null && minuteOf[slot] >= from && minuteOf[slot] <= to) {
          sum.add(tallies[slot]);
        }
      }
      return sum;
    }

    boolean endedBefore(long minute) {
      return newest < minute;
    }
  }
}
