package org.traceetl.server.series;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.window.Form;
import org.traceetl.server.window.WindowMetrics;

/**
 * Counts the distinct values of each dimension for applications near or at a limit, also of those
 * dimensions that only the rules of an application have. It surveys each such application once a
 * minute, at the end of a window. If more than {@value #MAX_AT_ONCE} are due, those due for longest
 * come first. One owner thread.
 */
public final class CardinalitySurvey {
  private static final long PAUSE_MILLIS = 60_000;
  private static final int MAX_AT_ONCE = 8;
  private static final int EXAMPLES = 5;
  private static final int EXAMPLE_BYTES = 64;

  /**
   * Maximum number of an application's labels after the configured dimensions: twice those of its
   * rules, which may have changed. Further labels of a forged journal are left out.
   */
  private static final int MAX_LABELS = 64;

  /** An application with this percentage of its limit is near it. */
  private static final int NEAR_PERCENT = 80;

  // Keys of the limits, below trace-etl.series
  private static final String MAX = "max";
  private static final String MAX_PER_APPLICATION = "max-per-application";
  private static final String MAX_APPLICATIONS = "max-applications";
  private static final String MAX_SYMBOLS = "max-symbols";
  private static final String MAX_SYMBOL_BYTES = "max-symbol-bytes";

  private final SeriesConfig config;
  private final List<String> names;
  private final SeriesTable series;
  private final Applications applications;
  private final SymbolTable symbols;
  private final HeavyHitters heavyHitters;

  // By application: its name and time at the last survey
  private String[] seen = new String[64];
  private long[] seenMillis = new long[64];

  /** The values of an application's series. */
  private final class Values implements SeriesTable.LabelConsumer {
    /** By dimension that all series have; numbers or symbols. */
    final BitSet[] ofDimensions = new BitSet[names.size()];

    /** By label, a symbol. */
    private final Map<Integer, BitSet> ofLabels = new HashMap<>();

    Values() {
      Arrays.setAll(ofDimensions, dimension -> new BitSet());
    }

    @Override
    public void label(int labelSymbol, int valueSymbol) {
      BitSet values = ofLabels.get(labelSymbol);
      if (values == null && ofLabels.size() < MAX_LABELS) {
        values = new BitSet();
        ofLabels.put(labelSymbol, values);
      }
      if (values != null) {
        values.set(valueSymbol);
      }
    }

    /** Returns the values by name, those of labels last and sorted. */
    Map<String, BitSet> byName() {
      Map<String, BitSet> all = new LinkedHashMap<>();
      for (int i = 0; i < ofDimensions.length; i++) {
        all.put(names.get(i), ofDimensions[i]);
      }
      Map<String, BitSet> further = new TreeMap<>();
      ofLabels.forEach((label, values) ->
          further.merge(MetricsConfig.underscored(symbols.text(label)), values, Values::union));
      further.remove(Form.KEY);
      // A label of the rules may be that of another, configured dimension.
      further.forEach((name, values) -> all.merge(name, values, Values::union));
      return all;
    }

    private static BitSet union(BitSet values, BitSet others) {
      values.or(others);
      return values;
    }
  }

  /**
   * @param mapped whether series have a type and an outcome instead of kind and status
   */
  public CardinalitySurvey(
      SeriesConfig config,
      boolean mapped,
      SeriesTable series,
      Applications applications,
      SymbolTable symbols,
      HeavyHitters heavyHitters) {
    this.config = config;
    this.series = series;
    this.applications = applications;
    this.symbols = symbols;
    this.heavyHitters = heavyHitters;
    names =
        Stream.concat(
                mapped
                    ? Stream.of("name", "type", "outcome")
                    : Stream.of("span_name", "span_kind", "status_code"),
                config.dimensions().stream().map(SeriesConfig.Dimension::label))
            .toList();
  }

  /**
   * Surveys the applications that are due for longest. Call it before any series leaves with the
   * window, so that the cause of overflows is still visible.
   *
   * @param window the window that ends
   */
  public List<Cardinality> take(WindowMetrics window, long nowMillis) {
    int[] due = due(window, nowMillis);
    if (due.length == 0) {
      return List.of();
    }
    Values[] values = values(due);
    List<Cardinality> taken = new ArrayList<>();
    for (int i = 0; i < due.length; i++) {
      seen[due[i]] = applications.name(due[i]);
      seenMillis[due[i]] = nowMillis;
      taken.add(look(due[i], values[i], window, nowMillis));
    }
    return taken;
  }

  private Cardinality look(int application, Values values, WindowMetrics window, long nowMillis) {
    long overflowed = applications.overflowed(application, window);
    long events = series.overflowedEvents(application, window);
    String limit = limit(application, overflowed);
    return new Cardinality(
        applications.name(application),
        limit,
        limit.equals(Cardinality.OF_TENANT)
            ? applications.tenant(application).maxSeries()
            : max(limit),
        applications.series(application),
        overflowed - events,
        events,
        application == Applications.OTHER
            ? List.of(new Cardinality.Dimension("application", applications.size(), List.of()))
            : dimensions(values.byName()),
        nowMillis);
  }

  /** Returns the limit that caused overflows, or that is near. */
  private String limit(int application, long overflowed) {
    if (application == Applications.OTHER) {
      return applications.size() >= config.maxApplications() ? MAX_APPLICATIONS : ofSymbols();
    }
    boolean ofApplication =
        overflowed == 0 || series.above(application) + heavyHitters.kept(application) >= 0;
    if (ofApplication) {
      int kept = heavyHitters.kept(application);
      return applications.aboveTenant(application) + kept >= 0
              && applications.series(application) + kept < config.maxPerApplication()
          ? Cardinality.OF_TENANT
          : MAX_PER_APPLICATION;
    }
    // If neither is exhausted now, it was the process' limit, and other queues released series.
    return series.isOutOfBudget(heavyHitters.kept()) || symbols.fullOf() == null
        ? MAX
        : ofSymbols();
  }

  private String ofSymbols() {
    return symbols.fullOf() == SymbolTable.Bound.BYTES ? MAX_SYMBOL_BYTES : MAX_SYMBOLS;
  }

  private long max(String limit) {
    return switch (limit) {
      case MAX_APPLICATIONS -> config.maxApplications();
      case MAX_PER_APPLICATION -> config.maxPerApplication();
      case MAX_SYMBOLS -> config.maxSymbols();
      case MAX_SYMBOL_BYTES -> config.maxSymbolBytes();
      default -> config.max();
    };
  }

  @SuppressWarnings("ReferenceEquality") // a number may have passed to another application
  private int[] due(WindowMetrics window, long nowMillis) {
    int end = applications.end();
    if (end > seen.length) {
      seen = Arrays.copyOf(seen, Math.max(end, seen.length * 2));
      seenMillis = Arrays.copyOf(seenMillis, seen.length);
    }
    long near = Math.max((long) config.maxPerApplication() * NEAR_PERCENT / 100, 1);
    int[] due = new int[MAX_AT_ONCE];
    long[] lastMillis = new long[MAX_AT_ONCE];
    int size = 0;
    for (int application = Applications.OTHER; application < end; application++) {
      String name = applications.name(application);
      if (name == null
          || applications.series(application) < near
              && applications.overflowed(application, window) == 0) {
        continue;
      }
      long last = seen[application] == name ? seenMillis[application] : 0;
      if (last > nowMillis - PAUSE_MILLIS
          || size == MAX_AT_ONCE && last >= lastMillis[MAX_AT_ONCE - 1]) {
        continue;
      }
      int at = size < MAX_AT_ONCE ? size++ : size - 1;
      for (; at > 0 && lastMillis[at - 1] > last; at--) {
        due[at] = due[at - 1];
        lastMillis[at] = lastMillis[at - 1];
      }
      due[at] = application;
      lastMillis[at] = last;
    }
    return Arrays.copyOf(due, size);
  }

  /** Returns the values by index of application, in one pass over all series. */
  private Values[] values(int[] of) {
    Values[] values = new Values[of.length];
    Arrays.setAll(values, place -> new Values());
    int[] placeOf = new int[applications.end()];
    for (int i = 0; i < of.length; i++) {
      placeOf[of[i]] = i + 1;
    }
    int end = series.end();
    for (int number = 0; number < end; number++) {
      int application = series.application(number);
      if (application >= 0 && placeOf[application] > 0) {
        Values its = values[placeOf[application] - 1];
        series.addValues(number, its.ofDimensions);
        series.forEachLabel(number, its);
      }
    }
    return values;
  }

  private List<Cardinality.Dimension> dimensions(Map<String, BitSet> byName) {
    List<BitSet> values = List.copyOf(byName.values());
    int culprit = 0;
    for (int i = 1; i < values.size(); i++) {
      culprit = values.get(i).cardinality() > values.get(culprit).cardinality() ? i : culprit;
    }
    List<Cardinality.Dimension> dimensions = new ArrayList<>();
    for (String name : byName.keySet()) {
      int i = dimensions.size();
      dimensions.add(
          new Cardinality.Dimension(
              name,
              values.get(i).cardinality(),
              i == culprit && isOfSymbols(i) ? examples(values.get(i)) : List.of()));
    }
    return List.copyOf(dimensions);
  }

  /** Returns whether values of the dimension are symbols: all except kind and status. */
  private static boolean isOfSymbols(int dimension) {
    return dimension == 0 || dimension >= SeriesTable.FIXED_VALUES;
  }

  /** Returns some evenly spaced values: early and late ones may be of different sorts. */
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
