package org.traceetl.server.journal;

import com.google.common.math.LongMath;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.traceetl.server.dedup.BatchHistory;
import org.traceetl.server.edge.OpenEdges;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.OpenPanes;
import org.traceetl.server.window.ReceivedSpans;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowPanes;

/**
 * A queue's state: the sum of a snapshot and the windows after it in the journal. A take-over
 * passes it to the queue's new owner; a snapshot is a written image. For one thread at a time.
 *
 * <p>Series of a different schema cannot continue: they are removed; position and de-duplication
 * remain. Of a snapshot, their definitions remain for readers.
 */
public final class QueueImage {
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final int INITIAL_SERIES = 16;

  private final long schema;
  private final int stride;
  private final BatchHistory history;

  private long to = JournalLog.NONE;
  private long number;
  private long ownedUntilMillis;

  /** Exceeds the highest series number used so far. */
  private int slots;

  /** By series: row + 1; 0 for no series. */
  private int[] rowOf = new int[INITIAL_SERIES];

  // Rows are live series without gaps, so forged bytes can only make rowOf large.
  private int rows;
  private SeriesDefinition[] definitions = new SeriesDefinition[INITIAL_SERIES];
  private long[] counts;

  /** The series of a snapshot of a different schema, until the next window. */
  private List<SeriesDefinition> foreign = List.of();

  // In two parts: nanoseconds would overflow after 292 years of spans.
  private long[] sumMillis = new long[INITIAL_SERIES];
  private int[] sumNanos = new int[INITIAL_SERIES];

  private long[] touchedMillis = new long[INITIAL_SERIES];
  private long[] carries = new long[INITIAL_SERIES];
  private final NativeTotals natives = new NativeTotals();
  private long unknownRows;
  private boolean hasPanes;

  /** Null if not kept. */
  private ReceivedSpans received;

  /** Null if not kept. */
  private OpenPanes openPanes;

  /** By row, only if open panes are kept. */
  private long[] startMillis = {};

  /** Tests whether snapshots are written with open panes; see {@link #keepPanes(Predicate)}. */
  private Predicate<Boolean> writesPanes = wereRead -> false;

  /** Whether the image is from a snapshot with open panes. */
  private boolean panesWereRead;

  private WindowCompleteness completeness = WindowCompleteness.NONE;
  private long closedMillis = SealedWindow.UNKNOWN_CLOSED;

  /** End of the latest pane in which rows count. */
  private long countedMillis = SealedWindow.UNKNOWN_CLOSED;

  private final StreamTimes streamTimes = new StreamTimes();

  /** Null if not kept. */
  private ReplayedEdges edges;

  /**
   * Creates an empty image.
   *
   * @param schema of the series: buckets and dimensions
   * @param stride numbers of a series: its buckets, and its size if sizes are kept
   * @param maxAgentBytes maximum heap of the remembered agents
   */
  public QueueImage(long schema, int stride, long maxAgentBytes) {
    this.schema = schema;
    this.stride = stride;
    history = new BatchHistory(maxAgentBytes);
    counts = new long[INITIAL_SERIES * stride];
  }

  /**
   * Makes the image keep received spans by application. Its snapshots then have a later version.
   *
   * @return this
   */
  public QueueImage keepReceived() {
    received = new ReceivedSpans();
    return this;
  }

  /** Returns the received spans by application; null if not kept. */
  public ReceivedSpans received() {
    return received;
  }

  /**
   * Makes the image keep apart the deltas of panes that are not closed yet, and since when each
   * series counts. The totals include these deltas.
   *
   * @return this
   */
  public QueueImage keepPanes() {
    openPanes = new OpenPanes(stride);
    startMillis = new long[definitions.length];
    return this;
  }

  /**
   * Makes the image keep panes as {@link #keepPanes()}. Its snapshots may then have a later
   * version.
   *
   * @param written tests when a snapshot is written whether all servers read such snapshots; its
   *     argument is whether the journal had one, or has windows with panes
   * @return this
   */
  public QueueImage keepPanes(Predicate<Boolean> written) {
    writesPanes = written;
    return keepPanes();
  }

  /** Returns whether a snapshot of the image is written with open panes. */
  public boolean writesPanes() {
    // A snapshot without them would end the panes of these windows too early.
    return openPanes != null && writesPanes.test(panesWereRead || hasPanes);
  }

  /** Returns the deltas of panes that are not closed yet; null if not kept. */
  public OpenPanes openPanes() {
    return openPanes;
  }

  /**
   * Makes the image keep open half-edges, and panes as {@link #keepPanes()}. Its snapshots then
   * have a later version while the half-edges are known.
   *
   * @param none creates half-edges of which none is open; null to keep none
   * @return this
   */
  public QueueImage keepEdges(Supplier<OpenEdges> none) {
    edges = none == null ? null : new ReplayedEdges(none);
    return none == null || openPanes != null ? this : keepPanes();
  }

  /**
   * Returns the open half-edges, none if they are unknown; null if not kept. The queue's owner
   * takes them over.
   */
  public OpenEdges edges() {
    return edges == null ? null : edges.open();
  }

  /** Returns whether open half-edges are kept and known. */
  public boolean knowsEdges() {
    return edges != null && edges.areKnown();
  }

  /**
   * Returns the number of changes that contradicted the open half-edges, which are unknown then.
   */
  public long contradictedEdges() {
    return edges == null ? 0 : edges.contradictions();
  }

  /** Makes the open half-edges unknown up to the claim of the queue's next owner. */
  public void forgetEdges() {
    if (edges != null) {
      edges.forget();
    }
  }

  /** Sets the open half-edges of an empty image from a snapshot. */
  public void restoreEdges(EdgeChange all) {
    if (edges != null) {
      edges.apply(all);
    }
  }

  /** Begins the windows of the queue's next owner, which has no half-edges if they are unknown. */
  public void claimed() {
    if (edges != null) {
      edges.claimed();
    }
  }

  /** Records that the queue had an owner at this time, in milliseconds since 1970. */
  public void ownedUntil(long millis) {
    ownedUntilMillis = Math.max(ownedUntilMillis, millis);
  }

  /** Returns when the queue's last owner was last known, in milliseconds since 1970; 0 if never. */
  public long ownedUntilMillis() {
    return ownedUntilMillis;
  }

  /** Adds the queue's next window. */
  public void apply(SealedWindow window) {
    foreign = List.of();
    to = window.to();
    ownedUntil(window.sealedMillis());
    for (int run = 0; run < window.batches().size(); run++) {
      history.accept(
          window.batches().agentHigh(run),
          window.batches().agentLow(run),
          window.batches().epoch(run),
          window.batches().first(run),
          window.batches().last(run),
          window.sealedMillis());
    }
    history.forgetSilent();
    streamTimes.add(window);
    if (!window.completeness().isEmpty()) {
      completeness = window.completeness();
    }
    if (window.rows() > 0) {
      hasPanes = !window.panes().isEmpty();
      countedIn(window.panes());
    }
    closedMillis = Math.max(closedMillis, window.closedMillis());
    if (edges != null) {
      edges.apply(window.edges());
    }
    if (window.schema() != schema || window.stride() != stride) {
      clearSeries();
      return;
    }
    if (received != null) {
      received.add(window);
    }
    window.created().forEach(this::create);
    for (int row = 0; row < window.rows(); row++) {
      add(window, row);
    }
    if (openPanes != null) {
      openPanes.add(window, this::countsSince);
      openPanes.close(openPanes.closedBy(window));
    }
    for (int series : window.evicted()) {
      evict(series);
    }
  }

  private void countedIn(WindowPanes panes) {
    if (panes.isEmpty()) {
      return;
    }
    long startMillis =
        panes.others().isEmpty()
            ? panes.mainMillis()
            : Math.max(panes.mainMillis(), panes.others().getLast().startMillis());
    counted(OpenPanes.countedUntil(startMillis, panes.lengthMillis(), closedMillis));
  }

  /** Records that rows count in a pane that ends at this time. */
  public void counted(long endMillis) {
    countedMillis = Math.max(countedMillis, endMillis);
  }

  private void add(SealedWindow window, int from) {
    int row = row(window.series()[from]);
    if (row < 0) {
      unknownRows++;
      return;
    }
    for (int bucket = 0; bucket < stride; bucket++) {
      int at = row * stride + bucket;
      counts[at] = LongMath.saturatedAdd(counts[at], window.counts()[from * stride + bucket]);
    }
    natives.add(row, window.natives(), from);
    long nanos = sumNanos[row] + window.durationNanos()[from] % NANOS_PER_MILLI;
    sumMillis[row] += window.durationNanos()[from] / NANOS_PER_MILLI + nanos / NANOS_PER_MILLI;
    sumNanos[row] = (int) (nanos % NANOS_PER_MILLI);
    touchedMillis[row] = window.touchedMillis();
    carries[row] = window.carries()[from];
  }

  private boolean countsSince(int series, long sinceMillis) {
    int row = row(series);
    if (row >= 0) {
      startMillis[row] = Math.min(startMillis[row], sinceMillis);
    }
    return row >= 0;
  }

  /**
   * Creates an empty series, in place of a series with the same number.
   *
   * @return its row
   */
  public int create(SeriesDefinition definition) {
    int series = definition.series();
    if (series >= rowOf.length) {
      rowOf = Arrays.copyOf(rowOf, Math.max(series + 1, rowOf.length * 2));
    }
    slots = Math.max(slots, series + 1);
    evict(series);
    if (rows == definitions.length) {
      grow(rows * 2);
    }
    int row = rows++;
    rowOf[series] = row + 1;
    definitions[row] = definition;
    if (openPanes != null) {
      startMillis[row] = definition.createdMillis();
    }
    return row;
  }

  /** Sets a row, except its counts, from a snapshot. */
  public void restore(int row, long ofMillis, int ofNanos, long lastMillis, long carry) {
    sumMillis[row] = ofMillis;
    sumNanos[row] = ofNanos;
    touchedMillis[row] = lastMillis;
    carries[row] = carry;
  }

  /** Sets from a snapshot since when a row counts; see {@link #startMillis}. */
  public void restoreStart(int row, long millis) {
    if (openPanes != null) {
      startMillis[row] = millis;
    }
  }

  /** Sets the number of the last window in the journal, at a take-over. */
  public void number(long last) {
    number = last;
  }

  /**
   * Returns the number of the last window in the journal at the take-over of the queue; the owner's
   * windows continue it. 0 in another image.
   */
  public long number() {
    return number;
  }

  /**
   * Sets what a snapshot with open panes contains for the next owner.
   *
   * @param until until when spans were complete
   * @param closed until when panes were closed
   * @param withPanes whether the last window with rows had panes
   */
  public void restore(WindowCompleteness until, long closed, boolean withPanes) {
    completeness = until;
    closedMillis = closed;
    hasPanes = withPanes;
    panesWereRead = true;
  }

  /** Sets the position from a snapshot. */
  public void to(long offset) {
    to = offset;
  }

  /** Removes a series; the last row takes its place. */
  private void evict(int series) {
    int row = row(series);
    if (row < 0) {
      return;
    }
    rowOf[series] = 0;
    rows--;
    if (row != rows) {
      rowOf[definitions[rows].series()] = row + 1;
      definitions[row] = definitions[rows];
      System.arraycopy(counts, rows * stride, counts, row * stride, stride);
      natives.move(rows, row);
      restore(row, sumMillis[rows], sumNanos[rows], touchedMillis[rows], carries[rows]);
    }
    if (openPanes != null) {
      startMillis[row] = startMillis[rows];
      openPanes.remove(series);
    }
    definitions[rows] = null;
    Arrays.fill(counts, rows * stride, (rows + 1) * stride, 0);
    natives.clear(rows);
    restore(rows, 0, 0, 0, 0);
  }

  private void clearSeries() {
    for (int series = 0; series < slots; series++) {
      evict(series);
    }
    slots = 0;
    if (received != null) {
      received.clear();
    }
    if (openPanes != null) {
      openPanes.clear();
    }
  }

  private void grow(int capacity) {
    definitions = Arrays.copyOf(definitions, capacity);
    counts = Arrays.copyOf(counts, Math.multiplyExact(capacity, stride));
    sumMillis = Arrays.copyOf(sumMillis, capacity);
    sumNanos = Arrays.copyOf(sumNanos, capacity);
    touchedMillis = Arrays.copyOf(touchedMillis, capacity);
    carries = Arrays.copyOf(carries, capacity);
    if (openPanes != null) {
      startMillis = Arrays.copyOf(startMillis, capacity);
    }
  }

  /** Returns the row of a series, or -1 if there is none. */
  public int row(int series) {
    return series < slots ? rowOf[series] - 1 : -1;
  }

  /**
   * Sets the series of a snapshot of a different schema. They have no counts, because their buckets
   * are unknown.
   */
  public void restoreForeign(List<SeriesDefinition> all) {
    foreign = List.copyOf(all);
  }

  /**
   * Returns all series, also those of a snapshot of a different schema. These are void for the
   * queue's next owner. Values after the fixed ones are those of unknown dimensions then.
   */
  public List<SeriesDefinition> definitions() {
    return foreign.isEmpty() ? List.of(Arrays.copyOf(definitions, rows)) : foreign;
  }

  public long schema() {
    return schema;
  }

  public int stride() {
    return stride;
  }

  /** Returns the offset after the last message that counts; {@link JournalLog#NONE} if none. */
  public long to() {
    return to;
  }

  /** Returns which batches count. The queue's owner takes it over. */
  public BatchHistory history() {
    return history;
  }

  /**
   * Returns until when spans were complete, by the last window that contains it. Only snapshots
   * with open panes contain it.
   */
  public WindowCompleteness completeness() {
    return completeness;
  }

  /**
   * Returns until when panes were closed, by the last window that contains it. Only snapshots with
   * open panes contain it.
   */
  public long closedMillis() {
    return closedMillis;
  }

  /**
   * Returns the end of the latest pane in which rows count; {@link SealedWindow#UNKNOWN_CLOSED} if
   * it is unknown. Of a snapshot only open panes are known.
   */
  public long countedMillis() {
    return countedMillis;
  }

  /**
   * Returns after which time windows were sealed that have batches of the given stream time before
   * the last window's end; milliseconds since 1970.
   */
  public long streamBegan(long streamMillis) {
    return streamTimes.began(streamMillis, ownedUntilMillis);
  }

  /** Returns a number above all series numbers. */
  public int slots() {
    return slots;
  }

  /** Returns the series with this number; null if there is none. */
  public SeriesDefinition definition(int series) {
    int row = row(series);
    return row < 0 ? null : definitions[row];
  }

  /** Returns spans by row, then bucket, not cumulative. For snapshots; void after a new series. */
  public long[] counts() {
    return counts;
  }

  /** Returns native histograms by row. For snapshots. */
  public NativeTotals natives() {
    return natives;
  }

  /**
   * Returns whether the last window with rows has panes. False after a snapshot without open panes,
   * which does not contain it.
   */
  public boolean hasPanes() {
    return hasPanes;
  }

  /** Returns whether any series has native buckets. */
  public boolean hasNative() {
    for (int row = 0; row < rows; row++) {
      if (natives.size(row) > 0) {
        return true;
      }
    }
    return false;
  }

  /** Copies the native histogram of an existing series to a row of other totals. */
  public void copyNative(int series, NativeTotals to, int toRow) {
    to.copy(toRow, natives, row(series));
  }

  /** Returns the spans of an existing series in one bucket, not cumulative. */
  public long count(int series, int bucket) {
    return counts[row(series) * stride + bucket];
  }

  /** Returns the sum of durations of an existing series, in whole milliseconds. */
  public long sumMillis(int series) {
    return sumMillis[row(series)];
  }

  /** Returns the nanoseconds of the sum beyond {@link #sumMillis}. */
  public int sumNanos(int series) {
    return sumNanos[row(series)];
  }

  /**
   * Returns when the series was last touched, in milliseconds since 1970; see {@link
   * SealedWindow#touchedMillis}.
   */
  public long touchedMillis(int series) {
    return touchedMillis[row(series)];
  }

  /**
   * Returns since when an existing series counts, milliseconds since 1970: its creation, or the
   * begin of its first pane if that is earlier. It no longer changes once a pane of the series is
   * closed. 0 if it is unknown, because a snapshot does not contain it. Only if open panes are
   * kept.
   */
  public long startMillis(int series) {
    return startMillis[row(series)];
  }

  /** Returns by which fraction of a span the counts of a series are below the exact sum. */
  public long carry(int series) {
    return carries[row(series)];
  }

  /** Returns the number of window rows without a series: 0 unless the log lost earlier records. */
  public long unknownRows() {
    return unknownRows;
  }
}
