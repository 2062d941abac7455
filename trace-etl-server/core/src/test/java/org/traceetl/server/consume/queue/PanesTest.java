package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.BatchAges;
import org.traceetl.proto.BundleWriter;
import org.traceetl.server.config.EventsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.StandardProfile;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.WindowPanes;

/** Windows with panes have the same rows as windows without, and the panes add up to them. */
class PanesTest {
  private static final long PANE_MILLIS = 15_000;

  /** The duration of a slow span. */
  private static final long SLOW_NANOS = 10_000_000_000L;

  private static final long NOW_MILLIS = 1_790_000_000_000L;

  /** The sums of a series: spans by bucket, durations, spans by native bucket. */
  private static final class Sums {
    private final TreeMap<Integer, Long> spans = new TreeMap<>();
    private final TreeMap<Integer, Long> natives = new TreeMap<>();
    private long durationNanos;

    private void add(long[] counts, int at, int stride, long nanos, NativeCounts its, int row) {
      for (int bucket = 0; bucket < stride; bucket++) {
        add(spans, bucket, counts[at + bucket]);
      }
      long sum = durationNanos + nanos;
      durationNanos = sum < 0 ? Long.MAX_VALUE : sum;
      for (int i = its.begin(row); i < its.end(row); i++) {
        add(natives, its.buckets()[i], its.counts()[i]);
      }
    }

    private static void add(TreeMap<Integer, Long> to, int bucket, long count) {
      if (count != 0) {
        to.merge(bucket, count, Long::sum);
      }
    }

    private Sums less(Sums other) {
      Sums rest = new Sums();
      rest.spans.putAll(spans);
      rest.natives.putAll(natives);
      other.spans.forEach((bucket, count) -> subtract(rest.spans, bucket, count));
      other.natives.forEach((bucket, count) -> subtract(rest.natives, bucket, count));
      rest.durationNanos = durationNanos - other.durationNanos;
      assertThat(rest.durationNanos).isNotNegative();
      return rest;
    }

    private static void subtract(TreeMap<Integer, Long> from, int bucket, long count) {
      long rest = from.get(bucket) - count;
      assertThat(rest).isNotNegative();
      from.put(bucket, rest);
      from.remove(bucket, 0L);
    }

    private boolean isEmpty() {
      return spans.isEmpty() && durationNanos == 0;
    }

    @Override
    public String toString() {
      return spans + " " + natives + " " + durationNanos;
    }
  }

  /** Sums by series. */
  private static final class Rows {
    private final Map<Integer, Sums> bySeries = new TreeMap<>();

    private Sums of(int series) {
      return bySeries.computeIfAbsent(series, absent -> new Sums());
    }

    private Rows add(SealedWindow window) {
      for (int row = 0; row < window.rows(); row++) {
        of(window.series()[row])
            .add(
                window.counts(),
                row * window.stride(),
                window.stride(),
                window.durationNanos()[row],
                window.natives(),
                row);
      }
      return this;
    }

    private Rows add(SealedWindow window, WindowPanes.Pane pane) {
      for (int i = 0; i < pane.rows().length; i++) {
        long nanos = of(window.series()[pane.rows()[i]]).durationNanos;
        assertThat(nanos).isLessThanOrEqualTo(Long.MAX_VALUE - pane.durationNanos()[i]);
        of(window.series()[pane.rows()[i]])
            .add(
                pane.counts(),
                i * window.stride(),
                window.stride(),
                pane.durationNanos()[i],
                pane.natives(),
                i);
      }
      return this;
    }

    @Override
    public String toString() {
      Map<Integer, String> shown = new TreeMap<>();
      bySeries.forEach((series, sums) -> {
        if (!sums.isEmpty()) {
          shown.put(series, sums.toString());
        }
      });
      return shown.toString();
    }
  }

  private long sequence;

  private static Aggregation aggregation(boolean hasPanes) {
    Aggregation aggregation =
        Aggregation.builder(() -> 1)
            .series(
                new EventsConfig(true, null)
                    .addTo(
                        new SeriesConfig(null, null, null, null, null, null, null, null, null),
                        StandardProfile.OTEL))
            .histogram(new HistogramConfig(List.of(1.0, 10.0), HistogramConfig.Kind.BOTH, null))
            .unit(MetricsConfig.Unit.MILLISECONDS)
            .build();
    aggregation.panes(hasPanes);
    return aggregation;
  }

  private static QueueAggregator aggregator(Aggregation aggregation) {
    QueueAggregator aggregator =
        aggregation.newAggregator(
            new QueueId("b", 0), aggregation.newDecoder(), new SpanPipelineMetrics());
    aggregator.beginAt(0);
    return aggregator;
  }

  private static BatchAges ages(long... millis) {
    BatchAges ages = new BatchAges();
    assertThat(ages.read(BatchAges.text(millis, millis.length))).isTrue();
    return ages;
  }

  /** Returns the rows of each pane. The main pane's are those of the window less all others. */
  private static Map<Long, Rows> panes(SealedWindow window) {
    Map<Long, Rows> panes = new TreeMap<>();
    Rows others = new Rows();
    long last = Long.MIN_VALUE;
    for (WindowPanes.Pane pane : window.panes().others()) {
      assertThat(pane.startMillis()).isGreaterThan(last);
      last = pane.startMillis();
      assertThat(pane.rows()).isNotEmpty().isSorted().doesNotHaveDuplicates();
      panes.put(last, new Rows().add(window, pane));
      others.add(window, pane);
    }
    Rows main = new Rows();
    new Rows()
        .add(window)
        .bySeries
        .forEach((series, sums) -> main.bySeries.put(series, sums.less(others.of(series))));
    assertThat(panes.put(window.panes().mainMillis(), main)).isNull();
    return panes;
  }

  private BatchMessage batch(Random from) {
    BatchMessage batch = new BatchMessage("shop " + from.nextInt(2));
    int spans = 1 + from.nextInt(5);
    for (int i = 0; i < spans; i++) {
      long threshold = from.nextInt(3) == 0 ? from.nextLong(1L << 56) / 3 * 2 : 0;
      long nanos = from.nextInt(40) == 0 ? 1L << 62 : from.nextLong(30_000_000);
      int status = from.nextInt(4) == 0 ? BatchMessage.ERROR : BatchMessage.UNSET;
      String name = "GET /" + from.nextInt(4);
      if (from.nextInt(3) == 0) {
        batch.grouped(name, BatchMessage.CLIENT, status, nanos, threshold);
      } else {
        batch.span(name, BatchMessage.SERVER, status, nanos, threshold);
      }
      if (from.nextInt(4) == 0) {
        batch.event("retry");
      }
    }
    return batch;
  }

  @Property(tries = 100)
  void panesAddUpToTheRowsOfAWindowWithoutPanes(@ForAll long seed) {
    Random from = new Random(seed);
    QueueAggregator aggregator = aggregator(aggregation(true));
    QueueAggregator plain = aggregator(aggregation(false));
    QueueAggregator single = aggregator(aggregation(false));
    int panes = 1 + from.nextInt(from.nextBoolean() ? 3 : 60);
    long offset = 0;
    long singles = 0;
    List<byte[]> sent = new ArrayList<>();
    for (int window = 0; window < 3; window++) {
      Map<Long, Rows> expected = new TreeMap<>();
      int batches = from.nextInt(80);
      for (int i = 0; i < batches; i++) {
        boolean isRepeat = !sent.isEmpty() && from.nextInt(8) == 0;
        byte[] message =
            isRepeat ? sent.get(from.nextInt(sent.size())) : batch(from).message(sequence++);
        sent.add(message);
        long pane = pane(NOW_MILLIS) - from.nextInt(panes) * PANE_MILLIS;
        long[] places = {0, 1, PANE_MILLIS - 1, from.nextLong(PANE_MILLIS)};
        long storedMillis = NOW_MILLIS + PANE_MILLIS + from.nextInt(1_000);
        long ageMillis = storedMillis - pane - places[from.nextInt(places.length)];
        aggregator.accept(message, NOW_MILLIS, storedMillis, ages(ageMillis));
        plain.accept(message, NOW_MILLIS);
        single.accept(message, NOW_MILLIS);
        offset++;
        Rows rows = expected.computeIfAbsent(pane, absent -> new Rows());
        rows.add(SealedWindows.seal(single, ++singles, NOW_MILLIS));
      }
      SealedWindow with = SealedWindows.seal(aggregator, offset, NOW_MILLIS);
      SealedWindow without = SealedWindows.seal(plain, offset, NOW_MILLIS);
      if (without == null) {
        assertThat(with).isNull();
        continue;
      }
      assertThat(without.panes().isEmpty()).isTrue();
      assertThat(new Rows().add(with)).hasToString(new Rows().add(without).toString());
      assertThat(carries(with)).isEqualTo(carries(without));
      // Documents of a series are limited by pane.
      assertThat(with.books())
          .usingRecursiveFieldByFieldElementComparatorIgnoringFields("heldBack")
          .isEqualTo(without.books());
      assertThat(with.created()).isEqualTo(without.created());
      assertExemplars(with);
      if (with.rows() > 0) {
        assertThat(with.panes().lengthMillis()).isEqualTo(PANE_MILLIS);
        assertThat(with.panes().mergedSpans()).isZero();
        expected.values().removeIf(rows -> rows.bySeries.isEmpty());
        assertSamePanes(panes(with), expected, isSaturated(with));
      }
    }
  }

  private static boolean isSaturated(SealedWindow window) {
    return Arrays.stream(window.durationNanos()).anyMatch(nanos -> nanos == Long.MAX_VALUE);
  }

  /** Durations of panes are not exact if their sum is saturated. */
  private static void assertSamePanes(
      Map<Long, Rows> panes, Map<Long, Rows> expected, boolean isSaturated) {
    if (isSaturated) {
      for (Map<Long, Rows> each : List.of(panes, expected)) {
        each.values().forEach(rows -> rows.bySeries.values().forEach(s -> s.durationNanos = 0));
      }
    }
    assertThat(panes).hasToString(expected.toString());
  }

  private static Map<Integer, Long> carries(SealedWindow window) {
    Map<Integer, Long> carries = new TreeMap<>();
    for (int row = 0; row < window.rows(); row++) {
      carries.put(window.series()[row], window.carries()[row]);
    }
    return carries;
  }

  /** Each ordinary span among the documents is the exemplar of one row. */
  private static void assertExemplars(SealedWindow window) {
    BitSet referenced = new BitSet();
    for (int exemplar : window.exemplars()) {
      if (exemplar >= 0) {
        assertThat(referenced.get(exemplar)).isFalse();
        referenced.set(exemplar);
      }
    }
    for (int i = 0; i < window.documents().size(); i++) {
      boolean isOrdinary = window.documents().get(i).reason() == TraceDocument.Reason.EXEMPLAR;
      assertThat(!isOrdinary || referenced.get(i)).isTrue();
    }
  }

  @Test
  void eachBatchOfABundleCountsInItsOwnPane() {
    QueueAggregator aggregator = aggregator(aggregation(true));
    BundleWriter bundle = new BundleWriter();
    bundle.begin();
    for (int part = 0; part < 3; part++) {
      bundle.add(new BatchMessage("shop").span("GET /", 1).message(sequence++));
    }
    aggregator.accept(
        bundle.finish(), NOW_MILLIS, NOW_MILLIS, ages(0, 10 * PANE_MILLIS, 20 * PANE_MILLIS));

    SealedWindow window = SealedWindows.seal(aggregator, 1, NOW_MILLIS);
    assertThat(panes(window).keySet())
        .containsExactly(
            pane(NOW_MILLIS - 20 * PANE_MILLIS),
            pane(NOW_MILLIS - 10 * PANE_MILLIS),
            pane(NOW_MILLIS));
    assertThat(window.counts()).containsExactly(3, 0, 0);
  }

  private static long pane(long millis) {
    return Math.floorDiv(millis, PANE_MILLIS) * PANE_MILLIS;
  }

  @Test
  void aPermissionCountsFromTheNextWindow() {
    Aggregation aggregation = aggregation(false);
    QueueAggregator aggregator = aggregator(aggregation);
    assertThat(aggregation.writesPanes()).isFalse();
    for (boolean hasPanes : new boolean[] {true, false, false}) {
      accept(aggregator, 0);
      aggregation.panes(hasPanes);
      accept(aggregator, PANE_MILLIS);
      SealedWindow window = SealedWindows.seal(aggregator, sequence, NOW_MILLIS);
      boolean hadPanes = window.from() == 2;
      assertThat(window.panes().isEmpty()).isEqualTo(!hadPanes);
      assertThat(window.panes().others()).hasSize(hadPanes ? 1 : 0);
      assertThat(window.counts()).containsExactly(2, 0, 0);
    }
  }

  @Test
  void theWindowsBeforeAPermissionIsKnownKeepTheirPanes() {
    Aggregation aggregation = aggregation(false);
    aggregation.awaitPanes();
    QueueAggregator aggregator = aggregator(aggregation);
    assertThat(aggregation.writesPanes()).isFalse();
    List<Boolean> written = new ArrayList<>();
    for (Boolean permission : new Boolean[] {null, true, false}) {
      acceptABacklog(aggregator);
      // Without its panes, it would show the backlog at one time.
      assertThat(aggregator.isCrowded(NOW_MILLIS + 60_000)).isEqualTo(written.size() == 2);
      if (permission != null) {
        aggregation.panes(permission);
      }
      SealedWindow window = SealedWindows.seal(aggregator, sequence, NOW_MILLIS);
      assertThat(window.counts()).containsExactly(20, 0, 0);
      written.add(!window.panes().isEmpty());
    }
    // The last one began with the permission.
    assertThat(written).containsExactly(false, true, true);
  }

  @Test
  void aWindowWithABacklogWaitsAMinuteForThePermission() {
    Aggregation aggregation = aggregation(false);
    aggregation.awaitPanes();
    QueueAggregator aggregator = aggregator(aggregation);
    assertThat(aggregator.awaitsPanes(NOW_MILLIS)).as("without spans").isFalse();
    acceptABacklog(aggregator);

    assertThat(aggregator.awaitsPanes(NOW_MILLIS + 59_000)).isTrue();
    assertThat(aggregator.awaitsPanes(NOW_MILLIS + 60_000)).isFalse();
    for (boolean permission : new boolean[] {true, false}) {
      aggregation.panes(permission);
      assertThat(aggregator.awaitsPanes(NOW_MILLIS)).isFalse();
    }
  }

  @Test
  void withoutAnExpectedPermissionNoWindowWaitsOrLosesItsPanes() {
    Aggregation aggregation = aggregation(false);
    aggregation.awaitPanes();
    QueueAggregator aggregator = aggregator(aggregation);
    acceptABacklog(aggregator);
    aggregation.stopAwaitingPanes();

    assertThat(aggregator.awaitsPanes(NOW_MILLIS)).isFalse();
    aggregation.panes(true);
    assertThat(SealedWindows.seal(aggregator, sequence, NOW_MILLIS).panes().isEmpty()).isFalse();
  }

  @Test
  void windowsAfterTheFirstMinuteDoNotWaitForThePermission() {
    Aggregation aggregation = aggregation(false);
    aggregation.awaitPanes();
    QueueAggregator aggregator = aggregator(aggregation);
    acceptABacklog(aggregator);
    SealedWindows.seal(aggregator, sequence, NOW_MILLIS + 60_000);
    acceptABacklog(aggregator);

    assertThat(aggregator.awaitsPanes(NOW_MILLIS + 61_000)).isFalse();
  }

  @Test
  void theFirstWindowAfterOneWithPanesInTheJournalHasPanes() {
    QueueAggregator before = aggregator(aggregation(true));
    acceptABacklog(before);
    SealedWindow last = SealedWindows.seal(before, sequence, NOW_MILLIS);

    for (boolean hasPanes : new boolean[] {true, false}) {
      Aggregation aggregation = aggregation(false);
      aggregation.awaitPanes();
      QueueImage image = aggregation.newImage();
      image.apply(last);
      if (!hasPanes) {
        QueueAggregator without = aggregator(aggregation(false));
        acceptABacklog(without);
        image.apply(SealedWindows.seal(without, sequence, NOW_MILLIS));
      }
      QueueAggregator next =
          aggregation.newAggregator(
              new QueueId("b", 0), aggregation.newDecoder(), new SpanPipelineMetrics(), image);
      acceptABacklog(next);

      assertThat(next.isCrowded(NOW_MILLIS + 60_000)).isEqualTo(hasPanes);
      SealedWindow window = SealedWindows.seal(next, sequence, NOW_MILLIS);
      assertThat(window.panes().others()).hasSize(hasPanes ? 19 : 0);
    }
  }

  @Test
  void aServerThatMayNotWritePanesIgnoresThoseOfTheJournal() {
    QueueAggregator before = aggregator(aggregation(true));
    acceptABacklog(before);
    Aggregation aggregation = aggregation(false);
    QueueImage image = aggregation.newImage();
    image.apply(SealedWindows.seal(before, sequence, NOW_MILLIS));
    assertThat(image.hasPanes()).isTrue();
    QueueAggregator next =
        aggregation.newAggregator(
            new QueueId("b", 0), aggregation.newDecoder(), new SpanPipelineMetrics(), image);
    acceptABacklog(next);

    assertThat(SealedWindows.seal(next, sequence, NOW_MILLIS).panes().isEmpty()).isTrue();
  }

  /** Accepts a batch of each of 20 panes. */
  private void acceptABacklog(QueueAggregator aggregator) {
    for (int pane = 0; pane < 20; pane++) {
      accept(aggregator, pane * PANE_MILLIS);
    }
  }

  private void accept(QueueAggregator aggregator, long ageMillis) {
    aggregator.accept(
        new BatchMessage("shop").span("GET /", 1).message(sequence++),
        NOW_MILLIS,
        NOW_MILLIS,
        ages(ageMillis));
  }

  @Test
  void aWindowWithoutRowsHasNoPanes() {
    QueueAggregator aggregator = aggregator(aggregation(true));
    accept(aggregator, 0);
    SealedWindows.seal(aggregator, 1, NOW_MILLIS);
    byte[] repeat = new BatchMessage("shop").span("GET /", 1).message(0);
    aggregator.accept(repeat, NOW_MILLIS, NOW_MILLIS, ages(PANE_MILLIS));

    assertThat(SealedWindows.seal(aggregator, 2, NOW_MILLIS).panes().isEmpty()).isTrue();
  }

  @Test
  void aBrokersWrongClockLeavesPanesNearTheirWindow() {
    for (long storedMillis : new long[] {Long.MIN_VALUE / 2, 0, Long.MAX_VALUE / 2}) {
      QueueAggregator aggregator = aggregator(aggregation(true));
      byte[] message = new BatchMessage("shop").span("GET /", 1).message(sequence++);
      aggregator.accept(message, NOW_MILLIS, storedMillis, ages(0));

      long tenYears = 3_650L * 24 * 3_600 * 1_000;
      SealedWindow window = SealedWindows.seal(aggregator, 1, NOW_MILLIS);
      assertThat(window.panes().mainMillis())
          .isBetween(NOW_MILLIS - tenYears, NOW_MILLIS + tenYears);
      assertThat(window.panes().mainMillis() % PANE_MILLIS).isZero();
    }
  }

  @Test
  void aWindowWithManyPanesShouldEndAfterASecond() {
    QueueAggregator aggregator = aggregator(aggregation(true));
    for (int pane = 0; pane < 15; pane++) {
      accept(aggregator, pane * PANE_MILLIS);
    }
    assertThat(aggregator.isCrowded(NOW_MILLIS + 1_000)).isFalse();
    accept(aggregator, 15 * PANE_MILLIS);
    assertThat(aggregator.isCrowded(NOW_MILLIS + 999)).isFalse();
    assertThat(aggregator.isCrowded(NOW_MILLIS + 1_000)).isTrue();

    FilledWindow filled = aggregator.swap(sequence, NOW_MILLIS + 1_000);
    for (int pane = 0; pane < 16; pane++) {
      accept(aggregator, pane * PANE_MILLIS);
    }
    assertThat(aggregator.isCrowded(NOW_MILLIS + 3_000)).as("the other one is not back").isFalse();
    filled.giveBack();
    assertThat(aggregator.isCrowded(NOW_MILLIS + 3_000)).isTrue();
  }

  @Test
  void theExemplarOfASeriesIsThatOfItsNewestPane() {
    QueueAggregator aggregator = aggregator(aggregation(true));
    for (long age : new long[] {PANE_MILLIS, 3 * PANE_MILLIS, 0, 2 * PANE_MILLIS}) {
      aggregator.accept(
          new BatchMessage("shop").span("GET /", age).message(sequence++),
          NOW_MILLIS,
          NOW_MILLIS,
          ages(age));
    }

    SealedWindow window = SealedWindows.seal(aggregator, sequence, NOW_MILLIS);
    assertThat(window.documents()).hasSize(1);
    assertThat(window.documents().get(window.exemplars()[0]).durationNanos()).isZero();
  }

  @Test
  void anOrdinarySpanOfANewerPaneDoesNotReplaceTheExemplarOfASlowOne() {
    for (long age : new long[] {0, 2 * PANE_MILLIS}) {
      QueueAggregator aggregator = aggregator(aggregation(true));
      long[][] spans = {{PANE_MILLIS, SLOW_NANOS}, {age, 1}};
      for (long[] span : spans) {
        aggregator.accept(
            new BatchMessage("shop").span("GET /", span[1]).message(sequence++),
            NOW_MILLIS,
            NOW_MILLIS,
            ages(span[0]));
      }

      SealedWindow window = SealedWindows.seal(aggregator, sequence, NOW_MILLIS);
      assertThat(window.documents()).hasSize(1);
      assertThat(window.documents().get(window.exemplars()[0]).durationNanos())
          .isEqualTo(SLOW_NANOS);
    }
  }
}
