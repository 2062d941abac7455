package org.traceetl.server.consume.metrics;

import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.log.Printable;
import org.traceetl.server.series.Cardinality;
import org.traceetl.server.series.Tenants;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Reports which applications are near or at a limit, and which dimension has too many values. A
 * report is renewed each minute, less often if a queue has many. It expires after fifteen minutes
 * without renewal, in the time of the windows. Thread-safe.
 */
public final class CardinalityReports implements WindowFollower {
  private static final Logger log = LoggerFactory.getLogger(CardinalityReports.class);
  private static final int MAX_REPORTS = 1_000;
  private static final int MAX_CULPRITS = 100;
  private static final int MAX_LOGGED = 100;
  private static final int MAX_LOGGED_NAME = 200;
  private static final long STALE_MILLIS = 15 * 60_000;
  private static final long LOG_PAUSE_MILLIS = 60 * 60_000;

  /** Identifies an application on a queue. */
  private record Place(String application, QueueId queue) {}

  /**
   * @param tenant of its application, as in {@link Tenants}
   */
  private record Kept(Cardinality cardinality, int tenant) {}

  /**
   * A report on an application on a queue.
   *
   * @param overflowed spans of the application that this process counted in overflow series, on all
   *     queues, since its first report
   */
  public record Report(QueueId queue, Cardinality cardinality, long overflowed) {}

  /** Least recently reported first. */
  private final Map<Place, Kept> reports = new LinkedHashMap<>(16, 0.75f, true);

  private final Map<String, Long> overflowed = new HashMap<>();
  private final Map<String, Long> loggedMillis = new HashMap<>();

  private Tenants tenants = Tenants.NONE;

  /** Sets the tenants in force: no other tenant's reports displace those of a tenant with fewer. */
  public synchronized void tenants(Tenants now) {
    tenants = now;
    reports.replaceAll((place, kept) -> new Kept(kept.cardinality, now.of(place.application)));
  }

  /** Reports an application near or at a limit. */
  void report(QueueId queue, Cardinality cardinality) {
    if (put(queue, cardinality)) {
      Cardinality.Dimension culprit = cardinality.culprit();
      log.warn(
          "Application {} is at the limit {} = {} on queue {}: {} of its spans and {}"
              + " of their events went to the overflow series in a window. Its {} series have {}"
              + " values of {}; GET /api/cardinality returns details",
          Printable.of(cardinality.application(), MAX_LOGGED_NAME),
          cardinality.limit().equals(Cardinality.OF_TENANT)
              ? Cardinality.OF_TENANT
              : "trace-etl.series." + cardinality.limit(),
          cardinality.max(),
          queue,
          cardinality.overflowed(),
          cardinality.overflowedEvents(),
          cardinality.series(),
          culprit.values(),
          Printable.of(culprit.name(), MAX_LOGGED_NAME));
    }
  }

  /** Stores a report; returns whether to log it: at a limit, once per application and hour. */
  private synchronized boolean put(QueueId queue, Cardinality cardinality) {
    String application = cardinality.application();
    reports.put(new Place(application, queue), new Kept(cardinality, tenants.of(application)));
    overflowed.putIfAbsent(application, 0L);
    if (reports.size() > MAX_REPORTS) {
      removeOldest();
      forgetGone();
    }
    if (!cardinality.isOverflowing()
        || cardinality.atMillis() - loggedMillis.getOrDefault(application, Long.MIN_VALUE / 2)
            < LOG_PAUSE_MILLIS) {
      return false;
    }
    loggedMillis.values().removeIf(then -> cardinality.atMillis() - then >= LOG_PAUSE_MILLIS);
    if (loggedMillis.size() >= MAX_LOGGED) {
      return false; // limits the log if many applications report in one hour
    }
    loggedMillis.put(application, cardinality.atMillis());
    return true;
  }

  /** Removes the oldest report of the tenant with the most reports. */
  private void removeOldest() {
    Map<Integer, Integer> counts = new HashMap<>();
    reports.values().forEach(kept -> counts.merge(kept.tenant, 1, Integer::sum));
    int most = Collections.max(counts.entrySet(), Map.Entry.comparingByValue()).getKey();
    Iterator<Kept> oldest = reports.values().iterator();
    while (oldest.next().tenant != most) {
      // The next one is younger.
    }
    oldest.remove();
  }

  @Override
  public synchronized void window(SealedWindow window) {
    for (Books books : window.books()) {
      overflowed.computeIfPresent(
          books.application(), (application, spans) -> spans + books.overflowed());
    }
    if (reports
        .values()
        .removeIf(report -> window.sealedMillis() - report.cardinality.atMillis() > STALE_MILLIS)) {
      forgetGone();
    }
  }

  @Override
  public synchronized void released(QueueId queue) {
    if (reports.keySet().removeIf(place -> place.queue.equals(queue))) {
      forgetGone();
    }
  }

  private void forgetGone() {
    overflowed
        .keySet()
        .removeIf(application ->
            reports.keySet().stream().noneMatch(p -> p.application.equals(application)));
  }

  /** Returns all reports, those with most overflowed spans first. */
  public synchronized List<Report> all() {
    return reports.entrySet().stream()
        .map(entry ->
            new Report(
                entry.getKey().queue,
                entry.getValue().cardinality,
                overflowed.getOrDefault(entry.getKey().application, 0L)))
        .sorted(
            Comparator.comparingLong(Report::overflowed)
                .thenComparing(report -> report.cardinality().series())
                .reversed())
        .toList();
  }

  /**
   * Returns the highest number of values on any queue, by application and its dimension with most
   * values. Of applications at a limit, only the worst {@value #MAX_CULPRITS} are included.
   */
  Map<List<String>, Integer> culprits() {
    Map<List<String>, Integer> culprits = new LinkedHashMap<>();
    all().stream()
        .map(Report::cardinality)
        .filter(cardinality -> cardinality.overflowed() > 0)
        .limit(MAX_CULPRITS)
        .forEach(cardinality ->
            culprits.merge(
                List.of(cardinality.application(), cardinality.culprit().name()),
                cardinality.culprit().values(),
                Math::max));
    return culprits;
  }
}
