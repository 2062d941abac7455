package org.traceetl.server.ozhera.delta;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.traceetl.server.ozhera.delta.DeltaWindows.QUEUE;
import static org.traceetl.server.ozhera.delta.DeltaWindows.STRIDE;

import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.server.ozhera.OzheraConfig;
import org.traceetl.server.ozhera.SeriesLayout;
import org.traceetl.server.ozhera.SpanType;
import org.traceetl.server.ozhera.delta.positions.ScraperGroups;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

class DeltaPagesTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration WINDOW = Duration.ofSeconds(15);
  private static final int MAX_PENDING = 50;
  private static final Path GOLDEN = Path.of("src/test/resources/golden/ozhera-text.txt");
  private static final QueueId OTHER = new QueueId("broker-a", 4);

  private final AtomicLong nanos = new AtomicLong();
  private final MemoryPositions positions = new MemoryPositions();
  private final DeltaPages pages = pages();

  private DeltaPages pages() {
    return new DeltaPages(
        new DeltaOptions(
            new OzheraConfig("staging", null, null, List.of("a", "b"), Duration.ofHours(1)),
            STRIDE,
            "group",
            WINDOW,
            MAX_PENDING,
            Duration.ofMinutes(5)),
        positions,
        taken -> {},
        new Clocks(nanos::get, Clock.fixed(DeltaWindows.SEALED, ZoneOffset.UTC)));
  }

  @BeforeEach
  void start() {
    pages.start();
  }

  @AfterEach
  void close() {
    pages.close();
  }

  /** A page that was given. */
  private static String scrape(DeltaPages from, String identity) throws Exception {
    Answer answer = from.take(identity, "here", LONG);
    String page = text(answer);
    assertThat(from.commit(answer)).isTrue();
    from.settle(answer, true);
    from.await(LONG);
    return page;
  }

  /** Calls while the nano clock goes on. */
  private <T> T timePasses(Callable<T> call) throws Exception {
    var task = new FutureTask<T>(call);
    Thread.ofVirtual().start(task);
    while (!task.isDone()) {
      nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(10));
      pages.await(LONG);
    }
    try {
      return task.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }

  /** The brokers have a place of the scraper in the queue. */
  private void isKnown(String identity) throws Exception {
    positions.store(QUEUE, "group-scraper-" + identity, 0);
  }

  /** A server takes the queue over, with a lease that does not end. */
  private void restore(DeltaPages owner) {
    owner.restored(QUEUE, positions.image(QUEUE, STRIDE), 0);
    owner.shownUntil(QUEUE, Long.MAX_VALUE / 2);
  }

  private static String text(Answer answer) {
    var out = new ByteArrayOutputStream();
    answer.writeTo(out);
    return out.toString(UTF_8);
  }

  private static SealedWindow window(QueueId queue, long from, long spans) {
    return DeltaWindows.of(queue, from, from + 10)
        .create(0, SpanType.CUSTOM_METHOD, SeriesLayout.FAST, "shop", "work", "10.0.0.1")
        .row(0, 1_500_000 * spans, spans)
        .books("shop", spans, 0)
        .seal();
  }

  /** Hands the window over as a journal does. */
  private void keep(SealedWindow window) {
    positions.keep(window);
    pages.window(window);
  }

  private static String total(long spans) {
    return "staging_hera_CustomizeMethodTotalCount_total{methodName=\"work\",application=\"shop\","
        + "serverIp=\"10.0.0.1\",serverEnv=\"default_env\"} "
        + spans
        + "\n";
  }

  @Test
  void everyTypeHasTheNamesOfOzhera() throws Exception {
    DeltaWindows window = DeltaWindows.of(QUEUE, 0, 10);
    int number = 0;
    for (SpanType type : SpanType.values()) {
      for (int outcome = SeriesLayout.FAST; outcome <= SeriesLayout.FAILED; outcome++) {
        if (type == SpanType.REDIS && outcome == SeriesLayout.SLOW) {
          continue;
        }
        String code = outcome == SeriesLayout.FAILED ? "502" : null;
        window
            .create(
                number,
                type,
                outcome,
                "my-shop",
                "do it",
                "10.0.0.1",
                "prod",
                "7",
                "to",
                "of",
                code)
            .row(number, 1_250_000 + outcome, 1 + outcome, 0, 2);
        number++;
      }
    }
    window
        .create(DeltaWindows.overflow(number, SpanType.HTTP_SERVER, SeriesLayout.FAILED, "my-shop"))
        .row(number, 7, 1)
        .books("my-shop", 90, 3);
    keep(window.seal());

    String page = scrape(pages, "a");

    if (Boolean.getBoolean("golden.update")) {
      Files.writeString(GOLDEN, page);
    }
    assertThat(page).isEqualTo(Files.readString(GOLDEN));
  }

  @Test
  void pageWithoutCountsIsValid() throws Exception {
    assertThat(scrape(pages, "a"))
        .isEqualTo(
            "# HELP staging_trace_statistics_span_count_total Spans received. Since this scraper's"
                + " last answer.\n"
                + "# TYPE staging_trace_statistics_span_count_total counter\n");
  }

  @Test
  void eachScraperReceivesEachWindowOnce() throws Exception {
    scrape(pages, "a");
    scrape(pages, "b");
    keep(window(QUEUE, 0, 5));

    assertThat(scrape(pages, "a")).contains(total(5));
    assertThat(scrape(pages, "a")).doesNotContain("CustomizeMethod");
    keep(window(QUEUE, 10, 3));
    assertThat(scrape(pages, "a")).contains(total(3));
    assertThat(scrape(pages, "b"))
        .contains(total(8))
        .contains("staging_trace_statistics_span_count_total{application=\"shop\"} 8\n")
        .contains(
            "_sum{methodName=\"work\",application=\"shop\",serverIp=\"10.0.0.1\",serverEnv=\"default_env\"} 12\n");
  }

  @Test
  void nextAnswerContainsAnAnswerThatWasNotWritten() throws Exception {
    scrape(pages, "a");
    keep(window(QUEUE, 0, 5));
    Answer broken = pages.take("a", "here", LONG);
    assertThat(text(broken)).contains(total(5));
    pages.settle(broken, false);
    keep(window(QUEUE, 10, 2));

    assertThat(scrape(pages, "a")).contains(total(7));
    await().until(() -> pages.totals().failed() == 1);
  }

  @Test
  void answerWithoutCommitDoesNotCountAsWritten() throws Exception {
    scrape(pages, "a");
    keep(window(QUEUE, 0, 5));
    pages.settle(pages.take("a", "here", LONG), true);

    assertThat(scrape(pages, "a")).contains(total(5));
  }

  @Test
  void nextAnswerContainsAnAnswerThatExpired() throws Exception {
    scrape(pages, "a");
    keep(window(QUEUE, 0, 5));
    Answer slow = pages.take("a", "here", Duration.ofSeconds(10));
    assertThat(pages.commit(slow)).isTrue();
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));
    pages.settle(slow, true);

    assertThat(scrape(pages, "a")).contains(total(5));
  }

  @Test
  void secondConcurrentScrapeIsRefused() throws Exception {
    Answer first = pages.take("a", "here", LONG);

    assertThatThrownBy(() -> timePasses(() -> pages.take("a", "there", LONG)))
        .isInstanceOf(ScraperRefused.class)
        .hasMessageContaining("scraper a is being answered already");
    // The first one has given up by now, whatever its thread does.
    nanos.addAndGet(LONG.toNanos());
    Answer second = pages.take("a", "there", LONG);
    assertThat(pages.commit(first)).isFalse();
    assertThat(pages.commit(second)).isTrue();
  }

  @Test
  void scrapeWaitsForTheEndOfThePreviousAnswer() throws Exception {
    Answer first = pages.take("a", "here", LONG);
    var second = new FutureTask<Answer>(() -> pages.take("a", "here", LONG));
    Thread waiting = Thread.ofVirtual().start(second);
    await().until(() -> waiting.getState() == Thread.State.TIMED_WAITING);
    pages.settle(first, true);

    assertThat(second.get()).isNotNull();
  }

  @Test
  void answerIsNotWrittenAfterTheDeadline() throws Exception {
    keep(window(QUEUE, 0, 5));
    Answer slow = pages.take("a", "here", Duration.ofSeconds(10));
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));

    assertThatThrownBy(() -> text(slow)).hasMessageContaining("the scraper has given up");
  }

  @Test
  void scraperHasAtMostOneAnswerInAdditionToAnExpiredOne() throws Exception {
    Answer first = pages.take("a", "here", LONG);
    nanos.addAndGet(LONG.toNanos());
    pages.take("a", "here", LONG);
    nanos.addAndGet(LONG.toNanos());

    assertThatThrownBy(() -> timePasses(() -> pages.take("a", "here", LONG)))
        .isInstanceOf(ScraperRefused.class);
    pages.settle(first, false);
    assertThat(pages.take("a", "here", LONG)).isNotNull();
  }

  @Test
  void nameThatSeveralScrapersUseIsDoubted() throws Exception {
    for (String from : List.of("10.0.0.1", "10.0.0.1", "10.0.0.2")) {
      pages.settle(pages.take("a", from, LONG), true);
    }
    pages.await(LONG);
    // Moved, for all that is known.
    assertThat(pages.totals().doubted()).isZero();

    pages.settle(pages.take("a", "10.0.0.1", LONG), true);
    pages.await(LONG);
    assertThat(pages.totals().doubted()).isEqualTo(1);
  }

  @Test
  void longestSilentScraperIsForgottenAtTheLimit() throws Exception {
    scrape(pages, "a");
    nanos.addAndGet(1);
    for (int from = 0; from < 40; from += 10) {
      DeltaWindows window = DeltaWindows.of(QUEUE, from, from + 10);
      for (int number = 0; number < MAX_PENDING / 3; number++) {
        window.create(number, SpanType.CUSTOM_METHOD, SeriesLayout.FAST, "shop", "m" + number);
        window.row(number, 1, 1);
      }
      keep(window.seal());
      scrape(pages, "b");
    }
    keep(window(OTHER, 0, MAX_PENDING));
    for (int number = 0; number < MAX_PENDING; number++) {
      keep(
          DeltaWindows.of(OTHER, 10 + number, 11 + number)
              .create(number, SpanType.CUSTOM_METHOD, SeriesLayout.FAST, "shop", "o" + number)
              .row(number, 1, 1)
              .seal());
    }
    pages.await(LONG);

    assertThat(pages.totals().forgottenForRoom()).isEqualTo(1);
    assertThat(pages.totals().missedMessages()).containsOnlyKeys("b");
  }

  @Test
  void onlyConfiguredScrapersReceiveWindowsAndHavePositions() throws Exception {
    restore(pages);
    keep(window(QUEUE, 0, 5));

    assertThatThrownBy(() -> pages.take("stranger", "here", LONG))
        .isInstanceOf(ScraperRefused.class)
        .hasMessageContaining("stranger is not one of trace-etl.ozhera.scrapers");
    await()
        .untilAsserted(() ->
            assertThat(positions.marks())
                .containsOnlyKeys("broker-a/3 group-scraper-a", "broker-a/3 group-scraper-b"));
    assertThat(pages.totals().missedMessages()).containsOnlyKeys("a", "b");
  }

  @Test
  void lookReturnsTheNewestWindowAndChangesNothing() throws Exception {
    restore(pages);
    await().until(() -> positions.marks().size() == 2);
    scrape(pages, "a");
    keep(window(QUEUE, 0, 5));
    keep(window(QUEUE, 10, 3));

    for (int look = 0; look < 2; look++) {
      assertThat(text(pages.look(LONG)))
          .contains(total(3))
          .contains("Of the newest window of each queue.");
    }
    assertThat(scrape(pages, "a")).contains(total(8));
    assertThat(text(pages.look(LONG))).contains(total(3));
    pages.released(QUEUE);
    assertThat(text(pages.look(LONG))).doesNotContain("CustomizeMethod");
    assertThat(positions.marks()).containsEntry("broker-a/3 group-scraper-b", 0L);
  }

  @Test
  void nextOwnerDeliversWindowsOfAnOwnerNeverScraped() throws Exception {
    restore(pages);
    await().until(() -> positions.marks().containsKey("broker-a/3 group-scraper-a"));
    keep(window(QUEUE, 0, 5));
    pages.close();

    assertThat(firstOfANextOwner()).contains(total(5));
  }

  /** Its lease begins when that of the owner before is over. */
  @Test
  void nextOwnerDeliversWindowsOfAnOwnerThatHidTheQueue() throws Exception {
    restore(pages);
    await().until(() -> positions.marks().containsKey("broker-a/3 group-scraper-a"));
    keep(window(QUEUE, 0, 5));
    pages.close();
    try (DeltaPages hiding = pages()) {
      hiding.start();
      hiding.restored(QUEUE, positions.image(QUEUE, STRIDE), 1_000);
      hiding.shownUntil(QUEUE, Long.MAX_VALUE / 2);
      SealedWindow window = window(QUEUE, 10, 3);
      positions.keep(window);
      hiding.window(window);
      assertThat(scrape(hiding, "a")).doesNotContain("CustomizeMethod");
    }

    assertThat(firstOfANextOwner()).contains(total(8));
  }

  @Test
  void firstAnswerContainsAllCountsSinceTheStart() throws Exception {
    keep(window(QUEUE, 0, 5));
    keep(window(QUEUE, 10, 3));

    assertThat(scrape(pages, "a")).contains(total(8));
    keep(window(QUEUE, 20, 2));
    assertThat(scrape(pages, "b")).contains(total(10));
    assertThat(scrape(pages, "a")).contains(total(2));
  }

  private void allAreForgotten() throws Exception {
    nanos.addAndGet(TimeUnit.HOURS.toNanos(1));
    pages.await(LONG);
    assertThat(pages.totals().missedMessages()).isEmpty();
  }

  @Test
  void newScraperReceivesNoOldWindow() throws Exception {
    allAreForgotten();
    keep(
        DeltaWindows.of(QUEUE, 0, 10)
            .at(DeltaWindows.SEALED.minus(WINDOW.multipliedBy(3)))
            .books("shop", 5, 0)
            .seal());
    assertThat(scrape(pages, "a")).doesNotContain("shop");
    keep(window(QUEUE, 10, 3));
    assertThat(scrape(pages, "a")).contains(total(3));
  }

  @Test
  void newScraperReceivesTheNewestWindow() throws Exception {
    allAreForgotten();
    keep(window(QUEUE, 0, 5));
    keep(window(QUEUE, 10, 3));

    assertThat(scrape(pages, "a")).contains(total(3));
  }

  @Test
  void seriesWithEqualLabelsOfSeveralQueuesAreAdded() throws Exception {
    keep(window(QUEUE, 0, 5));
    keep(window(OTHER, 0, 4));

    assertThat(scrape(pages, "a")).contains(total(9));
  }

  @Test
  void countsOfAnEndedSeriesAreDelivered() throws Exception {
    scrape(pages, "a");
    keep(window(QUEUE, 0, 5));
    keep(DeltaWindows.of(QUEUE, 10, 20).evict(0).seal());
    keep(window(QUEUE, 20, 2));

    assertThat(scrape(pages, "a"))
        .containsOnlyOnce("CustomizeMethodTotalCount_total{")
        .contains(total(7));
  }

  @Test
  void labelSetIsRemovedWithItsLastSeries() throws Exception {
    keep(window(QUEUE, 0, 5));
    keep(window(OTHER, 0, 5));
    pages.await(LONG);
    await().until(() -> pages.totals().labelSets() == 1);
    pages.released(QUEUE);
    keep(DeltaWindows.of(OTHER, 10, 20).evict(0).seal());

    await().until(() -> pages.totals().labelSets() == 0 && pages.totals().windows() == 3);
  }

  @Test
  void nextOwnerContinuesAfterARelease() throws Exception {
    isKnown("a");
    scrape(pages, "a");
    keep(window(QUEUE, 0, 5));
    assertThat(scrape(pages, "a")).contains(total(5));
    keep(window(QUEUE, 10, 3));
    pages.released(QUEUE);

    assertThat(positions.marks()).containsEntry("broker-a/3 group-scraper-a", 10L);
    try (DeltaPages next = pages()) {
      next.start();
      restore(next);
      assertThat(scrape(next, "a")).contains(total(3));
      assertThat(scrape(next, "a")).doesNotContain("CustomizeMethod");
    }
  }

  @Test
  void releaseWaitsForACommittedAnswer() throws Exception {
    isKnown("a");
    scrape(pages, "a");
    keep(window(QUEUE, 0, 5));
    Answer answer = pages.take("a", "here", LONG);
    assertThat(pages.commit(answer)).isTrue();
    Thread releasing = Thread.ofVirtual().start(() -> pages.released(QUEUE));
    await().until(() -> releasing.getState() == Thread.State.TIMED_WAITING);
    pages.settle(answer, true);
    releasing.join();

    assertThat(positions.marks()).containsEntry("broker-a/3 group-scraper-a", 10L);
  }

  @Test
  void releaseDoesNotWaitForAJournalReadOfAnotherQueue() throws Exception {
    isKnown("a");
    keep(window(QUEUE, 0, 5));
    Answer answer = pages.take("a", "here", LONG);
    positions.keep(window(OTHER, 0, 5));
    positions.keep(window(OTHER, 10, 3));
    positions.store(OTHER, "group-scraper-a", 10);
    var reading = new CountDownLatch(1);
    positions.holdReads(reading);
    pages.restored(OTHER, positions.image(OTHER, STRIDE), 0);
    pages.shownUntil(OTHER, 100);
    assertThat(pages.commit(answer)).isTrue();
    pages.settle(answer, true);
    pages.released(QUEUE);

    assertThat(positions.marks()).containsEntry("broker-a/3 group-scraper-a", 10L);
    reading.countDown();
    assertThat(scrape(pages, "a")).contains(total(3));
  }

  @Test
  void answerWithAReleasedQueueIsNotCommitted() throws Exception {
    pages.restored(QUEUE, positions.image(QUEUE, STRIDE), 0);
    pages.shownUntil(QUEUE, 100);
    keep(window(QUEUE, 0, 5));
    Answer answer = pages.take("a", "here", LONG);
    pages.released(QUEUE);

    assertThat(pages.commit(answer)).isFalse();
  }

  @Test
  void queueIsDeliveredAgainWhenItsLeaseIsRenewed() throws Exception {
    pages.restored(QUEUE, positions.image(QUEUE, STRIDE), 0);
    pages.shownUntil(QUEUE, 100);
    scrape(pages, "a");
    keep(window(QUEUE, 0, 5));
    Answer before = pages.take("a", "here", LONG);
    nanos.set(100);

    assertThat(pages.commit(before)).isFalse();
    pages.settle(before, true);
    assertThat(scrape(pages, "a")).doesNotContain("CustomizeMethod");
    pages.shownUntil(QUEUE, 200);
    assertThat(scrape(pages, "a")).contains(total(5));
  }

  @Test
  void messagesDeletedFromTheJournalCountAsMissed() throws Exception {
    isKnown("a");
    scrape(pages, "a");
    keep(window(QUEUE, 0, 5));
    scrape(pages, "a");
    for (int from = 10; from < 50; from += 10) {
      keep(window(QUEUE, from, 1));
    }
    pages.released(QUEUE);
    positions.delete(QUEUE, 3);
    try (DeltaPages next = pages()) {
      next.start();
      restore(next);
      assertThat(scrape(next, "a")).contains(total(2));
      await().until(() -> next.totals().missedMessages().get("a") == 20);
    }
  }

  @Test
  void positionAheadOfTheJournalIsIgnored() throws Exception {
    positions.store(QUEUE, "group-scraper-a", 1_000_000);
    scrape(pages, "a");
    keep(window(QUEUE, 0, 5));

    assertThat(scrape(pages, "a")).contains(total(5));
  }

  @Test
  void queueIsNotDeliveredWhileItsPositionsAreUnknown() throws Exception {
    positions.setBroken(true);
    keep(window(QUEUE, 0, 5));
    assertThatThrownBy(() -> timePasses(() -> scrape(pages, "a")))
        .isInstanceOf(ScraperRefused.class)
        .hasMessageContaining("positions of scraper a could not be read");
    await().until(() -> pages.placeFailures() > 0);
    positions.setBroken(false);
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(15));
    assertThat(scrape(pages, "a")).contains(total(5));
    assertThat(pages.placeFailures()).isPositive();
  }

  @Test
  void crashAfterThePositionIsStoredLosesAndRepeatsNothing() throws Exception {
    isKnown("a");
    scrape(pages, "a");
    keep(window(QUEUE, 0, 5));
    assertThat(scrape(pages, "a")).contains(total(5));
    await().until(() -> positions.marks().containsValue(10L));
    keep(window(QUEUE, 10, 3));

    assertThat(firstOfANextOwner()).contains(total(3));
  }

  /** Of two servers that mark a new group at the same time, RocketMQ may forget one's mark. */
  @Test
  void positionThatTheBrokerLosesIsStoredAgain() throws Exception {
    restore(pages);
    positions.loseMarks(1);
    scrape(pages, "a");
    keep(window(QUEUE, 0, 5));
    // A release, so that what is to be told has been told.
    pages.released(QUEUE);

    assertThat(firstOfANextOwner()).contains(total(5));
  }

  @Test
  void crashBeforeThePositionIsStoredRepeatsTheLastAnswer() throws Exception {
    isKnown("a");
    keep(window(QUEUE, 0, 5));
    assertThat(scrape(pages, "a")).contains(total(5));
    await().until(() -> positions.marks().containsValue(10L));
    keep(window(QUEUE, 10, 3));
    positions.setBroken(true);
    assertThat(scrape(pages, "a")).contains(total(3));
    await().until(() -> pages.placeFailures() > 0);
    positions.setBroken(false);

    assertThat(firstOfANextOwner()).contains(total(3));
  }

  /** What another server gives that has taken the queue over. */
  private String firstOfANextOwner() throws Exception {
    try (DeltaPages next = pages()) {
      next.start();
      restore(next);
      return scrape(next, "a");
    }
  }

  @Test
  void releaseEndsWithoutABroker() throws Exception {
    isKnown("a");
    keep(window(QUEUE, 0, 5));
    scrape(pages, "a");
    await().until(() -> positions.marks().containsValue(10L));
    positions.setBroken(true);
    keep(window(QUEUE, 10, 3));
    scrape(pages, "a");
    pages.released(QUEUE);
    positions.setBroken(false);
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(15));
    pages.await(LONG);
    pages.close();

    // Not set back once the next owner may have gone on.
    assertThat(positions.marks()).containsEntry("broker-a/3 group-scraper-a", 10L);
  }

  @Test
  void forgottenScraperContinuesAtItsPosition() throws Exception {
    isKnown("a");
    keep(window(QUEUE, 0, 5));
    assertThat(scrape(pages, "a")).contains(total(5));
    await().until(() -> positions.marks().containsValue(10L));
    nanos.addAndGet(TimeUnit.HOURS.toNanos(1));
    keep(window(QUEUE, 10, 3));
    keep(window(QUEUE, 20, 2));
    await().until(() -> pages.totals().missedMessages().isEmpty());

    assertThat(scrape(pages, "a")).contains(total(5));
    nanos.addAndGet(TimeUnit.HOURS.toNanos(1));
    pages.await(LONG);
    assertThat(scrape(pages, "a")).doesNotContain("CustomizeMethod");
  }

  @Test
  void storedSumsOfSlowScrapersDoNotGrow() throws Exception {
    scrape(pages, "a");
    keep(window(QUEUE, 0, 1));
    for (int i = 1; i < 500; i++) {
      keep(DeltaWindows.of(QUEUE, 10L * i, 10L * i + 10).row(0, 1, 1).seal());
      if (i == 250) {
        assertThat(scrape(pages, "b")).contains(total(251));
      }
    }
    pages.await(LONG);
    await().until(() -> pages.totals().windows() == 500);

    // Of each: up to b's place, from there, the newest.
    assertThat(pages.totals().pendingSeries()).isEqualTo(3);
    assertThat(scrape(pages, "b")).contains(total(249));
    assertThat(scrape(pages, "a")).contains(total(500));
  }

  @Test
  void groupNamesAreUniqueForEachIdentity() {
    assertThat(ScraperGroups.suffix("prom-1_a")).isEqualTo("prom-1_a");
    assertThat(ScraperGroups.suffix("10.0.0.1/Prometheus")).matches("sha256-[0-9a-f]{32}");
    assertThat(ScraperGroups.suffix("sha256-0")).matches("sha256-[0-9a-f]{32}");
    assertThat(ScraperGroups.suffix("10.0.0.1/a")).isNotEqualTo(ScraperGroups.suffix("10.0.0.1/b"));
  }

  @Test
  void callsReplaceTheThreads() throws Exception {
    DeltaPages stepped = pages();
    stepped.window(window(QUEUE, 0, 5));
    assertThat(stepped.doWork()).isEqualTo(1);
    // The positions of both scrapers.
    assertThat(stepped.doWork()).isEqualTo(2);
    assertThat(stepped.doWork()).isZero();
    assertThat(stepped.totals().windows()).isEqualTo(1);
    stepped.close();
  }
}
