package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.series.Cardinality;
import org.traceetl.server.series.Tenants;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.TraceDocument;

/** Tests that an application at its limit has series for its most frequent keys. */
class HeavyHittersTest {
  private static final QueueId QUEUE = new QueueId("b", 0);
  private static final long WINDOW_MILLIS = 15_000;
  private static final long RETIRED_MILLIS = 5 * 60_000;
  private static final long IDLE_MILLIS = 15 * 60_000;

  private int maxSeries = 1_000;
  private int maxPerApplication = 2;
  private int maxApplications = 1_000;
  private int maxSymbols = 1_000;
  private long maxSymbolBytes = 1_000_000;
  private boolean hasVariances;
  private int displaced;
  private final List<Cardinality> crowded = new ArrayList<>();
  private final SpanPipelineMetrics listener =
      new SpanPipelineMetrics() {
        @Override
        public void crowded(QueueId queue, Cardinality cardinality) {
          crowded.add(cardinality);
        }

        @Override
        public void displaced(QueueId queue, int series) {
          displaced += series;
        }
      };
  private Tenants tenants = Tenants.NONE;
  private Aggregation aggregation;
  private QueueAggregator aggregator;
  private QueueImage image;
  private long nowMillis = 1_700_000_000_000L;
  private long offset;

  private Aggregation newAggregation() {
    return Aggregation.builder(() -> 1)
        .series(
            new SeriesConfig(
                List.of(new SeriesConfig.Dimension("user", null, null)),
                null,
                maxSeries,
                maxPerApplication,
                maxApplications,
                maxSymbols,
                maxSymbolBytes,
                null,
                null))
        .histogram(new HistogramConfig(List.of(10.0)))
        .build();
  }

  private void accept(BatchMessage batch) {
    if (aggregator == null) {
      aggregation = newAggregation();
      aggregation.tenants(tenants);
      aggregation.variances(hasVariances);
      image = aggregation.newImage();
      aggregator =
          aggregation.newAggregator(
              QUEUE, aggregation.newDecoder(), listener, aggregation.newImage());
      aggregator.beginAt(0);
    }
    aggregator.accept(batch.message(offset), nowMillis);
    offset++;
  }

  private static BatchMessage spans(BatchMessage batch, String name, int spans) {
    for (int i = 0; i < spans; i++) {
      batch.span(name, 1);
    }
    return batch;
  }

  private SealedWindow seal() {
    nowMillis += WINDOW_MILLIS;
    SealedWindow window = SealedWindows.seal(aggregator, offset, nowMillis);
    if (window != null) {
      image.apply(window);
    }
    return window;
  }

  private static List<String> created(SealedWindow window) {
    return window.created().stream()
        .filter(d -> !d.overflow())
        .map(d -> d.values().get(SeriesDefinition.SPAN_NAME))
        .toList();
  }

  private static long overflowed(SealedWindow window) {
    return window.books().stream().mapToLong(Books::overflowed).sum();
  }

  @Test
  void theSeriesAndDocumentsOfATenantAreLimitedTogether() {
    tenants = tenants(2, 3);
    maxPerApplication = 100;
    accept(slow(new BatchMessage("shop-eu"), "a", "b"));
    accept(slow(new BatchMessage("shop-us"), "c", "d"));
    accept(slow(new BatchMessage("bank"), "e", "f", "g", "h"));
    SealedWindow first = seal();

    assertThat(created(first)).containsExactly("a", "b", "e", "f", "g", "h");
    assertThat(first.documents())
        .extracting(TraceDocument::application)
        .containsExactlyInAnyOrder("shop-eu", "shop-eu", "shop-us", "bank", "bank", "bank", "bank");
    assertThat(first.books())
        .extracting(Books::application, Books::overflowed, Books::heldBack)
        .containsExactlyInAnyOrder(
            tuple("shop-eu", 0L, 0L), tuple("shop-us", 2L, 1L), tuple("bank", 0L, 0L));
    assertThat(crowded)
        .extracting(Cardinality::application, Cardinality::limit, Cardinality::max)
        .containsExactly(tuple("shop-us", Cardinality.OF_TENANT, 2L));

    // The documents are those of a window, without exemplars.
    accept(spans(slow(new BatchMessage("shop-us"), "c", "d"), "x", 9));
    accept(slow(new BatchMessage("shop-eu"), "a", "a", "a"));
    SealedWindow second = seal();
    assertThat(second.documents())
        .filteredOn(document -> document.reason() == TraceDocument.Reason.SLOW)
        .hasSize(3);
    assertThat(second.documents())
        .filteredOn(document -> document.application().equals("shop-eu"))
        .extracting(TraceDocument::represents)
        .containsExactly(3.0);

    // A new owner continues with the series.
    aggregator.release();
    aggregator = newOwner();
    accept(spans(new BatchMessage("shop-us"), "x", 1));
    assertThat(created(seal())).as("the limit is that of the queue").isEmpty();
  }

  @Test
  void aTenantAboveItsLoweredLimitGetsNoSeriesUntilSomeLeave() {
    tenants = tenants(5, 100);
    maxPerApplication = 100;
    accept(slow(new BatchMessage("shop"), "a", "b", "c"));
    assertThat(created(seal())).containsExactly("a", "b", "c");

    aggregation.tenants(tenants(2, 100));
    seal();
    accept(slow(new BatchMessage("shop"), "d"));
    assertThat(created(seal())).isEmpty();

    aggregation.tenants(Tenants.NONE);
    accept(slow(new BatchMessage("shop"), "a"));
    seal();
    accept(slow(new BatchMessage("shop"), "d"));
    assertThat(created(seal())).containsExactly("d");
  }

  @Test
  void aHeavyHitterTakesThePlaceOfAnotherSeriesOfItsTenant() {
    tenants = tenants(2, 100);
    maxPerApplication = 100;
    accept(spans(spans(spans(new BatchMessage("shop"), "a", 30), "b", 1), "c", 50));
    assertThat(created(seal())).containsExactly("a", "b");

    accept(spans(spans(new BatchMessage("shop"), "a", 30), "c", 50));
    assertThat(created(seal())).containsExactly("c");
    assertThat(displaced).isOne();
  }

  private static Tenants tenants(int maxSeries, int maxDocuments) {
    return new Tenants(
        List.of(new Tenants.Tenant("shop", List.of("shop*"), maxSeries, maxDocuments)));
  }

  private static BatchMessage slow(BatchMessage batch, String... names) {
    for (String name : names) {
      batch.span(name, 2_000_000_000L);
    }
    return batch;
  }

  private QueueAggregator newOwner() {
    QueueAggregator next =
        aggregation.newAggregator(QUEUE, aggregation.newDecoder(), listener, image);
    next.beginAt(offset);
    return next;
  }

  @Test
  void aHeavyHitterTakesThePlaceOfTheSeriesUsedLeast() {
    accept(spans(spans(spans(new BatchMessage("shop"), "a", 30), "b", 1), "c", 50));
    SealedWindow first = seal();
    assertThat(created(first)).containsExactly("a", "b");
    assertThat(overflowed(first)).isEqualTo(50);

    accept(spans(spans(spans(new BatchMessage("shop"), "d", 1), "b", 1), "c", 50));
    accept(spans(new BatchMessage("shop"), "a", 30));
    SealedWindow second = seal();
    assertThat(created(second)).containsExactly("c");
    assertThat(overflowed(second)).isEqualTo(2);
    assertThat(second.evicted()).isEmpty();

    // A retired series stays on the page for five minutes after the window of its last span, so
    // that its last counts are scraped.
    nowMillis += RETIRED_MILLIS - 3 * WINDOW_MILLIS;
    accept(spans(spans(new BatchMessage("shop"), "c", 1), "a", 1));
    assertThat(seal().evicted()).isEmpty();
    nowMillis += 2 * WINDOW_MILLIS;
    accept(spans(spans(new BatchMessage("shop"), "c", 1), "a", 1));
    assertThat(seal().evicted()).containsExactly(1);
  }

  private static BatchMessage sampled(BatchMessage batch, String name, int spans) {
    for (int i = 0; i < spans; i++) {
      batch.span(name, BatchMessage.SERVER, BatchMessage.UNSET, 1, 1L << 55);
    }
    return batch;
  }

  @Test
  void variancesTakeNoPlacesAndLeaveWithTheirSeries() {
    hasVariances = true;
    accept(spans(sampled(sampled(new BatchMessage("shop"), "a", 30), "b", 1), "c", 50));
    SealedWindow first = seal();
    assertThat(created(first)).containsExactlyInAnyOrder("a", "a", "b", "b");
    assertThat(overflowed(first)).isEqualTo(50);
    assertThat(displaced).isEqualTo(1);

    accept(spans(sampled(new BatchMessage("shop"), "a", 30), "c", 50));
    SealedWindow second = seal();
    assertThat(created(second)).containsExactly("c");
    assertThat(overflowed(second)).isZero();

    nowMillis += 2 * RETIRED_MILLIS;
    accept(spans(sampled(new BatchMessage("shop"), "a", 1), "c", 1));
    assertThat(seal().evicted())
        .containsExactlyInAnyOrder(
            first.created().stream()
                .filter(definition -> "b".equals(definition.values().get(1)))
                .map(SeriesDefinition::series)
                .toArray(Integer[]::new))
        .hasSize(2);
  }

  /** Ends the window before its time, as while a backlog is read. */
  private void sealEarly() {
    FilledWindow filled = aggregator.swapEarly(offset, nowMillis);
    SealedWindow window = filled.seal();
    filled.giveBack();
    image.apply(window);
    assertThat(displaced).isZero();
  }

  @Test
  void windowsThatEndEarlyCountTogether() {
    for (int window = 0; window < 10; window++) {
      accept(spans(spans(spans(new BatchMessage("shop"), "a", 3), "b", 1), "c", 5));
      if (window < 9) {
        sealEarly();
      }
    }
    seal();
    assertThat(displaced).isEqualTo(1);
    accept(spans(spans(new BatchMessage("shop"), "a", 3), "c", 5));

    assertThat(created(seal())).containsExactly("c");
  }

  @Test
  void aSeriesKeepsItsPlaceForItsSpansInWindowsThatEndedEarly() {
    for (int window = 0; window < 10; window++) {
      accept(spans(spans(spans(new BatchMessage("shop"), "a", 5), "b", 5), "c", 6));
      sealEarly();
    }
    accept(spans(new BatchMessage("shop"), "c", 6));
    seal();

    assertThat(displaced).isZero();
    // They do not count in the next contest.
    accept(spans(spans(new BatchMessage("shop"), "a", 1), "c", 15));
    seal();
    assertThat(displaced).isEqualTo(1);
  }

  @Test
  void aReservationOutlastsWindowsThatEndEarly() {
    accept(spans(spans(spans(new BatchMessage("shop"), "a", 30), "b", 1), "c", 50));
    seal();
    assertThat(displaced).isEqualTo(1);
    displaced = 0;
    accept(spans(spans(new BatchMessage("shop"), "a", 30), "b", 1));
    sealEarly();
    accept(spans(new BatchMessage("shop"), "c", 50));

    assertThat(created(seal())).containsExactly("c");
  }

  @Test
  void theProcessLimitIsNoOther() {
    maxSeries = 2;
    maxPerApplication = 100;
    accept(spans(spans(spans(new BatchMessage("shop"), "a", 30), "b", 1), "c", 50));
    seal();
    accept(spans(spans(new BatchMessage("shop"), "b", 1), "c", 50));

    assertThat(created(seal())).containsExactly("c");
  }

  @Test
  void anApplicationWithoutSeriesWinsThoseOfOthersAtTheProcessLimit() {
    maxSeries = 2;
    maxPerApplication = 100;
    accept(spans(spans(new BatchMessage("bank"), "a", 30), "b", 1));
    accept(spans(new BatchMessage("shop"), "c", 50));
    seal();
    assertThat(displaced).isEqualTo(1);
    accept(spans(spans(new BatchMessage("bank"), "a", 30), "b", 1));
    accept(spans(new BatchMessage("shop"), "c", 50));
    SealedWindow window = seal();

    assertThat(created(window)).containsExactly("c");
    assertThat(overflowed(window)).isEqualTo(1);
  }

  @Test
  void noApplicationWinsMoreThanItsLimitFromOthers() {
    maxSeries = 301;
    maxPerApplication = 200;
    BatchMessage bank = new BatchMessage("bank");
    for (int i = 0; i < 102; i++) {
      spans(bank, "b" + i, 1);
    }
    accept(busyShop());
    accept(bank);
    seal();
    accept(spans(spans(busyShop(), "x", 50), "y", 50));
    seal();
    assertThat(displaced).isEqualTo(1);
    accept(spans(spans(busyShop(), "x", 50), "y", 50));

    assertThat(created(seal())).hasSize(1);
  }

  private static BatchMessage busyShop() {
    BatchMessage shop = new BatchMessage("shop");
    for (int i = 0; i < 199; i++) {
      spans(shop, "s" + i, 30);
    }
    return shop;
  }

  @Test
  void bothLimitsAtOnceLetBothWin() {
    maxSeries = 2;
    accept(spans(spans(spans(new BatchMessage("bank"), "a", 1), "b", 1), "z", 50));
    accept(spans(new BatchMessage("shop"), "c", 40));
    seal();
    accept(spans(new BatchMessage("bank"), "z", 50));
    accept(spans(new BatchMessage("shop"), "c", 40));
    SealedWindow second = seal();
    accept(spans(new BatchMessage("bank"), "z", 50));
    accept(spans(new BatchMessage("shop"), "c", 40));
    SealedWindow third = seal();

    assertThat(List.of(created(second), created(third)))
        .flatExtracting(names -> names)
        .containsExactlyInAnyOrder("z", "c");
    assertThat(overflowed(third)).isLessThanOrEqualTo(50);
  }

  @Test
  void whereIdleSeriesMakeRoomNoneGivesItsPlace() {
    accept(spans(spans(new BatchMessage("shop"), "a", 1), "b", 1));
    seal();
    nowMillis += IDLE_MILLIS;
    accept(spans(spans(new BatchMessage("shop"), "b", 1), "c", 50));
    assertThat(seal().evicted()).containsExactly(0);
    assertThat(displaced).isZero();

    accept(spans(spans(new BatchMessage("shop"), "b", 1), "c", 50));
    SealedWindow window = seal();
    assertThat(created(window)).containsExactly("c");
    assertThat(overflowed(window)).isZero();
  }

  @Test
  void noneGivesItsPlaceToAKeyThatTheSymbolsHaveNoRoomFor() {
    maxSymbols = 4;
    for (int window = 0; window < 3; window++) {
      accept(spans(spans(spans(new BatchMessage("shop"), "a", 1), "b", 1), "c", 50));
      assertThat(overflowed(seal())).isEqualTo(50);
    }

    assertThat(displaced).isZero();
  }

  @Test
  void anApplicationAboveItsLimitGivesPlacesUpBeforeItInvites() {
    maxPerApplication = 4;
    accept(spans(spans(new BatchMessage("shop"), "a", 90), "b", 80));
    accept(spans(spans(new BatchMessage("shop"), "c", 2), "d", 1));
    seal();
    maxPerApplication = 2;
    takeOver();
    List<String> created = new ArrayList<>();
    for (int window = 0; window < 4; window++) {
      accept(spans(spans(spans(new BatchMessage("shop"), "a", 90), "b", 10), "e", 50));
      created.addAll(created(seal()));
    }

    assertThat(created).containsExactly("e");
    assertThat(displaced).isEqualTo(1);
    accept(spans(spans(spans(new BatchMessage("shop"), "a", 90), "b", 10), "e", 50));
    assertThat(overflowed(seal())).isEqualTo(10);
  }

  @Test
  void manyKeysOfFewSpansDisplaceNone() {
    accept(spans(spans(new BatchMessage("shop"), "a", 1), "b", 1));
    seal();
    for (int window = 0; window < 5; window++) {
      BatchMessage batch = new BatchMessage("shop");
      for (int i = 0; i < 1_000; i++) {
        spans(batch, "n" + i + "w" + window, 9);
      }
      accept(batch);
      assertThat(created(seal())).isEmpty();
    }
    accept(spans(spans(new BatchMessage("shop"), "a", 1), "b", 1));
    assertThat(overflowed(seal())).isZero();
  }

  @Test
  void moreSeriesThanAreLookedAtInAWindowAreLookedAtInTurn() {
    maxSeries = 10_000;
    maxSymbols = 10_000;
    maxPerApplication = 5_000;
    List<SealedWindow> windows = new ArrayList<>();
    for (int window = 0; window < 3; window++) {
      for (int first = 0; first < 5_000; first += 500) {
        BatchMessage batch = new BatchMessage("shop");
        for (int i = first; i < first + 500; i++) {
          spans(batch, "n" + i, i == 4_500 ? 1 : 5);
        }
        accept(batch);
        if (window == 1) {
          assertThat(displaced).isZero();
        }
      }
      accept(spans(new BatchMessage("shop"), "c", 10));
      windows.add(seal());
    }

    assertThat(displaced).isEqualTo(1);
    assertThat(created(windows.get(2))).containsExactly("c");
    assertThat(overflowed(windows.get(2))).isEqualTo(1);
  }

  @Test
  void aKeyWithNotTwiceAsManySpansStaysOut() {
    accept(spans(spans(spans(new BatchMessage("shop"), "a", 50), "b", 50), "c", 100));
    seal();
    accept(spans(spans(spans(new BatchMessage("shop"), "c", 1), "a", 1), "b", 1));

    assertThat(overflowed(seal())).isEqualTo(1);
  }

  @Test
  void aKeyWithOneSpanMoreThanThatWins() {
    accept(spans(spans(spans(new BatchMessage("shop"), "a", 50), "b", 50), "c", 101));
    seal();

    assertThat(displaced).isEqualTo(1);
  }

  @Test
  void aPlaceThatIsNotTakenIsFreeAndTheSeriesGoesOn() {
    accept(spans(spans(spans(new BatchMessage("shop"), "a", 30), "b", 1), "c", 50));
    seal();
    accept(spans(new BatchMessage("shop"), "b", 1));
    assertThat(overflowed(seal())).isEqualTo(1);

    accept(spans(new BatchMessage("shop"), "b", 3));
    SealedWindow window = seal();
    assertThat(window.created()).isEmpty();
    assertThat(window.series()).containsExactly(1);
    nowMillis += RETIRED_MILLIS;
    accept(spans(new BatchMessage("shop"), "a", 1));
    assertThat(seal().evicted()).isEmpty();
    assertThat(aggregator.seriesCount()).isEqualTo(3);
  }

  @Test
  void whoTakesTheQueueOverGoesOnWithTheSeriesOfTheJournal() {
    accept(spans(spans(spans(new BatchMessage("shop"), "a", 30), "b", 1), "c", 50));
    seal();
    takeOver();
    accept(spans(spans(new BatchMessage("shop"), "b", 5), "c", 50));
    SealedWindow window = seal();

    assertThat(created(window)).isEmpty();
    assertThat(overflowed(window)).isEqualTo(50);
    assertThat(image.count(1, 0)).isEqualTo(6);
  }

  private void takeOver() {
    aggregator.release();
    Aggregation aggregation = newAggregation();
    aggregator = aggregation.newAggregator(QUEUE, aggregation.newDecoder(), listener, image);
  }

  @Test
  void theCulpritIsTheDimensionWithMostValues() {
    maxPerApplication = 20;
    BatchMessage batch = new BatchMessage("shop");
    for (int i = 0; i < 30; i++) {
      batch.span("n" + i % 2, 1).attribute("user", "u" + i + "x".repeat(100));
    }
    accept(batch);
    seal();

    assertThat(crowded)
        .singleElement()
        .satisfies(c -> {
          assertThat(c.application()).isEqualTo("shop");
          assertThat(c.limit()).isEqualTo("max-per-application");
          assertThat(c.max()).isEqualTo(20);
          assertThat(c.series()).isEqualTo(20);
          assertThat(c.overflowed()).isEqualTo(10);
          assertThat(c.dimensions())
              .extracting(Cardinality.Dimension::name, Cardinality.Dimension::values)
              .containsExactly(
                  tuple("span_name", 2),
                  tuple("span_kind", 1),
                  tuple("status_code", 1),
                  tuple("user", 20));
          assertThat(c.culprit().name()).isEqualTo("user");
          assertThat(c.culprit().examples())
              .hasSize(5)
              .allMatch(example -> example.startsWith("u") && example.length() == 64);
        });
  }

  @Test
  void eachApplicationNearALimitIsLookedAtOnceAMinuteAndEightAWindow() {
    for (int i = 0; i < 10; i++) {
      BatchMessage batch = spans(spans(new BatchMessage("app" + i), "a", 1), "b" + i, 1);
      accept(i == 0 ? spans(batch, "c", 1) : batch);
    }
    seal();
    assertThat(crowded)
        .extracting(Cardinality::application)
        .containsExactly("app0", "app1", "app2", "app3", "app4", "app5", "app6", "app7");
    assertThat(crowded).extracting(c -> c.dimensions().getFirst().values()).containsOnly(2);
    seal();
    assertThat(crowded).extracting(Cardinality::application).endsWith("app8", "app9").hasSize(10);
    seal();
    seal();
    assertThat(crowded).hasSize(10);
    seal();
    assertThat(crowded).hasSize(18);
    assertThat(crowded.getLast().overflowed()).isZero();
  }

  @Test
  void theLimitIsNamedThatRefusedAlsoWhereSeriesLeaveWithTheWindow() {
    accept(spans(spans(new BatchMessage("shop"), "a", 1), "b", 1));
    seal();
    nowMillis += IDLE_MILLIS;
    accept(spans(spans(new BatchMessage("shop"), "b", 1), "c", 1));
    assertThat(seal().evicted()).containsExactly(0);

    assertThat(crowded.getLast().overflowed()).isEqualTo(1);
    assertThat(crowded.getLast().limit()).isEqualTo("max-per-application");
  }

  @Test
  void theLimitIsNamedThatRefusedAlsoWhereAPlaceIsKept() {
    accept(spans(spans(spans(new BatchMessage("shop"), "a", 30), "b", 1), "c", 50));
    seal();
    nowMillis += 60_000;
    accept(spans(new BatchMessage("shop"), "b", 1));
    seal();

    assertThat(crowded).hasSize(2);
    assertThat(crowded.getLast().series()).isEqualTo(1);
    assertThat(crowded.getLast().limit()).isEqualTo("max-per-application");
  }

  @Test
  void theLimitsOfSymbolsAreNamed() {
    maxPerApplication = 100;
    maxSymbols = 4;
    accept(spans(spans(spans(new BatchMessage("shop"), "a", 1), "b", 1), "c", 1));
    accept(spans(new BatchMessage("bank"), "a", 1));
    seal();
    assertThat(crowded)
        .extracting(Cardinality::application, Cardinality::limit, Cardinality::max)
        .containsExactlyInAnyOrder(
            tuple("shop", "max-symbols", 4L), tuple("_other", "max-symbols", 4L));

    aggregator = null;
    crowded.clear();
    maxSymbols = 1_000;
    maxSymbolBytes = "_other".length() + "shop".length() + 2;
    accept(spans(spans(spans(new BatchMessage("shop"), "a", 1), "b", 1), "c", 1));
    seal();
    assertThat(crowded)
        .extracting(Cardinality::limit, Cardinality::max)
        .containsExactly(tuple("max-symbol-bytes", 12L));
  }

  @Test
  void applicationsWithoutRoomAreTold() {
    maxApplications = 1;
    maxPerApplication = 100;
    accept(spans(new BatchMessage("shop"), "a", 1));
    accept(spans(new BatchMessage("bank"), "a", 3));
    seal();

    assertThat(crowded)
        .singleElement()
        .satisfies(c -> {
          assertThat(c.application()).isEqualTo("_other");
          assertThat(c.limit()).isEqualTo("max-applications");
          assertThat(c.overflowed()).isEqualTo(3);
          assertThat(c.culprit().name()).isEqualTo("application");
        });
  }

  @Test
  void theProcessLimitIsNamed() {
    maxSeries = 2;
    maxPerApplication = 100;
    accept(spans(spans(spans(new BatchMessage("shop"), "a", 1), "b", 1), "c", 1));
    seal();

    assertThat(crowded).extracting(Cardinality::limit).containsExactly("max");
  }

  /** For any displacements and owners, no span is lost or counted twice. */
  @Property(tries = 100)
  void everySpanIsInOneSeries(@ForAll long seed) {
    Random random = new Random(seed);
    maxSeries = random.nextInt(4, 12);
    maxPerApplication = random.nextInt(2, 6);
    aggregator = null;
    offset = 0;
    Map<List<String>, Long> sent = new HashMap<>();
    Map<List<String>, Long> counted = new HashMap<>();
    List<SeriesDefinition> displaced = new ArrayList<>();
    for (int window = 0; window < 30; window++) {
      for (int batches = random.nextInt(1, 4); batches > 0; batches--) {
        String application = "app" + random.nextInt(2);
        BatchMessage batch = new BatchMessage(application);
        for (int i = random.nextInt(60); i > 0; i--) {
          String name = "n" + (random.nextInt(3) + random.nextInt(1 + window / 3));
          batch.span(name, 1);
          sent.merge(List.of(application, name), 1L, Long::sum);
        }
        accept(batch);
      }
      nowMillis += random.nextInt(60_000);
      SealedWindow sealed = sealWithoutImage();
      Map<Integer, SeriesDefinition> definitions = definitions(sealed);
      for (int row = 0; row < sealed.rows(); row++) {
        SeriesDefinition definition = definitions.get(sealed.series()[row]);
        assertThat(definition).isNotNull();
        String application = definition.values().get(SeriesDefinition.APPLICATION);
        String name = definition.values().get(SeriesDefinition.SPAN_NAME);
        counted.merge(
            List.of(application, definition.overflow() ? "" : name),
            sealed.counts()[2 * row] + sealed.counts()[2 * row + 1],
            Long::sum);
      }
      for (int series : sealed.evicted()) {
        displaced.add(definitions.get(series));
      }
      image.apply(sealed);
      assertThat(image.unknownRows()).isZero();
      assertThat(live()).isLessThanOrEqualTo(aggregator.seriesCount());
      assertThat(live() > 0).isEqualTo(!sent.isEmpty());
      if (random.nextInt(8) == 0) {
        takeOver();
      }
    }

    assertThat(counted.values().stream().mapToLong(Long::longValue).sum())
        .isEqualTo(sent.values().stream().mapToLong(Long::longValue).sum());
    counted.forEach((key, spans) -> {
      if (!key.getLast().isEmpty()) {
        assertThat(spans).isLessThanOrEqualTo(sent.get(key));
      }
    });
    assertThat(displaced).doesNotContainNull();
  }

  private SealedWindow sealWithoutImage() {
    nowMillis += WINDOW_MILLIS;
    FilledWindow filled = aggregator.swap(offset, nowMillis);
    SealedWindow window = filled.seal();
    filled.giveBack();
    return window;
  }

  private Map<Integer, SeriesDefinition> definitions(SealedWindow window) {
    Map<Integer, SeriesDefinition> definitions = new HashMap<>();
    for (int series = 0; series < image.slots(); series++) {
      if (image.definition(series) != null) {
        definitions.put(series, image.definition(series));
      }
    }
    for (SeriesDefinition definition : window.created()) {
      assertThat(definitions.put(definition.series(), definition)).isNull();
    }
    return definitions;
  }

  private int live() {
    List<List<String>> keys = new ArrayList<>();
    for (int series = 0; series < image.slots(); series++) {
      if (image.definition(series) != null) {
        keys.add(image.definition(series).values());
      }
    }
    assertThat(keys).doesNotHaveDuplicates();
    return keys.size();
  }
}
