package org.traceetl.server.consume.queue;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpanBatchReader;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.EventsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.Filter;
import org.traceetl.server.config.StandardProfile;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/** Tests that grouped spans count like single spans, and leave no other trace. */
class GroupedSpansTest {
  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000 * MILLI;

  private static QueueAggregator newAggregator() {
    return newAggregator(20, 8, 2, false);
  }

  private static QueueAggregator newAggregator(
      int maxSeries, int maxPerApplication, int maxApplications, boolean hasSizes) {
    Aggregation aggregation =
        Aggregation.builder(() -> 1)
            .series(
                new EventsConfig(true, null)
                    .addTo(
                        new SeriesConfig(
                            List.of(
                                new Dimension("route", null, null),
                                new Dimension("zone", null, null)),
                            List.of(new Filter(null, "GET /health", null)),
                            maxSeries,
                            maxPerApplication,
                            maxApplications,
                            null,
                            null,
                            null,
                            null),
                        StandardProfile.OTEL))
            .histogram(new HistogramConfig(List.of(10.0, 100.0), HistogramConfig.Kind.BOTH, null))
            .documents(new DocumentsConfig(Duration.ofSeconds(1), null, null, 2, null, null))
            .unit(MetricsConfig.Unit.SECONDS)
            .sizes(hasSizes)
            .build();
    QueueAggregator aggregator =
        aggregation.newAggregator(
            new QueueId("b", 0), aggregation.newDecoder(), new SpanPipelineMetrics());
    aggregator.beginAt(0);
    return aggregator;
  }

  /**
   * Returns the same spans in the same order, without groups. The first span of a group has the
   * size of all.
   */
  private static byte[] ungrouped(byte[] message, long sequence) {
    SpanBatchReader reader = new SpanBatchReader();
    assertThat(reader.wrap(message, 0, message.length)).isEqualTo(Rejection.NONE);
    while (reader.next() || reader.nextGroup()) {
      // Sizes are behind them.
    }
    SpanBatchReader sizes = reader.hasSizes() ? reader : null;
    reader = new SpanBatchReader();
    reader.wrap(message, 0, message.length);
    BatchMessage batch = new BatchMessage(text(reader, reader.application()));
    if (sizes != null) {
      batch.sizes();
    }
    int entry = 0;
    for (int i = 0; i < reader.resourceAttributeCount(); i++) {
      batch.resource(
          text(reader, reader.resourceAttributeKey(i)),
          text(reader, reader.resourceAttributeValue(i)));
    }
    while (reader.next()) {
      add(batch, reader, reader.durationNanos(), sizes == null ? 0 : sizes.size(entry));
      entry++;
    }
    while (reader.nextGroup()) {
      for (int i = 0; i < reader.groupSize(); i++) {
        add(
            batch,
            reader,
            reader.groupDurationsNanos()[i],
            sizes == null || i > 0 ? 0 : sizes.size(entry));
      }
      entry++;
    }
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
    return batch.message(sequence);
  }

  private static void add(BatchMessage batch, SpanBatchReader at, long durationNanos, long bytes) {
    batch.span(text(at, at.name()), at.kind(), at.status(), durationNanos, at.samplingThreshold());
    batch.size(bytes);
    for (int i = 0; i < at.attributeCount(); i++) {
      batch.attribute(text(at, at.attributes()[2 * i]), text(at, at.attributes()[2 * i + 1]));
    }
    for (int i = 0; i < at.eventNumbers(); ) {
      String[] attributes = new String[2 * at.events()[i + 1]];
      for (int a = 0; a < attributes.length; a++) {
        attributes[a] = text(at, at.events()[i + 2 + a]);
      }
      batch.event(text(at, at.events()[i]), attributes);
      i += 2 + attributes.length;
    }
  }

  private static String text(SpanBatchReader reader, int entry) {
    return new String(
        reader.buffer(), reader.dictionaryOffset(entry), reader.dictionaryLength(entry), UTF_8);
  }

  /**
   * Series, classic and native buckets, sizes, sums, counts of sampled spans and books are equal:
   * below and at the limits, with dimensions, templates, filters and refused thresholds. At the
   * limits, one window is compared: the aggregator's seed decides which of equal keys gets a series
   * in the next.
   */
  @Property(tries = 200)
  void groupsAreRecordedLikeTheirSpans(@ForAll long seed) {
    Random random = new Random(seed);
    boolean limited = random.nextBoolean();
    QueueAggregator grouped =
        limited ? newAggregator(20, 8, 2, true) : newAggregator(1_000, 1_000, 10, true);
    QueueAggregator ordinary =
        limited ? newAggregator(20, 8, 2, true) : newAggregator(1_000, 1_000, 10, true);
    int sequence = 0;
    long nowMillis = 1_000_000;
    for (int windows = limited ? 1 : 3; windows > 0; windows--) {
      for (int batches = 1 + random.nextInt(5); batches > 0; batches--) {
        BatchMessage batch = new BatchMessage("app " + random.nextInt(4));
        if (random.nextBoolean()) {
          batch.resource("zone", "z" + random.nextInt(2));
        }
        if (random.nextBoolean()) {
          batch.sizes();
        }
        for (int spans = random.nextInt(200); spans > 0; spans--) {
          addAny(batch, random);
        }
        byte[] message = batch.message(sequence);
        grouped.accept(message, nowMillis);
        ordinary.accept(ungrouped(message, sequence++), nowMillis);
      }
      nowMillis += 15_000;
      assertSameCounts(
          SealedWindows.seal(grouped, nowMillis, nowMillis),
          SealedWindows.seal(ordinary, nowMillis, nowMillis));
    }
    assertThat(grouped.symbolCount()).isEqualTo(ordinary.symbolCount());
  }

  private static void addAny(BatchMessage batch, Random random) {
    String name =
        random.nextInt(8) == 0 ? "GET /health" : "GET /item/" + "abcde".charAt(random.nextInt(5));
    int kind = 2 + random.nextInt(2);
    int status = random.nextInt(3);
    long nanos = random.nextLong(2 * SECOND) >>> random.nextInt(30);
    long threshold =
        switch (random.nextInt(6)) {
          case 0 -> 1L << 55;
          case 1 -> (1L << 56) / 3 * 2;
          case 2 -> random.nextInt(4) == 0 ? (1L << 56) - 1 : 0;
          default -> 0;
        };
    if (random.nextInt(4) == 0) {
      batch.span(name, kind, status, nanos, threshold);
    } else {
      batch.grouped(name, kind, status, nanos, threshold);
    }
    batch.size(random.nextInt(2_000));
    if (random.nextBoolean()) {
      batch.attribute("route", "/r/" + random.nextInt(2));
    }
    if (random.nextInt(3) == 0) {
      batch.attribute("of no dimension", "v" + random.nextInt(3));
    }
    for (int events = random.nextInt(6); events > 3; events--) {
      if (random.nextBoolean()) {
        batch.event("retry");
      } else {
        batch.event("exception", "exception.type", "T" + random.nextInt(2), "other", "o");
      }
    }
  }

  private static void assertSameCounts(SealedWindow one, SealedWindow other) {
    assertThat(one.created()).isEqualTo(other.created());
    assertThat(one.series()).isEqualTo(other.series());
    assertThat(one.counts()).isEqualTo(other.counts());
    assertThat(one.durationNanos()).isEqualTo(other.durationNanos());
    assertThat(one.carries()).isEqualTo(other.carries());
    assertThat(one.evicted()).isEqualTo(other.evicted());
    assertThat(one.natives().ends()).isEqualTo(other.natives().ends());
    assertThat(one.natives().buckets()).isEqualTo(other.natives().buckets());
    assertThat(one.natives().counts()).isEqualTo(other.natives().counts());
    assertThat(one.books())
        .usingRecursiveFieldByFieldElementComparatorIgnoringFields("heldBack", "bytes")
        .isEqualTo(other.books());
    for (Books books : one.books()) {
      long rejected = books.rejected().values().stream().mapToLong(Long::longValue).sum();
      assertThat(books.received())
          .isEqualTo(books.recorded() + books.overflowed() + books.filtered() + rejected);
    }
  }

  @Test
  void aSpanInAGroupIsNeitherDocumentNorExemplar() {
    QueueAggregator aggregator = newAggregator();
    BatchMessage batch =
        new BatchMessage("shop")
            .grouped("SET", BatchMessage.CLIENT, BatchMessage.UNSET, MILLI, 0)
            .grouped("SET", BatchMessage.CLIENT, BatchMessage.UNSET, 5 * SECOND, 0)
            .grouped("SET", BatchMessage.CLIENT, BatchMessage.ERROR, MILLI, 0);
    for (int i = 0; i < 10; i++) {
      batch.grouped("SET", BatchMessage.CLIENT, BatchMessage.ERROR, 5 * SECOND, 0);
    }
    aggregator.accept(batch.message(0), 1_000);
    SealedWindow window = SealedWindows.seal(aggregator, 2_000, 2_000);

    assertThat(window.counts()).containsExactly(1, 0, 1, 1, 0, 10);
    assertThat(window.documents()).isEmpty();
    assertThat(window.exemplars()).containsExactly(-1, -1);
    assertThat(window.books())
        .usingRecursiveFieldByFieldElementComparatorIgnoringFields("bytes")
        .containsExactly(new Books("shop", 13, 13, 0, 0, 0, Map.of(), 0));
  }

  @Test
  void aSeriesHasSpansOfBothWays() {
    QueueAggregator aggregator = newAggregator();
    aggregator.accept(
        new BatchMessage("shop")
            .grouped("SET", BatchMessage.CLIENT, BatchMessage.UNSET, MILLI, 0)
            .span("SET", BatchMessage.CLIENT, BatchMessage.UNSET, 5 * SECOND, 0)
            .grouped("SET", BatchMessage.CLIENT, BatchMessage.UNSET, 50 * MILLI, 0)
            .message(0),
        1_000);
    SealedWindow window = SealedWindows.seal(aggregator, 2_000, 2_000);

    assertThat(window.counts()).containsExactly(1, 1, 1);
    assertThat(window.documents())
        .singleElement()
        .satisfies(document -> {
          assertThat(document.durationNanos()).isEqualTo(5 * SECOND);
          assertThat(document.spanId()).isEqualTo("0000000000000001");
        });
    assertThat(window.exemplars()).containsExactly(0);
  }

  @Test
  void allSpansOfAGroupCountForAPlaceAtTheLimit() {
    QueueAggregator aggregator = newAggregator();
    BatchMessage batch = new BatchMessage("shop");
    for (String name : "a b c d e f g h".split(" ")) {
      batch.span(name, MILLI);
    }
    for (int i = 0; i < 50; i++) {
      batch.grouped("hot", BatchMessage.CLIENT, BatchMessage.UNSET, MILLI, 0);
    }
    aggregator.accept(batch.message(0), 1_000);
    SealedWindow full = SealedWindows.seal(aggregator, 2_000, 2_000);
    aggregator.accept(
        new BatchMessage("shop")
            .grouped("hot", BatchMessage.CLIENT, BatchMessage.UNSET, MILLI, 0)
            .message(1),
        3_000);
    SealedWindow next = SealedWindows.seal(aggregator, 4_000, 4_000);

    assertThat(full.books())
        .usingRecursiveFieldByFieldElementComparatorIgnoringFields("bytes")
        .containsExactly(new Books("shop", 58, 8, 50, 0, 0, Map.of(), 0));
    assertThat(next.created())
        .singleElement()
        .satisfies(series -> assertThat(series.values()).contains("hot"));
    assertThat(next.books())
        .usingRecursiveFieldByFieldElementComparatorIgnoringFields("bytes")
        .containsExactly(new Books("shop", 1, 1, 0, 0, 0, Map.of(), 0));
  }

  @Test
  void aBatchWithGroupsSentAgainCountsOnceAndADamagedOneIsRejectedWhole() {
    QueueAggregator aggregator = newAggregator();
    byte[] message =
        new BatchMessage("shop")
            .span("GET /", MILLI)
            .grouped("SET", BatchMessage.CLIENT, BatchMessage.UNSET, MILLI, 0)
            .grouped("SET", BatchMessage.CLIENT, BatchMessage.UNSET, MILLI, 0)
            .message(0);
    byte[] damaged = message.clone();
    // Damages the last duration, before the ends of the group and of the batch.
    damaged[message.length - 3] |= (byte) 0x80;
    aggregator.accept(damaged, 1_000);
    aggregator.accept(message, 1_000);
    aggregator.accept(message, 1_000);
    SealedWindow window = SealedWindows.seal(aggregator, 2_000, 2_000);

    assertThat(window.books())
        .singleElement()
        .satisfies(books -> {
          assertThat(books.received()).isEqualTo(9);
          assertThat(books.recorded()).isEqualTo(3);
          assertThat(books.duplicate()).isEqualTo(3);
          assertThat(books.rejected().values()).containsExactly(3L);
        });
  }
}
