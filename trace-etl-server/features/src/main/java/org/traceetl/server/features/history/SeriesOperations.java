package org.traceetl.server.features.history;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowPanes;

/**
 * The operations of a queue's series: all parts of their definitions that the history needs. Not
 * thread-safe.
 */
final class SeriesOperations {
  /** Highest number of a series: no journal has higher ones, which would only take memory. */
  private static final int MAX_SERIES = 1 << 24;

  /** OTLP's status ERROR, as in series. */
  private static final String ERROR = "2";

  private static final int INITIAL_SERIES = 64;

  /** The live series of an application. */
  private static final class LiveSeries {
    private final String application;
    private int count;

    private LiveSeries(String application) {
      this.application = application;
    }
  }

  private final SeriesRules rules;
  private final Operations known;

  /** By series; null for none and for series of events. */
  private Operation[] operations = new Operation[INITIAL_SERIES];

  private final BitSet failed = new BitSet();

  /** Series that are the variance of others. */
  private final BitSet variances = new BitSet();

  /** By series: {@link SeriesRules#places}. */
  private int[][] places = new int[INITIAL_SERIES][];

  /** The places of series in the configured form, which is usual. */
  private final int[] usualPlaces;

  /** By series: its application; null for none. */
  private LiveSeries[] applications = new LiveSeries[INITIAL_SERIES];

  private final Map<String, LiveSeries> live = new HashMap<>();

  /** Series that do not count spans. */
  private final BitSet notOfSpans = new BitSet();

  private long unknownRows;

  /**
   * @param known operations of all queues
   */
  SeriesOperations(SeriesRules rules, Operations known) {
    this.rules = rules;
    this.known = known;
    usualPlaces = IntStream.range(0, rules.buckets()).toArray();
  }

  /** Replaces all series. */
  void replace(QueueImage image) {
    for (int series = 0; series < Math.max(operations.length, applications.length); series++) {
      evict(series);
    }
    Arrays.fill(operations, null);
    notOfSpans.clear();
    image.definitions().forEach(this::create);
  }

  /**
   * Adds the queue's next window.
   *
   * @return its calls by pane. Calls of a window that does not know its panes are in one interval:
   *     that of the window
   */
  List<PaneCalls> fold(SealedWindow window) {
    window.created().forEach(this::create);
    for (int row = 0; row < window.rows(); row++) {
      int series = window.series()[row];
      unknownRows += isNotOfSpans(series) || known(series) ? 0 : 1;
    }
    WindowPanes panes = window.panes();
    List<PaneCalls> all = new ArrayList<>();
    for (WindowPanes.Pane pane : panes.others()) {
      all.add(calls(pane, window));
    }
    WindowPanes.Pane main = panes.main(window);
    all.add(
        panes.isEmpty()
            ? new PaneCalls(window.openedMillis(), window.sealedMillis(), operations(main, window))
            : calls(main, window));
    for (int series : window.evicted()) {
      evict(series);
    }
    return all;
  }

  private PaneCalls calls(WindowPanes.Pane pane, SealedWindow window) {
    return new PaneCalls(
        pane.startMillis(),
        pane.startMillis() + window.panes().lengthMillis(),
        operations(pane, window));
  }

  private List<PaneCalls.OperationCalls> operations(WindowPanes.Pane pane, SealedWindow window) {
    int buckets = window.buckets();
    boolean bucketsKnown = window.schema() == rules.schema() && buckets == rules.buckets();
    List<PaneCalls.OperationCalls> touched = new ArrayList<>();
    for (int i = 0; i < pane.rows().length; i++) {
      int series = window.series()[pane.rows()[i]];
      if (isNotOfSpans(series) || !known(series)) {
        continue;
      }
      Operation operation = operations[series];
      if (operation.sums == null) {
        operation.sums = new SpanSums(rules.buckets());
        touched.add(new PaneCalls.OperationCalls(operation, operation.sums));
      }
      if (variances.get(series)) {
        operation.sums.addVariance(pane.counts()[i * window.stride()]);
        continue;
      }
      operation.sums.add(
          failed.get(series),
          pane.durationNanos()[i],
          pane.counts(),
          i * window.stride(),
          buckets,
          bucketsKnown ? places[series] : null);
    }
    touched.forEach(calls -> calls.operation().sums = null);
    return touched;
  }

  private boolean isNotOfSpans(int series) {
    return notOfSpans.get(Math.max(0, series));
  }

  private boolean known(int series) {
    return series >= 0 && series < operations.length && operations[series] != null;
  }

  private void create(SeriesDefinition definition) {
    int series = definition.series();
    evict(series);
    if (series < 0 || series >= MAX_SERIES) {
      return;
    }
    enter(series, definition.values().get(SeriesDefinition.APPLICATION));
    String objective = rules.objective(definition);
    boolean isVariance = rules.countsEvents() && definition.isOfVariance();
    if (objective == null && !isVariance && rules.countsEvents() && !definition.isOfSpans()) {
      notOfSpans.set(series);
      return;
    }
    if (series >= operations.length) {
      operations =
          Arrays.copyOf(
              operations, Math.max(series + 1, operations.length + operations.length / 2));
      places = Arrays.copyOf(places, operations.length);
    }
    operations[series] =
        objective == null
            ? known.retain(definition)
            : new Operation(
                definition.values().get(SeriesDefinition.APPLICATION),
                objective,
                Operation.OBJECTIVE);
    int[] of = rules.places(definition);
    places[series] = Arrays.equals(of, usualPlaces) ? usualPlaces : of;
    variances.set(series, isVariance);
    failed.set(series, ERROR.equals(definition.values().get(SeriesDefinition.STATUS_CODE)));
  }

  private void enter(int series, String application) {
    if (series >= applications.length) {
      applications =
          Arrays.copyOf(
              applications, Math.max(series + 1, applications.length + applications.length / 2));
    }
    applications[series] = live.computeIfAbsent(application, LiveSeries::new);
    applications[series].count++;
  }

  /** Returns the number of live series of each application, also of events and measures. */
  Map<String, Integer> live() {
    Map<String, Integer> counts = HashMap.newHashMap(live.size());
    live.values().forEach(its -> counts.put(its.application, its.count));
    return counts;
  }

  private void evict(int series) {
    if (series >= 0) {
      notOfSpans.clear(series);
    }
    if (series >= 0 && series < applications.length && applications[series] != null) {
      LiveSeries its = applications[series];
      its.count--;
      if (its.count == 0) {
        live.remove(its.application);
      }
      applications[series] = null;
    }
    if (known(series)) {
      if (!operations[series].isObjective()) {
        known.release(operations[series]);
      }
      operations[series] = null;
      places[series] = null;
    }
  }

  /** Returns and resets the number of rows without a known series. */
  long takeUnknownRows() {
    long rows = unknownRows;
    unknownRows = 0;
    return rows;
  }
}
