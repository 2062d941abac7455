package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.traceetl.server.consume.queue.SealedWindows.assertBalanced;
import static org.traceetl.server.consume.queue.SealedWindows.books;
import static org.traceetl.server.consume.queue.SealedWindows.countsByValues;
import static org.traceetl.server.consume.queue.SealedWindows.values;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.DocumentsConfig.Threshold;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.Filter;
import org.traceetl.server.config.SeriesConfig.From;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.config.TemplatesConfig;
import org.traceetl.server.config.TemplatesConfig.Rule;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.rules.RuleKeys;
import org.traceetl.server.rules.Rules;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.RowlessWindow;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.TraceDocument.Reason;

class QueueAggregatorTest {
  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000 * MILLI;
  private static final long IDLE_MILLIS = Duration.ofMinutes(15).toMillis();

  private final List<Dimension> dimensions = new ArrayList<>();
  private final List<Filter> filters = new ArrayList<>();
  private int maxSeries = 1_000;
  private int maxPerApplication = 100;
  private int maxApplications = 100;
  private TemplatesConfig templates = TemplatesConfig.defaults();
  private DocumentsConfig documents = DocumentsConfig.defaults();
  private Aggregation aggregation;
  private QueueAggregator aggregator;
  private long nowMillis = 1_000_000;
  private long offset;
  private long sequence;

  private QueueAggregator aggregator() {
    if (aggregator == null) {
      aggregator = newAggregation().newAggregator(new QueueId("b", 0));
      aggregator.beginAt(0);
    }
    return aggregator;
  }

  private interface Aggregators {
    QueueAggregator newAggregator(QueueId queue);
  }

  private Aggregators newAggregation() {
    aggregation =
        Aggregation.builder(() -> 1)
            .series(
                new SeriesConfig(
                    dimensions,
                    filters,
                    maxSeries,
                    maxPerApplication,
                    maxApplications,
                    null,
                    null,
                    null,
                    templates))
            .histogram(new HistogramConfig(List.of(10.0, 100.0)))
            .documents(documents)
            .build();
    return queue ->
        aggregation.newAggregator(queue, aggregation.newDecoder(), new SpanPipelineMetrics());
  }

  private void accept(BatchMessage batch) {
    accept(batch.message(sequence++));
  }

  private void accept(byte[] message) {
    aggregator().accept(message, nowMillis);
    offset++;
  }

  private SealedWindow seal() {
    return SealedWindows.seal(aggregator(), offset, nowMillis);
  }

  @Test
  void spansAreCountedBySeriesAndBucket() {
    accept(
        new BatchMessage("shop")
            .span("GET /", 10 * MILLI)
            .span("GET /", 10 * MILLI + 1)
            .span("GET /", 200 * MILLI)
            .span("call", BatchMessage.CLIENT, BatchMessage.ERROR, 5 * MILLI, 0));
    nowMillis += 15_000;
    SealedWindow window = seal();

    assertThat(countsByValues(window))
        .isEqualTo(
            Map.of(
                values("shop", "GET /", "2", "0"), List.of(1L, 1L, 1L),
                values("shop", "call", "3", "2"), List.of(1L, 0L, 0L)));
    assertThat(window.durationNanos()).containsExactly(220 * MILLI + 1, 5 * MILLI);
    assertThat(window.created()).allMatch(d -> d.createdMillis() == 1_000_000 && !d.overflow());
    assertThat(window.openedMillis()).isEqualTo(1_000_000);
    assertThat(window.sealedMillis()).isEqualTo(1_015_000);
    assertThat(window.from()).isZero();
    assertThat(window.to()).isEqualTo(1);
    assertThat(window.books())
        .usingRecursiveFieldByFieldElementComparatorIgnoringFields("bytes")
        .containsExactly(new Books("shop", 4, 4, 0, 0, 0, Map.of(), 0));
  }

  @Test
  void aSeriesIsCreatedOnceAndCountsAreDeltas() {
    accept(new BatchMessage("shop").span("a", MILLI));
    SealedWindow first = seal();
    accept(new BatchMessage("shop").span("a", MILLI).span("a", MILLI));
    SealedWindow second = seal();

    assertThat(first.created()).hasSize(1);
    assertThat(second.created()).isEmpty();
    assertThat(second.series()).isEqualTo(first.series());
    assertThat(second.counts()).containsExactly(2, 0, 0);
    assertThat(second.from()).isEqualTo(1);
    assertThat(second.to()).isEqualTo(2);
  }

  @Test
  void namesOfOneBatchThatAreCutAlikeAreOneSeries() {
    String prefix = "n".repeat(1_099);
    accept(new BatchMessage("shop").span(prefix + "1", MILLI).span(prefix + "2", MILLI));
    accept(new BatchMessage("shop").span(prefix + "3", MILLI));
    SealedWindow window = seal();

    assertThat(window.created())
        .extracting(SeriesDefinition::values)
        .containsExactly(values("shop", "n".repeat(1_024), "2", "0"));
    assertThat(window.counts()).containsExactly(3, 0, 0);
    assertThat(aggregator().seriesCount()).isEqualTo(1);
  }

  @Test
  void spansWhoseNamesDifferByIdentifiersAreOneSeries() {
    accept(
        new BatchMessage("shop")
            .span("GET /users/42", MILLI)
            .span("GET /users/43", MILLI)
            .span("GET /api/v1", MILLI));
    accept(new BatchMessage("shop").span("GET /users/550e8400-e29b-41d4-a716-446655440000", MILLI));
    SealedWindow window = seal();

    assertThat(countsByValues(window))
        .isEqualTo(
            Map.of(
                values("shop", "GET /users/{id}", "2", "0"), List.of(3L, 0L, 0L),
                values("shop", "GET /api/v1", "2", "0"), List.of(1L, 0L, 0L)));
  }

  @Test
  void namesThatAreReplacedTakeNoSymbols() {
    maxPerApplication = 1;
    for (int user = 0; user < 1_000; user++) {
      accept(
          new BatchMessage("shop")
              .span("GET /users/" + user, MILLI)
              .span("GET /carts/" + user, MILLI));
    }

    assertThat(aggregator.symbolCount()).isEqualTo(3);
    assertThat(books(seal(), "shop").overflowed()).isEqualTo(1_000);
  }

  @Test
  void aDocumentHasTheNameOfItsSeriesAndItsOwn() {
    accept(new BatchMessage("shop").span("GET /users/42", SECOND));

    assertThat(seal().documents())
        .singleElement()
        .satisfies(document -> {
          assertThat(document.operation()).isEqualTo("GET /users/{id}");
          assertThat(document.attributes())
              .containsExactly(Map.entry("span.name", "GET /users/42"));
        });
  }

  @Test
  void filtersSeeTheNamesOfSeries() {
    filters.add(new Filter(null, "GET /users/{id}", null));
    accept(new BatchMessage("shop").span("GET /users/1", MILLI).span("GET /users/2", MILLI));

    assertThat(books(seal(), "shop").filtered()).isEqualTo(2);
  }

  @Test
  void configuredTemplatesGoFirst() {
    templates =
        new TemplatesConfig(
            false,
            List.of(
                new Rule("sh*", "GET /([a-z]+)/(\\w+)(/x)?", "get $1 $3"),
                new Rule("bank", "GET .*", "bank $")));
    for (int round = 0; round < 2; round++) {
      accept(
          new BatchMessage("shop").span("GET /users/jane", MILLI).span("GET /users/42/y", MILLI));
      accept(new BatchMessage("bank").span("GET /users/jane", MILLI));
      accept(new BatchMessage("shop").span("GET /users/" + "j".repeat(300), MILLI));
    }

    assertThat(countsByValues(seal()))
        .isEqualTo(
            Map.of(
                values("shop", "get users ", "2", "0"), List.of(4L, 0L, 0L),
                values("shop", "GET /users/42/y", "2", "0"), List.of(2L, 0L, 0L),
                values("bank", "bank $", "2", "0"), List.of(2L, 0L, 0L)));
  }

  @Test
  void anEmptyWindowIsNoWindow() {
    assertThat(seal()).isNull();
    accept(new BatchMessage("shop").span("a", MILLI));
    assertThat(seal()).isNotNull();
    assertThat(seal()).isNull();
  }

  @Test
  void aWindowGoesOnWhileItsPredecessorIsWithTheJournal() {
    accept(new BatchMessage("shop").span("a", MILLI));
    FilledWindow underWay = aggregator().swap(offset, nowMillis);
    accept(new BatchMessage("shop").span("a", MILLI));
    assertThat(aggregator().swap(offset, nowMillis)).isNull();
    accept(new BatchMessage("shop").span("a", MILLI));
    underWay.giveBack();
    SealedWindow window = seal();

    assertThat(window.counts()).containsExactly(2, 0, 0);
    assertThat(window.from()).isEqualTo(1);
    assertThat(window.to()).isEqualTo(3);
  }

  @Test
  void dimensionsComeFromSpanOrResource() {
    dimensions.add(new Dimension("http.route", null, From.SPAN));
    dimensions.add(new Dimension("region", null, From.RESOURCE));
    dimensions.add(new Dimension("zone", null, null));
    accept(
        new BatchMessage("shop")
            .resource("region", "eu")
            .resource("zone", "z1")
            .resource("http.route", "ignored")
            .span("a", MILLI)
            .attribute("http.route", "/a")
            .attribute("region", "ignored")
            .span("a", MILLI)
            .attribute("zone", "z2")
            .attribute("user.password", "secret")
            .span("a", MILLI)
            .attribute("http.route", ""));

    assertThat(countsByValues(seal()).keySet())
        .containsExactlyInAnyOrder(
            values("shop", "a", "2", "0", "/a", "eu", "z1"),
            values("shop", "a", "2", "0", null, "eu", "z2"),
            values("shop", "a", "2", "0", null, "eu", "z1"));
  }

  @Test
  void seriesAboveTheApplicationsLimitOverflow() {
    maxPerApplication = 2;
    accept(
        new BatchMessage("shop")
            .span("a", MILLI)
            .span("b", MILLI)
            .span("c", MILLI)
            .span("d", MILLI));
    accept(new BatchMessage("bank").span("a", MILLI));
    SealedWindow window = seal();

    assertThat(countsByValues(window))
        .containsEntry(values("shop", null, null, null), List.of(2L, 0L, 0L))
        .containsEntry(values("bank", "a", "2", "0"), List.of(1L, 0L, 0L));
    assertThat(window.created()).filteredOn(SeriesDefinition::overflow).hasSize(1);
    assertThat(books(window, "shop").overflowed()).isEqualTo(2);
    assertBalanced(window);
  }

  @Test
  void theProcessLimitIsSharedByQueues() {
    maxSeries = 3;
    Aggregators aggregators = newAggregation();
    aggregator = aggregators.newAggregator(new QueueId("b", 0));
    accept(new BatchMessage("shop").span("a", MILLI).span("b", MILLI));
    QueueAggregator other = aggregators.newAggregator(new QueueId("b", 1));
    other.beginAt(0);
    other.accept(new BatchMessage("bank").span("a", MILLI).span("b", MILLI).message(0), nowMillis);

    assertThat(books(SealedWindows.seal(other, offset, nowMillis), "bank").overflowed())
        .isEqualTo(1);
    aggregator.release();
    other.accept(new BatchMessage("bank").span("b", MILLI).message(1), nowMillis);
    assertThat(books(SealedWindows.seal(other, offset, nowMillis), "bank").overflowed()).isZero();
  }

  @Test
  void applicationsAboveTheLimitShareOne() {
    maxApplications = 1;
    accept(new BatchMessage("shop").span("a", MILLI));
    accept(new BatchMessage("bank").span("a", MILLI));
    accept(new BatchMessage("post").span("a", 2 * SECOND));
    SealedWindow window = seal();

    assertThat(countsByValues(window))
        .containsEntry(values("_other", null, null, null), List.of(1L, 0L, 1L));
    assertThat(books(window, "_other").overflowed()).isEqualTo(2);
    assertThat(window.documents())
        .filteredOn(d -> d.reason() == Reason.SLOW)
        .extracting(TraceDocument::application)
        .containsExactly("post");
    assertBalanced(window);
  }

  @Test
  void idleSeriesLeaveAndTheirNumbersAreUsedAnew() {
    accept(new BatchMessage("shop").span("a", MILLI).span("b", MILLI));
    SealedWindow first = seal();
    nowMillis += IDLE_MILLIS;
    accept(new BatchMessage("shop").span("b", MILLI));
    SealedWindow second = seal();
    nowMillis += 1;
    accept(new BatchMessage("shop").span("b", MILLI));
    SealedWindow third = seal();
    accept(new BatchMessage("shop").span("c", MILLI));
    SealedWindow fourth = seal();

    assertThat(second.evicted()).isEmpty();
    assertThat(third.evicted()).containsExactly(first.series()[0]);
    assertThat(fourth.created())
        .extracting(SeriesDefinition::series)
        .containsExactly(first.series()[0]);
    nowMillis += IDLE_MILLIS + 1_000; // kept to the second
    SealedWindow last = seal();
    assertThat(last.evicted()).hasSize(2);
    assertThat(last.rows()).isZero();
    // The name of the application for spans without room is always present.
    assertThat(aggregator.symbolCount()).isEqualTo(1);
    assertThat(aggregator.seriesCount()).isZero();
  }

  private QueueImage image(Aggregation aggregation, List<SeriesDefinition> forged) {
    QueueImage image = aggregation.newImage();
    image.apply(
        new RowlessWindow(new QueueId("b", 0), 0, 1, nowMillis, nowMillis)
            .created(forged)
            .stride(image.stride())
            .schema(aggregation.schema())
            .seal());
    return image;
  }

  /**
   * @param refused counts failures
   */
  private void recover(Aggregation aggregation, QueueImage image, AtomicInteger refused) {
    aggregator =
        aggregation.newAggregator(
            new QueueId("b", 0),
            aggregation.newDecoder(),
            new SpanPipelineMetrics() {
              @Override
              public void failed() {
                refused.incrementAndGet();
              }
            },
            image);
  }

  /** With a second overflow series, no idle series could leave, and no window could be sealed. */
  @Test
  void whatAForgedJournalHasTwiceIsLeftOut() {
    Aggregation aggregation =
        Aggregation.builder(() -> 1)
            .histogram(new HistogramConfig(List.of(10.0, 100.0)))
            .documents(documents)
            .build();
    QueueImage image =
        image(
            aggregation,
            List.of(
                new SeriesDefinition(0, nowMillis, true, values("shop", null, null, null)),
                new SeriesDefinition(1, nowMillis, true, values("shop", null, null, null)),
                new SeriesDefinition(2, nowMillis, false, values("bank", "a", "2", "0")),
                new SeriesDefinition(3, nowMillis, false, values("bank", "a", "2", "0")),
                new SeriesDefinition(4, nowMillis, true, values("bank", null, null, null))));
    AtomicInteger refused = new AtomicInteger();
    recover(aggregation, image, refused);

    assertThat(refused).hasValue(2);
    assertThat(aggregator.seriesCount()).isEqualTo(3);
    nowMillis += 2 * IDLE_MILLIS;
    assertThat(seal().evicted()).containsExactly(0, 2, 4);
    accept(new BatchMessage("bank").span("a", MILLI));
    assertThat(seal().counts()).containsExactly(1, 0, 0);
  }

  /** The definitions claim the right schema, with a very high number or wrong values. */
  @Test
  void whatAForgedJournalSaysOfSeriesIsBounded() {
    Aggregation aggregation =
        Aggregation.builder(() -> 1)
            .histogram(new HistogramConfig(List.of(10.0, 100.0)))
            .documents(documents)
            .build();
    int highest = (1 << 24) - 1;
    List<SeriesDefinition> forged =
        List.of(
            new SeriesDefinition(highest, nowMillis, false, List.of("shop", "a", "2", "0")),
            new SeriesDefinition(3, nowMillis, false, List.of("shop", "b", "2", "0", "more")),
            new SeriesDefinition(4, nowMillis, true, Arrays.asList("shop", null, null)));
    QueueImage image = image(aggregation, forged);
    AtomicInteger refused = new AtomicInteger();
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    recover(aggregation, image, refused);
    accept(new BatchMessage("shop").span("a", MILLI).span("b", MILLI));
    SealedWindow window = seal();

    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(16 << 20);
    assertThat(refused).hasValue(2);
    assertThat(window.created())
        .extracting(SeriesDefinition::series)
        .containsExactly(0); // the number of "b", created again
    assertThat(window.series()).containsExactlyInAnyOrder(0, highest);
  }

  @Test
  void noSeriesEndsWithAWindowThatCountsIt() {
    accept(new BatchMessage("shop").span("a", MILLI).span("b", MILLI));
    assertThat(seal().rows()).isEqualTo(2);
    accept(new BatchMessage("shop").span("a", MILLI));
    nowMillis += 2 * IDLE_MILLIS; // a long deferral, or a clock that was set
    SealedWindow window = seal();

    assertThat(window.rows()).isEqualTo(1);
    assertThat(window.evicted()).hasSize(1).doesNotContain(window.series());
    accept(new BatchMessage("shop").span("a", MILLI));
    assertThat(seal().created()).isEmpty();
  }

  /** Skipped blocks of series contain no idle series. */
  @Property(tries = 20)
  void allIdleSeriesLeaveAndNoOthers(@ForAll long seed) {
    Random random = new Random(seed);
    maxPerApplication = 1_000;
    aggregator = null;
    nowMillis = 1_000_000;
    Map<Integer, Long> touchedMillis = new HashMap<>();
    long openedMillis = nowMillis;
    for (int windows = 0; windows < 60; windows++) {
      int from = random.nextInt(700);
      BatchMessage batch = new BatchMessage("shop");
      for (int name = from; name < Math.min(700, from + 1 + random.nextInt(200)); name++) {
        batch.span("span " + name, MILLI);
      }
      accept(batch);
      // In rare cases the window is longer than the idle time.
      nowMillis += 1_000L * random.nextInt(random.nextInt(10) == 0 ? 1_000 : 100);
      SealedWindow window = seal();

      assertThat(window.openedMillis()).isEqualTo(openedMillis);
      for (int series : window.series()) {
        touchedMillis.put(series, window.touchedMillis());
      }
      List<Integer> idle = new ArrayList<>();
      touchedMillis.forEach((series, millis) -> {
        if (millis < nowMillis - IDLE_MILLIS) {
          idle.add(series);
        }
      });
      assertThat(window.evicted()).containsExactlyInAnyOrder(idle.toArray(Integer[]::new));
      touchedMillis.keySet().removeAll(idle);
      assertThat(aggregator.seriesCount()).isEqualTo(touchedMillis.size());
      openedMillis = nowMillis;
    }
  }

  @Test
  void anAgentHeardInAWindowIsNotForgottenWithIt() {
    byte[] message = new BatchMessage("shop").span("a", MILLI).message(5);
    accept(message);
    nowMillis += Duration.ofDays(2).toMillis();
    seal();
    accept(message);

    assertThat(books(seal(), "shop").duplicate()).isEqualTo(1);
  }

  @Test
  void filteredSpansAreCountedAndNotRecorded() {
    filters.add(new Filter("shop", "GET /health*", null));
    filters.add(new Filter(null, null, Set.of(SpanKind.INTERNAL)));
    accept(
        new BatchMessage("shop")
            .span("GET /health", MILLI)
            .span("GET /healthz", 5 * SECOND)
            .span("GET /", MILLI)
            .span("work", 1, BatchMessage.ERROR, MILLI, 0));
    accept(new BatchMessage("bank").span("GET /health", MILLI));
    SealedWindow window = seal();

    assertThat(countsByValues(window).keySet())
        .containsExactlyInAnyOrder(
            values("shop", "GET /", "2", "0"), values("bank", "GET /health", "2", "0"));
    assertThat(books(window, "shop").filtered()).isEqualTo(3);
    assertThat(window.documents()).allMatch(d -> d.reason() == Reason.EXEMPLAR);
    assertBalanced(window);
  }

  @Test
  void filteredSpansTakeNoRoom() {
    filters.add(new Filter(null, "GET /health*", null));
    maxPerApplication = 1;
    maxSeries = 1;
    BatchMessage batch = new BatchMessage("shop");
    for (int i = 0; i < 10; i++) {
      batch.span("GET /health/" + i, MILLI);
    }
    accept(batch.span("GET /", MILLI).span("GET /health", MILLI).span("POST /", MILLI));

    assertThat(aggregator.seriesCount()).isEqualTo(2);
    SealedWindow window = seal();
    assertThat(books(window, "shop"))
        .usingRecursiveComparison()
        .ignoringFields("bytes")
        .isEqualTo(new Books("shop", 13, 1, 1, 11, 0, Map.of(), 0));
    assertThat(aggregator.symbolCount()).isEqualTo(3); // _other, shop, GET /
  }

  @Test
  void applicationsWithoutRoomAreFilteredByTheirOwnName() {
    filters.add(new Filter("bank", null, null));
    maxApplications = 1;
    accept(new BatchMessage("shop").span("a", MILLI));
    accept(new BatchMessage("bank").span("a", MILLI));
    accept(new BatchMessage("post").span("a", MILLI));
    SealedWindow window = seal();

    assertThat(books(window, "_other").filtered()).isEqualTo(1);
    assertThat(books(window, "_other").overflowed()).isEqualTo(1);
    assertBalanced(window);
  }

  @Test
  void applicationsWithoutRoomHaveTheirOwnTemplates() {
    templates = new TemplatesConfig(false, List.of(new Rule("bank", "job .*", "job {name}")));
    filters.add(new Filter(null, "job {name}", null));
    maxApplications = 1;
    accept(new BatchMessage("shop").span("job a", MILLI));
    accept(new BatchMessage("bank").span("job a", MILLI));
    accept(new BatchMessage("post").span("job a", MILLI));
    accept(new BatchMessage("").span("job a", SECOND));
    SealedWindow window = seal();

    assertThat(books(window, "_other").filtered()).isEqualTo(1);
    assertThat(window.documents())
        .extracting(TraceDocument::application)
        .contains("unknown_service");
    assertBalanced(window);
  }

  @Test
  void aMalformedBatchLosesOnlyItself() {
    byte[] truncated = new BatchMessage("shop").span("bad", MILLI).span("bad", MILLI).message(100);
    truncated = Arrays.copyOf(truncated, truncated.length - 3);
    accept(new BatchMessage("shop").span("a", MILLI));
    accept(truncated);
    accept(new byte[] {1, 2, 3});
    accept(new byte[0]);
    accept(new BatchMessage("shop").span("a", MILLI));
    SealedWindow window = seal();

    assertThat(countsByValues(window))
        .isEqualTo(Map.of(values("shop", "a", "2", "0"), List.of(2L, 0L, 0L)));
    assertThat(books(window, "shop").received()).isEqualTo(4);
    assertThat(books(window, "shop").recorded()).isEqualTo(2);
    assertThat(books(window, "shop").rejected().values()).containsExactly(2L);
    assertThat(window.to()).isEqualTo(5);
    assertBalanced(window);
  }

  @Test
  void aBatchSentAgainCountsOnce() {
    byte[] message = new BatchMessage("shop").span("a", MILLI).span("b", MILLI).message(5);
    accept(message);
    accept(message);
    SealedWindow window = seal();

    assertThat(window.counts()).containsExactly(1, 0, 0, 1, 0, 0);
    assertThat(books(window, "shop").bytes()).isEqualTo(message.length);
    assertThat(books(window, "shop"))
        .usingRecursiveComparison()
        .ignoringFields("bytes")
        .isEqualTo(new Books("shop", 4, 2, 0, 0, 2, Map.of(), 0));
  }

  @Test
  void sampledSpansCountByTheirWeight() {
    long oneInThree = (1L << 56) / 3 * 2;
    BatchMessage batch = new BatchMessage("shop");
    for (int i = 0; i < 100; i++) {
      batch.span("a", BatchMessage.SERVER, BatchMessage.UNSET, MILLI, oneInThree);
    }
    accept(batch.span("a", BatchMessage.SERVER, BatchMessage.UNSET, MILLI, (1L << 56) - 1));
    SealedWindow window = seal();

    assertThat(window.counts()[0]).isBetween(299L, 300L);
    assertThat(window.durationNanos()[0]).isBetween(299 * MILLI, 300 * MILLI);
    assertThat(books(window, "shop"))
        .usingRecursiveComparison()
        .ignoringFields("bytes")
        .isEqualTo(new Books("shop", 101, 100, 0, 0, 0, Map.of("bad_value", 1L), 0));
  }

  @Test
  void slowAndFailedSpansBecomeDocuments() {
    documents =
        new DocumentsConfig(
            Duration.ofSeconds(1),
            List.of(
                new Threshold("batch*", null, Duration.ofSeconds(10)),
                new Threshold(null, Set.of(SpanKind.CLIENT), Duration.ofMillis(100))),
            List.of("http.route", "host.name"),
            null,
            null,
            0);
    accept(
        new BatchMessage("shop")
            .resource("host.name", "h1")
            .span("slow", SECOND)
            .attribute("http.route", "/slow")
            .attribute("user.password", "secret")
            .span("fast", SECOND - 1)
            .span("call", BatchMessage.CLIENT, BatchMessage.UNSET, 100 * MILLI, 0)
            .span("failed", BatchMessage.SERVER, BatchMessage.ERROR, 2 * SECOND, 0)
            .message("boom"));
    accept(new BatchMessage("batch-job").span("job", 9 * SECOND));
    SealedWindow window = seal();

    assertThat(window.documents()).hasSize(3);
    assertThat(window.documents().get(0))
        .isEqualTo(
            new TraceDocument(
                "00000000000000070000000000000001",
                "0000000000000001",
                "shop",
                "slow",
                2,
                0,
                "",
                1_700_000_000_000_000_000L,
                SECOND,
                Reason.SLOW,
                Map.of("http.route", "/slow", "host.name", "h1")));
    assertThat(window.documents().get(1).operation()).isEqualTo("call");
    assertThat(window.documents().get(2).reason()).isEqualTo(Reason.ERROR);
    assertThat(window.documents().get(2).statusMessage()).isEqualTo("boom");
  }

  @Test
  void thresholdsOfRulesApplyFromTheNextWindowOnAndRestartNoSeries() {
    documents = new DocumentsConfig(null, null, null, null, null, 0);
    accept(new BatchMessage("shop").span("a", 100 * MILLI));
    SealedWindow first = seal();
    accept(new BatchMessage("shop").span("a", 100 * MILLI));
    aggregation.rules(shopIsSlowFrom(100));
    accept(new BatchMessage("shop").span("a", 100 * MILLI));
    accept(new BatchMessage("bank").span("a", 100 * MILLI));
    SealedWindow changed = seal();
    accept(new BatchMessage("shop").span("a", 100 * MILLI).span("a", 100 * MILLI - 1));
    accept(new BatchMessage("bank").span("a", 100 * MILLI));
    SealedWindow next = seal();
    aggregation.rules(shopIsSlowFrom(101));
    seal();
    accept(new BatchMessage("shop").span("a", 100 * MILLI));
    SealedWindow last = seal();

    assertThat(first.created()).hasSize(1);
    assertThat(changed.documents()).isEmpty();
    assertThat(next.documents())
        .extracting(TraceDocument::application, TraceDocument::reason)
        .containsExactly(tuple("shop", Reason.SLOW));
    assertThat(last.documents()).isEmpty();
    assertThat(next.created()).isEmpty();
    assertThat(last.created()).isEmpty();
    assertThat(last.series()).isEqualTo(first.series());
    assertThat(last.schema()).isEqualTo(first.schema());
    aggregation.rules(shopIsSlowFrom(100));
    aggregator =
        aggregation.newAggregator(
            new QueueId("b", 0), aggregation.newDecoder(), new SpanPipelineMetrics());
    aggregator.beginAt(offset);
    accept(new BatchMessage("shop").span("a", 100 * MILLI));
    assertThat(seal().documents()).as("first window of a new owner").hasSize(1);
  }

  private static Rules shopIsSlowFrom(long millis) {
    return new Rules(
        1,
        RuleKeys.NONE,
        List.of(
            new Rules.OfApplications(
                "sh*",
                new RuleKeys(
                    null, null, null, null, null, null, Duration.ofMillis(millis), null, null))));
  }

  @Test
  void documentsAreCappedBySeriesAndByQueueAndTheRestIsCounted() {
    documents = new DocumentsConfig(null, null, null, 2, 3, 0);
    BatchMessage batch = new BatchMessage("shop");
    for (String name : List.of("a", "a", "a", "b", "b")) {
      batch.span(name, BatchMessage.SERVER, BatchMessage.ERROR, MILLI, 0);
    }
    accept(batch);
    SealedWindow window = seal();

    assertThat(window.documents())
        .extracting(TraceDocument::operation)
        .containsExactly("a", "a", "b");
    assertThat(books(window, "shop").heldBack()).isEqualTo(2);
    // (kept + held back) / kept: 3 / 2 of a, 2 / 1 of b.
    assertThat(window.documents())
        .extracting(TraceDocument::represents)
        .containsExactly(1.5, 1.5, 2.0);
    assertThat(window.exemplars()).containsExactly(1, 2);

    accept(new BatchMessage("shop").span("a", BatchMessage.SERVER, BatchMessage.ERROR, MILLI, 0));
    assertThat(seal().documents()).hasSize(1);
  }

  @Test
  void anExemplarIsTheLastSlowOrFailedSpanElseTheFirst() {
    documents = new DocumentsConfig(null, null, null, null, null, 2);
    accept(
        new BatchMessage("shop")
            .span("a", MILLI)
            .span("a", 50 * MILLI)
            .span("b", MILLI)
            .span("b", BatchMessage.SERVER, BatchMessage.UNSET, 3 * SECOND, 0)
            .span("c", MILLI));
    SealedWindow window = seal();

    assertThat(window.exemplars()).containsExactly(0, 1, -1);
    assertThat(window.exemplarBuckets()[0]).isZero();
    assertThat(window.exemplarBuckets()[1]).isEqualTo(2);
    assertThat(window.documents())
        .extracting(TraceDocument::reason)
        .containsExactly(Reason.EXEMPLAR, Reason.SLOW);
  }

  /** For any input, the books balance, sums match, and exemplars point at documents. */
  @Property(tries = 100)
  void theBooksBalance(@ForAll long seed) {
    Random random = new Random(seed);
    maxPerApplication = 5;
    maxSeries = 12;
    maxApplications = 3;
    filters.add(new Filter(null, "span 1", null));
    documents = new DocumentsConfig(null, null, null, 2, 20, random.nextInt(10));
    aggregator = null;
    List<byte[]> sent = new ArrayList<>();
    long spansSent = 0;
    long spansBooked = 0;
    for (int windows = 0; windows < 5; windows++) {
      for (int i = random.nextInt(30); i > 0; i--) {
        BatchMessage batch = new BatchMessage("app " + random.nextInt(5));
        int spans = random.nextInt(20);
        for (int s = 0; s < spans; s++) {
          String name = "span " + random.nextInt(8);
          int kind = random.nextInt(6);
          int status = random.nextInt(3);
          long nanos = random.nextLong(2 * SECOND);
          long threshold = random.nextInt(4) == 0 ? random.nextLong(1L << 56) : 0;
          if (random.nextInt(3) == 0) {
            batch.grouped(name, kind, status, nanos, threshold);
          } else {
            batch.span(name, kind, status, nanos, threshold);
          }
        }
        byte[] message = batch.message(random.nextInt(2), random.nextInt(2), sequence++);
        if (random.nextInt(5) == 0) {
          message[random.nextInt(message.length)] ^= (byte) (1 << random.nextInt(8));
        } else {
          sent.add(message);
          spansSent += spans;
          if (random.nextInt(5) == 0) {
            accept(message);
            spansSent += spans;
          }
          accept(message);
          continue;
        }
        accept(message);
      }
      nowMillis += random.nextInt((int) IDLE_MILLIS);
      SealedWindow window = seal();
      if (window == null) {
        continue;
      }
      assertBalanced(window);
      for (int row = 0; row < window.rows(); row++) {
        assertThat(window.exemplars()[row]).isBetween(-1, window.documents().size() - 1);
      }
      spansBooked += window.books().stream().mapToLong(Books::received).sum();
    }
    assertThat(spansBooked).isGreaterThanOrEqualTo(spansSent);
  }

  /** An unsupported batch is booked for the application that it names, also after another one's. */
  @Test
  void aBatchOfALaterVersionIsBookedForItsApplication() {
    accept(new BatchMessage("bank").span("pay", MILLI));
    byte[] later = new BatchMessage("shop").span("a", MILLI).span("b", MILLI).message(sequence++);
    later[1] = 6; // encodes version 3, after the field's header
    accept(later);

    assertThat(seal().books())
        .filteredOn(books -> books.application().equals("shop"))
        .singleElement()
        .extracting(Books::received, Books::rejected)
        .containsExactly(2L, Map.of("unsupported_version", 2L));
  }
}
