package org.traceetl.server.ozhera.delta;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.LogThrottle;
import org.traceetl.server.expose.FoldThread;
import org.traceetl.server.expose.Lease;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.ozhera.OzheraConfig;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Gives each scraper each window of each queue once, added up since its last answer. One thread,
 * the fold thread, owns all sums and places; windows, releases, scrapes and their outcomes come to
 * it through one bounded queue. An answer is written by the thread that asked for it, from sums
 * that nobody changes.
 *
 * <p>A scraper's place in a queue moves when its answer was written to the last byte without an
 * error, in time, and with the leases of all its queues still held just before its last bytes; else
 * it stays, and the next answer has what this one had. A place that has moved is told the queue's
 * broker, so that the queue's next owner goes on there: what is between it and the queue's end that
 * owner reads from the journal. A queue under a lease that has run out is not part of an answer.
 *
 * <p>An owner that releases a queue waits until the outcome of answers that are under their last
 * bytes is known and the broker has the places, for at most {@value #RELEASE_MILLIS} ms: so windows
 * are neither lost nor given twice when a queue moves from one server that runs to another one.
 * What cannot be told apart is what became of bytes that were handed to the kernel, and a place is
 * told after the bytes. Hence
 *
 * <ul>
 *   <li>a window is lost to a scraper that dies, or gives up waiting by less than the network
 *       takes, after this side has taken all bytes for written; and when it is older than what the
 *       next owner reads back
 *   <li>a window is given twice when this process dies, or stands still for longer than its lease,
 *       or its broker does not answer, between an answer's last byte and the broker having the
 *       place; when a scraper takes longer than {@value #RELEASE_MILLIS} ms for the last bytes of
 *       its answer while a queue in it is released; and when a scraper that got all bytes resets
 *       the connection so early that the write failed.
 * </ul>
 *
 * <p>Only the scrapers that the configuration names take windows, and only they have places. A
 * queue's owner tells the broker their places when it takes the queue, whether or not they have
 * asked yet: each is given all that is counted from then on. {@link #look} is for everyone else. It
 * changes nothing.
 */
public final class DeltaPages implements WindowFollower, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(DeltaPages.class);

  /**
   * How long a release waits for places to be told. Well below what the queue's next owner waits
   * for its release: one that claims it before has to hide it, from all scrapers, until this
   * server's lease is over.
   */
  private static final long RELEASE_MILLIS = 1_500;

  /** The fold thread is behind by more than scrapers wait for. */
  private static final long COMMIT_MILLIS = 10_000;

  /** A scraper that has not looked like several for so long is taken for one. */
  private static final long DOUBT_NANOS = TimeUnit.MINUTES.toNanos(10);

  /** Answers of a scraper that threads may hold: one, and one that has expired. */
  private static final int MAX_HELD = 2;

  /** How long a scraper waits for its places, and for the end of its answer before. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final int stride;
  private final DeltaText text;
  private final DeltaText lookText;
  private final OzheraConfig config;
  private final String groupPrefix;
  private final long windowMillis;
  private final long maxPendingSeries;
  private final InstantSource clock;
  private final LongConsumer writtenNanos;
  private final LongSupplier nanoClock;
  private final LogThrottle throttle;
  private final PlaceKeeper keeper;
  private final FoldThread<Message> thread = new FoldThread<>(new OnFoldThread());

  /** Of the queues that were restored and are not released. */
  private final Map<QueueId, Lease> leases = new ConcurrentHashMap<>();

  private volatile Totals totals = new Totals(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, Map.of());

  // The fold thread's
  private final LabelSets labels = new LabelSets();
  private final Map<QueueId, QueueDeltas> queues = new TreeMap<>();
  private final Map<String, Scraper> scrapers = new HashMap<>();
  private long windows;
  private long unknownRowsReleased;
  private long backlogUnknownRows;
  private long delivered;
  private long failed;
  private long bytes;
  private long forgottenForRoom;
  private final List<CompletableFuture<Void>> waits = new ArrayList<>();

  /**
   * @param config of the profile
   * @param stride buckets of a window's row
   * @param consumerGroup of the server; those of scrapers' places begin with it
   * @param window length of one
   * @param maxPendingSeries above so many that are kept for scrapers, counted at each sum, the one
   *     that is silent for longest is forgotten, unless it is the only one
   * @param lookBack how far the journal is read back for what a former owner did not give
   * @param places called by threads of this object's
   * @param writtenNanos is told on the fold thread how long it took to write an answer to the end
   * @param nanoClock as {@link System#nanoTime}
   */
  public DeltaPages(
      OzheraConfig config,
      int stride,
      String consumerGroup,
      Duration window,
      long maxPendingSeries,
      Duration lookBack,
      ScraperPlaces places,
      LongConsumer writtenNanos,
      InstantSource clock,
      LongSupplier nanoClock) {
    this.config = config;
    this.stride = stride;
    this.nanoClock = nanoClock;
    this.writtenNanos = writtenNanos;
    text = new DeltaText(config.env(), "Since this scraper's last answer.");
    lookText = new DeltaText(config.env(), "Of the newest window of each queue.");
    groupPrefix = consumerGroup + "-scraper-";
    windowMillis = window.toMillis();
    this.maxPendingSeries = maxPendingSeries;
    this.clock = clock;
    throttle = new LogThrottle(clock);
    keeper = new PlaceKeeper(places, lookBack, this::found, clock, nanoClock);
    // Before they ask: a queue whose owner dies before its first scrape has their places by then.
    config.scrapers().forEach(identity -> begin(identity, nanoClock.getAsLong()));
  }

  public void start() {
    thread.start();
    keeper.start();
  }

  /** False once one of its threads has ended, by {@link #close} or by an error. */
  public boolean running() {
    return !thread.ended() && keeper.alive();
  }

  /**
   * Hands the window to the fold thread. Waits while its queue is full: the window is kept in the
   * journal already, so dropping it would make the sums wrong.
   *
   * @throws IllegalArgumentException if the window's buckets are not the configured ones
   * @throws IllegalStateException after {@link #close}, or if the fold thread has ended
   */
  @Override
  public void window(SealedWindow window) {
    if (window.rows() > 0 && window.stride() != stride) {
      throw new IllegalArgumentException(
          "window of queue "
              + window.queue()
              + " from offset "
              + window.from()
              + " has "
              + window.stride()
              + " buckets: must have "
              + stride);
    }
    thread.put(new Fold(window));
  }

  @Override
  public void restored(QueueId queue, QueueImage image, long showFromNanos) {
    Lease lease = new Lease(showFromNanos);
    leases.put(queue, lease);
    thread.put(new Restore(queue, image, lease));
  }

  @Override
  public void shownUntil(QueueId queue, long nanos) {
    Lease lease = leases.get(queue);
    if (lease != null) {
      lease.extend(nanos);
    }
  }

  /** Waits, for a bounded time, until the broker has the places of scrapers in the queue. */
  @Override
  public void released(QueueId queue) {
    Lease lease = leases.remove(queue);
    if (lease != null) {
      lease.end();
    }
    var done = new CompletableFuture<Void>();
    thread.put(new Release(queue, done));
    try {
      done.get(RELEASE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      if (throttle.permits()) {
        log.warn(
            "Queue {} is released before its broker has the places of all scrapers: its next owner"
                + " may give them again what they were just given",
            queue);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      throw thread.endedException();
    } finally {
      // From here on places of it are not told any more.
      done.cancel(false);
    }
  }

  /**
   * What a scraper has not been given yet. To be settled, whatever becomes of it.
   *
   * @param identity of the scraper
   * @param from where it asks from: two that share an identity ask from two places
   * @param most for how long the scraper waits for the whole answer
   * @throws ScraperRefused if no configuration names it, or it has to come again
   * @throws TimeoutException if the fold thread is behind
   * @throws IllegalStateException if the fold thread has ended
   */
  public Answer take(String identity, String from, Duration most)
      throws ScraperRefused, TimeoutException, InterruptedException {
    if (!config.scrapers().contains(identity)) {
      throw ScraperRefused.notConfigured(
          "scraper "
              + identity
              + " is not one of trace-etl.ozhera.scrapers: add it there, on all servers. To look at"
              + " the newest windows by hand give no name");
    }
    long nowNanos = nanoClock.getAsLong();
    var answer = new CompletableFuture<Answer>();
    Take take =
        new Take(
            identity,
            from,
            nowNanos + most.toNanos(),
            nowNanos + Math.min(PATIENCE_NANOS, most.toNanos() / 4),
            answer);
    ask(take, most);
    try {
      return answer.get(most.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof ScraperRefused refused) {
        throw refused;
      }
      throw thread.endedException();
    } finally {
      answer.cancel(false);
    }
  }

  /**
   * Returns the newest window of each queue, whoever was given it. It changes nothing, and is not
   * to be settled.
   *
   * @throws TimeoutException if the fold thread is behind
   * @throws IllegalStateException if the fold thread has ended
   */
  public Answer look(Duration most) throws TimeoutException, InterruptedException {
    var answer = new CompletableFuture<Answer>();
    ask(new Look(nanoClock.getAsLong() + most.toNanos(), answer), most);
    try {
      return answer.get(most.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw thread.endedException();
    }
  }

  private void ask(Message message, Duration most) throws TimeoutException, InterruptedException {
    if (!thread.offer(message, most.toNanos())) {
      throw new TimeoutException("the fold thread is behind by all windows that it has room for");
    }
  }

  /**
   * Whether the last bytes of an answer may be written: just before they are.
   *
   * @return false if it would count as not written: it took too long, or another server may give
   *     the same
   */
  public boolean commit(Answer answer) throws InterruptedException {
    var permitted = new CompletableFuture<Boolean>();
    thread.put(new Commit(answer, permitted));
    try {
      return permitted.get(COMMIT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      return false;
    }
  }

  /**
   * Ends an answer.
   *
   * @param written whether all of it was, without an error
   */
  public void settle(Answer answer, boolean written) {
    boolean inTime = !answer.expired(nanoClock.getAsLong());
    try {
      thread.put(new Settle(answer, written && inTime));
    } catch (IllegalStateException e) {
      log.debug("An answer ends after the fold thread", e);
    }
  }

  /** Waits until all given before is taken in, and in {@link #totals}. */
  public void await(Duration most) throws TimeoutException, InterruptedException {
    var done = new CompletableFuture<Void>();
    ask(new Wait(done), most);
    try {
      done.get(most.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw thread.endedException();
    }
  }

  public Totals totals() {
    return totals;
  }

  /** Calls of brokers about places that failed. */
  public long placeFailures() {
    return keeper.failures();
  }

  /** Ends its threads after what waits. Idempotent. */
  @Override
  public void close() {
    thread.close();
    keeper.close();
  }

  private void found(PlaceKeeper.Found found) {
    try {
      thread.put(new Located(found));
    } catch (IllegalStateException e) {
      log.debug("Nobody wants to know a scraper's place any more", e);
    }
  }

  private final class OnFoldThread implements FoldThread.Fold<Message> {
    @Override
    public long idleNanos() {
      long nowNanos = nanoClock.getAsLong();
      long idleNanos = Long.MAX_VALUE;
      for (Scraper scraper : scrapers.values()) {
        if (scraper.waiting != null) {
          idleNanos = Math.min(idleNanos, scraper.waiting.patientUntilNanos() - nowNanos);
        }
      }
      return Math.max(0, idleNanos);
    }

    @Override
    public void apply(Message message) {
      switch (message) {
        case Fold(SealedWindow window) -> {
          queues.computeIfAbsent(window.queue(), DeltaPages.this::unleased).fold(window);
          windows++;
        }
        case Restore restore -> restore(restore);
        case Release(QueueId queue, CompletableFuture<Void> done) -> release(queue, done);
        case Take take -> take(take);
        case Look look -> look.answer().complete(newest(look));
        case Commit(Answer answer, CompletableFuture<Boolean> permitted) ->
            permitted.complete(permit(answer));
        case Settle(Answer answer, boolean written) -> {
          answer.scraper().held--;
          if (answer.scraper().answer == answer) {
            settleNow(answer, written);
          }
        }
        case Located(PlaceKeeper.Found found) -> locate(found);
        case Wait(CompletableFuture<Void> done) -> waits.add(done);
      }
    }

    @Override
    public void settle() {
      long nowNanos = nanoClock.getAsLong();
      for (Scraper scraper : scrapers.values()) {
        giveIfDue(scraper, nowNanos);
      }
      forgetSilent(nowNanos);
      while (count(nowNanos) > maxPendingSeries && scrapers.size() > 1) {
        forgetForRoom(nowNanos);
      }
      waits.forEach(done -> done.complete(null));
      waits.clear();
    }

    @Override
    public void end(List<Message> left) {
      waits.forEach(done -> done.completeExceptionally(thread.endedException()));
      for (Scraper scraper : scrapers.values()) {
        if (scraper.waiting != null) {
          scraper.waiting.answer().completeExceptionally(thread.endedException());
        }
      }
      for (Message message : left) {
        switch (message) {
          case Release(QueueId queue, CompletableFuture<Void> done) ->
              done.completeExceptionally(thread.endedException());
          case Take take -> take.answer().completeExceptionally(thread.endedException());
          case Look look -> look.answer().completeExceptionally(thread.endedException());
          case Commit(Answer answer, CompletableFuture<Boolean> permitted) ->
              permitted.complete(false);
          case Wait(CompletableFuture<Void> done) ->
              done.completeExceptionally(thread.endedException());
          case Fold f -> {}
          case Restore r -> {}
          case Settle s -> {}
          case Located l -> {}
        }
      }
    }
  }

  /** One that was never restored is shown until its release, and nothing is known of it. */
  private QueueDeltas unleased(QueueId queue) {
    Lease lease = new Lease(nanoClock.getAsLong());
    lease.extend(lease.fromNanos() + Long.MAX_VALUE);
    return hold(queue, lease, new QueueImage(0, stride, 1));
  }

  private void restore(Restore restore) {
    release(restore.queue(), new CompletableFuture<>());
    queues.put(restore.queue(), hold(restore.queue(), restore.lease(), restore.image()));
  }

  private QueueDeltas hold(QueueId id, Lease lease, QueueImage image) {
    QueueDeltas queue = new QueueDeltas(id, lease, labels, image);
    List<Scraper> known = List.copyOf(scrapers.values());
    known.forEach(scraper -> queue.add(scraper, newMillis()));
    if (!known.isEmpty()) {
      keeper.search(
          queue, known, queue.offset(known.getFirst()), queue.sealedMillis(known.getFirst()));
    }
    return queue;
  }

  /** Windows sealed before are no news to a scraper that begins. */
  private long newMillis() {
    return clock.millis() - 2 * windowMillis;
  }

  private void release(QueueId id, CompletableFuture<Void> done) {
    QueueDeltas queue = queues.remove(id);
    if (queue == null) {
      done.complete(null);
      return;
    }
    unknownRowsReleased += queue.unknownRows();
    queue.release();
    queue.released = done;
    flushIfSettled(queue);
  }

  private void flushIfSettled(QueueDeltas queue) {
    if (queue.released != null && queue.committed == 0) {
      keeper.flush(queue, queue.released);
    }
  }

  private void take(Take take) {
    long nowNanos = nanoClock.getAsLong();
    Scraper scraper = scrapers.get(take.identity());
    if (scraper == null) {
      scraper = begin(take.identity(), nowNanos);
    }
    if (scraper.answer != null && scraper.answer.expired(nowNanos)) {
      settleNow(scraper.answer, false);
    }
    doubt(scraper, take, nowNanos);
    scraper.askedNanos = nowNanos;
    if (scraper.waiting != null) {
      refuseBusy(scraper, take);
      return;
    }
    scraper.waiting = take;
    giveIfDue(scraper, nowNanos);
  }

  private Answer newest(Look look) {
    long nowNanos = nanoClock.getAsLong();
    List<Answer.Part> parts = new ArrayList<>();
    for (QueueDeltas queue : queues.values()) {
      if (queue.lease().permits(nowNanos)) {
        parts.add(queue.newest());
      }
    }
    return new Answer(null, parts, lookText, nowNanos, look.deadlineNanos(), nanoClock);
  }

  private static void refuseBusy(Scraper scraper, Take take) {
    take.answer()
        .completeExceptionally(
            ScraperRefused.busy(
                "scraper "
                    + scraper.identity()
                    + " is being answered already: every scraper must have a name of its own,"
                    + " given by parameter scraper (in Prometheus params: {scraper: [name]})"));
  }

  private Scraper begin(String identity, long nowNanos) {
    Scraper scraper = new Scraper(identity, groupPrefix + ScraperGroups.suffix(identity));
    scraper.askedNanos = nowNanos;
    scrapers.put(identity, scraper);
    for (QueueDeltas queue : queues.values()) {
      queue.add(scraper, newMillis());
      keeper.search(queue, List.of(scraper), queue.offset(scraper), queue.sealedMillis(scraper));
    }
    return scraper;
  }

  /** Two that have one identity take each other's windows away; they come in turn. */
  private static void doubt(Scraper scraper, Take take, long nowNanos) {
    if (scraper.returns(take.from())) {
      if (!scraper.doubted) {
        log.warn(
            "Scraper {} asks from several places in turn, {} among them: if these are several, each"
                + " gets a part of the counts. Give each a name of its own, in Prometheus"
                + " params: {scraper: [name]}",
            scraper.identity(),
            take.from());
      }
      scraper.doubted = true;
      scraper.doubtedNanos = nowNanos;
    } else if (nowNanos - scraper.doubtedNanos >= DOUBT_NANOS) {
      scraper.doubted = false;
    }
  }

  private void giveIfDue(Scraper scraper, long nowNanos) {
    Take take = scraper.waiting;
    if (take == null) {
      return;
    }
    boolean patient = take.patientUntilNanos() - nowNanos > 0;
    // Its end is heard of after its last bytes; one that has expired is no longer waited for.
    if (scraper.answer != null && scraper.answer.expired(nowNanos)) {
      settleNow(scraper.answer, false);
    }
    if (scraper.answer != null || scraper.held >= MAX_HELD) {
      if (!patient) {
        scraper.waiting = null;
        refuseBusy(scraper, take);
      }
      return;
    }
    boolean known = true;
    List<Answer.Part> parts = new ArrayList<>();
    for (QueueDeltas queue : queues.values()) {
      if (queue.lease().permits(nowNanos)) {
        known &= queue.knows(scraper);
      }
    }
    if (!known && patient) {
      return;
    }
    scraper.waiting = null;
    if (take.answer().isDone()) {
      return;
    }
    for (QueueDeltas queue : queues.values()) {
      if (queue.lease().permits(nowNanos) && queue.knows(scraper)) {
        parts.add(queue.give(scraper));
      }
    }
    if (!known && parts.isEmpty()) {
      take.answer()
          .completeExceptionally(
              ScraperRefused.placeUnknown(
                  "the brokers have not told how far scraper "
                      + scraper.identity()
                      + " is; see the log"));
      return;
    }
    scraper.answer =
        new Answer(scraper, List.copyOf(parts), text, nowNanos, take.deadlineNanos(), nanoClock);
    scraper.held++;
    if (!take.answer().complete(scraper.answer)) {
      scraper.held--;
      settleNow(scraper.answer, false);
    }
  }

  private boolean permit(Answer answer) {
    long nowNanos = nanoClock.getAsLong();
    if (answer.scraper().answer != answer || answer.committed() || answer.expired(nowNanos)) {
      return false;
    }
    for (Answer.Part part : answer.parts()) {
      if (!part.queue().lease().permits(nowNanos)) {
        return false;
      }
    }
    answer.commit();
    answer.parts().forEach(part -> part.queue().committed++);
    return true;
  }

  private void settleNow(Answer answer, boolean written) {
    Scraper scraper = answer.scraper();
    scraper.answer = null;
    boolean given = written && answer.committed();
    if (given) {
      delivered++;
      bytes += answer.bytes();
      long nowNanos = nanoClock.getAsLong();
      writtenNanos.accept(nowNanos - answer.takenNanos());
    } else {
      failed++;
      if (throttle.permits()) {
        log.warn(
            "An answer to scraper {} was not written to its end in time: it is part of its next"
                + " one",
            scraper.identity());
      }
    }
    for (Answer.Part part : answer.parts()) {
      QueueDeltas queue = part.queue();
      long offset = queue.settle(scraper, part, given);
      if (offset != JournalLog.NONE) {
        keeper.mark(queue, scraper, offset);
      }
      if (answer.committed()) {
        queue.committed--;
        flushIfSettled(queue);
      }
    }
  }

  private void locate(PlaceKeeper.Found found) {
    QueueDeltas queue = found.queue();
    Scraper scraper = found.scraper();
    if (scrapers.get(scraper.identity()) != scraper || queue.knows(scraper)) {
      return;
    }
    queue.locate(scraper, found.mark(), found.backlog(), found.missedMessages());
    backlogUnknownRows += found.unknownRows();
    if (queue.isUpTo(scraper)) {
      // Whoever owns the queue next is to know how far the scraper is.
      long offset = Math.max(0, queue.offset(scraper));
      if (found.mark() != offset) {
        keeper.mark(queue, scraper, offset);
      }
    }
  }

  private void forgetSilent(long nowNanos) {
    for (Iterator<Scraper> i = scrapers.values().iterator(); i.hasNext(); ) {
      Scraper scraper = i.next();
      if (nowNanos - scraper.askedNanos >= config.forgetScraperAfter().toNanos()) {
        i.remove();
        forget(scraper);
      }
    }
  }

  private Scraper longestSilent(long nowNanos) {
    return scrapers.values().stream()
        .max(Comparator.comparingLong(scraper -> nowNanos - scraper.askedNanos))
        .orElseThrow();
  }

  private void forgetForRoom(long nowNanos) {
    Scraper silent = longestSilent(nowNanos);
    forgottenForRoom++;
    if (throttle.permits()) {
      log.warn(
          "More than {} series are kept for scrapers that were not given them: {}, which is silent"
              + " for {} s, longer than all others, is forgotten",
          maxPendingSeries,
          silent.identity(),
          TimeUnit.NANOSECONDS.toSeconds(nowNanos - silent.askedNanos));
    }
    scrapers.remove(silent.identity());
    forget(silent);
  }

  private void forget(Scraper scraper) {
    log.info(
        "Scraper {} is forgotten: it was silent, and nothing is kept for it any more",
        scraper.identity());
    if (scraper.answer != null) {
      settleNow(scraper.answer, false);
    }
    if (scraper.waiting != null) {
      refuseBusy(scraper, scraper.waiting);
      scraper.waiting = null;
    }
    queues.values().forEach(queue -> queue.remove(scraper));
  }

  /** Series that are kept for scrapers. */
  private long count(long nowNanos) {
    int hidden = 0;
    long pending = 0;
    long unknownRows = unknownRowsReleased + backlogUnknownRows;
    for (QueueDeltas queue : queues.values()) {
      hidden += queue.lease().permits(nowNanos) ? 0 : 1;
      pending += queue.pendingSeries();
      unknownRows += queue.unknownRows();
    }
    Map<String, Long> missed = new HashMap<>();
    int doubted = 0;
    for (Scraper scraper : scrapers.values()) {
      missed.put(scraper.identity(), scraper.missedMessages);
      doubted += scraper.doubted ? 1 : 0;
    }
    totals =
        new Totals(
            queues.size(),
            hidden,
            labels.size(),
            pending,
            windows,
            unknownRows,
            delivered,
            failed,
            bytes,
            doubted,
            forgottenForRoom,
            Map.copyOf(missed));
    return pending;
  }

  /**
   * What is held, and what was given.
   *
   * @param queues whose windows are held
   * @param hidden those of them that are not part of answers: a former owner may give them, or
   *     their lease has run out
   * @param labelSets sets of labels that a page may have
   * @param pendingSeries series with something that is kept for scrapers, counted at each sum
   * @param windows folded since the start
   * @param unknownRows rows of windows that belonged to no series of a known type
   * @param delivered answers that were written to the end
   * @param failed answers that were not, and were added to the next ones
   * @param bytes of the former, before compression
   * @param doubted scrapers that look like several
   * @param forgottenForRoom scrapers that were forgotten because too much was kept
   * @param missedMessages by scraper that there is: messages of the span topic whose counts it
   *     cannot be given any more
   */
  public record Totals(
      int queues,
      int hidden,
      int labelSets,
      long pendingSeries,
      long windows,
      long unknownRows,
      long delivered,
      long failed,
      long bytes,
      int doubted,
      long forgottenForRoom,
      Map<String, Long> missedMessages) {}

  private sealed interface Message {}

  private record Fold(SealedWindow window) implements Message {}

  private record Restore(QueueId queue, QueueImage image, Lease lease) implements Message {}

  private record Release(QueueId queue, CompletableFuture<Void> done) implements Message {}

  /** A scraper wants what it was not given. */
  record Take(
      String identity,
      String from,
      long deadlineNanos,
      long patientUntilNanos,
      CompletableFuture<Answer> answer)
      implements Message {}

  /** Somebody wants to see what there is. */
  private record Look(long deadlineNanos, CompletableFuture<Answer> answer) implements Message {}

  private record Commit(Answer answer, CompletableFuture<Boolean> permitted) implements Message {}

  private record Settle(Answer answer, boolean written) implements Message {}

  private record Located(PlaceKeeper.Found found) implements Message {}

  private record Wait(CompletableFuture<Void> done) implements Message {}
}
