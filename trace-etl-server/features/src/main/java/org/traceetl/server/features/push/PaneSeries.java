package org.traceetl.server.features.push;

import com.google.common.math.LongMath;
import java.util.Arrays;
import java.util.BitSet;
import java.util.function.BooleanSupplier;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.OpenPane;
import org.traceetl.server.window.OpenPanes;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;

/**
 * The series of a queue with the counts of its closed panes. A window that closes panes makes
 * samples at their ends, in the order of the ends and then of the series' numbers:
 *
 * <ul>
 *   <li>of each series with spans in the pane. Late spans count in the first pane that was not
 *       closed before their window.
 *   <li>of all other series once a minute, as a scrape would repeat them. Each series has its own
 *       place in the minute. After a gap without panes it is repeated once.
 * </ul>
 *
 * <p>Deltas count what the samples before do not. A series has one at the end of each pane in which
 * it has spans, since the pane end before, of whichever series; there are no repeats and no stale
 * markers.
 *
 * <p>A series that ends has its last sample 1 ms after the last pane end if spans of it remain in
 * open panes, and then a stale marker 1 ms later. A later series with the same labels has its first
 * sample at a later pane end.
 *
 * <p>All this is a function of the windows and of the snapshot before them, so that a replay makes
 * equal samples. For one thread at a time.
 */
final class PaneSeries {
  /** Receivers by default take a series for ended after 5 minutes without a sample. */
  private static final long REPEAT_MILLIS = 60_000;

  private static final int NANOS_PER_MILLI = 1_000_000;
  private static final int HASH = 0x9E37_79B9;
  private static final int INITIAL_ROWS = 16;

  /** How many series are sampled between two checks for room. */
  private static final int UNCHECKED_SERIES = 64;

  private static final int NONE = -1;

  private final boolean isDelta;
  private final long schema;
  private final int stride;
  private final OpenPanes open;
  private long closedMillis;

  /** By series: row + 1; 0 for no series. */
  private int[] rowOf = new int[INITIAL_ROWS];

  /** Exceeds the highest series number used so far. */
  private int slots;

  // Rows are live series without gaps.
  private int rows;
  private SeriesDefinition[] definitions = new SeriesDefinition[INITIAL_ROWS];
  private long[] startMillis = new long[INITIAL_ROWS];

  // Of closed panes; with deltas only what no sample has had yet.
  private long[] counts;
  private long[] sumMillis = new long[INITIAL_ROWS];
  private int[] sumNanos = new int[INITIAL_ROWS];
  private final NativeTotals natives = new NativeTotals();

  /** Exemplars that no sample has had yet; null for none. */
  private SampleExemplar[] exemplars = new SampleExemplar[INITIAL_ROWS];

  /** Numbers of the series with spans in the pane that is being sampled. */
  private final BitSet changed = new BitSet();

  /** The window whose samples are not complete; null if all are. */
  private SealedWindow window;

  /** Until when panes are closed after the window. */
  private long untilMillis;

  /** Time of the samples that are being made. */
  private long atMillis;

  /** The next series to be sampled; {@link #NONE} if no pane end is being sampled. */
  private int nextSeries = NONE;

  /**
   * Continues a state.
   *
   * @param image keeps open panes, which this object continues
   * @param isDelta whether samples are deltas
   */
  PaneSeries(QueueImage image, boolean isDelta) {
    this.isDelta = isDelta;
    schema = image.schema();
    stride = image.stride();
    open = image.openPanes();
    closedMillis = open.closedMillis();
    counts = new long[INITIAL_ROWS * stride];
    for (int series = 0; series < image.slots(); series++) {
      if (image.definition(series) != null) {
        restore(series, image);
      }
    }
    if (!isDelta) {
      open.panes().forEach(this::subtract);
    }
  }

  private void restore(int series, QueueImage image) {
    int row = create(image.definition(series));
    startMillis[row] = image.startMillis(series);
    if (isDelta) {
      return;
    }
    for (int bucket = 0; bucket < stride; bucket++) {
      counts[row * stride + bucket] = image.count(series, bucket);
    }
    sumMillis[row] = image.sumMillis(series);
    sumNanos[row] = image.sumNanos(series);
    image.copyNative(series, natives, row);
  }

  private void subtract(OpenPane pane) {
    for (int from : pane.rows()) {
      int row = row(pane.series(from));
      if (row != NONE) {
        for (int bucket = 0; bucket < stride; bucket++) {
          counts[row * stride + bucket] -= pane.counts()[from * stride + bucket];
        }
        sumMillis[row] -= pane.sumMillis(from);
        sumNanos[row] -= pane.sumNanos(from);
        normalize(row);
        natives.subtract(row, pane.natives(), from);
      }
    }
  }

  private void normalize(int row) {
    sumMillis[row] += Math.floorDiv(sumNanos[row], NANOS_PER_MILLI);
    sumNanos[row] = Math.floorMod(sumNanos[row], NANOS_PER_MILLI);
  }

  /** Begins the queue's next window. The samples of the one before must be complete. */
  void begin(SealedWindow next) {
    window = next;
    if (isForeign()) {
      untilMillis = closedMillis;
      return;
    }
    for (SeriesDefinition definition : next.created()) {
      create(definition);
    }
    open.add(next, this::countsSince);
    untilMillis = open.closedBy(next);
    for (int row = 0; row < next.rows(); row++) {
      if (next.exemplars()[row] >= 0 && row(next.series()[row]) != NONE) {
        exemplars[row(next.series()[row])] =
            SampleExemplar.of(
                next.documents().get(next.exemplars()[row]), next.exemplarBuckets()[row]);
      }
    }
  }

  /** Its series cannot continue: their buckets or dimensions differ. */
  private boolean isForeign() {
    return window.schema() != schema || window.stride() != stride;
  }

  private boolean countsSince(int series, long sinceMillis) {
    int row = row(series);
    if (row != NONE) {
      startMillis[row] = Math.min(startMillis[row], sinceMillis);
    }
    return row != NONE;
  }

  /**
   * Makes samples of the window that was begun.
   *
   * @param hasRoom asked now and then; if it returns false, call this again later
   * @return whether the window's samples are complete
   */
  boolean emit(Samples to, BooleanSupplier hasRoom) {
    while (window != null) {
      OpenPane pane;
      if (nextSeries != NONE) {
        if (!sample(to, hasRoom)) {
          return false;
        }
      } else if ((pane = open.poll(untilMillis)) != null) {
        add(pane);
        sampleAt(pane.endMillis());
      } else if (untilMillis > closedMillis) {
        sampleAt(untilMillis);
      } else {
        open.close(untilMillis);
        end(to);
        window = null;
      }
    }
    return true;
  }

  private void add(OpenPane pane) {
    for (int from : pane.rows()) {
      int row = row(pane.series(from));
      if (row != NONE) {
        add(row, pane, from);
        changed.set(pane.series(from));
      }
    }
  }

  private void add(int row, OpenPane pane, int from) {
    for (int bucket = 0; bucket < stride; bucket++) {
      int at = row * stride + bucket;
      counts[at] = LongMath.saturatedAdd(counts[at], pane.counts()[from * stride + bucket]);
    }
    sumMillis[row] += pane.sumMillis(from);
    sumNanos[row] += pane.sumNanos(from);
    normalize(row);
    natives.add(row, pane.natives(), from);
  }

  private void sampleAt(long endMillis) {
    atMillis = endMillis;
    nextSeries = 0;
  }

  /** Samples the series at a pane end; returns whether it is complete. */
  private boolean sample(Samples to, BooleanSupplier hasRoom) {
    long sinceMillis = Math.max(closedMillis, atMillis - REPEAT_MILLIS);
    while (nextSeries < slots) {
      if (!hasRoom.getAsBoolean()) {
        return false;
      }
      int end = Math.min(slots, nextSeries + UNCHECKED_SERIES);
      for (; nextSeries < end; nextSeries++) {
        int row = row(nextSeries);
        boolean isDue = changed.get(nextSeries) || isDue(nextSeries, sinceMillis, atMillis);
        if (row != NONE && isDue && isCounted(row)) {
          sample(row, atMillis, to);
        }
      }
    }
    changed.clear();
    closedMillis = atMillis;
    nextSeries = NONE;
    return true;
  }

  /** Returns whether the place of a series in the minute is in the interval (since, at]. */
  private static boolean isDue(int series, long sinceMillis, long atMillis) {
    long placeMillis = Integer.toUnsignedLong(series * HASH) % REPEAT_MILLIS;
    return Math.floorDiv(atMillis - placeMillis, REPEAT_MILLIS)
        > Math.floorDiv(sinceMillis - placeMillis, REPEAT_MILLIS);
  }

  /** Returns whether a series has spans of a closed pane. */
  private boolean isCounted(int row) {
    long all = sumMillis[row] | sumNanos[row];
    for (int at = row * stride; at < (row + 1) * stride; at++) {
      all |= counts[at];
    }
    return all != 0;
  }

  private void sample(int row, long millis, Samples to) {
    to.sample(
        definitions[row],
        isDelta ? sinceMillis(row) : startMillis[row],
        millis,
        counts,
        row * stride,
        stride,
        sumMillis[row],
        sumNanos[row],
        natives,
        natives.size(row) == 0 ? Samples.NO_ROW : row,
        exemplars[row]);
    exemplars[row] = null;
    if (isDelta) {
      clear(row);
    }
  }

  /** Returns since when a delta counts. */
  private long sinceMillis(int row) {
    return closedMillis == SealedWindow.UNKNOWN_CLOSED ? startMillis[row] : closedMillis;
  }

  /** Ends the series that end with the window. */
  private void end(Samples to) {
    if (isForeign()) {
      for (int series = 0; series < slots; series++) {
        end(series, to);
      }
      open.clear();
    } else {
      for (int series : window.evicted()) {
        end(series, to);
      }
    }
  }

  private void end(int series, Samples to) {
    int row = row(series);
    if (row == NONE) {
      return;
    }
    // Before the first pane is closed, the receiver has no sample of it.
    if (closedMillis != SealedWindow.UNKNOWN_CLOSED) {
      long millis = closedMillis + 1;
      boolean isOpen = addOpen(series, row);
      if (isCounted(row)) {
        if (isOpen) {
          // Its first pane may not be closed.
          startMillis[row] = Math.min(startMillis[row], closedMillis);
          sample(row, millis++, to);
        }
        if (!isDelta) {
          to.stale(definitions[row], millis);
        }
      }
    }
    remove(series);
  }

  /** Adds what open panes have of a series; returns whether they have any. */
  private boolean addOpen(int series, int row) {
    boolean any = false;
    for (OpenPane pane : open.panes()) {
      int from = pane.row(series);
      if (from >= 0) {
        add(row, pane, from);
        any = true;
      }
    }
    return any;
  }

  /** Returns the row of a series, or {@link #NONE}. */
  private int row(int series) {
    return series >= 0 && series < slots ? rowOf[series] - 1 : NONE;
  }

  private int create(SeriesDefinition definition) {
    int series = definition.series();
    if (series >= rowOf.length) {
      rowOf = Arrays.copyOf(rowOf, Math.max(series + 1, rowOf.length * 2));
    }
    slots = Math.max(slots, series + 1);
    // A journal ends a series before it uses its number again.
    remove(series);
    if (rows == definitions.length) {
      grow(rows * 2);
    }
    int row = rows++;
    rowOf[series] = row + 1;
    definitions[row] = definition;
    startMillis[row] = definition.createdMillis();
    return row;
  }

  /** Removes a series; the last row takes its place. */
  private void remove(int series) {
    int row = row(series);
    if (row == NONE) {
      return;
    }
    open.remove(series);
    rowOf[series] = 0;
    rows--;
    if (row != rows) {
      rowOf[definitions[rows].series()] = row + 1;
      definitions[row] = definitions[rows];
      startMillis[row] = startMillis[rows];
      System.arraycopy(counts, rows * stride, counts, row * stride, stride);
      sumMillis[row] = sumMillis[rows];
      sumNanos[row] = sumNanos[rows];
      exemplars[row] = exemplars[rows];
      natives.move(rows, row);
    }
    definitions[rows] = null;
    exemplars[rows] = null;
    clear(rows);
  }

  private void clear(int row) {
    sumMillis[row] = 0;
    sumNanos[row] = 0;
    Arrays.fill(counts, row * stride, (row + 1) * stride, 0);
    natives.clear(row);
  }

  private void grow(int capacity) {
    definitions = Arrays.copyOf(definitions, capacity);
    startMillis = Arrays.copyOf(startMillis, capacity);
    counts = Arrays.copyOf(counts, Math.multiplyExact(capacity, stride));
    sumMillis = Arrays.copyOf(sumMillis, capacity);
    sumNanos = Arrays.copyOf(sumNanos, capacity);
    exemplars = Arrays.copyOf(exemplars, capacity);
  }

  /** Returns the number of rows of open panes. */
  long openRows() {
    return open.rows();
  }

  /** Returns how many open panes were merged. */
  long mergedPanes() {
    return open.mergedPanes();
  }

  /** Returns the number of live series. */
  int size() {
    return rows;
  }
}
