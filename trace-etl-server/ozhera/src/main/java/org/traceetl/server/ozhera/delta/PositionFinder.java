package org.traceetl.server.ozhera.delta;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.ozhera.delta.positions.BrokerRetries;
import org.traceetl.server.ozhera.delta.positions.ScraperPositions;
import org.traceetl.server.ozhera.delta.series.Deltas;
import org.traceetl.server.ozhera.delta.series.LabelSets;
import org.traceetl.server.ozhera.delta.series.NumberedSeries;
import org.traceetl.server.window.SealedWindow;

/**
 * Finds the scrapers' positions in a queue and reads from its journal the windows that the previous
 * owner did not deliver. It has a thread of its own, because a search may read much of a journal.
 */
final class PositionFinder implements SteppedTask, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(PositionFinder.class);
  private static final long UNSTORED_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /**
   * A scraper's position in a queue.
   *
   * @param position offset up to which the scraper received windows, or {@link JournalLog#NONE}
   * @param backlog the journal's windows between the position and those in memory
   * @param missedMessages messages of the span topic whose counts are lost to the scraper
   * @param unknownRows rows of the journal's windows without a known series
   */
  record Found(
      QueueDeltas queue,
      ScraperSession scraper,
      long position,
      Deltas backlog,
      long missedMessages,
      long unknownRows) {}

  /**
   * A search for positions.
   *
   * @param offset offset after the last window that is needed from the journal
   * @param sealedMillis approximate seal time of that window
   */
  private record Search(
      QueueDeltas queue, List<ScraperSession> scrapers, long offset, long sealedMillis) {}

  private final ScraperPositions positions;
  private final Duration lookBack;
  private final PositionWriter writer;
  private final BrokerRetries retries;
  private final Consumer<Found> listener;
  private final LongSupplier nanoClock;
  private final LogThrottle throttle;
  private final SteppedThread thread;

  /** Guarded by itself; the lock is never held during a call to a broker. */
  private final ArrayDeque<Search> searches = new ArrayDeque<>();

  /**
   * @param lookBack how far before the last needed window the journal is read
   * @param writer the positions that wait there are newer than those of the broker
   * @param listener called on the thread of the search
   */
  PositionFinder(
      ScraperPositions positions,
      Duration lookBack,
      PositionWriter writer,
      BrokerRetries retries,
      Consumer<Found> listener,
      Clocks clocks,
      LogThrottle throttle) {
    this.positions = positions;
    this.lookBack = lookBack;
    this.writer = writer;
    this.retries = retries;
    this.listener = listener;
    nanoClock = clocks.nanoClock();
    this.throttle = throttle;
    thread = SteppedThread.daemon(clocks, "scraper-search", this, throttle);
  }

  void start() {
    thread.start();
  }

  boolean alive() {
    return thread.alive();
  }

  /** Queues a search. It runs once no previous owner can change the positions. */
  void search(QueueDeltas queue, List<ScraperSession> scrapers) {
    ScraperSession first = scrapers.getFirst();
    Search search = new Search(queue, scrapers, queue.offset(first), queue.sealedMillis(first));
    synchronized (searches) {
      searches.add(search);
    }
    thread.wake();
  }

  @Override
  public void close() {
    thread.close();
  }

  /** Runs the search that is due; returns the nanoseconds until another one may be due. */
  @Override
  public long doWork() throws InterruptedException {
    long nowNanos = nanoClock.getAsLong();
    Search search = nextSearch(nowNanos);
    if (search != null) {
      run(search);
      return 0;
    }
    synchronized (searches) {
      long idleNanos = IDLE_NANOS;
      for (Search later : searches) {
        idleNanos = Math.min(idleNanos, dueInNanos(later, nowNanos));
      }
      return Math.max(1, idleNanos);
    }
  }

  /** A search waits for the positions that are not stored yet: the broker would return old ones. */
  private long dueInNanos(Search search, long nowNanos) {
    QueueDeltas queue = search.queue();
    long dueNanos =
        Math.max(
            queue.lease().startsInNanos(nowNanos), retries.dueInNanos(queue.queue(), nowNanos));
    return writer.isWaiting(queue) ? Math.max(dueNanos, UNSTORED_NANOS) : dueNanos;
  }

  private Search nextSearch(long nowNanos) {
    synchronized (searches) {
      for (Iterator<Search> i = searches.iterator(); i.hasNext(); ) {
        Search search = i.next();
        if (search.queue().lease().ended()) {
          i.remove();
        } else if (dueInNanos(search, nowNanos) <= 0) {
          i.remove();
          return search;
        }
      }
      return null;
    }
  }

  private void run(Search search) throws InterruptedException {
    try {
      find(search);
    } catch (IOException | RuntimeException e) {
      // Also the thread's boundary: without a result the scraper would never receive the queue.
      retries.failed(search.queue().queue(), e);
      synchronized (searches) {
        searches.add(search);
      }
    }
  }

  private void find(Search search) throws IOException, InterruptedException {
    QueueDeltas queue = search.queue();
    List<MissedWindows> all = new ArrayList<>();
    for (ScraperSession scraper : search.scrapers()) {
      long position = positions.load(queue.queue(), scraper.group());
      all.add(new MissedWindows(scraper, position, search.offset()));
    }
    NumberedSeries series = new NumberedSeries(new LabelSets());
    if (all.stream().anyMatch(MissedWindows::isBehind)) {
      positions.read(
          queue.queue(),
          search.sealedMillis() - lookBack.toMillis(),
          series::replace,
          window -> {
            // This process has all windows from that offset, even if an earlier one is missing.
            if (window.from() >= search.offset()) {
              return false;
            }
            Deltas deltas = complete(series, window, queue.schema());
            all.forEach(missed -> missed.add(window, deltas));
            return window.to() < search.offset();
          });
    }
    for (MissedWindows missed : all) {
      long lost = missed.lostMessages();
      report(search, missed, lost);
      listener.accept(
          new Found(
              queue,
              missed.scraper(),
              missed.position(),
              missed.deltas(),
              lost,
              series.unknownRows()));
    }
  }

  private void report(Search search, MissedWindows missed, long lost) {
    String scraper = missed.scraper().identity();
    if (lost > 0 && throttle.permits()) {
      log.warn(
          "Scraper {} was not given the counts of {} messages of queue {}, and they are too old to"
              + " be delivered now: it was away for too long, or no server owned the queue;"
              + " position={}",
          scraper,
          lost,
          search.queue().queue(),
          missed.position());
    }
    if (missed.position() == JournalLog.NONE && search.offset() != JournalLog.NONE) {
      log.info(
          "Scraper {} has no place in queue {} yet: it receives windows from offset {}, and none"
              + " that are older",
          scraper,
          search.queue().queue(),
          search.offset());
    }
  }

  /** Returns the deltas of a window; null if a row has no known series, as before a snapshot. */
  private static Deltas complete(NumberedSeries series, SealedWindow window, long schema) {
    if (window.schema() != schema) {
      series.release();
      return null;
    }
    long unknownRows = series.unknownRows();
    Deltas deltas = series.fold(window);
    return series.unknownRows() == unknownRows ? deltas : null;
  }
}
