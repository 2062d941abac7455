package org.traceetl.server.consume.queue;

import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.dedup.BatchHistory;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowMetrics;
import org.traceetl.server.window.WindowRows;

/**
 * Begins and ends the windows of one queue and their panes; a {@link Recorder} adds to the open
 * window. Remembers the accepted batches, and until when panes are closed.
 *
 * <p>Concurrency: confined to the worker that owns the queue. Only {@link WindowMetrics} change
 * hands. {@link #end} gives the filled one away and continues with the spare one; {@code
 * QueueSealing} gives it back when the journal has the window. At most one window of a queue is
 * being sealed.
 */
final class QueueWindows {
  /** Number of panes from which on the open window should end early. */
  private static final int CROWDED_PANES = 16;

  /** Minimum age of a window that ends early because of its number of panes. */
  private static final long CROWDED_MILLIS = 1_000;

  /**
   * For how long after the take-over windows wait until it is known whether their panes may be
   * written.
   */
  private static final long MOST_AWAITED_MILLIS = 60_000;

  /**
   * Maximum distance of a pane from the begin of its window: nine years. A journal refuses windows
   * with panes that are ten years away.
   */
  private static final long MAX_PANE_DISTANCE_MILLIS = TimeUnit.DAYS.toMillis(9 * 365);

  private final QueueId queue;
  private final Aggregation aggregation;
  private final SpanPipelineMetrics listener;
  private final BatchHistory history;
  private final StreamClock clock = new StreamClock();
  private final AgentMarks marks;
  private final PaneClosing closing;

  /** Whether the journal had windows with panes at the take-over. */
  private final boolean panesInJournal;

  /** Time without a message until the last window; it passes when the journal has that window. */
  private long silentMillis;

  private final BlockingQueue<WindowMetrics> spares = new ArrayBlockingQueue<>(1);
  private WindowMetrics open;

  /** The rows of the batch's pane in the open window; null before the window's first batch. */
  private WindowRows pane;

  /** Begin of that pane, milliseconds since 1970. */
  private long paneStartMillis;

  /** Length of a pane of the open window; 0 if it does not keep panes. */
  private long paneMillis;

  /** Whether it was permitted to write the panes of the open window when it began. */
  private boolean panesPermitted;

  private long openedMillis = -1;

  /** When the first window began. */
  private long begunMillis;

  private long from;

  /**
   * @param image of the queue's journal; its history is modified from now on
   */
  QueueWindows(
      QueueId queue, Aggregation aggregation, SpanPipelineMetrics listener, QueueImage image) {
    this.queue = queue;
    this.aggregation = aggregation;
    this.listener = listener;
    panesInJournal = image.hasPanes();
    history = image.history();
    marks = new AgentMarks(aggregation.silenceMillis(), clock);
    marks.restore(image.completeness(), history, image.streamBegan(aggregation.silenceMillis()));
    if (image.closedMillis() != SealedWindow.UNKNOWN_CLOSED) {
      clock.restore(image.closedMillis());
    }
    closing =
        new PaneClosing(
            aggregation.graceMillis(), clock, image.closedMillis(), image.countedMillis());
    from = image.to();
    open = aggregation.newMetrics();
    spares.add(aggregation.newMetrics());
  }

  /** Returns the accepted batches. */
  BatchHistory history() {
    return history;
  }

  /** Returns the stream time since the take-over. */
  long elapsedMillis() {
    return clock.elapsedMillis();
  }

  /** Returns the marks of agents. */
  AgentMarks marks() {
    return marks;
  }

  /** Returns the open window, until the next {@link #end}. */
  WindowMetrics open() {
    return open;
  }

  /**
   * Returns the rows of the pane to which {@link #turnTo} turned; null before the window's first
   * batch.
   */
  WindowRows pane() {
    return pane;
  }

  /** Returns the spare window; null while the previous window is being sealed. */
  WindowMetrics spare() {
    return spares.peek();
  }

  /** Returns when the open window began, milliseconds since 1970; negative before the first. */
  long openedMillis() {
    return openedMillis;
  }

  /**
   * Sets the start of the first window, unless the queue has had windows. Each window begins at the
   * end of the previous one, even if messages are missing or the topic was recreated.
   */
  void beginAt(long offset) {
    if (from == JournalLog.NONE) {
      from = offset;
    }
  }

  /**
   * Begins the first window, unless it has begun.
   *
   * @return whether it began now
   */
  boolean begin(long nowMillis) {
    if (openedMillis >= 0) {
      return false;
    }
    begunMillis = nowMillis;
    openedMillis = nowMillis;
    return true;
  }

  /**
   * Chooses the pane in which a batch is counted.
   *
   * @param committedMillis when the agent accepted it, by the broker's clock
   */
  void turnTo(long committedMillis) {
    if (pane == null) {
      // For the whole window, so that it has either all panes or one without a time.
      paneMillis = aggregation.keepsPanes() ? aggregation.paneMillis() : 0;
      panesPermitted = aggregation.writesPanes(panesInJournal);
      paneStartMillis = paneMillis == 0 ? 0 : paneStart(committedMillis);
      pane = open.pane(paneStartMillis);
    } else if (paneMillis != 0
        && (committedMillis < paneStartMillis || committedMillis - paneStartMillis >= paneMillis)) {
      paneStartMillis = paneStart(committedMillis);
      pane = open.pane(paneStartMillis);
    }
  }

  private long paneStart(long committedMillis) {
    long limited =
        Math.clamp(
            committedMillis,
            openedMillis - MAX_PANE_DISTANCE_MILLIS,
            openedMillis + MAX_PANE_DISTANCE_MILLIS);
    return Math.floorDiv(limited, paneMillis) * paneMillis;
  }

  /** Returns whether the open window's predecessor is back; true until the next {@link #end}. */
  boolean canEnd() {
    return !spares.isEmpty();
  }

  /**
   * Ends the open window if something is to be written. Requires {@link #begin} and {@link
   * #canEnd}.
   *
   * @param to offset after the window's last message
   * @param passedMillis time since the last call without a message, at the end of the queue; 0 if
   *     there was a message or may be one
   * @param created series that are new in this window
   * @param evicted numbers of series that leave with it
   * @param edges what changed among the open half-edges; asked only if there is a window
   * @return the window, to be sealed; null if it continues
   */
  FilledWindow end(
      long to,
      long nowMillis,
      long passedMillis,
      List<SeriesDefinition> created,
      int[] evicted,
      Supplier<EdgeChange> edges) {
    FilledWindow filled = null;
    long writtenPaneMillis = writtenPaneMillis();
    boolean isEmpty = to == from && open.isEmpty();
    boolean isIdle = passedMillis > 0 && isEmpty;
    // The last window is kept, and proves that the broker answered after that time.
    long provenMillis = isIdle ? silentMillis : 0;
    if (isIdle || !isEmpty) {
      silentMillis = 0;
    }
    if (to != from
        || !open.isEmpty()
        || evicted.length > 0
        || isIdle && writtenPaneMillis != 0 && (closing.hasOpenPane() || marks.isWaiting())) {
      silentMillis = isIdle ? Math.min(passedMillis, StreamClock.MAX_STEP_MILLIS) : 0;
      clock.pass(provenMillis);
      WindowCompleteness completeness = WindowCompleteness.NONE;
      long closedMillis = SealedWindow.UNKNOWN_CLOSED;
      if (writtenPaneMillis != 0) {
        completeness = marks.endWindow();
        closedMillis = closePanes(completeness, nowMillis, writtenPaneMillis);
      }
      filled =
          new FilledWindow(
              queue,
              from,
              to,
              openedMillis,
              nowMillis,
              created,
              evicted,
              aggregation.schema(),
              writtenPaneMillis,
              history.takeAccepted(),
              completeness,
              closedMillis,
              edges.get(),
              open,
              spares);
      listener.panes(queue, open.panes(), open.rows(), open.mergedSpans());
      // Last, so that an earlier failure does not lose the spare one.
      open = spares.remove();
      pane = null;
    }
    openedMillis = nowMillis;
    from = to;
    return filled;
  }

  /**
   * Returns until when panes are closed; {@link SealedWindow#UNKNOWN_CLOSED} if the window has
   * nothing else that needs panes, and the journal already contains the time.
   */
  private long closePanes(WindowCompleteness completeness, long nowMillis, long lengthMillis) {
    long beforeMillis = closing.closedMillis();
    for (int i = 0; i < open.panes(); i++) {
      if (open.rows(i).size() > 0) {
        closing.counted(open.rows(i).startMillis(), lengthMillis);
      }
    }
    long closedMillis = closing.endWindow(completeness, nowMillis, lengthMillis);
    boolean isKnown = closedMillis == beforeMillis && open.rows() == 0 && completeness.isEmpty();
    return isKnown ? SealedWindow.UNKNOWN_CLOSED : closedMillis;
  }

  /** Returns the length of the panes with which the open window is written; 0 for none. */
  private long writtenPaneMillis() {
    if (pane == null) {
      return aggregation.writesPanes(panesInJournal) ? aggregation.paneMillis() : 0;
    }
    return writesPanes() ? paneMillis : 0;
  }

  /** Returns whether the open window may be written with its panes. */
  private boolean writesPanes() {
    return panesPermitted || aggregation.writesPanes(panesInJournal);
  }

  /**
   * Returns whether the open window has several panes, and it is not known yet whether they may be
   * written: a server that has just started has read a backlog. Only in the first minute, since
   * otherwise each window would wait while the topic of the demand cannot be read.
   */
  boolean awaitsPanes(long nowMillis) {
    long waitedMillis = nowMillis - begunMillis;
    return open.panes() > 1
        && paneMillis != 0
        && aggregation.awaitsPanes()
        && !writesPanes()
        && waitedMillis >= 0
        && waitedMillis < MOST_AWAITED_MILLIS;
  }

  /**
   * Returns whether the open window can end, and should end before its time: it has many panes or
   * much memory, as when a backlog is read. While it is not known whether its panes are written, it
   * continues.
   */
  boolean isCrowded(long nowMillis) {
    boolean hasMany = open.panes() >= CROWDED_PANES && nowMillis - openedMillis >= CROWDED_MILLIS;
    return (hasMany || open.isCrowded()) && canEnd() && writesPanes();
  }
}
