package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.MeasureConfig.Constant;
import org.traceetl.server.config.MeasureConfig.Source;
import org.traceetl.server.config.MeasureConfig.Type;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.Filter;
import org.traceetl.server.config.SeriesConfig.From;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.format.MalformedRecordException;
import org.traceetl.server.rules.RuleKeys;
import org.traceetl.server.rules.Rules;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;

/** Tests that each matching span adds its value to one series of each measure. */
class MeasuresTest {
  private static final QueueId QUEUE = new QueueId("b", 0);
  private static final long MILLI = 1_000_000;
  private static final long UNIT = 1_000_000;
  private static final long RETIRED_MILLIS = 5 * 60_000;
  private static final long HALF = 1L << 55;
  private static final String TOKENS = "gen_ai.usage.input_tokens";
  private static final List<String> OUTCOMES =
      List.of("recorded", "overflowed", "not_a_number", "negative", "too_large", "not_sent");
  private static final Dimension ROUTE = new Dimension("http.route", null, From.SPAN);
  private static final Dimension REGION = new Dimension("cloud.region", null, From.ANY);

  private static final MeasureConfig REQUESTS =
      measure(
          "http.server.request.duration",
          Type.HISTOGRAM,
          Source.DURATION,
          null,
          Set.of(SpanKind.SERVER),
          List.of("http.request.method"),
          List.of(ROUTE, REGION),
          List.of(),
          List.of(0.01, 0.1));

  private static final MeasureConfig USAGE =
      measure(
          "gen_ai.client.token.usage",
          Type.HISTOGRAM,
          Source.ATTRIBUTE,
          TOKENS,
          Set.of(),
          List.of(),
          List.of(),
          List.of(new Constant("gen_ai.token.type", "input")),
          List.of(1.0, 16.0));

  private static final MeasureConfig CALLS =
      measure(
          "calls",
          Type.COUNTER,
          Source.ONE,
          null,
          Set.of(),
          List.of(),
          List.of(REGION),
          List.of(),
          null);

  private int maxPerApplication = 100;
  private int maxApplications = 10;
  private long nowMillis = 1_700_000_000_000L;
  private long offset;
  private long outdated;
  private int[] outcomes = new int[OUTCOMES.size()];
  private Aggregation aggregation = newAggregation(REQUESTS, USAGE, CALLS);
  private QueueAggregator owner = newOwner(aggregation.newImage());

  private static MeasureConfig measure(
      String name,
      Type type,
      Source value,
      String attribute,
      Set<SpanKind> kinds,
      List<String> requires,
      List<Dimension> dimensions,
      List<Constant> labels,
      List<Double> bounds) {
    return new MeasureConfig(
        name, "d", null, type, value, attribute, kinds, requires, dimensions, labels, bounds);
  }

  private Aggregation newAggregation(MeasureConfig... measures) {
    Aggregation made =
        Aggregation.builder(() -> 1)
            .series(
                new SeriesConfig(
                    List.of(ROUTE),
                    List.of(new Filter(null, "GET /health", null)),
                    null,
                    maxPerApplication,
                    maxApplications,
                    null,
                    null,
                    null,
                    null))
            .histogram(new HistogramConfig(List.of(10.0, 100.0, 1_000.0)))
            .measures(List.of(measures))
            .build();
    made.measures(true);
    return made;
  }

  private QueueAggregator newOwner(QueueImage image) {
    QueueAggregator made =
        aggregation.newAggregator(
            QUEUE,
            aggregation.newDecoder(),
            new SpanPipelineMetrics() {
              @Override
              public void measured(
                  int recorded,
                  int overflowed,
                  int notNumbers,
                  int negative,
                  int tooLarge,
                  int notSent) {
                outcomes[0] += recorded;
                outcomes[1] += overflowed;
                outcomes[2] += notNumbers;
                outcomes[3] += negative;
                outcomes[4] += tooLarge;
                outcomes[5] += notSent;
              }

              @Override
              public void outdated(int spans) {
                outdated += spans;
              }
            },
            image);
    made.beginAt(0);
    return made;
  }

  private Map<String, Integer> outcomes() {
    Map<String, Integer> all = new TreeMap<>();
    for (int i = 0; i < outcomes.length; i++) {
      if (outcomes[i] > 0) {
        all.put(OUTCOMES.get(i), outcomes[i]);
      }
    }
    return all;
  }

  private void restart(MeasureConfig... measures) {
    aggregation = newAggregation(measures);
    owner = newOwner(aggregation.newImage());
  }

  private void accept(BatchMessage batch) {
    owner.accept(batch.message(offset++), nowMillis);
  }

  private SealedWindow seal() {
    return SealedWindows.seal(owner, offset, nowMillis);
  }

  private static BatchMessage server(String application) {
    return new BatchMessage(application).resource("cloud.region", "eu");
  }

  /**
   * Returns the buckets and the sum in parts of each series of a measure that the window created,
   * by the name of the metric and the labels.
   */
  private static Map<String, String> measured(SealedWindow window) {
    Map<String, String> all = new TreeMap<>();
    for (int row = 0; row < window.rows(); row++) {
      int series = window.series()[row];
      window.created().stream()
          .filter(each -> each.series() == series && each.isOfMeasure())
          .forEach(each -> all.put(name(each), value(window, series)));
    }
    return all;
  }

  private static String name(SeriesDefinition definition) {
    List<String> values = definition.values();
    assertThat(values.get(5)).as("the form").isEmpty();
    return values.getFirst() + " " + values.get(1) + " " + values.subList(7, values.size());
  }

  private static String value(SealedWindow window, int series) {
    int row = IntStream.range(0, window.rows()).filter(i -> window.series()[i] == series).sum();
    int from = row * window.stride();
    return Arrays.toString(Arrays.copyOfRange(window.counts(), from, from + window.stride()))
        + " "
        + window.durationNanos()[row];
  }

  @Test
  void matchingSpansCountOnceInEachMeasure() {
    accept(
        server("shop")
            .span("GET", 5 * MILLI)
            .attribute("http.request.method", "GET")
            .attribute("http.route", "/a")
            .span("GET", 50 * MILLI)
            .attribute("http.request.method", "GET")
            .attribute("cloud.region", "us")
            .span("work", 50 * MILLI)
            .span("chat", BatchMessage.CLIENT, BatchMessage.UNSET, MILLI, 0)
            .attribute("http.request.method", "GET")
            .attribute(TOKENS, "12")
            .span("chat", BatchMessage.CLIENT, BatchMessage.UNSET, MILLI, 0)
            .attribute(TOKENS, "0.5"));
    SealedWindow window = seal();

    assertThat(measured(window))
        .isEqualTo(
            Map.of(
                "shop http.server.request.duration [cloud.region, eu, http.route, /a]",
                "[1, 0, 0, 0] " + 5 * MILLI,
                "shop http.server.request.duration [cloud.region, us]",
                "[0, 1, 0, 0] " + 50 * MILLI,
                "shop gen_ai.client.token.usage [gen_ai.token.type, input]",
                "[1, 1, 0, 0] " + (12 * UNIT + UNIT / 2),
                "shop calls [cloud.region, eu]",
                "[4, 0, 0, 0] " + 4 * UNIT,
                "shop calls [cloud.region, us]",
                "[1, 0, 0, 0] " + UNIT));
    assertThat(outcomes()).isEqualTo(Map.of("recorded", 9));
    Books books = window.books().getFirst();
    assertThat(books.recorded()).as("the books have spans only").isEqualTo(5);
    SealedWindows.assertBalanced(window);
  }

  @Test
  void valuesThatCannotCountAreCountedByReason() {
    restart(USAGE);
    accept(
        server("shop")
            .span("chat", MILLI)
            .attribute(TOKENS, "many")
            .span("chat", MILLI)
            .attribute(TOKENS, "-1")
            .span("chat", MILLI)
            .attribute(TOKENS, "1e300")
            .span("chat", MILLI)
            .attribute(TOKENS, "1")
            .span("GET /health", MILLI)
            .attribute(TOKENS, "1")
            .span("chat", MILLI)
            .attribute("other", "1"));

    assertThat(outcomes())
        .isEqualTo(Map.of("recorded", 1, "not_a_number", 1, "negative", 1, "too_large", 1));
    assertThat(measured(seal())).hasSize(1).containsValue("[1, 0, 0, 0] " + UNIT);
  }

  @Test
  void groupsCountByTheirAttributesIfTheDemandHadThem() {
    accept(
        server("shop")
            .demand(3, "http.route", "http.request.method", TOKENS)
            .grouped("GET", BatchMessage.SERVER, 0, MILLI, 0)
            .attribute("http.request.method", "GET")
            .grouped("GET", BatchMessage.SERVER, 0, 20 * MILLI, 0)
            .attribute("http.request.method", "GET")
            .grouped("chat", BatchMessage.CLIENT, 0, MILLI, 0)
            .attribute(TOKENS, "7")
            .grouped("chat", BatchMessage.CLIENT, 0, MILLI, 0)
            .attribute(TOKENS, "7"));

    assertThat(measured(seal()))
        .as("the demand lacked the region: the resource does not replace what the span had")
        .containsEntry("shop http.server.request.duration []", "[1, 1, 0, 0] " + 21 * MILLI)
        .containsEntry("shop calls []", "[4, 0, 0, 0] " + 4 * UNIT)
        .containsEntry(
            "shop gen_ai.client.token.usage [gen_ai.token.type, input]",
            "[0, 2, 0, 0] " + 14 * UNIT);
    assertThat(outdated).as("once for each span, not for each measure").isEqualTo(4);

    outcomes = new int[OUTCOMES.size()];
    accept(server("shop").demand(2, "http.route").grouped("chat", BatchMessage.CLIENT, 0, 1, 0));
    assertThat(outcomes()).isEqualTo(Map.of("recorded", 1, "not_sent", 1));
  }

  @Test
  void sampledSpansCountWithTheirWeight() {
    accept(
        server("shop")
            .span("chat", BatchMessage.CLIENT, BatchMessage.UNSET, MILLI, HALF)
            .attribute(TOKENS, "10"));

    assertThat(measured(seal()))
        .containsEntry(
            "shop gen_ai.client.token.usage [gen_ai.token.type, input]",
            "[0, 2, 0, 0] " + 20 * UNIT)
        .containsEntry("shop calls [cloud.region, eu]", "[2, 0, 0, 0] " + 2 * UNIT);
  }

  @Test
  void valuesWithoutRoomCountInAnOverflowSeriesOfTheMeasure() {
    maxPerApplication = 2;
    restart(CALLS);
    for (String region : List.of("a", "b", "c", "c")) {
      accept(new BatchMessage("shop").resource("cloud.region", region).span("GET", MILLI));
    }
    SealedWindow window = seal();

    assertThat(measured(window))
        .isEqualTo(
            Map.of(
                "shop calls [cloud.region, a]",
                "[1, 0, 0, 0] " + UNIT,
                "shop calls [otel_metric_overflow, true]",
                "[3, 0, 0, 0] " + 3 * UNIT));
    assertThat(outcomes()).isEqualTo(Map.of("recorded", 1, "overflowed", 3));

    QueueImage image = aggregation.newImage();
    image.apply(window);
    owner = newOwner(image);
    accept(new BatchMessage("shop").resource("cloud.region", "d").span("GET", MILLI));
    assertThat(seal().created()).as("the overflow series goes on").isEmpty();
  }

  @Test
  void applicationsWithoutRoomShareTheOverflowSeriesOfOther() {
    maxApplications = 1;
    restart(CALLS);
    accept(server("shop").span("GET", MILLI));
    accept(server("bank").span("GET", MILLI));

    assertThat(measured(seal()))
        .containsEntry("_other calls [otel_metric_overflow, true]", "[1, 0, 0, 0] " + UNIT);
  }

  @Test
  void seriesOfUnchangedMeasuresGoOnWhenRulesChange() {
    accept(server("shop").span("GET", MILLI));
    accept(server("bank").span("GET", MILLI));
    seal();
    aggregation.dimensions(rules("shop", CALLS));
    accept(server("shop").span("chat", MILLI).attribute(TOKENS, "1"));
    accept(server("bank").span("chat", MILLI).attribute(TOKENS, "1"));
    SealedWindow changed = seal();

    assertThat(measured(changed).keySet())
        .as("shop has no other measures any more")
        .containsExactly("bank gen_ai.client.token.usage [gen_ai.token.type, input]");
    assertThat(changed.evicted()).isEmpty();
  }

  @Test
  void changeOfAMeasureRetiresItsSeriesOnly() {
    accept(server("shop").span("chat", MILLI).attribute(TOKENS, "1"));
    accept(server("bank").span("chat", MILLI).attribute(TOKENS, "1"));
    SealedWindow first = seal();
    List<Integer> usage =
        first.created().stream()
            .filter(each -> each.isOfMeasure() && name(each).startsWith("shop gen_ai"))
            .map(SeriesDefinition::series)
            .toList();
    MeasureConfig described =
        new MeasureConfig(
            USAGE.name(),
            "another description",
            USAGE.unit(),
            USAGE.type(),
            USAGE.value(),
            USAGE.attribute(),
            USAGE.kinds(),
            USAGE.requires(),
            USAGE.dimensions(),
            USAGE.labels(),
            USAGE.bounds());
    aggregation.dimensions(rules("shop", CALLS, described, REQUESTS));
    accept(server("bank").span("chat", MILLI).attribute(TOKENS, "1"));
    seal();

    nowMillis += RETIRED_MILLIS + 1_000;
    accept(server("bank").span("chat", MILLI).attribute(TOKENS, "1"));
    assertThat(seal().evicted())
        .as("series of spans and of measures in another order are idle only")
        .containsExactly(usage.getFirst());
  }

  private static Rules rules(String application, MeasureConfig... measures) {
    return new Rules(
        1,
        RuleKeys.NONE,
        List.of(
            new Rules.OfApplications(
                application,
                new RuleKeys(null, null, null, null, null, null, null, null, List.of(measures)))));
  }

  @Test
  void idleSeriesEnd() {
    accept(server("shop").span("GET", MILLI));
    seal();
    nowMillis += aggregation.idleMillis() + 60_000;
    accept(server("bank").span("GET", MILLI));
    assertThat(seal().evicted()).as("the span's and the measure's").hasSize(2);
  }

  /** Measures, owners and spans change at random. */
  @Property(tries = 50)
  void eachValueCountsOnceAndExactly(@ForAll long seed) throws MalformedRecordException {
    Random random = new Random(seed);
    List<MeasureConfig> all = List.of(REQUESTS, USAGE, CALLS);
    List<MeasureConfig> inForce = all;
    restart(all.toArray(MeasureConfig[]::new));
    QueueImage image = aggregation.newImage();
    Map<String, long[]> expected = new HashMap<>();
    Map<String, long[]> counted = new HashMap<>();
    for (int i = 0; i < 40; i++) {
      if (random.nextInt(4) == 0) {
        inForce = all.stream().filter(each -> random.nextBoolean()).toList();
        aggregation.dimensions(rules("shop", inForce.toArray(MeasureConfig[]::new)));
      }
      boolean isGrouped = random.nextBoolean();
      BatchMessage batch = new BatchMessage("shop");
      if (isGrouped) {
        batch.demand(1, "cloud.region", "http.request.method", "http.route", TOKENS);
      }
      for (int spans = random.nextInt(1, 6); spans > 0; spans--) {
        long nanos = random.nextInt(200) * MILLI;
        boolean isServer = random.nextBoolean();
        int kind = isServer ? BatchMessage.SERVER : BatchMessage.CLIENT;
        if (isGrouped) {
          batch.grouped("GET", kind, 0, nanos, 0);
        } else {
          batch.span("GET", kind, 0, nanos, 0);
        }
        boolean hasMethod = random.nextBoolean();
        if (hasMethod) {
          batch.attribute("http.request.method", "GET");
        }
        String tokens = random.nextBoolean() ? null : Integer.toString(random.nextInt(30));
        if (tokens != null) {
          batch.attribute(TOKENS, tokens);
        }
        String region = random.nextBoolean() ? null : "r" + random.nextInt(2);
        if (region != null) {
          batch.attribute("cloud.region", region);
        }
        String labels = region == null ? "[]" : "[cloud.region, " + region + "]";
        if (inForce.contains(REQUESTS) && isServer && hasMethod) {
          add(expected, "shop http.server.request.duration " + labels, nanos);
        }
        if (inForce.contains(USAGE) && tokens != null) {
          add(
              expected,
              "shop gen_ai.client.token.usage [gen_ai.token.type, input]",
              Long.parseLong(tokens) * UNIT);
        }
        if (inForce.contains(CALLS)) {
          add(expected, "shop calls " + labels, UNIT);
        }
      }
      accept(batch);
      nowMillis += random.nextInt(20_000);
      if (random.nextInt(3) == 0) {
        count(image, counted);
      }
      if (random.nextInt(8) == 0) {
        count(image, counted);
        aggregation = newAggregation(all.toArray(MeasureConfig[]::new));
        aggregation.dimensions(rules("shop", inForce.toArray(MeasureConfig[]::new)));
        QueueImage copy = aggregation.newImage();
        HandOverTest.copy(image, copy);
        owner = newOwner(copy);
      }
    }
    count(image, counted);
    assertThat(counted.keySet()).isEqualTo(expected.keySet());
    expected.forEach((name, values) -> assertThat(counted.get(name)).as(name).isEqualTo(values));
  }

  private static void add(Map<String, long[]> sums, String name, long value) {
    long[] sum = sums.computeIfAbsent(name, each -> new long[2]);
    sum[0]++;
    sum[1] += value;
  }

  private void count(QueueImage image, Map<String, long[]> counted)
      throws MalformedRecordException {
    SealedWindow window = seal();
    if (window == null) {
      return;
    }
    window = HandOverTest.read(window);
    Map<Integer, SeriesDefinition> definitions = new HashMap<>();
    for (int series = 0; series < image.slots(); series++) {
      if (image.definition(series) != null) {
        definitions.put(series, image.definition(series));
      }
    }
    window.created().forEach(each -> definitions.put(each.series(), each));
    for (int row = 0; row < window.rows(); row++) {
      SeriesDefinition definition = definitions.get(window.series()[row]);
      if (definition.isOfMeasure()) {
        long[] sum = counted.computeIfAbsent(name(definition), each -> new long[2]);
        int from = row * window.stride();
        sum[0] += Arrays.stream(window.counts(), from, from + window.stride()).sum();
        sum[1] += window.durationNanos()[row];
      }
    }
    image.apply(window);
  }

  @Test
  void measuredSpansAllocateNothing() {
    // Places of the spans' four series and of two measures' series.
    maxPerApplication = 6;
    restart(REQUESTS, USAGE, CALLS);
    List<byte[]> messages = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      BatchMessage batch = server("shop");
      for (int span = 0; span < 20; span++) {
        batch
            .span("GET", MILLI)
            .attribute("http.request.method", "GET")
            .attribute("http.route", "/" + span % 4)
            .attribute(TOKENS, Integer.toString(span));
      }
      messages.add(batch.message(i));
    }
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long least = Long.MAX_VALUE;
    for (int from = 0; from < messages.size(); from += 500) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = from; i < from + 500; i++) {
        owner.accept(messages.get(i), nowMillis);
      }
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }

    assertThat(outcomes()).containsKeys("recorded", "overflowed");
    assertThat(least).isZero();
  }
}
