package org.traceetl.server.ozhera.delta;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.ozhera.delta.positions.ScraperGroups;
import org.traceetl.server.ozhera.delta.series.DeltaText;

/**
 * Answers scrapers: takes their requests, gives each its open answer, and moves its positions when
 * the answer was delivered. Confined to the fold thread.
 */
final class ScraperSessions {
  private static final Logger log = LoggerFactory.getLogger(ScraperSessions.class);

  /** Open answers of a scraper: the current one, and an expired one that is still written. */
  private static final int MAX_OPEN_ANSWERS = 2;

  private final Collection<QueueDeltas> queues;
  private final PositionFinder finder;
  private final PositionWriter writer;
  private final DeltaText text;
  private final String groupPrefix;
  private final long windowMillis;
  private final Duration forgetAfter;
  private final LongConsumer writtenNanos;
  private final Clocks clocks;
  private final LongSupplier nanoClock;
  private final LogThrottle throttle;
  private final Map<String, ScraperSession> scrapers = new HashMap<>();
  private long backlogUnknownRows;
  private long delivered;
  private long failed;
  private long bytes;
  private long forgottenForRoom;

  /**
   * @param queues a view of the queues that this server owns
   * @param writtenNanos receives the duration of each delivered answer
   */
  ScraperSessions(
      DeltaOptions options,
      Collection<QueueDeltas> queues,
      PositionFinder finder,
      PositionWriter writer,
      LongConsumer writtenNanos,
      Clocks clocks) {
    this.queues = queues;
    this.finder = finder;
    this.writer = writer;
    this.writtenNanos = writtenNanos;
    this.clocks = clocks;
    text = new DeltaText(options.config().env(), "Since this scraper's last answer.");
    groupPrefix = options.consumerGroup() + "-scraper-";
    windowMillis = options.window().toMillis();
    forgetAfter = options.config().forgetScraperAfter();
    nanoClock = clocks.nanoClock();
    throttle = new LogThrottle(clocks.wall());
    // Before their first scrape: if a queue's owner dies before it, the brokers have the positions.
    options.config().scrapers().forEach(identity -> begin(identity, nanoClock.getAsLong()));
  }

  /** Adds the scrapers to a queue that this server has become the owner of. */
  void queueAdded(QueueDeltas queue) {
    List<ScraperSession> known = List.copyOf(scrapers.values());
    known.forEach(scraper -> queue.add(scraper, newSinceMillis()));
    if (!known.isEmpty()) {
      finder.search(queue, known);
    }
  }

  /** A scraper that begins does not receive windows sealed before this time. */
  private long newSinceMillis() {
    return clocks.wall().millis() - 2 * windowMillis;
  }

  private ScraperSession begin(String identity, long nowNanos) {
    ScraperSession scraper =
        new ScraperSession(identity, groupPrefix + ScraperGroups.suffix(identity), nowNanos);
    scrapers.put(identity, scraper);
    for (QueueDeltas queue : queues) {
      queue.add(scraper, newSinceMillis());
      finder.search(queue, List.of(scraper));
    }
    return scraper;
  }

  void take(DeltaMessage.Take take) {
    long nowNanos = nanoClock.getAsLong();
    ScraperSession scraper = scrapers.get(take.identity());
    if (scraper == null) {
      scraper = begin(take.identity(), nowNanos);
    }
    expireAnswer(scraper, nowNanos);
    scraper.asked(take.address(), nowNanos);
    if (scraper.waiting != null) {
      scraper.refuseBusy(take);
      return;
    }
    scraper.waiting = take;
    answerIfDue(scraper, nowNanos);
  }

  /** Returns the nanoseconds until the first request that waits loses its patience. */
  long idleNanos() {
    long nowNanos = nanoClock.getAsLong();
    long idleNanos = Long.MAX_VALUE;
    for (ScraperSession scraper : scrapers.values()) {
      if (scraper.waiting != null) {
        idleNanos = Math.min(idleNanos, scraper.waiting.patientUntilNanos() - nowNanos);
      }
    }
    return Math.max(0, idleNanos);
  }

  /** Answers the requests that are due, and forgets silent scrapers. */
  void doWork(long nowNanos) {
    for (ScraperSession scraper : scrapers.values()) {
      answerIfDue(scraper, nowNanos);
    }
    for (Iterator<ScraperSession> i = scrapers.values().iterator(); i.hasNext(); ) {
      ScraperSession scraper = i.next();
      if (nowNanos - scraper.askedNanos >= forgetAfter.toNanos()) {
        i.remove();
        forget(scraper);
      }
    }
  }

  private void answerIfDue(ScraperSession scraper, long nowNanos) {
    DeltaMessage.Take take = scraper.waiting;
    if (take == null) {
      return;
    }
    boolean patient = take.patientUntilNanos() - nowNanos > 0;
    expireAnswer(scraper, nowNanos);
    if (scraper.answer != null || scraper.openAnswers >= MAX_OPEN_ANSWERS) {
      if (!patient) {
        scraper.waiting = null;
        scraper.refuseBusy(take);
      }
      return;
    }
    List<QueueDeltas> shown = new ArrayList<>();
    for (QueueDeltas queue : queues) {
      if (queue.lease().permits(nowNanos)) {
        shown.add(queue);
      }
    }
    boolean allKnown = shown.stream().allMatch(queue -> queue.knows(scraper));
    if (!allKnown && patient) {
      return;
    }
    scraper.waiting = null;
    if (!take.answer().isDone()) {
      answer(scraper, take, shown, allKnown, nowNanos);
    }
  }

  private void answer(
      ScraperSession scraper,
      DeltaMessage.Take take,
      List<QueueDeltas> shown,
      boolean allKnown,
      long nowNanos) {
    List<Answer.Part> parts =
        shown.stream()
            .filter(queue -> queue.knows(scraper))
            .map(queue -> queue.give(scraper))
            .toList();
    if (!allKnown && parts.isEmpty()) {
      take.answer()
          .completeExceptionally(
              ScraperRefused.positionUnknown(
                  "the positions of scraper "
                      + scraper.identity()
                      + " could not be read from the brokers; see the server's log"));
      return;
    }
    scraper.answer = new Answer(scraper, parts, text, nowNanos, take.deadlineNanos(), nanoClock);
    scraper.openAnswers++;
    if (!take.answer().complete(scraper.answer)) {
      scraper.openAnswers--;
      settleNow(scraper.answer, false);
    }
  }

  private void expireAnswer(ScraperSession scraper, long nowNanos) {
    if (scraper.answer != null && scraper.answer.expired(nowNanos)) {
      settleNow(scraper.answer, false);
    }
  }

  /** Returns whether the last bytes of an answer may be written. */
  boolean commit(Answer answer) {
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

  /** Ends an answer; one that has expired was settled before. */
  void settle(Answer answer, boolean written) {
    answer.scraper().openAnswers--;
    if (answer.scraper().answer == answer) {
      settleNow(answer, written);
    }
  }

  private void settleNow(Answer answer, boolean written) {
    ScraperSession scraper = answer.scraper();
    scraper.answer = null;
    boolean given = written && answer.committed();
    if (given) {
      delivered++;
      bytes += answer.bytes();
      writtenNanos.accept(nanoClock.getAsLong() - answer.takenNanos());
    } else {
      failed++;
      if (throttle.permits()) {
        log.warn(
            "An answer to scraper {} was not written to its end in time; its next answer contains"
                + " the same windows",
            scraper.identity());
      }
    }
    for (Answer.Part part : answer.parts()) {
      QueueDeltas queue = part.queue();
      long offset = queue.settle(scraper, part, given);
      if (offset != JournalLog.NONE) {
        writer.store(queue, scraper, offset);
      }
      if (answer.committed()) {
        queue.committed--;
        writer.flushIfSettled(queue);
      }
    }
  }

  /** Takes over the result of a search for positions. */
  void located(PositionFinder.Found found) {
    QueueDeltas queue = found.queue();
    ScraperSession scraper = found.scraper();
    if (scrapers.get(scraper.identity()) != scraper || queue.knows(scraper)) {
      return;
    }
    queue.locate(scraper, found.position(), found.backlog(), found.missedMessages());
    backlogUnknownRows += found.unknownRows();
    if (queue.isUpTo(scraper)) {
      // The next owner needs the position.
      long offset = Math.max(0, queue.offset(scraper));
      if (found.position() != offset) {
        writer.store(queue, scraper, offset);
      }
    }
  }

  /** Returns whether a scraper can be forgotten to make room. */
  boolean canForget() {
    return scrapers.size() > 1;
  }

  /** Forgets the scraper that was silent for longest, because too many series are stored. */
  void forgetForRoom(long maxPendingSeries, long nowNanos) {
    ScraperSession silent =
        scrapers.values().stream()
            .max(Comparator.comparingLong(scraper -> nowNanos - scraper.askedNanos))
            .orElseThrow();
    forgottenForRoom++;
    if (throttle.permits()) {
      log.warn(
          "More than {} series are kept for scrapers: scraper {}, which was silent for longest, is"
              + " forgotten; silentSeconds={}",
          maxPendingSeries,
          silent.identity(),
          TimeUnit.NANOSECONDS.toSeconds(nowNanos - silent.askedNanos));
    }
    scrapers.remove(silent.identity());
    forget(silent);
  }

  private void forget(ScraperSession scraper) {
    log.info(
        "Scraper {} is forgotten: no windows are kept for it until it scrapes again",
        scraper.identity());
    if (scraper.answer != null) {
      settleNow(scraper.answer, false);
    }
    if (scraper.waiting != null) {
      scraper.refuseBusy(scraper.waiting);
      scraper.waiting = null;
    }
    queues.forEach(queue -> queue.remove(scraper));
  }

  /** Ends the requests that wait, because the fold thread has ended. */
  void abandon(IllegalStateException ended) {
    for (ScraperSession scraper : scrapers.values()) {
      if (scraper.waiting != null) {
        scraper.waiting.abandon(ended);
      }
    }
  }

  /** Returns the counts, those of the queues being given. */
  DeltaTotals totals(
      int queueCount, int hidden, int labelSets, long pending, long windows, long unknownRows) {
    Map<String, Long> missed = new HashMap<>();
    int shared = 0;
    for (ScraperSession scraper : scrapers.values()) {
      missed.put(scraper.identity(), scraper.missedMessages);
      shared += scraper.shared() ? 1 : 0;
    }
    return new DeltaTotals(
        queueCount,
        hidden,
        labelSets,
        pending,
        windows,
        unknownRows + backlogUnknownRows,
        delivered,
        failed,
        bytes,
        shared,
        forgottenForRoom,
        Map.copyOf(missed));
  }
}
