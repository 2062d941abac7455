package org.traceetl.server.history;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;

/**
 * Whose spans a queue's series count: the little of their definitions that the history needs, and
 * all that it keeps of them. One thread at a time.
 */
final class SeriesApplications {
  /** An application and how many live series it has: without any, it leaves. */
  private static final class Application {
    private final String name;
    private int series;

    private Application(String name) {
      this.name = name;
    }
  }

  /** Higher numbers no journal has: they would only take memory. */
  private static final int MAX_SERIES = 1 << 24;

  /** Status ERROR of OTLP, as series have it. */
  private static final String ERROR = "2";

  private static final int INITIAL_SERIES = 64;

  private final long schema;
  private final int stride;

  /** By series; null for none. */
  private Application[] applications = new Application[INITIAL_SERIES];

  private final BitSet failed = new BitSet();

  /** Those that have other buckets than a tally. */
  private final BitSet otherBuckets = new BitSet();

  /** Those that count something else than spans. */
  private final BitSet ofEvents = new BitSet();

  private final boolean countsEvents;
  private final Predicate<SeriesDefinition> bucketsOfTally;
  private final Map<String, Application> byName = new HashMap<>();
  private long unknownRows;

  /**
   * @param schema of series with this server's buckets
   * @param stride buckets of a series
   * @param countsEvents whether there are series of events
   * @param bucketsOfTally whether a series of that schema has the buckets of a tally
   */
  SeriesApplications(
      long schema, int stride, boolean countsEvents, Predicate<SeriesDefinition> bucketsOfTally) {
    this.countsEvents = countsEvents;
    this.bucketsOfTally = bucketsOfTally;
    this.schema = schema;
    this.stride = stride;
  }

  /** From here on there are these series and no others. */
  void replace(QueueImage image) {
    Arrays.fill(applications, null);
    byName.clear();
    for (int series = 0; series < image.slots(); series++) {
      if (image.definition(series) != null) {
        create(image.definition(series));
      }
    }
  }

  /** What the queue's next window adds to each application. */
  Map<String, Tally> fold(SealedWindow window) {
    boolean bucketsKnown = window.schema() == schema && window.stride() == stride;
    window.created().forEach(this::create);
    Map<String, Tally> tallies = new HashMap<>();
    for (int row = 0; row < window.rows(); row++) {
      int series = window.series()[row];
      if (!known(series)) {
        unknownRows++;
        continue;
      }
      if (ofEvents.get(series)) {
        continue;
      }
      tallies
          .computeIfAbsent(applications[series].name, name -> new Tally(stride))
          .add(
              failed.get(series),
              window.durationNanos()[row],
              window.counts(),
              row * window.stride(),
              window.stride(),
              bucketsKnown && !otherBuckets.get(series));
    }
    for (int series : window.evicted()) {
      evict(series);
    }
    return tallies;
  }

  private boolean known(int series) {
    return series >= 0 && series < applications.length && applications[series] != null;
  }

  private void create(SeriesDefinition definition) {
    int series = definition.series();
    evict(series);
    if (series < 0 || series >= MAX_SERIES) {
      return;
    }
    if (series >= applications.length) {
      applications =
          Arrays.copyOf(
              applications, Math.max(series + 1, applications.length + applications.length / 2));
    }
    String name = definition.values().get(SeriesDefinition.APPLICATION);
    Application application = byName.computeIfAbsent(name, Application::new);
    application.series++;
    applications[series] = application;
    otherBuckets.set(series, !bucketsOfTally.test(definition));
    ofEvents.set(series, countsEvents && definition.isOfEvents());
    failed.set(series, ERROR.equals(definition.values().get(SeriesDefinition.STATUS_CODE)));
  }

  private void evict(int series) {
    if (!known(series)) {
      return;
    }
    Application application = applications[series];
    applications[series] = null;
    application.series--;
    if (application.series == 0) {
      byName.remove(application.name);
    }
  }

  /** Rows of windows that belonged to no series known here, since this was asked last. */
  long takeUnknownRows() {
    long rows = unknownRows;
    unknownRows = 0;
    return rows;
  }
}
