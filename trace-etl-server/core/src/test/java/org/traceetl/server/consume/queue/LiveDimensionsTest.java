package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.traceetl.server.consume.queue.SealedWindows.countsByValues;
import static org.traceetl.server.consume.queue.SealedWindows.values;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.From;
import org.traceetl.server.config.TemplatesConfig;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.format.MalformedRecordException;
import org.traceetl.server.rules.RuleKeys;
import org.traceetl.server.rules.Rules;
import org.traceetl.server.series.Cardinality;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;

/** Tests that rules change the dimensions of some applications while all spans count once. */
class LiveDimensionsTest {
  private static final QueueId QUEUE = new QueueId("b", 0);
  private static final long MILLI = 1_000_000;
  private static final long RETIRED_MILLIS = 5 * 60_000;
  private static final int MAX_PER_APPLICATION = 4;
  private static final Dimension ROUTE = new Dimension("http.route", null, From.SPAN);
  private static final Dimension REGION = new Dimension("cloud.region", null, From.ANY);
  private static final Dimension TIER = new Dimension("tier", null, From.SPAN);
  private static final Dimension AREA = new Dimension("area", null, From.SPAN);

  private int maxPerApplication = MAX_PER_APPLICATION;
  private long nowMillis = 1_700_000_000_000L;
  private long offset;
  private long outdated;
  private Cardinality crowded;
  private Aggregation aggregation = newAggregation();
  private QueueAggregator owner = newOwner(aggregation.newImage());

  private Aggregation newAggregation() {
    return Aggregation.builder(() -> 1)
        .series(
            new SeriesConfig(
                List.of(ROUTE), null, null, maxPerApplication, null, null, null, null, null))
        .histogram(new HistogramConfig(List.of(10.0)))
        .build();
  }

  private QueueAggregator newOwner(QueueImage image) {
    QueueAggregator owner =
        aggregation.newAggregator(
            QUEUE,
            aggregation.newDecoder(),
            new SpanPipelineMetrics() {
              @Override
              public void outdated(int spans) {
                outdated += spans;
              }

              @Override
              public void crowded(QueueId queue, Cardinality application) {
                crowded = application;
              }
            },
            image);
    owner.beginAt(0);
    return owner;
  }

  private static Rules dimensions(String application, Dimension... dimensions) {
    return rules(application, List.of(dimensions), null);
  }

  private static Rules rules(
      String application, List<Dimension> dimensions, List<TemplatesConfig.Rule> templates) {
    return new Rules(
        1,
        RuleKeys.NONE,
        List.of(
            new Rules.OfApplications(
                application,
                new RuleKeys(dimensions, templates, null, null, null, null, null, null, null))));
  }

  private void accept(BatchMessage batch) {
    owner.accept(batch.message(offset++), nowMillis);
  }

  private SealedWindow seal() {
    return SealedWindows.seal(owner, offset, nowMillis);
  }

  private static BatchMessage get(String application) {
    return new BatchMessage(application)
        .resource("cloud.region", "eu")
        .span("GET", MILLI)
        .attribute("http.route", "/")
        .attribute("tier", "gold")
        .attribute("area", "");
  }

  @Test
  void changeOfOneApplicationLeavesTheSeriesOfOthers() {
    accept(get("shop"));
    accept(get("blog"));
    assertThat(countsByValues(seal()).keySet())
        .containsExactlyInAnyOrder(
            values("shop", "GET", "2", "0", "/"), values("blog", "GET", "2", "0", "/"));

    aggregation.dimensions(dimensions("sh*", TIER, ROUTE, REGION, AREA));
    accept(get("shop"));
    accept(get("blog"));
    SealedWindow changed = seal();

    assertThat(changed.created())
        .extracting(SeriesDefinition::values)
        .as("labels follow the columns in their order; those without a value are absent")
        .containsExactly(
            values("shop", "GET", "2", "0", "/", "cloud.region", "eu", "tier", "gold"));
    assertThat(changed.rows()).isEqualTo(2);
    assertThat(changed.evicted()).isEmpty();

    aggregation.dimensions(dimensions("shop", REGION));
    accept(get("shop"));
    assertThat(countsOf(seal()))
        .as("a column that the rules lack has no value")
        .containsExactly(values("shop", "GET", "2", "0", null, "cloud.region", "eu"));

    aggregation.dimensions(null);
    accept(get("shop"));
    SealedWindow back = seal();
    assertThat(back.created()).as("the first series goes on").isEmpty();
    assertThat(back.series()).startsWith(0);
  }

  @Test
  void anotherAttributeWithTheLabelOfAColumnContinuesItsSeries() {
    accept(get("shop"));
    SealedWindow before = seal();
    aggregation.dimensions(dimensions("shop", new Dimension("url.path", "http_route", From.SPAN)));
    accept(new BatchMessage("shop").span("GET", MILLI).attribute("url.path", "/"));

    SealedWindow after = seal();
    assertThat(after.created()).isEmpty();
    assertThat(after.series()).startsWith(before.series()[0]);
  }

  private static List<List<String>> countsOf(SealedWindow window) {
    return window.created().stream().map(SeriesDefinition::values).toList();
  }

  @Test
  void seriesThatSpansNoLongerHaveLeaveTheLimitsAndLaterEnd() {
    for (int i = 0; i < MAX_PER_APPLICATION; i++) {
      accept(get("shop").span("op-" + i, MILLI).attribute("http.route", "/"));
    }
    assertThat(books(seal())).isEqualTo("recorded=7 overflowed=1");

    aggregation.dimensions(dimensions("shop", TIER));
    seal();
    for (int i = 0; i < MAX_PER_APPLICATION; i++) {
      accept(get("shop").span("op-" + i, MILLI).attribute("http.route", "/"));
    }
    SealedWindow changed = seal();
    assertThat(books(changed)).as("all places are free again").isEqualTo("recorded=7 overflowed=1");
    assertThat(changed.created()).hasSize(MAX_PER_APPLICATION);

    nowMillis += RETIRED_MILLIS + 1_000;
    accept(get("shop"));
    assertThat(seal().evicted()).hasSize(MAX_PER_APPLICATION);
  }

  /** A server that starts without the rules, and then follows them, has such series, too. */
  @Test
  void seriesWithoutSpansForLongGoesOnAfterAChange() {
    accept(get("shop"));
    int former = seal().series()[0];
    nowMillis += RETIRED_MILLIS + 1_000;
    aggregation.dimensions(dimensions("shop", ROUTE, AREA));
    accept(get("blog"));
    seal();
    nowMillis += RETIRED_MILLIS - 1_000;
    accept(get("blog"));
    assertThat(seal().evicted()).as("scrapers read it for 5 minutes").isEmpty();

    accept(get("shop"));
    SealedWindow after = seal();
    assertThat(after.created()).isEmpty();
    assertThat(after.series()).startsWith(former);

    aggregation.dimensions(dimensions("shop", ROUTE, AREA, TIER));
    accept(get("blog"));
    seal();
    nowMillis += RETIRED_MILLIS + 1_000;
    accept(get("blog"));
    assertThat(seal().evicted()).containsExactly(former);
  }

  /** With their variances, they are more than may be retired otherwise. */
  @Test
  void sampledSeriesThatSpansNoLongerHaveLeaveTheLimits() {
    maxPerApplication = 4_000;
    aggregation = newAggregation();
    aggregation.variances(true);
    owner = newOwner(aggregation.newImage());
    acceptSampled();
    assertThat(seal().created()).hasSize(2 * maxPerApplication);

    aggregation.dimensions(dimensions("shop", ROUTE, TIER));
    seal();
    acceptSampled();
    SealedWindow changed = seal();
    assertThat(books(changed)).as("all places are free").isEqualTo("recorded=4000 overflowed=0");
    assertThat(changed.created()).hasSize(2 * maxPerApplication);
  }

  /** Sampled spans of as many series as an application may have. */
  private void acceptSampled() {
    BatchMessage batch = new BatchMessage("shop");
    for (int i = 0; i < maxPerApplication; i++) {
      batch.span("GET", BatchMessage.SERVER, BatchMessage.UNSET, MILLI, 1L << 55);
      batch.attribute("http.route", "/" + i).attribute("tier", "gold");
    }
    accept(batch);
  }

  @Test
  void changeOfMoreSeriesThanMayBeRetiredAtOnceEnds() {
    aggregation.dimensions(dimensions("*", ROUTE));
    owner = newOwner(aggregation.newImage());
    acceptOfMany();
    accept(get("silent"));
    int silent = seal().created().getLast().series();
    assertThat(silent).as("places of series to retire before it").isGreaterThan(1_536 + 4);

    aggregation.dimensions(dimensions("*", ROUTE, AREA));
    for (int window = 0; window < 3; window++) {
      acceptOfMany();
      assertThat(seal().created()).isEmpty();
    }
    nowMillis += RETIRED_MILLIS + 1_000;
    acceptOfMany();
    SealedWindow after = seal();
    assertThat(after.evicted()).as("all others had spans").containsExactly(silent);

    accept(new BatchMessage("app-0").span("one too many", MILLI));
    assertThat(books(seal())).as("no place is free").isEqualTo("recorded=0 overflowed=1");
  }

  /** Spans of {@value #MAX_PER_APPLICATION} series of each of 400 applications. */
  private void acceptOfMany() {
    for (int application = 0; application < 400; application++) {
      BatchMessage batch = new BatchMessage("app-" + application);
      for (int i = 0; i < MAX_PER_APPLICATION; i++) {
        batch.span("op-" + i, MILLI);
      }
      accept(batch);
    }
  }

  @Test
  void labelsAreAmongTheDimensionsOfACrowdedApplication() {
    aggregation.dimensions(dimensions("shop", TIER));
    for (int i = 0; i <= MAX_PER_APPLICATION; i++) {
      accept(new BatchMessage("shop").span("GET", MILLI).attribute("tier", "t" + i));
    }
    seal();

    assertThat(crowded.dimensions())
        .extracting(Cardinality.Dimension::name, Cardinality.Dimension::values)
        .contains(tuple("span_name", 1), tuple("http_route", 0), tuple("tier", 4));
    assertThat(crowded.dimensions().getLast().examples()).contains("t0");
  }

  private static String books(SealedWindow window) {
    return "recorded="
        + window.books().getFirst().recorded()
        + " overflowed="
        + window.books().getFirst().overflowed();
  }

  @Test
  void spansOfADemandWithoutTheLabelCountWithoutIt() {
    aggregation.dimensions(dimensions("shop", ROUTE, REGION, TIER));
    accept(
        new BatchMessage("shop")
            .resource("cloud.region", "eu")
            .demand(7, "http.route", "tier")
            .grouped("GET", BatchMessage.SERVER, 0, MILLI, 0)
            .attribute("http.route", "/")
            .attribute("tier", "gold")
            .grouped("GET", BatchMessage.SERVER, 0, MILLI, 0)
            .attribute("http.route", "/")
            .attribute("tier", "gold"));

    assertThat(countsOf(seal()))
        .as("the resource does not replace what the span may have had")
        .containsExactly(values("shop", "GET", "2", "0", "/", "tier", "gold"));
    assertThat(outdated).isEqualTo(2);

    accept(
        new BatchMessage("shop")
            .resource("cloud.region", "eu")
            .demand(8, "http.route", "tier", "cloud.region")
            .grouped("GET", BatchMessage.SERVER, 0, MILLI, 0));
    assertThat(countsOf(seal()))
        .containsExactly(values("shop", "GET", "2", "0", null, "cloud.region", "eu"));
    assertThat(outdated).isEqualTo(2);
  }

  @Test
  void templatesOfAnApplicationChangeItsNamesOnly() {
    accept(new BatchMessage("shop").span("job nightly", MILLI));
    seal();
    List<TemplatesConfig.Rule> templates =
        List.of(new TemplatesConfig.Rule(null, "job .*", "job {name}"));
    aggregation.dimensions(rules("shop", null, templates));
    accept(new BatchMessage("shop").span("job nightly", MILLI));
    accept(new BatchMessage("blog").span("job nightly", MILLI));

    assertThat(countsOf(seal()))
        .containsExactlyInAnyOrder(
            values("shop", "job {name}", "2", "0", null),
            values("blog", "job nightly", "2", "0", null));
  }

  @Test
  void definitionsWithIncompleteLabelsAreNotRestored() {
    QueueImage image = aggregation.newImage();
    image.to(0);
    List<List<String>> forged =
        List.of(
            Arrays.asList("shop", "GET", "2", "0", null, "tier"),
            Arrays.asList("shop", "GET", "2", "0", null, null, "gold"),
            Arrays.asList("shop", "GET", "2", "0"),
            Arrays.asList("shop", "GET", "2", "0", null, "tier", "gold", "area", "a"),
            Arrays.asList("shop", "GET", "2", "0", null, "tier", "gold", "tier", "gold"),
            Arrays.asList("shop", "GET", "2", "0", null, "tier", "gold"));
    for (int series = 0; series < forged.size(); series++) {
      image.create(new SeriesDefinition(series, nowMillis, false, forged.get(series)));
    }

    owner = newOwner(image);
    assertThat(owner.seriesCount()).isEqualTo(1);
  }

  /** Rules, owners and spans change at random. */
  @Property(tries = 50)
  void eachSpanCountsOnceUnderTheLabelsOfItsRules(@ForAll long seed)
      throws MalformedRecordException {
    Random random = new Random(seed);
    maxPerApplication = 1_000;
    aggregation = newAggregation();
    owner = newOwner(aggregation.newImage());
    QueueImage image = aggregation.newImage();
    List<Dimension> all = List.of(ROUTE, REGION, TIER);
    List<Dimension> inForce = List.of(ROUTE);
    Map<List<String>, Long> expected = new HashMap<>();
    Map<List<String>, Long> counted = new HashMap<>();
    for (int i = 0; i < 40; i++) {
      if (random.nextInt(4) == 0) {
        inForce = all.stream().filter(each -> random.nextBoolean()).toList();
        aggregation.dimensions(dimensions("shop", inForce.toArray(Dimension[]::new)));
      }
      for (int batches = random.nextInt(4); batches > 0; batches--) {
        String application = random.nextBoolean() ? "shop" : "blog";
        BatchMessage batch = new BatchMessage(application);
        for (int spans = random.nextInt(1, 5); spans > 0; spans--) {
          Map<Dimension, String> drawn = new HashMap<>();
          batch.span("GET", MILLI);
          for (Dimension dimension : all) {
            if (random.nextInt(3) > 0) {
              drawn.put(dimension, "v" + random.nextInt(3));
              batch.attribute(dimension.attribute(), drawn.get(dimension));
            }
          }
          expected.merge(
              series(application, application.equals("shop") ? inForce : List.of(ROUTE), drawn),
              1L,
              Long::sum);
        }
        accept(batch);
      }
      nowMillis += random.nextInt(40_000);
      count(image, counted);
      if (random.nextInt(5) == 0) {
        aggregation = newAggregation();
        aggregation.dimensions(dimensions("shop", inForce.toArray(Dimension[]::new)));
        QueueImage copy = aggregation.newImage();
        HandOverTest.copy(image, copy);
        owner = newOwner(copy);
      }
    }
    assertThat(counted).isEqualTo(expected);
  }

  /** Ends a window; adds it to the image, and its spans to those of the image's series. */
  private void count(QueueImage image, Map<List<String>, Long> counted)
      throws MalformedRecordException {
    SealedWindow window = seal();
    if (window == null) {
      return;
    }
    window = HandOverTest.read(window);
    Map<Integer, List<String>> created = new HashMap<>();
    window.created().forEach(each -> created.put(each.series(), each.values()));
    for (int row = 0; row < window.rows(); row++) {
      int series = window.series()[row];
      List<String> values = created.get(series);
      int from = row * window.stride();
      counted.merge(
          values == null ? image.definition(series).values() : values,
          Arrays.stream(window.counts(), from, from + window.stride()).sum(),
          Long::sum);
    }
    image.apply(window);
  }

  private static List<String> series(
      String application, List<Dimension> dimensions, Map<Dimension, String> drawn) {
    List<String> values =
        new ArrayList<>(
            values(
                application,
                "GET",
                "2",
                "0",
                dimensions.contains(ROUTE) ? drawn.get(ROUTE) : null));
    for (Dimension label : List.of(REGION, TIER)) {
      if (dimensions.contains(label) && drawn.containsKey(label)) {
        values.addAll(List.of(label.attribute(), drawn.get(label)));
      }
    }
    return values;
  }

  @Test
  void spansWithLabelsAllocateNothing() {
    aggregation.dimensions(dimensions("shop", ROUTE, REGION, TIER));
    byte[][] messages =
        IntStream.range(0, 2_000)
            .mapToObj(i -> {
              BatchMessage batch = new BatchMessage(i % 4 == 0 ? "blog" : "shop");
              for (int span = 0; span < 20; span++) {
                batch
                    .span("GET", MILLI)
                    .attribute("http.route", "/")
                    .attribute("tier", "t" + span % 2)
                    .attribute("cloud.region", "eu");
              }
              return batch.message(i);
            })
            .toArray(byte[][]::new);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long least = Long.MAX_VALUE;
    for (int from = 0; from < messages.length; from += 500) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = from; i < from + 500; i++) {
        owner.accept(messages[i], nowMillis);
      }
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }

    assertThat(least).isZero();
  }
}
