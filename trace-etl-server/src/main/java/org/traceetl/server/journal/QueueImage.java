package org.traceetl.server.journal;

import java.util.Arrays;
import org.traceetl.server.dedup.BatchHistory;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;

/**
 * A queue's state as its journal tells it: what a snapshot and the windows after it add up to.
 * Recovery hands it to the queue's new owner; a snapshot is one written down. One thread at a time.
 *
 * <p>Series of another schema than the caller's cannot go on: they leave, with the position and the
 * de-duplication untouched.
 */
public final class QueueImage {
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final int INITIAL_SERIES = 16;

  private final long schema;
  private final int stride;
  private final BatchHistory history;

  private long to = JournalLog.NONE;

  /** Above the highest series number in use so far. */
  private int slots;

  private SeriesDefinition[] definitions = new SeriesDefinition[INITIAL_SERIES];
  private long[] counts;

  // In two parts: as nanoseconds a sum would not fit after 292 years of spans.
  private long[] sumMillis = new long[INITIAL_SERIES];
  private int[] sumNanos = new int[INITIAL_SERIES];

  private long[] touchedMillis = new long[INITIAL_SERIES];
  private long[] carries = new long[INITIAL_SERIES];
  private long unknownRows;

  /**
   * An empty image.
   *
   * @param schema of the series: buckets and dimensions
   * @param stride buckets of a series
   * @param maxAgents most agents remembered
   */
  public QueueImage(long schema, int stride, int maxAgents) {
    this.schema = schema;
    this.stride = stride;
    history = new BatchHistory(maxAgents);
    counts = new long[INITIAL_SERIES * stride];
  }

  /** Adds the queue's next window. */
  public void apply(SealedWindow window) {
    to = window.to();
    for (int run = 0; run < window.batches().size(); run++) {
      history.accept(
          window.batches().agentHigh(run),
          window.batches().agentLow(run),
          window.batches().epoch(run),
          window.batches().first(run),
          window.batches().last(run),
          window.sealedMillis());
    }
    history.forgetSilent(
        Math.min(window.openedMillis(), window.sealedMillis()) - BatchHistory.SILENCE_MILLIS);
    if (window.schema() != schema || window.stride() != stride) {
      clearSeries();
      return;
    }
    window.created().forEach(this::create);
    for (int row = 0; row < window.rows(); row++) {
      add(window, row);
    }
    for (int series : window.evicted()) {
      evict(series);
    }
  }

  private void add(SealedWindow window, int row) {
    int series = window.series()[row];
    if (series >= slots || definitions[series] == null) {
      unknownRows++;
      return;
    }
    for (int bucket = 0; bucket < stride; bucket++) {
      counts[series * stride + bucket] += window.counts()[row * stride + bucket];
    }
    long nanos = sumNanos[series] + window.durationNanos()[row] % NANOS_PER_MILLI;
    sumMillis[series] += window.durationNanos()[row] / NANOS_PER_MILLI + nanos / NANOS_PER_MILLI;
    sumNanos[series] = (int) (nanos % NANOS_PER_MILLI);
    touchedMillis[series] = window.sealedMillis();
    carries[series] = window.carries()[row];
  }

  /** Begins a series with nothing in it; one that has its number ends. */
  int create(SeriesDefinition definition) {
    int series = definition.series();
    if (series >= definitions.length) {
      grow(Math.max(series + 1, definitions.length + definitions.length / 2));
    }
    slots = Math.max(slots, series + 1);
    evict(series);
    definitions[series] = definition;
    return series;
  }

  /** Sets a series, but for its counts, to what a snapshot says. */
  void restore(int series, long ofMillis, int ofNanos, long lastMillis, long carry) {
    sumMillis[series] = ofMillis;
    sumNanos[series] = ofNanos;
    touchedMillis[series] = lastMillis;
    carries[series] = carry;
  }

  /** Sets the position to what a snapshot says. */
  void to(long offset) {
    to = offset;
  }

  private void evict(int series) {
    if (series >= slots) {
      return;
    }
    definitions[series] = null;
    Arrays.fill(counts, series * stride, (series + 1) * stride, 0);
    sumMillis[series] = 0;
    sumNanos[series] = 0;
    carries[series] = 0;
  }

  private void clearSeries() {
    for (int series = 0; series < slots; series++) {
      evict(series);
    }
    slots = 0;
  }

  private void grow(int capacity) {
    definitions = Arrays.copyOf(definitions, capacity);
    counts = Arrays.copyOf(counts, Math.multiplyExact(capacity, stride));
    sumMillis = Arrays.copyOf(sumMillis, capacity);
    sumNanos = Arrays.copyOf(sumNanos, capacity);
    touchedMillis = Arrays.copyOf(touchedMillis, capacity);
    carries = Arrays.copyOf(carries, capacity);
  }

  public long schema() {
    return schema;
  }

  public int stride() {
    return stride;
  }

  /** Offset after the last message that counts, or {@link JournalLog#NONE} without any. */
  public long to() {
    return to;
  }

  /** Which batches count. Goes over to the queue's owner. */
  public BatchHistory history() {
    return history;
  }

  /** Series numbers are below it. */
  public int slots() {
    return slots;
  }

  /** The series of this number; null if there is none. */
  public SeriesDefinition definition(int series) {
    return definitions[series];
  }

  /** Spans by series, then bucket, not cumulative. For snapshots; void when a series is made. */
  long[] counts() {
    return counts;
  }

  /** Spans of a series in one bucket, not cumulative. */
  public long count(int series, int bucket) {
    return counts[series * stride + bucket];
  }

  /** Sum of a series' durations, whole milliseconds. */
  public long sumMillis(int series) {
    return sumMillis[series];
  }

  /** What the sum has beyond {@link #sumMillis}, below a millisecond. */
  public int sumNanos(int series) {
    return sumNanos[series];
  }

  /** End of the last window in which the series had a span, milliseconds since 1970. */
  public long touchedMillis(int series) {
    return touchedMillis[series];
  }

  /** Fraction of a span that the series' counts are behind the exact sum. */
  public long carry(int series) {
    return carries[series];
  }

  /** Rows of windows that belonged to no series: 0 unless the log has lost what was before. */
  public long unknownRows() {
    return unknownRows;
  }
}
