package org.traceetl.server.series;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.stream.Stream;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.window.Metrics;

/**
 * Counts the different values of what distinguishes an application's series, where the application
 * is near or at a limit: each such application once a minute, one at the end of a window. One owner
 * thread.
 */
public final class Census {
  private static final long PAUSE_MILLIS = 60_000;
  private static final int EXAMPLES = 5;
  private static final int EXAMPLE_BYTES = 64;

  /** An application is near its limit with so many hundredths of it. */
  private static final int NEAR_PERCENT = 80;

  private final SeriesConfig config;
  private final List<String> names;
  private final SeriesTable series;
  private final Applications applications;
  private final SymbolTable symbols;

  // By application: which one it was, and when it was looked at
  private String[] seen = new String[64];
  private long[] seenMillis = new long[64];

  public Census(
      SeriesConfig config, SeriesTable series, Applications applications, SymbolTable symbols) {
    this.config = config;
    this.series = series;
    this.applications = applications;
    this.symbols = symbols;
    names =
        Stream.concat(
                Stream.of("span_name", "span_kind", "status_code"),
                config.dimensions().stream().map(SeriesConfig.Dimension::label))
            .toList();
  }

  /**
   * Looks at the application that is due for longest.
   *
   * @param window what the series had in the window that ends
   * @return null if none is due
   */
  public Cardinality take(Metrics window, long nowMillis) {
    int due = due(window, nowMillis);
    if (due < 0) {
      return null;
    }
    seen[due] = applications.name(due);
    seenMillis[due] = nowMillis;
    long overflowed = overflowed(due, window);
    if (due == Applications.OTHER) {
      return new Cardinality(
          applications.name(due),
          "max-applications",
          config.maxApplications(),
          0,
          overflowed,
          List.of(new Cardinality.Dimension("application", applications.size(), List.of())),
          nowMillis);
    }
    int its = applications.series(due);
    boolean ofApplication = overflowed == 0 || its >= config.maxPerApplication();
    boolean ofProcess = !ofApplication && !series.hasRoom(due, 0, 0);
    return new Cardinality(
        applications.name(due),
        ofApplication ? "max-per-application" : ofProcess ? "max" : "max-symbols",
        ofApplication ? config.maxPerApplication() : ofProcess ? config.max() : config.maxSymbols(),
        its,
        overflowed,
        dimensions(due),
        nowMillis);
  }

  @SuppressWarnings("ReferenceEquality") // a number may have passed to another application
  private int due(Metrics window, long nowMillis) {
    int end = applications.end();
    if (end > seen.length) {
      seen = Arrays.copyOf(seen, Math.max(end, seen.length * 2));
      seenMillis = Arrays.copyOf(seenMillis, seen.length);
    }
    long near = (long) config.maxPerApplication() * NEAR_PERCENT / 100;
    int due = -1;
    long oldestMillis = nowMillis - PAUSE_MILLIS;
    for (int application = Applications.OTHER; application < end; application++) {
      String name = applications.name(application);
      if (name == null
          || applications.series(application) < Math.max(near, 1)
              && overflowed(application, window) == 0) {
        continue;
      }
      long lastMillis = seen[application] == name ? seenMillis[application] : 0;
      if (lastMillis <= oldestMillis) {
        due = application;
        oldestMillis = lastMillis - 1;
      }
    }
    return due;
  }

  private long overflowed(int application, Metrics window) {
    int overflow = applications.overflowSeries(application);
    int row = overflow < 0 ? -1 : window.row(overflow);
    return row < 0 ? 0 : window.spans(row);
  }

  private List<Cardinality.Dimension> dimensions(int application) {
    BitSet[] values = new BitSet[names.size()];
    Arrays.setAll(values, dimension -> new BitSet());
    int end = series.end();
    for (int number = 0; number < end; number++) {
      if (series.application(number) == application) {
        series.addValues(number, values);
      }
    }
    int culprit = 0;
    for (int i = 1; i < values.length; i++) {
      culprit = values[i].cardinality() > values[culprit].cardinality() ? i : culprit;
    }
    List<Cardinality.Dimension> dimensions = new ArrayList<>();
    for (int i = 0; i < values.length; i++) {
      dimensions.add(
          new Cardinality.Dimension(
              names.get(i),
              values[i].cardinality(),
              i == culprit && isOfSymbols(i) ? examples(values[i]) : List.of()));
    }
    return List.copyOf(dimensions);
  }

  /** All but kind and status are. */
  private static boolean isOfSymbols(int dimension) {
    return dimension == 0 || dimension >= SeriesTable.DIMENSIONS;
  }

  /** A few from all over: those made first and last may be of another sort. */
  private List<String> examples(BitSet of) {
    int[] all = of.stream().toArray();
    List<String> examples = new ArrayList<>();
    int step = Math.ceilDiv(all.length, EXAMPLES);
    for (int i = 0; i < all.length; i += step) {
      examples.add(symbols.text(all[i], EXAMPLE_BYTES));
    }
    return examples;
  }
}
