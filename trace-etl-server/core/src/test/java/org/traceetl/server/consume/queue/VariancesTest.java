package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.server.consume.queue.SealedWindows.values;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.EventsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.Filter;
import org.traceetl.server.config.StandardProfile;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.format.MalformedRecordException;
import org.traceetl.server.journal.format.RecordWriter;
import org.traceetl.server.journal.format.WindowFormat;
import org.traceetl.server.journal.format.WindowInvariants;
import org.traceetl.server.series.Applications;
import org.traceetl.server.series.SeriesBudget;
import org.traceetl.server.series.SeriesTable;
import org.traceetl.server.series.SlowThresholds;
import org.traceetl.server.series.SymbolTable;
import org.traceetl.server.series.Tenants;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowRows;

/** Tests the variances of sampled series. */
class VariancesTest {
  private static final QueueId QUEUE = new QueueId("b", 0);

  /** Weight 2, variance 2. */
  private static final long HALF = 1L << 55;

  /** Weight 4/3, variance 4/9. */
  private static final long QUARTER = 1L << 54;

  /** {@code ot=th:fffff}: weight 2^20. */
  private static final long MOST = 0xfffffL << 36;

  private static Aggregation aggregation(boolean isRead, int maxPerApplication) {
    Aggregation made =
        Aggregation.builder(() -> 1)
            .series(
                new EventsConfig(true, null)
                    .addTo(
                        new SeriesConfig(
                            List.of(new Dimension("route", null, null)),
                            List.of(new Filter(null, "GET /health", null)),
                            null,
                            maxPerApplication,
                            null,
                            null,
                            null,
                            null,
                            null),
                        StandardProfile.OTEL))
            .histogram(new HistogramConfig(List.of(10.0, 100.0), HistogramConfig.Kind.BOTH, null))
            .unit(MetricsConfig.Unit.SECONDS)
            .build();
    made.variances(isRead);
    return made;
  }

  private static QueueAggregator owner(Aggregation aggregation, QueueImage image) {
    QueueAggregator owner =
        aggregation.newAggregator(
            QUEUE, aggregation.newDecoder(), new SpanPipelineMetrics(), image);
    owner.beginAt(0);
    return owner;
  }

  private static SealedWindow seal(QueueAggregator aggregator, long nowMillis)
      throws MalformedRecordException {
    FilledWindow filled = aggregator.swap(nowMillis, nowMillis);
    SealedWindow window = filled.seal();
    filled.giveBack();
    assertThat(WindowInvariants.violated(window)).isNull();
    RecordWriter writer = new RecordWriter();
    WindowFormat.encode(window, writer);
    return WindowFormat.decode(writer.buffer(), 0, writer.size(), QUEUE);
  }

  /** Returns the variance of each series by its values. */
  private static Map<List<String>, Long> variances(QueueImage image) {
    Map<List<String>, Long> all = new HashMap<>();
    for (int series = 0; series < image.slots(); series++) {
      SeriesDefinition definition = image.definition(series);
      if (definition != null && definition.isOfVariance()) {
        long count = 0;
        for (int bucket = 0; bucket < 3; bucket++) {
          count += image.count(series, bucket);
        }
        all.merge(definition.values(), count, Long::sum);
      }
    }
    return all;
  }

  private static BatchMessage sampled(BatchMessage to, String name, int times, long threshold) {
    for (int i = 0; i < times; i++) {
      to.span(name, BatchMessage.SERVER, BatchMessage.UNSET, 5, threshold);
    }
    return to;
  }

  @Test
  void sampledSpansAddTheirVarianceInASeriesOfItsOwn() throws MalformedRecordException {
    Aggregation aggregation = aggregation(true, 100);
    QueueAggregator owner = owner(aggregation, aggregation.newImage());
    BatchMessage batch = new BatchMessage("shop").span("exact", 5);
    sampled(batch, "GET /", 3, HALF);
    sampled(batch, "GET /", 10, QUARTER);
    batch.span("GET /", 5).span("GET /", BatchMessage.CLIENT, BatchMessage.ERROR, 5, HALF);
    batch.attribute("route", "/").event("retry");
    sampled(batch, "GET /health", 1, HALF);
    sampled(batch, "damaged", 1, (1L << 56) - 1);
    for (int i = 0; i < 4; i++) {
      batch.grouped("grouped", BatchMessage.SERVER, BatchMessage.UNSET, i, HALF);
    }
    owner.accept(batch.message(0), 1_000);
    SealedWindow window = seal(owner, 2_000);
    QueueImage image = aggregation.newImage();
    image.apply(window);

    assertThat(variances(image))
        .isEqualTo(
            Map.of(
                values("shop", "GET /", "18", "0", null, null, null),
                3 * 2L + 4,
                values("shop", "GET /", "19", "2", "/", null, null),
                2L,
                values("shop", "grouped", "18", "0", null, null, null),
                4 * 2L));
    assertThat(window.books())
        .usingRecursiveFieldByFieldElementComparatorIgnoringFields("bytes")
        .containsExactly(new Books("shop", 22, 20, 0, 1, 0, Map.of("bad_value", 1L), 0));
  }

  @Test
  void spansOfOneTraceAreOneInTheSample() throws MalformedRecordException {
    Aggregation aggregation = aggregation(true, 100);
    QueueAggregator owner = owner(aggregation, aggregation.newImage());
    BatchMessage batch = new BatchMessage("shop");
    long variance = 0;
    for (int trace = 1; trace <= 300; trace++) {
      batch.trace(trace);
      sampled(batch, "SELECT", trace % 4, HALF);
      sampled(batch, "GET /", 1, HALF);
      for (int i = 0; i < trace % 4; i++) {
        batch.grouped("grouped", BatchMessage.SERVER, BatchMessage.UNSET, i, HALF);
      }
      variance += (long) (trace % 4) * (trace % 4) * 2;
    }
    owner.accept(batch.message(0), 1_000);
    owner.accept(sampled(new BatchMessage("shop").trace(1), "GET /", 1, HALF).message(1), 1_000);
    QueueImage image = aggregation.newImage();
    image.apply(seal(owner, 2_000));

    assertThat(variances(image))
        .isEqualTo(
            Map.of(
                values("shop", "SELECT", "18", "0", null, null, null), variance,
                values("shop", "grouped", "18", "0", null, null, null), variance,
                values("shop", "GET /", "18", "0", null, null, null), 301 * 2L));
  }

  @Test
  void noVarianceIsWrittenUntilAllServersReadIt() throws MalformedRecordException {
    Aggregation before = aggregation(false, 100);
    QueueAggregator owner = owner(before, before.newImage());
    owner.accept(sampled(new BatchMessage("shop"), "op", 1, HALF).message(0), 1_000);
    QueueImage image = before.newImage();
    image.apply(seal(owner, 2_000));
    assertThat(variances(image)).isEmpty();
    before.variances(true);
    owner.accept(sampled(new BatchMessage("shop"), "op", 1, HALF).message(1), 3_000);
    image.apply(seal(owner, 4_000));
    assertThat(variances(image).values()).containsExactly(2L);

    // An earlier server joins, which can no longer read this queue.
    before.variances(false);
    owner.accept(sampled(new BatchMessage("shop"), "op", 1, HALF).message(2), 4_000);
    image.apply(seal(owner, 5_000));
    assertThat(variances(image).values()).containsExactly(4L);

    // A server that does not know yet what others read continues the journal of one that knew.
    Aggregation after = aggregation(false, 100);
    QueueImage taken = after.newImage();
    HandOverTest.copy(image, taken);
    QueueAggregator next = owner(after, taken);
    next.accept(sampled(new BatchMessage("shop"), "op", 1, HALF).message(3), 5_000);
    image.apply(seal(next, 6_000));
    assertThat(variances(image).values()).containsExactly(6L);
  }

  /** The exact variance of each series and window is above 2^64. */
  @Test
  void variancesOfForgedBatchesSaturate() throws MalformedRecordException {
    Aggregation aggregation = aggregation(true, 100);
    QueueAggregator owner = owner(aggregation, aggregation.newImage());
    QueueImage image = aggregation.newImage();
    for (int window = 0; window < 3; window++) {
      long nowMillis = 1_000_000 + window * 15_000L;
      for (int batches = 0; batches < 2; batches++) {
        BatchMessage batch = new BatchMessage("shop").trace(1);
        sampled(batch, "op", 5_000, MOST);
        for (int i = 0; i < 5_000; i++) {
          batch.grouped("grouped", BatchMessage.SERVER, BatchMessage.UNSET, 5, MOST);
        }
        owner.accept(batch.message(2 * window + batches), nowMillis);
      }
      image.apply(seal(owner, nowMillis + 15_000));
    }

    assertThat(variances(image).values())
        .hasSize(2)
        .allSatisfy(variance ->
            assertThat(variance)
                .isBetween(
                    3 * WindowRows.MAX_COUNT, 3 * (WindowRows.MAX_COUNT + Integer.MAX_VALUE)));
  }

  @Test
  void variancesEndOnceTheyAreRefused() throws MalformedRecordException {
    Aggregation before = aggregation(true, 100);
    QueueAggregator owner = owner(before, before.newImage());
    owner.accept(sampled(new BatchMessage("shop"), "op", 1, HALF).message(0), 1_000_000);
    QueueImage image = before.newImage();
    image.apply(seal(owner, 1_015_000));
    owner.release();

    Aggregation after = aggregation(false, 100);
    after.refuseVariances();
    QueueImage taken = after.newImage();
    HandOverTest.copy(image, taken);
    QueueAggregator next = owner(after, taken);
    for (int window = 1; window <= 62; window++) {
      long nowMillis = 1_000_000 + window * 15_000L;
      next.accept(sampled(new BatchMessage("shop"), "op", 1, HALF).message(window), nowMillis);
      image.apply(seal(next, nowMillis + 15_000));
      if (window < 50) {
        assertThat(variances(image).values()).containsExactly(2L);
      }
    }
    assertThat(variances(image)).as("after 15 min").isEmpty();
    assertThat(image.definitions()).hasSize(1);
  }

  @Test
  void aTableWithOverflowSeriesOfEachKindTakesNoVariances() {
    SymbolTable symbols = new SymbolTable(100, 10_000, 100, 1);
    SeriesConfig config = SeriesConfig.defaults();
    SlowThresholds slow = new SlowThresholds(DocumentsConfig.defaults());
    SeriesTable table =
        new SeriesTable(
            config,
            new SeriesBudget(100),
            symbols,
            new Applications(
                symbols, () -> slow, () -> Tenants.NONE, 100, SeriesTable.KINDS_AND_STATUSES),
            true);

    List<String> overflow = values("shop", null, "16", "0");
    List<String> named = values("shop", "op", "18", "0");
    assertThat(table.restore(new SeriesDefinition(0, 1, true, overflow), 1, 0)).isFalse();
    assertThat(table.restore(new SeriesDefinition(0, 1, false, named), 1, 0)).isFalse();
    assertThat(
            table.restore(new SeriesDefinition(0, 1, true, values("shop", null, "15", "2")), 1, 0))
        .isTrue();
  }

  @Test
  void spansWithoutRoomHaveTheVarianceOfTheOverflowSeries() throws MalformedRecordException {
    Aggregation aggregation = aggregation(true, 2);
    QueueAggregator owner = owner(aggregation, aggregation.newImage());
    BatchMessage batch = new BatchMessage("shop");
    List.of("a", "b", "c").forEach(name -> sampled(batch, name, 2, HALF));
    owner.accept(batch.message(0), 1_000);
    SealedWindow window = seal(owner, 2_000);
    QueueImage image = aggregation.newImage();
    image.apply(window);

    assertThat(variances(image))
        .isEqualTo(
            Map.of(
                values("shop", "a", "18", "0", null, null, null), 4L,
                values("shop", "b", "18", "0", null, null, null), 4L,
                values("shop", null, "16", "0", null, null, null), 4L));
    assertThat(window.books().getFirst().overflowed()).isEqualTo(2);
  }

  /** The variances of an application add up to those of its spans, for any limits and owners. */
  @Property(tries = 100)
  void noVarianceIsLostOrCountedTwice(@ForAll long seed) throws MalformedRecordException {
    Random random = new Random(seed);
    int maxPerApplication = random.nextBoolean() ? 4 : 1_000;
    Aggregation aggregation = aggregation(true, maxPerApplication);
    QueueImage image = aggregation.newImage();
    QueueAggregator owner = owner(aggregation, aggregation.newImage());
    Map<String, Double> expected = new HashMap<>();
    for (int window = 0; window < 6; window++) {
      long nowMillis = 1_000_000 + window * 15_000L;
      for (int batches = random.nextInt(4); batches >= 0; batches--) {
        String application = "app " + random.nextInt(3);
        BatchMessage batch = new BatchMessage(application);
        for (int spans = random.nextInt(30); spans > 0; spans--) {
          String name = List.of("get", "set", "del", "ping").get(random.nextInt(4));
          long threshold = random.nextInt(3) * QUARTER;
          if (random.nextBoolean()) {
            batch.span(name, BatchMessage.SERVER, BatchMessage.UNSET, 5, threshold);
          } else {
            batch.grouped(name, BatchMessage.SERVER, BatchMessage.UNSET, 5, threshold);
          }
          double weight = 1 / (1 - threshold * 0x1p-56);
          expected.merge(application, weight * (weight - 1), Double::sum);
        }
        owner.accept(batch.message(window * 10L + batches), nowMillis);
      }
      image.apply(seal(owner, nowMillis + 15_000));
      if (random.nextInt(3) == 0) {
        owner.release();
        aggregation = aggregation(true, maxPerApplication);
        QueueImage taken = aggregation.newImage();
        HandOverTest.copy(image, taken);
        owner = owner(aggregation, taken);
      }
    }
    Map<String, Long> sums = new HashMap<>();
    Map<String, Integer> series = new HashMap<>();
    variances(image)
        .forEach((values, count) -> {
          sums.merge(values.getFirst(), count, Long::sum);
          series.merge(values.getFirst(), 1, Integer::sum);
        });
    // A series is below the exact sum by less than one, as that of spans.
    expected.forEach((application, sum) ->
        assertThat(sum - sums.getOrDefault(application, 0L))
            .isBetween(-1e-6, (double) series.getOrDefault(application, 0)));
  }
}
