package org.traceetl.server.features.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.server.journal.FleetWindows;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalLogs;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.MemoryLogs;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.QueueJournal;
import org.traceetl.server.journal.SilentLogs;
import org.traceetl.server.journal.Windows;
import org.traceetl.server.journal.chain.JournalTail;
import org.traceetl.server.journal.chain.LogJournals;
import org.traceetl.server.journal.fleet.FleetFollower;
import org.traceetl.server.journal.fleet.FleetJournals;
import org.traceetl.server.journal.fleet.FleetSteps;
import org.traceetl.server.minutes.CountBounds;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowPanes;

/** Followers stepped by hand over real journals on logs in memory. */
final class HistoryFollowerTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final QueueId A = new QueueId("a", 0);
  private static final QueueId B = new QueueId("b", 7);
  private static final long SCHEMA = 1;
  private static final long[] BOUNDS_NANOS = {10_000_000};
  private static final long PANE_MILLIS = 15_000;
  private static final int STRIDE = BOUNDS_NANOS.length + 1;

  private final MemoryLogs logs = new MemoryLogs();
  private final LogJournals journals = journals(logs);
  private long nowMillis = 1_795_219_200_000L;
  private long nowNanos = Long.MAX_VALUE - 1;
  private History history = new History(10, 20, BOUNDS_NANOS, this::now, new SplittableRandom(1));
  private final List<SealedWindow> heard = new ArrayList<>();
  private final List<SeriesDefinition> definitions = new ArrayList<>();
  private boolean away;
  private boolean unregistered;
  private HistoryFollower follower;
  private FleetFollower fleet = fleet();

  private Instant now() {
    return Instant.ofEpochMilli(nowMillis);
  }

  private LogJournals journals(JournalLogs messages) {
    return journals(messages, SCHEMA);
  }

  private LogJournals journals(JournalLogs messages, long schema) {
    return new LogJournals(
        messages,
        "trace-spans",
        "servers",
        () -> new QueueImage(schema, STRIDE, 1 << 20),
        new JournalTiming(
            new Clocks(System::nanoTime, this::now),
            new Random(),
            Duration.ofSeconds(30),
            Duration.ofMinutes(10)),
        new JournalCounters());
  }

  private FleetFollower fleet() {
    return fleet(journals, () -> nowNanos);
  }

  /** Follows the journals, with a new {@link #follower}. */
  private FleetFollower fleet(LogJournals tails, LongSupplier nanoTime) {
    FleetJournals all =
        new FleetJournals() {
          @Override
          public Set<QueueId> queues() throws IOException {
            if (away) {
              throw new IOException("no name server");
            }
            return unregistered ? Set.of() : logs.queues();
          }

          @Override
          public JournalTail open(QueueId queue, long sinceMillis, Consumer<QueueImage> snapshots)
              throws IOException, InterruptedException {
            assertThat(sinceMillis).isEqualTo(nowMillis - 70 * 60_000);
            return tails.tail(queue, sinceMillis, snapshots);
          }
        };
    follower =
        new HistoryFollower(
            history,
            new SeriesRules(
                SCHEMA,
                BOUNDS_NANOS,
                SeriesDefinition.FIXED_DIMENSIONS,
                true,
                definition -> !definition.values().getFirst().equals("cache"),
                kind -> "kind " + kind),
            20,
            new FleetWindows.Listener() {
              @Override
              public void window(SealedWindow window) {
                heard.add(window);
              }

              @Override
              public void series(QueueId queue, QueueImage image) {
                definitions.addAll(image.definitions());
              }
            });
    return new FleetFollower(
        "trace-history", all, Duration.ofMinutes(70), follower, new Clocks(nanoTime, this::now));
  }

  private static SeriesDefinition series(int number, String application, String status) {
    return new SeriesDefinition(number, 1, false, Arrays.asList(application, "GET /", "2", status));
  }

  /** A window in which each series has so many spans below 10 ms and as many above. */
  private SealedWindow window(
      QueueId queue,
      long from,
      long schema,
      List<SeriesDefinition> created,
      int... seriesAndSpans) {
    int rows = seriesAndSpans.length / 2;
    int[] series = new int[rows];
    long[] counts = new long[rows * STRIDE];
    int[] exemplars = new int[rows];
    Arrays.fill(exemplars, -1);
    for (int row = 0; row < rows; row++) {
      series[row] = seriesAndSpans[2 * row];
      Arrays.fill(counts, row * STRIDE, (row + 1) * STRIDE, seriesAndSpans[2 * row + 1]);
    }
    return new SealedWindow(
        queue,
        from,
        from + 1,
        nowMillis,
        nowMillis + 15_000,
        created,
        new int[0],
        rows,
        STRIDE,
        series,
        counts,
        new long[rows],
        exemplars,
        new int[rows],
        List.of(),
        List.of(),
        schema,
        new long[rows],
        AcceptedBatches.NONE,
        NativeCounts.NONE,
        WindowPanes.NONE,
        WindowCompleteness.NONE,
        SealedWindow.UNKNOWN_CLOSED,
        false,
        EdgeChange.NONE);
  }

  private void settle() throws Exception {
    long idleNanos = 0;
    while (idleNanos < 1_000_000_000) {
      idleNanos = FleetSteps.step(fleet);
      nowNanos += idleNanos;
    }
  }

  private long calls(String application) {
    return history.minutes(application, 60).stream().mapToLong(m -> m.interval().calls()).sum();
  }

  @Test
  void queuesOfAllOwnersAddUp() throws Exception {
    QueueJournal a = journals.take(A).journal();
    a.append(window(A, 0, SCHEMA, List.of(series(0, "shop", "0"), series(1, "shop", "2")), 0, 5));
    QueueJournal b = journals.take(B).journal();
    b.append(window(B, 0, SCHEMA, List.of(series(0, "cart", "0"), series(5, "shop", "2")), 5, 1));
    settle();
    assertThat(history.upToDate()).isTrue();
    a.append(window(A, 1, SCHEMA, List.of(), 0, 1, 1, 2));
    settle();

    assertThat(calls("shop")).isEqualTo(18);
    assertThat(history.minutes("shop", 1).getFirst().interval().errors()).isEqualTo(6);
    assertThat(history.minutes("shop", 1).getFirst().interval().p50Millis()).isEqualTo(10);
    assertThat(history.minutes("cart", 1)).isEmpty();
    assertThat(fleet.windows()).isEqualTo(3);
    assertThat(follower.unknownRows()).isZero();
  }

  @Test
  void variancesAreBoundsOfTheCallsOfTheirOperation() throws Exception {
    SeriesDefinition variance =
        new SeriesDefinition(1, 1, false, Arrays.asList("shop", "GET /", "18", "0"));
    QueueJournal a = journals.take(A).journal();
    a.append(window(A, 0, SCHEMA, List.of(series(0, "shop", "0"), variance), 0, 50, 1, 900));
    settle();

    assertThat(calls("shop")).isEqualTo(100);
    Interval now = history.minutes("shop", "GET /", "kind 2", 1).getFirst().interval();
    assertThat(now.calls()).isEqualTo(100);
    assertThat(now.errors()).isZero();
    assertThat(now.callsBounds()).isEqualTo(new CountBounds(56, 178));
    assertThat(follower.unknownRows()).isZero();
  }

  @Test
  void seriesOlderThanTheStartAreKnownFromTheSnapshot() throws Exception {
    QueueJournal journal = journals.take(A).journal();
    journal.append(window(A, 0, SCHEMA, List.of(series(3, "shop", "0")), 3, 1));
    long lost = logs.open(A).end();
    journal.append(window(A, 1, SCHEMA, List.of(), 3, 10));
    journal.snapshot();
    journal.append(window(A, 2, SCHEMA, List.of(), 3, 100));
    logs.open(A).deleteBefore(lost);
    settle();

    assertThat(calls("shop")).isEqualTo(200);
    assertThat(history.upToDate()).isTrue();
    assertThat(definitions).contains(series(3, "shop", "0"));
  }

  @Test
  void seriesOfAnotherSchemaAreKnownFromTheSnapshot() throws Exception {
    QueueJournal journal = journals(logs, SCHEMA + 1).take(A).journal();
    journal.append(window(A, 0, SCHEMA + 1, List.of(series(3, "shop", "2")), 3, 1));
    long lost = logs.open(A).end();
    journal.append(window(A, 1, SCHEMA + 1, List.of(), 3, 10));
    journal.snapshot();
    journal.append(window(A, 2, SCHEMA + 1, List.of(), 3, 100));
    logs.open(A).deleteBefore(lost);
    settle();

    assertThat(calls("shop")).isEqualTo(200);
    assertThat(history.minutes("shop", 1).getFirst().interval().errors()).isEqualTo(200);
    assertThat(follower.unknownRows()).isZero();
    assertThat(definitions).contains(series(3, "shop", "2"));
  }

  @Test
  void rowsOfUnknownSeriesAreCountedAndLeftOut() throws Exception {
    QueueJournal journal = journals.take(A).journal();
    journal.append(window(A, 0, SCHEMA, List.of(series(0, "shop", "0")), 0, 1));
    long lost = logs.open(A).end();
    journal.append(window(A, 1, SCHEMA, List.of(series(1, "shop", "0")), 0, 1, 1, 5));
    logs.open(A).deleteBefore(lost);
    settle();

    assertThat(calls("shop")).isEqualTo(10);
    assertThat(follower.unknownRows()).isEqualTo(1);
  }

  @Test
  void callsOfAnotherSchemaCountWithoutTheirBuckets() throws Exception {
    QueueJournal journal = journals.take(A).journal();
    journal.append(window(A, 0, SCHEMA + 1, List.of(series(0, "shop", "2")), 0, 4));
    settle();

    assertThat(calls("shop")).isEqualTo(8);
    assertThat(history.minutes("shop", 1).getFirst().interval().errors()).isEqualTo(8);
    assertThat(history.minutes("shop", 1).getFirst().interval().p50Millis()).isNaN();
  }

  @Test
  void callsWithOtherBucketsCountWithoutThem() throws Exception {
    QueueJournal journal = journals.take(A).journal();
    journal.append(window(A, 0, SCHEMA, List.of(series(0, "cache", "2")), 0, 4));
    journal.append(
        window(A, 1, SCHEMA, List.of(series(0, "shop", "0"), series(1, "cache", "0")), 0, 1, 1, 4));
    settle();

    assertThat(calls("cache")).isEqualTo(16);
    assertThat(history.minutes("cache", 1).getFirst().interval().p50Millis()).isNaN();
    assertThat(history.minutes("shop", 1).getFirst().interval().p50Millis()).isEqualTo(10);
  }

  @Test
  void eventsAreNoCalls() throws Exception {
    SeriesDefinition events =
        new SeriesDefinition(1, 1, false, Arrays.asList("shop", "GET /", "10", "2"));
    journals
        .take(A)
        .journal()
        .append(window(A, 0, SCHEMA, List.of(series(0, "shop", "0"), events), 0, 1, 1, 5));
    settle();

    assertThat(calls("shop")).isEqualTo(2);
    assertThat(history.minutes("shop", 1).getFirst().interval().errors()).isZero();
    assertThat(follower.unknownRows()).isZero();
  }

  @Test
  void goodEventsShowThoseOfAnObjectiveToo() throws Exception {
    QueueJournal journal = journals.take(A).journal();
    SealedWindow spans =
        window(
            A,
            0,
            SCHEMA,
            List.of(
                series(0, "shop", "0"),
                objective(1, "trace_etl_slo_events", "slo", "fast"),
                objective(2, "trace_etl_slo_good", "slo", "fast"),
                objective(3, "trace_etl_slo_good", "otel_metric_overflow", "true", "slo", "fast"),
                objective(4, "http.server.request.duration", "slo", "fast")),
            0,
            1,
            1,
            5,
            2,
            5,
            3,
            1,
            4,
            9);
    journal.append(Windows.with(spans, "durationNanos", new long[] {0, 10, 7_000_000, 500_000, 9}));
    settle();
    nowMillis += 60_000;

    assertThat(history.objectives("shop", 5))
        .isEqualTo(Map.of("fast", new History.Events(12, 7.5)));
    assertThat(history.objectives("cart", 5)).isEmpty();
    assertThat(calls("shop")).as("events are no calls").isEqualTo(2);
    assertThat(history.operations("shop", 5)).hasSize(1);
    assertThat(follower.unknownRows()).isZero();

    journal.append(window(A, 1, SCHEMA, List.of(), 0, 1, 2, 1));
    settle();
    nowMillis += 60_000;
    assertThat(history.objectives("shop", 1)).isEqualTo(Map.of("fast", new History.Events(2, 0)));
  }

  private static SeriesDefinition objective(int number, String metric, String... labels) {
    List<String> values = new ArrayList<>(List.of("shop", metric, "14", "0", "", "a form"));
    values.addAll(List.of(labels));
    return new SeriesDefinition(number, 1, false, values);
  }

  /**
   * Returns the window with panes of 15 s, the last one the main pane.
   *
   * @param spans of each other pane, of each series and bucket
   */
  private static SealedWindow inPanes(SealedWindow window, long firstMillis, int panes, int spans) {
    int[] rows = IntStream.range(0, window.rows()).toArray();
    long[] counts = new long[window.counts().length];
    Arrays.fill(counts, spans);
    List<WindowPanes.Pane> others =
        IntStream.range(0, panes - 1)
            .mapToObj(i ->
                new WindowPanes.Pane(
                    firstMillis + i * PANE_MILLIS,
                    rows,
                    counts,
                    new long[rows.length],
                    NativeCounts.NONE))
            .toList();
    long mainMillis = firstMillis + (panes - 1) * PANE_MILLIS;
    return Windows.with(window, "panes", new WindowPanes(PANE_MILLIS, mainMillis, 3, others));
  }

  private List<Long> callsByMinute(String application, int minutes) {
    return history.minutes(application, minutes).stream().map(m -> m.interval().calls()).toList();
  }

  @Test
  void aBacklogOfTenMinutesCountsInItsMinutes() throws Exception {
    QueueJournal journal = journals.take(A).journal();
    journal.append(
        inPanes(
            window(
                A,
                0,
                SCHEMA,
                List.of(series(0, "shop", "2"), series(1, "cart", "0")),
                0,
                80,
                1,
                80),
            nowMillis - 10 * 60_000,
            40,
            2));
    settle();

    List<Long> expected = new ArrayList<>(Collections.nCopies(9, 16L));
    expected.addFirst(0L);
    // The last pane is the main one, as large as the others.
    expected.add(16L);
    expected.add(0L);
    assertThat(callsByMinute("shop", 12)).isEqualTo(expected);
    assertThat(callsByMinute("cart", 12)).isEqualTo(expected);
    assertThat(history.minutes("shop", 12))
        .allSatisfy(
            minute -> assertThat(minute.interval().errors()).isEqualTo(minute.interval().calls()));
    assertThat(history.minutes("shop", 12).get(1).buckets()).containsExactly(8, 8);
    assertThat(history.minutes("shop", "GET /", "kind 2", 12).get(1).interval().calls())
        .isEqualTo(16);
    assertThat(history.minutes("shop", 12).get(1).interval().observedMillis()).isEqualTo(60_000);
    assertThat(history.minutes("shop", 12).getFirst().interval().observedMillis()).isZero();
  }

  @Test
  void windowsWithAndWithoutPanesAddUp() throws Exception {
    nowMillis -= 5 * 60_000;
    QueueJournal journal = journals.take(A).journal();
    journal.append(window(A, 0, SCHEMA, List.of(series(0, "shop", "0")), 0, 1));
    nowMillis += 5 * 60_000;
    journal.append(
        inPanes(window(A, 1, SCHEMA, List.of(), 0, 30), nowMillis - 5 * 60_000 + 45_000, 2, 10));
    settle();

    assertThat(callsByMinute("shop", 6)).containsExactly(22L, 40L, 0L, 0L, 0L, 0L);
    assertThat(history.mergedSpans()).isEqualTo(3);
  }

  @Test
  void aNewReaderHasTheSameMinutes() throws Exception {
    QueueJournal journal = journals.take(A).journal();
    journal.append(
        inPanes(
            window(A, 0, SCHEMA, List.of(series(0, "shop", "0")), 0, 80),
            nowMillis - 10 * 60_000 - 30_000,
            40,
            2));
    settle();
    List<Long> before = callsByMinute("shop", 60);
    history = new History(10, 20, BOUNDS_NANOS, this::now, new SplittableRandom(1));
    fleet = fleet();
    settle();

    assertThat(callsByMinute("shop", 60)).isEqualTo(before);
    assertThat(before).contains(8L, 16L);
  }

  @Test
  void seriesCountInAllPanesOfTheWindowThatCreatesAndEvictsThem() throws Exception {
    QueueJournal journal = journals.take(A).journal();
    SealedWindow window =
        Windows.with(
            window(A, 0, SCHEMA, List.of(series(0, "shop", "0")), 0, 5), "evicted", new int[] {0});
    journal.append(inPanes(window, nowMillis - 60_000, 5, 1));
    settle();

    assertThat(callsByMinute("shop", 2)).containsExactly(8L, 2L);
    assertThat(follower.unknownRows()).isZero();
  }

  @Test
  void aRowOfAnUnknownSeriesInManyPanesIsCountedOnce() throws Exception {
    QueueJournal journal = journals.take(A).journal();
    journal.append(window(A, 0, SCHEMA, List.of(series(0, "shop", "0")), 0, 1));
    long lost = logs.open(A).end();
    journal.append(
        inPanes(
            window(A, 1, SCHEMA, List.of(series(1, "shop", "0")), 0, 5, 1, 5),
            nowMillis - 60_000,
            5,
            1));
    logs.open(A).deleteBefore(lost);
    settle();

    assertThat(calls("shop")).isEqualTo(10);
    assertThat(follower.unknownRows()).isEqualTo(1);
  }

  @Test
  void panesInTheFutureCountAtTheTimeOfTheirWindow() throws Exception {
    QueueJournal journal = journals.take(A).journal();
    journal.append(
        inPanes(
            window(A, 0, SCHEMA, List.of(series(0, "shop", "0")), 0, 5),
            nowMillis + 10 * 60_000,
            5,
            1));
    settle();

    assertThat(callsByMinute("shop", 1)).containsExactly(10L);
    assertThat(history.misdated()).isEqualTo(1);
  }

  @Test
  void panesOlderThanAnHourAreLeftOut() throws Exception {
    QueueJournal journal = journals.take(A).journal();
    journal.append(
        inPanes(
            window(A, 0, SCHEMA, List.of(series(0, "shop", "0")), 0, 12),
            nowMillis - 62 * 60_000,
            12,
            1));
    settle();

    // 8 of 12 panes are older than the hour and the minute before it.
    assertThat(history.sparks(List.of("shop")).getFirst().calls()).startsWith(8, 0);
    assertThat(history.misdated()).isZero();
  }

  @Test
  void nameServerThatIsAwayIsAskedAgain() throws Exception {
    journals.take(A).journal().append(window(A, 0, SCHEMA, List.of(series(0, "shop", "0")), 0, 1));
    away = true;
    settle();
    assertThat(history.upToDate()).isFalse();
    away = false;
    nowNanos += 3_000_000_000L;
    settle();

    assertThat(calls("shop")).isEqualTo(2);
    assertThat(history.upToDate()).isTrue();
  }

  @Test
  void queuesOfABrokerThatComesBackAreNotAddedAnew() throws Exception {
    QueueJournal journal = journals.take(A).journal();
    journal.append(window(A, 0, SCHEMA, List.of(series(0, "shop", "0")), 0, 1));
    settle();
    unregistered = true;
    nowNanos += 30_000_000_000L;
    settle();
    unregistered = false;
    journal.append(window(A, 1, SCHEMA, List.of(), 0, 10));
    nowNanos += 30_000_000_000L;
    settle();

    assertThat(calls("shop")).isEqualTo(22);
    assertThat(follower.unknownRows()).isZero();
  }

  @Test
  void aBrokerThatDoesNotAnswerHoldsUpNoOthersHistory() throws Exception {
    QueueJournal a = journals.take(A).journal();
    a.append(window(A, 0, SCHEMA, List.of(series(0, "shop", "0")), 0, 1));
    SilentLogs silent = new SilentLogs(logs, A.broker());
    AtomicLong nanos = new AtomicLong();
    try (FleetFollower running = fleet(journals(silent), nanos::get)) {
      running.start();
      silent.awaitReader();
      QueueJournal b = journals.take(B).journal();
      b.append(window(B, 0, SCHEMA, List.of(series(0, "cart", "0")), 0, 1));
      nanos.addAndGet(30_000_000_000L);
      await().atMost(PATIENCE).untilAsserted(() -> assertThat(calls("cart")).isEqualTo(2));
      assertThat(history.upToDate()).isFalse();
      silent.answer();
      await().atMost(PATIENCE).untilAsserted(() -> assertThat(calls("shop")).isEqualTo(2));
      await().atMost(PATIENCE).until(history::upToDate);
    } finally {
      silent.answer();
    }
  }

  @Test
  void threadFollowsUntilItIsClosed() throws Exception {
    QueueJournal journal = journals.take(A).journal();
    journal.append(window(A, 0, SCHEMA, List.of(series(0, "shop", "0")), 0, 1));
    fleet.start();
    await().until(history::upToDate);
    fleet.close();
    fleet.close();

    assertThat(calls("shop")).isEqualTo(2);
  }
}
