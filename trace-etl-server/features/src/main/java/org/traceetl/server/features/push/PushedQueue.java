package org.traceetl.server.features.push;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.LogThrottle;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.chain.PacedTail;
import org.traceetl.server.journal.chain.SnapshotTail;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SeriesDefinition;

/**
 * The progress of a queue's journal to an endpoint: read, sent and marked. The offset that is
 * marked is that of the newest record up to which all requests have final answers.
 *
 * <p>Concurrency: confined to its reader's thread, except {@link #kept} and {@link #stop}.
 */
final class PushedQueue {
  private static final Logger log = LoggerFactory.getLogger(PushedQueue.class);

  /** After a crash, cumulative samples that were answered in this time are repeated. */
  private static final long MARK_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final long FAILED_NANOS = TimeUnit.SECONDS.toNanos(3);

  private static final Samples SILENT =
      new Samples() {
        @Override
        public void sample(
            SeriesDefinition series,
            long startMillis,
            long atMillis,
            long[] counts,
            int offset,
            int stride,
            long sumMillis,
            int sumNanos,
            NativeTotals natives,
            int nativeRow,
            SampleExemplar exemplar) {
          // The receiver has it.
        }

        @Override
        public void stale(SeriesDefinition series, long atMillis) {
          // The receiver has it.
        }
      };

  private final QueueId queue;
  private final Receiver receiver;
  private final PacedTail.Opening<SnapshotTail.Event> opening;
  private final Runnable progress;
  private final LogThrottle throttle;

  /** Number of the last window that is kept. */
  private final AtomicLong kept;

  private PacedTail<SnapshotTail.Event> tail;

  /** Events that were read and not begun. */
  private final ArrayDeque<SnapshotTail.Event> events = new ArrayDeque<>();

  /** Null before the first state. */
  private PaneSeries series;

  /** Offset of the window whose samples are not complete; NONE without one. */
  private long sending = JournalLog.NONE;

  /** Offset of the last record whose samples are complete. */
  private long sent = JournalLog.NONE;

  /** Merged panes of the series when the last window was complete. */
  private long mergedBefore;

  /** Merged panes of windows that were sent. */
  private long mergedPanes;

  private long marked = JournalLog.NONE;
  private long nextMarkNanos;

  /** Null before the first state. Written by the reader's thread with this object's monitor. */
  private SampleWriter writer;

  /** Guarded by this object's monitor. */
  private boolean stopped;

  /**
   * @param number of the last window that is kept
   * @param progress wakes the reader
   */
  PushedQueue(
      QueueId queue,
      long number,
      Receiver receiver,
      PacedTail.Opening<SnapshotTail.Event> opening,
      Runnable progress,
      long nowNanos,
      LogThrottle throttle) {
    this.queue = queue;
    kept = new AtomicLong(number);
    this.receiver = receiver;
    this.opening = opening;
    this.progress = progress;
    this.throttle = throttle;
    tail = new PacedTail<>(queue, opening, nowNanos, throttle);
    nextMarkNanos = nowNanos;
  }

  QueueId queue() {
    return queue;
  }

  /** Reports that the next window is kept. Any thread. */
  void kept() {
    kept.incrementAndGet();
  }

  /** Stops sending at once, because another server may own the queue. Any thread. */
  synchronized void stop() {
    stopped = true;
    if (writer != null) {
      writer.close();
    }
  }

  /** Opens a writer that begins at a state. */
  private synchronized void open() {
    if (writer != null) {
      writer.close();
    }
    writer = receiver.open(queue, progress);
    if (stopped) {
      writer.close();
    }
  }

  /**
   * Sends what was read. If the endpoint has room then, reads once, and sends that.
   *
   * @return nanoseconds until a further step may be due; 0 for now
   */
  long step(long nowNanos) throws InterruptedException {
    try {
      if (writer != null) {
        writer.flush();
      }
      // The endpoint wakes the reader when it has room, and the owner when a window is kept.
      if (!send() || !hasRoom()) {
        return MARK_NANOS;
      }
      if (tail.dueInNanos(nowNanos) <= 0) {
        events.addAll(tail.read(nowNanos));
      }
      return send() ? Math.max(0, tail.dueInNanos(nowNanos)) : MARK_NANOS;
    } catch (RuntimeException e) {
      failed(nowNanos, e);
      return FAILED_NANOS;
    }
  }

  private boolean hasRoom() {
    return writer == null || writer.hasRoom();
  }

  /** Returns whether everything that was read is passed on. */
  private boolean send() throws InterruptedException {
    while (complete() && mayBegin(events.peek())) {
      SnapshotTail.Event event = events.poll();
      if (event == null) {
        return true;
      }
      begin(event);
    }
    return false;
  }

  /** A window that is not known to be kept may be lost. */
  private boolean mayBegin(SnapshotTail.Event event) throws InterruptedException {
    return !(event instanceof SnapshotTail.Window window)
        || window.number() <= kept.get() && (window.known() || !receiver.isDelta() || isMarked());
  }

  /**
   * Returns whether all that was sent is marked. A delta that is repeated may count twice, so after
   * a crash at most one record of them is.
   */
  private boolean isMarked() throws InterruptedException {
    if (sent > marked) {
      mark();
    }
    return sent <= marked;
  }

  private void begin(SnapshotTail.Event event) {
    switch (event) {
      case SnapshotTail.State state -> {
        open();
        sent = JournalLog.NONE;
        series = new PaneSeries(state.image(), receiver.isDelta());
        mergedBefore = series.mergedPanes();
      }
      case SnapshotTail.Window window -> {
        series.begin(window.window());
        if (window.known()) {
          series.emit(SILENT, () -> true);
          mergedBefore = series.mergedPanes();
        } else {
          sending = window.offset();
        }
      }
      case SnapshotTail.Snapshot snapshot -> {
        if (!snapshot.known()) {
          end(snapshot.offset());
        }
      }
    }
  }

  /** Completes the samples of the window that is being sent, while there is room. */
  private boolean complete() {
    if (sending != JournalLog.NONE) {
      if (!series.emit(writer, writer::hasRoom)) {
        return false;
      }
      mergedPanes += series.mergedPanes() - mergedBefore;
      mergedBefore = series.mergedPanes();
      end(sending);
      sending = JournalLog.NONE;
    }
    return true;
  }

  private void end(long offset) {
    writer.end(offset);
    sent = offset;
  }

  /** Begins again at the marks. */
  private void failed(long nowNanos, RuntimeException fault) {
    if (throttle.permits()) {
      log.error(
          "Failed to send the series of queue {} to push endpoint {}; the server tries"
              + " again from the last answered request",
          queue,
          receiver.name(),
          fault);
    }
    synchronized (this) {
      if (writer != null) {
        writer.close();
        writer = null;
      }
    }
    events.clear();
    series = null;
    sending = JournalLog.NONE;
    tail = new PacedTail<>(queue, opening, nowNanos + FAILED_NANOS, throttle);
  }

  /** Marks what is answered, at intervals. */
  void mark(long nowNanos) throws InterruptedException {
    if (nextMarkNanos - nowNanos <= 0) {
      nextMarkNanos = nowNanos + MARK_NANOS;
      mark();
      tail.observe(nowNanos);
    }
  }

  /** Marks what is answered. */
  void mark() throws InterruptedException {
    long answered = writer == null ? JournalLog.NONE : writer.answered();
    if (answered > marked && tail.mark(answered)) {
      marked = answered;
    }
  }

  /** Returns the number of rows of open panes. */
  long openRows() {
    return series == null ? 0 : series.openRows();
  }

  /** Returns how many open panes were merged since the last call. */
  long takeMergedPanes() {
    long taken = mergedPanes;
    mergedPanes = 0;
    return taken;
  }

  /** Returns the approximate number of records that have no final answers. */
  long lag() {
    long unanswered = writer != null && sent > writer.answered() ? 1 : 0;
    return tail.lag() + events.size() + (sending == JournalLog.NONE ? 0 : 1) + unanswered;
  }
}
