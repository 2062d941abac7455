package org.traceetl.server.features.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.traceetl.server.minutes.CountBounds;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;

final class HistoryTest {
  private static final long MINUTE = 60_000;
  private static final long[] BOUNDS_NANOS = {10_000_000, 100_000_000};

  private long nowMillis = 1_795_219_200_000L;
  private final History history =
      new History(
          2, 4, BOUNDS_NANOS, () -> Instant.ofEpochMilli(nowMillis), new SplittableRandom(1));

  private static SpanSums sums(boolean failed, long... counts) {
    SpanSums sums = new SpanSums(counts.length);
    sums.add(
        failed, 5_000_000, counts, 0, counts.length, IntStream.range(0, counts.length).toArray());
    return sums;
  }

  private void add(long openedMillis, String application, SpanSums sums) {
    history.addCalls(
        openedMillis,
        openedMillis + 15_000,
        List.of(Histories.calls(application, "GET /", "SERVER", sums)));
  }

  @Test
  void windowsOfAMinuteAddUp() {
    add(nowMillis, "shop", sums(false, 8, 1, 0));
    add(nowMillis + 45_000, "shop", sums(true, 0, 0, 1));
    nowMillis += MINUTE;

    List<History.Minute> minutes = history.minutes("shop", 2);

    Interval first = minutes.getFirst().interval();
    assertThat(first.startMillis()).isEqualTo(nowMillis - MINUTE);
    assertThat(first.ended()).isTrue();
    assertThat(first.calls()).isEqualTo(10);
    assertThat(first.errors()).isEqualTo(1);
    assertThat(first.durationMillis()).isEqualTo(10);
    assertThat(first.p50Millis()).isCloseTo(6.25, within(1e-9));
    assertThat(first.p95Millis()).isEqualTo(100);
    Interval now = minutes.getLast().interval();
    assertThat(now.startMillis()).isEqualTo(nowMillis);
    assertThat(now.ended()).isFalse();
    assertThat(now.calls()).isZero();
    assertThat(now.p99Millis()).isNaN();
  }

  @Test
  void sampledCallsHaveBoundsInEachMinute() {
    SpanSums sampled = sums(false, 100, 0, 0);
    sampled.addVariance(900);
    add(nowMillis, "shop", sampled);
    add(nowMillis, "exact", sums(false, 100, 0, 0));
    nowMillis += MINUTE;

    List<History.Minute> minutes = history.minutes("shop", 2);
    assertThat(minutes.getFirst().interval().callsBounds()).isEqualTo(new CountBounds(56, 178));
    // By the variance of a call in the minute before.
    assertThat(minutes.getLast().interval().callsBounds()).isEqualTo(new CountBounds(0, 34));
    assertThat(history.operations("shop", 1).getFirst().interval().callsBounds())
        .isEqualTo(new CountBounds(56, 178));
    assertThat(history.minutes("exact", 1).getFirst().interval().callsBounds()).isNull();
    assertThat(history.totals(1))
        .filteredOn(total -> total.application().equals("exact"))
        .allSatisfy(total -> assertThat(total.interval().callsBounds()).isNull());
  }

  @Test
  void boundsAreByTheVarianceOfACallInTheLastHour() {
    SpanSums sampled = sums(false, 100, 0, 0);
    sampled.addVariance(900);
    add(nowMillis, "shop", sampled);
    nowMillis += 57 * MINUTE;
    add(nowMillis, "shop", sums(false, 100, 0, 0));
    nowMillis += MINUTE;

    // 900 in 200 calls.
    CountBounds bounds = CountBounds.of(100, 4.5);
    assertThat(history.totals(1).getFirst().interval().callsBounds()).isEqualTo(bounds);
    assertThat(history.operations("shop", 1).getFirst().interval().callsBounds()).isEqualTo(bounds);
    assertThat(history.minutes("shop", 2).getFirst().interval().callsBounds()).isEqualTo(bounds);
    assertThat(history.minutes("shop", 1).getFirst().interval().callsBounds())
        .isEqualTo(CountBounds.of(0, 4.5));

    nowMillis += 2 * MINUTE;
    assertThat(history.totals(5).getFirst().interval().callsBounds()).isNull();
  }

  @Test
  void ratesAreOverTheTimeSinceTheFirstCalls() {
    assertThat(history.totals(5)).isEmpty();
    add(nowMillis + 45_000, "shop", sums(true, 0, 0, 15));
    add(nowMillis + 30_000, "shop", sums(false, 15, 0, 0));
    history.addCalls(nowMillis, nowMillis + 15_000, List.of());
    nowMillis += MINUTE;
    Interval first = history.totals(5).getFirst().interval();
    assertThat(first.observedMillis()).isEqualTo(30_000);
    assertThat(first.perSecond(first.calls())).isEqualTo(1);
    assertThat(first.perSecond(first.errors())).isEqualTo(0.5);

    add(nowMillis, "shop", sums(false, 60, 0, 0));
    nowMillis += MINUTE;

    Interval both = history.operations("shop", 5).getFirst().interval();
    assertThat(both.observedMillis()).isEqualTo(90_000);
    assertThat(both.perSecond(both.calls())).isEqualTo(1);
    assertThat(history.totals(1).getFirst().interval().observedMillis()).isEqualTo(MINUTE);
    assertThat(history.minutes("shop", 4))
        .extracting(minute -> minute.interval().observedMillis())
        .containsExactly(0L, 30_000L, MINUTE, MINUTE);
    assertThat(history.minutes("shop", 4).getFirst().interval().perSecond(0)).isZero();
  }

  @Test
  void timeObservedOfTheFirstMinuteIsAtLeastASecondAndAtMostTheMinute() {
    history.addCalls(
        nowMillis, nowMillis, List.of(Histories.calls("a", "b", "c", sums(false, 1, 0, 0))));
    assertThat(history.minutes("a", 1).getFirst().interval().observedMillis()).isEqualTo(1_000);
    add(nowMillis + 59_000, "a", sums(false, 1, 0, 0));
    assertThat(history.minutes("a", 1).getFirst().interval().observedMillis()).isEqualTo(MINUTE);
  }

  @Test
  void callsDatedInTheFutureAreNotTheFirstObserved() {
    add(nowMillis + 2 * MINUTE, "shop", sums(false, 1, 0, 0));
    nowMillis += MINUTE;
    add(nowMillis, "shop", sums(false, 1, 0, 0));
    nowMillis += MINUTE;
    assertThat(history.totals(5).getFirst().interval().observedMillis()).isEqualTo(15_000);
  }

  @Test
  void totalsCoverCompleteMinutes() {
    add(nowMillis, "few", sums(false, 1, 0, 0));
    add(nowMillis, "many", sums(false, 3, 0, 0));
    add(nowMillis + MINUTE, "few", sums(true, 1, 0, 0));
    nowMillis += 2 * MINUTE;
    add(nowMillis, "few", sums(true, 100, 0, 0));

    assertThat(history.totals(5))
        .extracting(History.Total::application, t -> t.interval().calls())
        .containsExactlyInAnyOrder(tuple("many", 3L), tuple("few", 2L));
    assertThat(history.totals(1))
        .extracting(History.Total::application, t -> t.interval().calls())
        .containsExactlyInAnyOrder(tuple("many", 0L), tuple("few", 1L));
  }

  @Test
  void countsOlderThanAnHourAreRemoved() {
    add(nowMillis, "a", sums(false, 1, 0, 0));
    add(nowMillis, "b", sums(false, 2, 0, 0));
    add(nowMillis, "c", sums(false, 4, 0, 0));
    add(nowMillis, "d", sums(false, 8, 0, 0));
    assertThat(history.minutes("c", 1)).isEmpty();
    assertThat(history.minutes(Books.OTHER, 1).getFirst().interval().calls()).isEqualTo(12);

    nowMillis += 30 * MINUTE;
    add(nowMillis, "a", sums(false, 1, 0, 0));
    nowMillis += 31 * MINUTE;
    assertThat(history.minutes("b", 60)).isEmpty();
    add(nowMillis, "c", sums(false, 4, 0, 0));

    assertThat(history.minutes("a", 60)).hasSize(60);
    assertThat(history.minutes("a", 60).stream().mapToLong(m -> m.interval().calls()).sum())
        .isEqualTo(1);
    assertThat(history.minutes("c", 1).getFirst().interval().calls()).isEqualTo(4);
    assertThat(history.applications()).isEqualTo(2);
  }

  @Test
  void windowsOutsideTheHourAreLeftOut() {
    add(nowMillis - 61 * MINUTE, "old", sums(false, 1, 0, 0));
    add(nowMillis + 2 * MINUTE, "early", sums(false, 1, 0, 0));
    add(nowMillis + MINUTE, "ahead", sums(false, 1, 0, 0));
    add(nowMillis - 60 * MINUTE, "oldest", sums(false, 1, 0, 0));

    assertThat(history.misdated()).isEqualTo(1);
    assertThat(history.minutes("old", 60)).isEmpty();
    assertThat(history.sparks(List.of("oldest")).getFirst().calls()).startsWith(1, 0);
    assertThat(history.minutes("ahead", 60).stream().mapToLong(m -> m.interval().calls()).sum())
        .isZero();
    nowMillis += MINUTE;
    assertThat(history.minutes("ahead", 1).getFirst().interval().calls()).isEqualTo(1);
  }

  @Test
  void quantilesAreAtMostTheHighestBound() {
    SpanSums sums = sums(false, 0, 0, 5);
    assertThat(sums.quantileMillis(new double[] {10, 100}, 0.5)).isEqualTo(100);
    assertThat(new SpanSums(3).quantileMillis(new double[] {10, 100}, 0.5)).isNaN();
  }

  @Test
  void sumsOfDurationsSaturate() {
    SpanSums sums = sums(false, 1, 0, 0);
    sums.add(false, Long.MAX_VALUE, new long[3], 0, 3, new int[] {0, 1, 2});
    assertThat(sums.durationMillis()).isEqualTo(Long.MAX_VALUE / 1e6);
  }

  private void add(String application, String name, String kind, long calls) {
    history.addCalls(
        nowMillis,
        nowMillis + 15_000,
        List.of(Histories.calls(application, name, kind, sums(false, calls, 0, 0))));
  }

  private List<String> operations(String application) {
    return history.operations(application, 59).stream()
        .map(o -> o.operation() + " " + o.kind() + " " + o.interval().calls())
        .sorted()
        .toList();
  }

  @Test
  void operationsBeyondTheLimitCountAsOther() {
    for (int i = 0; i < 6; i++) {
      add("a", "GET /" + i, "SERVER", 1);
    }
    add("b", "GET /", "SERVER", 10);
    add("c", "GET /", "SERVER", 100);
    add("c", "GET /0", "SERVER", 100);
    nowMillis += MINUTE;

    assertThat(operations("a"))
        .containsExactly(
            "GET /0 SERVER 1",
            "GET /1 SERVER 1",
            "GET /2 SERVER 1",
            "GET /3 SERVER 1",
            "_other SPAN_KIND_UNSPECIFIED 2");
    assertThat(operations("b")).containsExactly("_other SPAN_KIND_UNSPECIFIED 10");
    assertThat(operations(Books.OTHER)).containsExactly("_other SPAN_KIND_UNSPECIFIED 200");
    assertThat(history.operations("c", 1)).isNull();
    assertThat(history.operations()).isEqualTo(4);
    assertThat(history.minutes("a", "GET /0", "SERVER", 2).getFirst().buckets())
        .containsExactly(1, 0, 0);
    assertThat(history.minutes("a", "GET /0", "CLIENT", 2)).isEmpty();
    assertThat(history.minutes("nobody", "GET /0", "SERVER", 2)).isEmpty();

    nowMillis += 60 * MINUTE;
    add("b", "GET /", "CLIENT", 1);
    assertThat(history.operations()).isEqualTo(1);
    nowMillis += MINUTE;
    assertThat(operations("b")).containsExactly("GET / CLIENT 1");
  }

  @Test
  void objectivesTakePlacesOfOperationsAndThoseLeftOutAreCounted() {
    add("a", "GET /", "SERVER", 1);
    for (int i = 0; i < 5; i++) {
      Histories.addEvents(history, nowMillis, "a", "slo" + i, 1);
    }
    Histories.addEvents(history, nowMillis, "a", "slo0", 1);
    add("a", "POST /", "SERVER", 1);
    nowMillis += MINUTE;

    assertThat(history.objectives("a", 59)).containsOnlyKeys("slo0", "slo1", "slo2");
    assertThat(history.objectives("a", 59).get("slo0").events()).isEqualTo(2);
    assertThat(history.leftOutObjectives()).isEqualTo(2);
    assertThat(operations("a")).containsExactly("GET / SERVER 1", "_other SPAN_KIND_UNSPECIFIED 1");
    assertThat(history.operations()).isEqualTo(4);

    nowMillis += 60 * MINUTE;
    Histories.addEvents(history, nowMillis, "b", "slo", 1);
    assertThat(history.operations()).as("without spans they are removed").isEqualTo(1);
    add("c", "GET /", "SERVER", 1);
    Histories.addEvents(history, nowMillis, "d", "slo", 1);
    assertThat(history.leftOutObjectives()).as("applications above the limit").isEqualTo(3);
  }

  /** Many windows, of more applications and operations than there is room for, for two hours. */
  @Test
  void operationsAddUpToTheirApplicationAndMinutesToTotals() {
    Random random = new Random(1);
    for (int window = 0; window < 2_000; window++) {
      nowMillis += 4_000;
      long openedMillis = nowMillis - random.nextInt(30 * 60_000);
      history.addCalls(
          openedMillis,
          openedMillis + 15_000,
          List.of(
              Histories.calls(
                  "app" + random.nextInt(4),
                  "GET /" + random.nextInt(5),
                  random.nextBoolean() ? "SERVER" : "CLIENT",
                  sums(random.nextBoolean(), random.nextInt(9), random.nextInt(9), 1))));
      if (window % 50 == 0) {
        history.totals(59).forEach(this::assertAddsUp);
        assertThat(history.applications()).isLessThanOrEqualTo(3);
        assertThat(history.operations()).isLessThanOrEqualTo(4);
      }
    }
  }

  private void assertAddsUp(History.Total total) {
    List<History.Minute> minutes = history.minutes(total.application(), 60).subList(0, 59);
    Interval interval = total.interval();
    assertThat(minutes.stream().mapToLong(m -> m.interval().calls()).sum())
        .isEqualTo(interval.calls());
    assertThat(minutes.stream().mapToLong(m -> LongStream.of(m.buckets()).sum()).sum())
        .isEqualTo(interval.calls());
    List<History.OperationTotal> operations = history.operations(total.application(), 59);
    assertThat(operations.stream().mapToLong(o -> o.interval().calls()).sum())
        .isEqualTo(interval.calls());
    assertThat(operations.stream().mapToLong(o -> o.interval().errors()).sum())
        .isEqualTo(interval.errors());
    assertThat(operations.stream().mapToDouble(o -> o.interval().durationMillis()).sum())
        .isCloseTo(interval.durationMillis(), within(1e-6));
    History.Spark spark = history.sparks(List.of(total.application())).getFirst();
    assertThat(LongStream.of(spark.calls()).skip(1).sum()).isEqualTo(interval.calls());
    assertThat(LongStream.of(spark.errors()).skip(1).sum()).isEqualTo(interval.errors());
  }

  @Test
  void hostileCountsStayWithinTheirBounds() {
    long[] counts = {Long.MAX_VALUE, -5, Long.MAX_VALUE};
    for (int i = 0; i < 2; i++) {
      SpanSums sums = new SpanSums(3);
      sums.add(true, Long.MIN_VALUE, counts, 0, 3, new int[] {0, 1, 2});
      add(nowMillis, "shop", sums);
    }
    nowMillis += MINUTE;

    Interval interval = history.totals(1).getFirst().interval();
    assertThat(interval.calls()).isEqualTo(Long.MAX_VALUE);
    assertThat(interval.errors()).isEqualTo(Long.MAX_VALUE);
    assertThat(interval.durationMillis()).isZero();
    assertThat(interval.p50Millis()).isBetween(0.0, 100.0);
    assertThat(interval.errorRatio()).isEqualTo(1);
  }

  @Test
  void tagChangesWithEachWindowAndMinute() {
    String before = history.tag();
    assertThat(history.tag()).isEqualTo(before);
    add("a", "GET /", "SERVER", 1);
    String added = history.tag();
    assertThat(added).isNotEqualTo(before);
    List<History.Total> totals = history.totals(1);
    assertThat(history.totals(1)).isSameAs(totals);
    nowMillis += MINUTE;

    assertThat(history.tag()).isNotEqualTo(added);
    assertThat(history.totals(1).getFirst().interval().calls()).isEqualTo(1);
    assertThat(
            new History(
                    2,
                    4,
                    BOUNDS_NANOS,
                    () -> Instant.ofEpochMilli(nowMillis),
                    new SplittableRandom(2))
                .tag())
        .isNotEqualTo(before);
  }

  private static Books books(String application, long received) {
    return new Books(
        application,
        received,
        received - 4,
        1,
        1,
        1,
        Map.of("reason " + received % 3, 1L),
        received % 2);
  }

  @Test
  void booksOfTheFleetAreTheSumOfAllWindows() {
    long received = 0;
    Random random = new Random(2);
    for (int window = 0; window < 300; window++) {
      List<Books> all = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        Books books = books("app" + random.nextInt(6), 4 + random.nextInt(100));
        all.add(books);
        received += books.received();
      }
      Histories.add(history, new QueueId("a", window % 3), nowMillis, all, AcceptedBatches.NONE);
      nowMillis += 10_000;
    }

    History.BooksOfFleet books = history.books(60);

    assertThat(books.applications()).hasSize(3);
    assertThat(books.applications()).extracting(Books::application).contains(Books.OTHER);
    assertThat(books.fleet().received()).isEqualTo(received);
    assertThat(books.applications().stream().mapToLong(Books::received).sum()).isEqualTo(received);
    for (Books one : List.of(books.fleet(), books.applications().getFirst())) {
      assertThat(one.received())
          .isEqualTo(
              one.recorded()
                  + one.overflowed()
                  + one.filtered()
                  + one.duplicate()
                  + one.rejected().values().stream().mapToLong(Long::longValue).sum());
    }
    assertThat(history.queues()).extracting(QueueHour.View::applications).containsOnly(2);
    nowMillis += 61 * MINUTE;
    assertThat(history.books(60).fleet().received()).isZero();
    assertThat(history.books(60).applications()).isEmpty();
  }

  @Test
  void deletedQueuesAreRemoved() {
    QueueId kept = new QueueId("a", 1);
    Histories.add(history, new QueueId("a", 0), nowMillis, List.of(), AcceptedBatches.NONE);

    history.setQueues(Set.of(kept));

    assertThat(history.queues()).extracting(QueueHour.View::queue).containsExactly(kept);
    assertThat(history.queues().getFirst().offset()).isEqualTo(-1);
  }

  @Test
  void queuesOfAReturningBrokerAreKept() {
    QueueId queue = new QueueId("a", 0);
    Histories.add(
        history, queue, nowMillis, List.of(books("app", 300), books("", 3)), AcceptedBatches.NONE);
    QueueHour.View before = history.queues().getFirst();
    history.setQueues(Set.of());
    assertThat(history.queues()).isEmpty();

    history.setQueues(Set.of(queue));
    assertThat(history.queues()).containsExactly(before);
    nowMillis += MINUTE;
    // What was refused before it was known whose it is counts for no application.
    assertThat(history.queues().getFirst().applications()).isEqualTo(1);
    assertThat(history.queues().getFirst().spansPerSecond()).isEqualTo(303 / 300.0);
  }

  @Test
  void queueRatesCoverFiveCompleteMinutes() {
    QueueId queue = new QueueId("a", 1);
    for (int minute = 0; minute < 10; minute++) {
      Histories.add(
          history, queue, nowMillis, List.of(books("app" + minute, 300)), AcceptedBatches.NONE);
      nowMillis += MINUTE;
    }

    QueueHour.View view = history.queues().getFirst();
    assertThat(view.spansPerSecond()).isEqualTo(5);
    // Two are told apart on each queue, and those not heard of for five minutes make room.
    assertThat(view.applications()).isEqualTo(2);
    assertThat(view.sealedMillis()).isEqualTo(nowMillis - MINUTE);
  }

  @Test
  void queueRatesAreOverTheTimeSinceTheFirstCalls() {
    QueueId queue = new QueueId("a", 1);
    add(nowMillis + 30_000, "shop", sums(false, 90, 0, 0));
    add(nowMillis + 45_000, "shop", sums(false, 90, 0, 0));
    Histories.add(history, queue, nowMillis, List.of(books("shop", 90)), AcceptedBatches.NONE);
    nowMillis += MINUTE;
    assertThat(history.queues().getFirst().spansPerSecond()).isEqualTo(3);

    Histories.add(history, queue, nowMillis, List.of(books("shop", 180)), AcceptedBatches.NONE);
    nowMillis += MINUTE;
    assertThat(history.queues().getFirst().spansPerSecond()).isEqualTo(3);
  }

  @Test
  void queueRatesOmitMinutesInWhichAllSpansWereRejected() {
    QueueId queue = new QueueId("a", 1);
    Histories.add(history, queue, nowMillis, List.of(books("shop", 900)), AcceptedBatches.NONE);
    nowMillis += MINUTE;
    add(nowMillis + 30_000, "shop", sums(false, 90, 0, 0));
    add(nowMillis + 45_000, "shop", sums(false, 90, 0, 0));
    Histories.add(history, queue, nowMillis, List.of(books("shop", 90)), AcceptedBatches.NONE);
    nowMillis += MINUTE;

    assertThat(history.queues().getFirst().spansPerSecond()).isEqualTo(3);
  }
}
