package org.traceetl.server.window;

import java.util.Collection;
import java.util.TreeMap;

/**
 * The deltas of a queue's panes that are not closed yet. It is a function of the queue's windows in
 * their order. For each window call {@link #add}, then {@link #poll} until it returns null, then
 * {@link #close}. For one thread at a time.
 *
 * <p>Late deltas, whose pane is closed, count in the first pane that is not. At most {@value
 * #MAX_PANES} panes are kept, and {@value #LARGEST_PANES} times the rows of the largest pane, plus
 * {@value #MORE_ROWS}: beyond, the oldest pane is merged into the next. So few panes are kept
 * however large they are, and many if they are small.
 *
 * <p>The pane of a window that does not know its panes is that of its begin, {@value
 * #DEFAULT_LENGTH_MILLIS} ms long. If a window does not say until when panes are closed, its begin
 * closes the panes before it.
 */
public final class OpenPanes {
  /** Maximum number of panes. */
  public static final int MAX_PANES = 64;

  /** More than are open in 2 min, after which panes are closed by default. */
  private static final int LARGEST_PANES = 10;

  private static final int MORE_ROWS = 262_144;

  private static final long DEFAULT_LENGTH_MILLIS = 15_000;

  /** Limit of times, so that no sum with a length overflows. */
  private static final long MAX_MILLIS = 1L << 62;

  /** The series of the queue. */
  public interface Series {
    /**
     * Called for each delta.
     *
     * @param sinceMillis begin of the delta's pane, but not before the panes that were closed;
     *     milliseconds since 1970
     * @return whether the series exists; else the delta does not count
     */
    boolean counts(int series, long sinceMillis);
  }

  private final int stride;
  private final int moreRows;

  /** By end. */
  private final TreeMap<Long, OpenPane> panes = new TreeMap<>();

  private long closedMillis = SealedWindow.UNKNOWN_CLOSED;
  private boolean panesKnown;
  private long mergedPanes;

  /**
   * @param stride numbers of a series in the counts
   */
  public OpenPanes(int stride) {
    this(stride, MORE_ROWS);
  }

  /** For tests, with another bound of rows. */
  OpenPanes(int stride, int moreRows) {
    this.stride = stride;
    this.moreRows = moreRows;
  }

  /** Adds the deltas of the queue's next window, which has the same stride. */
  public void add(SealedWindow window, Series series) {
    if (window.rows() == 0) {
      return;
    }
    WindowPanes ofWindow = window.panes();
    panesKnown = !ofWindow.isEmpty();
    for (WindowPanes.Pane pane : ofWindow.others()) {
      add(window, pane, pane.startMillis(), series);
    }
    add(
        window,
        ofWindow.main(window),
        panesKnown ? ofWindow.mainMillis() : begin(window.openedMillis(), DEFAULT_LENGTH_MILLIS),
        series);
  }

  private void add(SealedWindow window, WindowPanes.Pane pane, long startMillis, Series series) {
    long lengthMillis = lengthMillis(window);
    long endMillis = countedUntil(startMillis, lengthMillis, closedMillis);
    long sinceMillis = Math.max(startMillis, closedMillis);
    OpenPane open = null;
    for (int row = 0; row < pane.rows().length; row++) {
      int number = window.series()[pane.rows()[row]];
      if (series.counts(number, sinceMillis)) {
        open = open == null ? open(endMillis) : open;
        open.add(number, pane, row);
      }
    }
  }

  /**
   * Returns the end of the pane in which spans of a pane count: it, or the first that is not
   * closed.
   *
   * @param startMillis its begin, milliseconds since 1970
   * @param closedMillis until when panes are closed
   */
  public static long countedUntil(long startMillis, long lengthMillis, long closedMillis) {
    boolean isLate = startMillis + lengthMillis <= closedMillis;
    return lengthMillis + (isLate ? begin(closedMillis, lengthMillis) : startMillis);
  }

  private static long lengthMillis(SealedWindow window) {
    return window.panes().isEmpty() ? DEFAULT_LENGTH_MILLIS : window.panes().lengthMillis();
  }

  /** Returns the begin of the pane that has a time. */
  private static long begin(long millis, long lengthMillis) {
    return Math.floorDiv(Math.clamp(millis, -MAX_MILLIS, MAX_MILLIS), lengthMillis) * lengthMillis;
  }

  /** Returns the pane with this end, milliseconds since 1970, which is created if it is absent. */
  public OpenPane open(long endMillis) {
    return panes.computeIfAbsent(endMillis, absent -> new OpenPane(absent, stride));
  }

  /**
   * Returns until when panes are closed after a window that was added, milliseconds since 1970;
   * {@link SealedWindow#UNKNOWN_CLOSED} if none is.
   */
  public long closedBy(SealedWindow window) {
    if (window.closedMillis() != SealedWindow.UNKNOWN_CLOSED) {
      return Math.max(closedMillis, window.closedMillis());
    }
    if (window.rows() == 0 && panesKnown) {
      return closedMillis;
    }
    return Math.max(closedMillis, begin(window.openedMillis(), lengthMillis(window)));
  }

  /** Removes and returns the first pane that ends at or before a time; null if no pane does. */
  public OpenPane poll(long untilMillis) {
    return panes.isEmpty() || panes.firstKey() > untilMillis
        ? null
        : panes.pollFirstEntry().getValue();
  }

  /** Sets until when panes are closed, removes these, and merges panes above the limits. */
  public void close(long untilMillis) {
    panes.headMap(untilMillis, true).clear();
    closedMillis = untilMillis;
    while (panes.size() > MAX_PANES || rows() > maxRows()) {
      OpenPane oldest = panes.pollFirstEntry().getValue();
      panes.firstEntry().getValue().add(oldest);
      mergedPanes++;
    }
  }

  /** Returns the number of rows of all panes. */
  public long rows() {
    long rows = 0;
    for (OpenPane pane : panes.values()) {
      rows += pane.size();
    }
    return rows;
  }

  private long maxRows() {
    long largest = 0;
    for (OpenPane pane : panes.values()) {
      largest = Math.max(largest, pane.size());
    }
    return LARGEST_PANES * largest + moreRows;
  }

  /** Returns how many panes were merged into the next one. */
  public long mergedPanes() {
    return mergedPanes;
  }

  /** Removes the deltas of a series that ends. */
  public void remove(int series) {
    panes.values().forEach(pane -> pane.remove(series));
  }

  /** Removes all deltas. */
  public void clear() {
    panes.clear();
  }

  /** Returns the panes in their order. */
  public Collection<OpenPane> panes() {
    return panes.values();
  }

  /**
   * Returns until when panes are closed, milliseconds since 1970; {@link
   * SealedWindow#UNKNOWN_CLOSED} if none is.
   */
  public long closedMillis() {
    return closedMillis;
  }

  /** Sets from a snapshot whether the last window with rows knows its panes. */
  public void panesKnown(boolean areKnown) {
    panesKnown = areKnown;
  }
}
