package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.server.consume.queue.SealedWindows.values;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.EventsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.Filter;
import org.traceetl.server.config.StandardProfile;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.format.MalformedRecordException;
import org.traceetl.server.journal.format.RecordWriter;
import org.traceetl.server.journal.format.WindowFormat;
import org.traceetl.server.series.Cardinality;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;

/** Tests that all events of spans are counted in their own series. */
class EventsTest {
  private static final QueueId QUEUE = new QueueId("b", 0);
  private static final long HALF = 1L << 55;

  private final List<Integer> told = new ArrayList<>(List.of(0, 0, 0));
  private final List<Cardinality> crowded = new ArrayList<>();

  private static Aggregation aggregation(EventsConfig events, int maxPerApplication) {
    return aggregation(events, maxPerApplication, 10);
  }

  private static Aggregation aggregation(
      EventsConfig events, int maxPerApplication, int maxApplications) {
    return Aggregation.builder(() -> 1)
        .series(
            events.addTo(
                new SeriesConfig(
                    List.of(new Dimension("route", null, null)),
                    List.of(new Filter(null, "GET /health", null)),
                    null,
                    maxPerApplication,
                    maxApplications,
                    null,
                    null,
                    null,
                    null),
                StandardProfile.OTEL))
        .histogram(new HistogramConfig(List.of(10.0, 100.0)))
        .build();
  }

  private QueueAggregator owner(Aggregation aggregation, QueueImage image) {
    return aggregation.newAggregator(
        QUEUE,
        aggregation.newDecoder(),
        new SpanPipelineMetrics() {
          @Override
          public void events(int recorded, int overflowed, int filtered) {
            told.set(0, told.get(0) + recorded);
            told.set(1, told.get(1) + overflowed);
            told.set(2, told.get(2) + filtered);
          }

          @Override
          public void crowded(QueueId queue, Cardinality cardinality) {
            crowded.add(cardinality);
          }
        },
        image);
  }

  private static SealedWindow seal(QueueAggregator aggregator, long nowMillis)
      throws MalformedRecordException {
    FilledWindow filled = aggregator.swap(nowMillis, nowMillis);
    SealedWindow window = filled.seal();
    filled.giveBack();
    RecordWriter writer = new RecordWriter();
    WindowFormat.encode(window, writer);
    return WindowFormat.decode(writer.buffer(), 0, writer.size(), QUEUE);
  }

  /** Returns the count of each series by its values; overflow series by application. */
  private static Map<List<String>, Long> counts(QueueImage image, boolean ofEvents) {
    Map<List<String>, Long> counts = new HashMap<>();
    for (int series = 0; series < image.slots(); series++) {
      SeriesDefinition definition = image.definition(series);
      if (definition != null && definition.isOfEvents() == ofEvents) {
        long count = 0;
        for (int bucket = 0; bucket < 3; bucket++) {
          count += image.count(series, bucket);
        }
        counts.merge(definition.values(), count, Long::sum);
      }
    }
    return counts;
  }

  @Test
  void eachEventCountsBySpanNameTypeAndDimension() throws MalformedRecordException {
    Aggregation aggregation = aggregation(new EventsConfig(true, null), 100);
    QueueAggregator aggregator = owner(aggregation, aggregation.newImage());
    aggregator.accept(
        new BatchMessage("shop")
            .span("GET /", 5)
            .attribute("route", "/")
            .event("exception", "exception.type", "IOException", "exception.message", "no")
            .event("exception", "exception.type", "IOException")
            .event("exception", "exception.type", "KeyError")
            .span("GET /", 5)
            .attribute("exception.type", "of the span")
            .event("retry")
            .span("GET /health", 5)
            .event("retry")
            .message(0),
        1_000);
    SealedWindow window = seal(aggregator, 2_000);
    QueueImage image = aggregation.newImage();
    image.apply(window);

    assertThat(counts(image, true))
        .isEqualTo(
            Map.of(
                values("shop", "GET /", "10", "0", "/", "exception", "IOException"), 2L,
                values("shop", "GET /", "10", "0", "/", "exception", "KeyError"), 1L,
                values("shop", "GET /", "10", "0", null, "retry", null), 1L));
    assertThat(counts(image, false))
        .isEqualTo(
            Map.of(
                values("shop", "GET /", "2", "0", "/", null, null), 1L,
                values("shop", "GET /", "2", "0", null, null, null), 1L));
    assertThat(window.durationNanos()).containsOnly(5, 0);
    assertThat(window.books())
        .usingRecursiveFieldByFieldElementComparatorIgnoringFields("bytes")
        .containsExactly(new Books("shop", 3, 2, 0, 1, 0, Map.of(), 0));
    assertThat(told).containsExactly(4, 0, 1);
  }

  @Test
  void eventsOfSampledAndOfGroupedSpansStandForAll() throws MalformedRecordException {
    Aggregation aggregation = aggregation(new EventsConfig(true, null), 100);
    QueueAggregator aggregator = owner(aggregation, aggregation.newImage());
    BatchMessage batch = new BatchMessage("shop");
    for (int i = 0; i < 5; i++) {
      batch
          .span("op", BatchMessage.CLIENT, BatchMessage.ERROR, 5, HALF)
          .event("retry")
          .event("retry");
      batch.grouped("op", BatchMessage.CLIENT, BatchMessage.ERROR, i, 0).event("retry");
    }
    batch.span("op", BatchMessage.CLIENT, BatchMessage.ERROR, 5, (1L << 56) - 1).event("retry");
    aggregator.accept(batch.message(0), 1_000);
    QueueImage image = aggregation.newImage();
    image.apply(seal(aggregator, 2_000));

    assertThat(counts(image, true))
        .isEqualTo(Map.of(values("shop", "op", "11", "2", null, "retry", null), 5L * 2 * 2 + 5));
    assertThat(told).containsExactly(15, 0, 1);
  }

  @Test
  void aRepeatedBatchAndADamagedOneCountNoEvents() throws MalformedRecordException {
    Aggregation aggregation = aggregation(new EventsConfig(true, null), 100);
    QueueAggregator aggregator = owner(aggregation, aggregation.newImage());
    byte[] message = new BatchMessage("shop").span("op", 5).event("retry").message(0);
    byte[] damaged = message.clone();
    // Damages the event's number of attributes, before the ends of the span and of the batch.
    damaged[message.length - 3] = 2;
    aggregator.accept(damaged, 1_000);
    aggregator.accept(message, 1_000);
    aggregator.accept(message, 1_000);
    QueueImage image = aggregation.newImage();
    image.apply(seal(aggregator, 2_000));

    assertThat(counts(image, true).values()).containsExactly(1L);
    assertThat(told).containsExactly(1, 0, 0);
  }

  @Test
  void whatFoundNoRoomIsToldApartAndAnEventIsOfItsSpansKind() throws MalformedRecordException {
    Aggregation aggregation = aggregation(new EventsConfig(true, null), 2);
    QueueAggregator aggregator = owner(aggregation, aggregation.newImage());
    aggregator.accept(new BatchMessage("shop").span("a", 5).event("retry").message(0), 1_000);
    aggregator.accept(
        new BatchMessage("shop").span("b", 5).event("retry").event("retry").span("c", 5).message(1),
        1_000);
    SealedWindow _ = seal(aggregator, 100_000);

    assertThat(crowded).hasSize(1);
    assertThat(crowded.getFirst().overflowed()).isEqualTo(2);
    assertThat(crowded.getFirst().overflowedEvents()).isEqualTo(2);
    assertThat(crowded.getFirst().dimensions())
        .contains(new Cardinality.Dimension("span_kind", 1, List.of()));
  }

  @Test
  void withoutEventsSpansCountAsEver() throws MalformedRecordException {
    Aggregation aggregation = aggregation(new EventsConfig(false, null), 100);
    QueueAggregator aggregator = owner(aggregation, aggregation.newImage());
    aggregator.accept(new BatchMessage("shop").span("op", 5).event("retry").message(0), 1_000);
    SealedWindow window = seal(aggregator, 2_000);

    assertThat(window.created())
        .extracting(SeriesDefinition::values)
        .containsExactly(values("shop", "op", "2", "0", null));
    assertThat(told).containsExactly(0, 0, 0);
  }

  /** The events of an application add up to those of its spans, for any limits and owners. */
  @Property(tries = 100)
  void noEventIsLostOrCountedTwice(@ForAll long seed) throws MalformedRecordException {
    Random random = new Random(seed);
    int maxPerApplication = random.nextBoolean() ? 4 : 1_000;
    int maxApplications = random.nextBoolean() ? 2 : 10;
    told.replaceAll(count -> 0);
    Aggregation aggregation =
        aggregation(new EventsConfig(true, null), maxPerApplication, maxApplications);
    QueueImage image = aggregation.newImage();
    QueueAggregator owner = owner(aggregation, aggregation.newImage());
    Map<String, Long> expected = new HashMap<>();
    Map<List<String>, Long> exact = new HashMap<>();
    int events = 0;
    for (int window = 0; window < 6; window++) {
      long nowMillis = 1_000_000 + window * 15_000L;
      for (int batches = random.nextInt(4); batches >= 0; batches--) {
        String application = "app " + random.nextInt(3);
        BatchMessage batch = new BatchMessage(application);
        for (int spans = random.nextInt(30); spans > 0; spans--) {
          String name = List.of("get", "set", "del", "ping").get(random.nextInt(4));
          long threshold = random.nextInt(3) == 0 ? HALF : 0;
          if (random.nextBoolean()) {
            batch.span(name, BatchMessage.SERVER, BatchMessage.UNSET, 5, threshold);
          } else {
            batch.grouped(name, BatchMessage.SERVER, BatchMessage.UNSET, 5, threshold);
          }
          for (int i = random.nextInt(3); i > 0; i--) {
            String type = "T" + random.nextInt(3);
            batch.event("exception", "exception.type", type);
            long weight = threshold == 0 ? 1 : 2;
            events++;
            expected.merge(application, weight, Long::sum);
            exact.merge(
                values(application, name, "10", "0", null, "exception", type), weight, Long::sum);
          }
        }
        owner.accept(batch.message(window * 10L + batches), nowMillis);
      }
      image.apply(seal(owner, nowMillis + 15_000));
      if (random.nextInt(3) == 0) {
        owner.release();
        aggregation = aggregation(new EventsConfig(true, null), maxPerApplication, maxApplications);
        QueueImage taken = aggregation.newImage();
        HandOverTest.copy(image, taken);
        owner = owner(aggregation, taken);
      }
    }
    Map<List<String>, Long> counts = counts(image, true);
    Map<String, Long> byApplication = new HashMap<>();
    counts.forEach((values, count) -> byApplication.merge(values.getFirst(), count, Long::sum));
    if (maxApplications > 2) {
      assertThat(byApplication).isEqualTo(expected);
    }
    assertThat(byApplication.values().stream().mapToLong(Long::longValue).sum())
        .isEqualTo(expected.values().stream().mapToLong(Long::longValue).sum());
    assertThat(told.get(0) + told.get(1)).isEqualTo(events);
    if (maxPerApplication == 1_000 && maxApplications > 2) {
      assertThat(counts).isEqualTo(exact);
    }
  }
}
