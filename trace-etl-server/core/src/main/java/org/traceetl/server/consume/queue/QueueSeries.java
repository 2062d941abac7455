package org.traceetl.server.consume.queue;

import java.util.List;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.series.Applications;
import org.traceetl.server.series.SeriesTable;
import org.traceetl.server.series.SymbolTable;
import org.traceetl.server.series.Weight;
import org.traceetl.server.window.Buckets;
import org.traceetl.server.window.NativeBuckets;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowMetrics;
import org.traceetl.server.window.WindowRows;

/**
 * The series of one queue, and their rows in the open window. Allocates only for new series and
 * rows. Confined to the worker that owns the queue.
 */
final class QueueSeries {
  private static final Logger log = LoggerFactory.getLogger(QueueSeries.class);

  final SymbolTable symbols;
  final Applications applications;
  final SeriesTable table;

  private final QueueId queue;
  private final QueueWindows windows;
  private final SpanPipelineMetrics listener;
  private final long idleMillis;

  /** Whether the journal has series of measures, which all servers read then. */
  final boolean hadMeasures;

  private boolean hasVariances;

  /** When the previous owner last wrote to the journal; 0 without one. */
  private final long ownedUntilMillis;

  /**
   * @param windows of the queue
   * @param image has the series of earlier windows
   * @param overflowsByKind whether an application has an overflow series for each kind and status,
   *     not one for spans and one for events
   */
  QueueSeries(
      QueueId queue,
      Aggregation aggregation,
      QueueWindows windows,
      SpanPipelineMetrics listener,
      QueueImage image,
      boolean overflowsByKind) {
    this.queue = queue;
    this.windows = windows;
    this.listener = listener;
    idleMillis = aggregation.idleMillis();
    symbols = aggregation.newSymbols();
    applications =
        new Applications(
            symbols,
            aggregation::slow,
            aggregation::tenants,
            aggregation.series.maxApplications(),
            overflowsByKind
                ? SeriesTable.KINDS_AND_STATUSES
                : SeriesTable.SPANS_EVENTS_AND_VARIANCE);
    table =
        new SeriesTable(
            aggregation.series, aggregation.budget, symbols, applications, overflowsByKind);
    hadMeasures = !overflowsByKind && has(image, SeriesDefinition::isOfMeasure);
    hasVariances = !overflowsByKind && has(image, SeriesDefinition::isOfVariance);
    restore(image);
    ownedUntilMillis = image.ownedUntilMillis();
  }

  private static boolean has(QueueImage image, Predicate<SeriesDefinition> wanted) {
    return IntStream.range(0, image.slots())
        .mapToObj(image::definition)
        .anyMatch(definition -> definition != null && wanted.test(definition));
  }

  /** Restores the series; skips those of a forged journal that cannot be this table's. */
  private void restore(QueueImage image) {
    int refused = 0;
    for (int number = 0; number < image.slots(); number++) {
      SeriesDefinition definition = image.definition(number);
      if (definition != null
          && !table.restore(definition, image.touchedMillis(number), image.carry(number))) {
        refused++;
        listener.failed();
      }
    }
    if (refused > 0) {
      log.error(
          "The journal of queue {} has {} series with other dimensions than its schema says, with"
              + " invalid labels, with the key of another series, or that are an overflow series"
              + " which an application has or cannot have; they are omitted. Only servers may write"
              + " to the journal's topic.",
          queue,
          refused);
    }
  }

  /**
   * Begins the first window. Keeps series alive after a long time without an owner: their spans may
   * be in the backlog behind the first window. After a short time that is impossible, and idle
   * series must leave in time.
   */
  void begin(long nowMillis) {
    long unownedMillis = nowMillis - ownedUntilMillis;
    if (ownedUntilMillis > 0 && unownedMillis > idleMillis / 3 * 2) {
      table.postpone(unownedMillis);
    }
  }

  /** Returns the series' row in the current pane; opens it if it has none. */
  int row(int number) {
    WindowRows pane = windows.pane();
    int opened = pane.row(number);
    if (opened >= 0) {
      return opened;
    }
    if (pane.isFull()) {
      windows.open().makeRoom(pane, windows.spare());
    }
    int row = pane.open(number);
    table.touch(number, windows.openedMillis());
    long carry = table.carry(number);
    if (carry != 0) {
      pane.carry(row, carry);
    }
    return row;
  }

  /**
   * Adds a duration to a row of the current pane.
   *
   * @param nativeBuckets null for none
   * @param threshold of sampling; 0 if the span represents only itself
   * @return its bucket
   */
  int count(int row, Buckets bounds, NativeBuckets nativeBuckets, long nanos, long threshold) {
    WindowRows to = windows.pane();
    int bucket = bounds.of(nanos);
    long whole = 1;
    if (threshold == 0) {
      to.add(row, bucket, 1, nanos);
    } else {
      int number = to.series(row);
      long weight = Weight.of(threshold);
      long owed = weight + table.carry(number);
      table.carry(number, Weight.fraction(owed));
      to.carry(row, Weight.fraction(owed));
      whole = Weight.whole(owed);
      to.add(row, bucket, whole, Weight.times(weight, nanos));
    }
    if (nativeBuckets != null) {
      to.addNative(row, nativeBuckets.of(nanos), whole);
    }
    return bucket;
  }

  /** Returns whether the journal has variances, or the open window. */
  boolean hasVariances() {
    return hasVariances;
  }

  /**
   * Adds to the variance of a row's series, in the current pane.
   *
   * @param threshold of sampling, not 0
   * @param times number of variances of one span, at least 1
   */
  void addVariance(int row, long threshold, long times, long nowMillis) {
    hasVariances = true;
    int number = table.variance(windows.pane().series(row), nowMillis);
    int to = row(number);
    double variance = Math.min(Weight.variance(threshold) * times, WindowRows.MAX_COUNT);
    long whole = (long) variance;
    long owed = Math.round((variance - whole) * Weight.ONE) + table.carry(number);
    table.carry(number, Weight.fraction(owed));
    windows.pane().carry(to, Weight.fraction(owed));
    windows.pane().add(to, 0, whole + Weight.whole(owed), 0);
  }

  /** Removes the series that are idle at the end of a window; returns their numbers. */
  int[] evictIdle(WindowMetrics ending, long nowMillis) {
    return table.evictIdle(nowMillis, idleSinceMillis(ending, nowMillis));
  }

  /**
   * Returns the time since when series that leave with the open window were untouched. Series that
   * it counts stay, even if it is longer than the idle limit or the clock was set.
   */
  private long idleSinceMillis(WindowMetrics ending, long nowMillis) {
    long sinceMillis = nowMillis - idleMillis;
    long openedMillis = windows.openedMillis();
    if (!SealedWindow.isLong(openedMillis, nowMillis)) {
      return Math.min(sinceMillis, openedMillis);
    }
    for (int i = 0; i < ending.panes(); i++) {
      WindowRows rowsOfPane = ending.rows(i);
      for (int row = 0; row < rowsOfPane.size(); row++) {
        table.touch(rowsOfPane.series(row), nowMillis);
      }
    }
    return sinceMillis;
  }

  /** Returns the series that are new since the last call. */
  List<SeriesDefinition> takeCreated() {
    return table.takeCreated();
  }
}
