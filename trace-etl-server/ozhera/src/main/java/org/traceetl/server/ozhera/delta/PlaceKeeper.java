package org.traceetl.server.ozhera.delta;

import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.LogThrottle;
import org.traceetl.server.component.SteppedTask;
import org.traceetl.server.component.SteppedThread;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.window.SealedWindow;

/**
 * Asks the brokers for scrapers' places, and tells them: on a thread each, as a search may read
 * much of a journal, and a release waits until places are told. The newest place of a scraper in a
 * queue waits here at most, so that what waits is bounded by both. A broker that is away is left
 * alone for a while, and its places wait.
 *
 * <p>A place is told only while no other owner may have gone on with the queue: it would set the
 * scraper back there.
 */
final class PlaceKeeper implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(PlaceKeeper.class);
  private static final long FAILED_NANOS = TimeUnit.SECONDS.toNanos(15);
  private static final long UNTOLD_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /** The second one finds the group's table made. */
  private static final int MARK_ATTEMPTS = 3;

  /**
   * A scraper's place in a queue.
   *
   * @param mark its offset, or {@link JournalLog#NONE}
   * @param backlog what the journal has between the mark and what this process holds
   * @param missedMessages of the span topic, whose counts nobody can give to it any more
   * @param unknownRows of the journal's windows that belonged to no series
   */
  record Found(
      QueueDeltas queue,
      Scraper scraper,
      long mark,
      Deltas backlog,
      long missedMessages,
      long unknownRows) {}

  /**
   * A question for places.
   *
   * @param offset up to which windows are wanted from the journal
   * @param sealedMillis of the last of them, about
   */
  private record Search(
      QueueDeltas queue, List<Scraper> scrapers, long offset, long sealedMillis) {}

  private record Key(QueueDeltas queue, Scraper scraper) {}

  private final ScraperPlaces places;
  private final Duration lookBack;
  private final Consumer<Found> finder;
  private final LongSupplier nanoClock;
  private final LogThrottle throttle;
  private final SteppedThread telling;
  private final SteppedThread searching;

  // All below by this lock, which nobody holds while a broker is asked.
  private final Object lock = new Object();
  private final ArrayDeque<Search> searches = new ArrayDeque<>();
  private final Map<Key, Long> marks = new LinkedHashMap<>();
  private final Map<QueueDeltas, CompletableFuture<Void>> flushes = new HashMap<>();

  /** By broker: when it may be asked again. */
  private final Map<String, Long> retryNanos = new HashMap<>();

  private final LongAdder failures = new LongAdder();

  /**
   * @param lookBack how far before the last window wanted the journal is read
   * @param places called by two threads
   * @param finder told on the thread that searches
   */
  PlaceKeeper(
      ScraperPlaces places,
      Duration lookBack,
      Consumer<Found> finder,
      InstantSource clock,
      LongSupplier nanoClock) {
    this.places = places;
    this.lookBack = lookBack;
    this.finder = finder;
    this.nanoClock = nanoClock;
    throttle = new LogThrottle(clock);
    telling =
        new SteppedThread(
            "scraper-places",
            new SteppedTask() {
              @Override
              public long doWork() throws InterruptedException {
                return tellAll();
              }

              @Override
              public void onEnd() throws InterruptedException {
                tellAll();
              }
            },
            throttle);
    searching = new SteppedThread("scraper-search", this::searchNext, throttle);
  }

  void start() {
    telling.start();
    searching.start();
  }

  boolean alive() {
    return telling.alive() && searching.alive();
  }

  /** Calls of brokers that failed. */
  long failures() {
    return failures.sum();
  }

  /** Looks for the places of scrapers, as soon as no former owner can move them any more. */
  void search(QueueDeltas queue, List<Scraper> scrapers, long offset, long sealedMillis) {
    synchronized (lock) {
      searches.add(new Search(queue, scrapers, offset, sealedMillis));
    }
    searching.wake();
  }

  /** Has a place told, in place of an older one. */
  void mark(QueueDeltas queue, Scraper scraper, long offset) {
    synchronized (lock) {
      marks.put(new Key(queue, scraper), offset);
    }
    telling.wake();
  }

  /** Completes the future when no place of the queue waits. */
  void flush(QueueDeltas queue, CompletableFuture<Void> done) {
    synchronized (lock) {
      flushes.put(queue, done);
    }
    telling.wake();
  }

  @Override
  public void close() {
    searching.close();
    telling.close();
  }

  /** Makes the search that is due; nanoseconds until another one may be. */
  private long searchNext() throws InterruptedException {
    long nowNanos = nanoClock.getAsLong();
    Search search = nextSearch(nowNanos);
    if (search != null) {
      answer(search);
      return 0;
    }
    synchronized (lock) {
      long idleNanos = SteppedTask.IDLE_NANOS;
      for (Search later : searches) {
        idleNanos = Math.min(idleNanos, dueInNanos(later, nowNanos));
      }
      return Math.max(1, idleNanos);
    }
  }

  /** Not before what waits to be told of the queue: the broker would answer what was before it. */
  private long dueInNanos(Search search, long nowNanos) {
    QueueDeltas queue = search.queue();
    Long retry = retryNanos.get(queue.queue().broker());
    long dueNanos =
        Math.max(queue.lease().startsInNanos(nowNanos), retry == null ? 0 : retry - nowNanos);
    return waits(queue) ? Math.max(dueNanos, UNTOLD_NANOS) : dueNanos;
  }

  private boolean waits(QueueDeltas queue) {
    return marks.keySet().stream().anyMatch(key -> key.queue() == queue);
  }

  private Search nextSearch(long nowNanos) {
    synchronized (lock) {
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

  private void answer(Search search) throws InterruptedException {
    try {
      find(search);
    } catch (IOException | RuntimeException e) {
      // The thread's boundary as well: without an answer the scraper would never be given the
      // queue.
      failed(search.queue(), e);
      synchronized (lock) {
        searches.add(search);
      }
    }
  }

  private void find(Search search) throws IOException, InterruptedException {
    QueueDeltas queue = search.queue();
    List<Backlog> backlogs = new ArrayList<>();
    for (Scraper scraper : search.scrapers()) {
      backlogs.add(
          new Backlog(scraper, places.mark(queue.queue(), scraper.group()), search.offset()));
    }
    NumberedSeries series = new NumberedSeries(new LabelSets());
    if (backlogs.stream().anyMatch(Backlog::isBehind)) {
      places.read(
          queue.queue(),
          search.sealedMillis() - lookBack.toMillis(),
          series::replace,
          window -> {
            // What this process holds begins there, whether or not the window before is left.
            if (window.from() >= search.offset()) {
              return false;
            }
            Deltas deltas = whole(series, window, queue.schema());
            backlogs.forEach(backlog -> backlog.add(window, deltas));
            return window.to() < search.offset();
          });
    }
    for (Backlog backlog : backlogs) {
      long missed = backlog.missedMessages();
      if (missed > 0 && throttle.permits()) {
        log.warn(
            "Scraper {} was not given the counts of {} messages of queue {}, from offset {}, and"
                + " they are too old to be given now: it was away for too long, or no server had"
                + " the queue",
            backlog.scraper.identity(),
            missed,
            queue.queue(),
            backlog.mark);
      }
      if (backlog.mark == JournalLog.NONE && search.offset() != JournalLog.NONE) {
        log.info(
            "Scraper {} has no place in queue {} yet: it is given what comes from offset {} on, and"
                + " nothing older",
            backlog.scraper.identity(),
            queue.queue(),
            search.offset());
      }
      finder.accept(
          new Found(
              queue, backlog.scraper, backlog.mark, backlog.deltas, missed, series.unknownRows()));
    }
  }

  /** What a window adds; null if not all of its rows can be told: it came before a snapshot. */
  private static Deltas whole(NumberedSeries series, SealedWindow window, long schema) {
    if (window.schema() != schema) {
      series.release();
      return null;
    }
    long unknownRows = series.unknownRows();
    Deltas deltas = series.fold(window);
    return series.unknownRows() == unknownRows ? deltas : null;
  }

  /** What a scraper was not given by the owner before. */
  private static final class Backlog {
    final Scraper scraper;
    final long mark;
    private final long until;
    private Deltas deltas = Deltas.NONE;

    /** Offset after the last window that it was given or is given here. */
    private long at;

    private long missed;

    Backlog(Scraper scraper, long mark, long until) {
      this.scraper = scraper;
      this.mark = mark;
      this.until = until;
      at = mark;
    }

    /** A mark that is ahead is one of a topic that there was before. */
    boolean isBehind() {
      return mark != JournalLog.NONE && until != JournalLog.NONE && mark < until;
    }

    /**
     * Adds the next window.
     *
     * @param added null if it cannot be given
     */
    void add(SealedWindow window, Deltas added) {
      if (!isBehind() || window.from() < at || at >= until) {
        return;
      }
      skip(window.from());
      if (added == null) {
        missed += window.to() - at;
      } else {
        deltas = deltas.plus(added);
      }
      at = window.to();
    }

    private void skip(long to) {
      // Without a window before, none was missed.
      if (to > at && at > 0) {
        missed += to - at;
      }
      at = to;
    }

    long missedMessages() {
      if (isBehind() && at < until) {
        skip(until);
      }
      return missed;
    }
  }

  /** Tells what waits; nanoseconds until it may be tried again. */
  private long tellAll() throws InterruptedException {
    List<Key> waiting;
    synchronized (lock) {
      waiting = List.copyOf(marks.keySet());
    }
    for (Key key : waiting) {
      tellReleased();
      tell(key);
    }
    tellReleased();
    return SteppedTask.IDLE_NANOS;
  }

  /** Those of queues whose next owners wait come before all others. */
  private void tellReleased() throws InterruptedException {
    List<Key> first;
    synchronized (lock) {
      first =
          flushes.isEmpty()
              ? List.of()
              : marks.keySet().stream().filter(key -> flushes.containsKey(key.queue())).toList();
    }
    for (Key key : first) {
      tell(key);
    }
    synchronized (lock) {
      for (Iterator<Map.Entry<QueueDeltas, CompletableFuture<Void>>> i =
              flushes.entrySet().iterator();
          i.hasNext(); ) {
        Map.Entry<QueueDeltas, CompletableFuture<Void>> flush = i.next();
        if (!waits(flush.getKey())) {
          i.remove();
          flush.getValue().complete(null);
        }
      }
    }
  }

  private void tell(Key key) throws InterruptedException {
    QueueDeltas queue = key.queue();
    long offset;
    synchronized (lock) {
      Long waiting = marks.get(key);
      Long retry = retryNanos.get(queue.queue().broker());
      long nowNanos = nanoClock.getAsLong();
      boolean covered = queue.lease().covers(nowNanos);
      if (queue.left() || (queue.lease().ended() && !covered)) {
        marks.remove(key);
        return;
      }
      if (waiting == null || !covered || (retry != null && retry - nowNanos > 0)) {
        return;
      }
      offset = waiting;
    }
    try {
      keep(queue, key.scraper(), offset);
      synchronized (lock) {
        retryNanos.remove(queue.queue().broker());
        marks.remove(key, offset);
      }
    } catch (IOException | RuntimeException e) {
      // One that fails keeps no other one from being told.
      failed(queue, e);
    }
  }

  /**
   * Marks a place and asks for it. A broker may acknowledge a mark and forget it: RocketMQ 5.5
   * makes a group's table at its first mark, and of two servers that mark a new group at the same
   * time the later one's table replaces the other's. Without its mark the scraper would be a new
   * one to the queue's next owner, and would miss in silence what this owner had not given yet.
   */
  private void keep(QueueDeltas queue, Scraper scraper, long offset)
      throws IOException, InterruptedException {
    for (int attempt = 1; attempt <= MARK_ATTEMPTS; attempt++) {
      places.mark(queue.queue(), scraper.group(), offset);
      if (places.mark(queue.queue(), scraper.group()) == offset) {
        return;
      }
    }
    throw new IOException(
        "the broker does not keep place " + offset + " of group " + scraper.group());
  }

  private void failed(QueueDeltas queue, Exception e) {
    synchronized (lock) {
      // From now: the call itself may have taken long.
      retryNanos.put(queue.queue().broker(), nanoClock.getAsLong() + FAILED_NANOS);
    }
    failures.increment();
    if (throttle.permits()) {
      log.warn(
          "Scrapers' places in queue {} could not be asked for or told: {}; trying on",
          queue.queue(),
          e.toString());
    }
  }
}
