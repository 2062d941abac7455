package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.ObjectiveConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.config.TemplatesConfig;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.format.MalformedRecordException;
import org.traceetl.server.rules.RuleKeys;
import org.traceetl.server.rules.Rules;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;

/** Tests that objectives count each of their spans once, and whether it is good. */
class ObjectivesTest {
  private static final QueueId QUEUE = new QueueId("b", 0);
  private static final long MILLI = 1_000_000;
  private static final long THRESHOLD = 300 * MILLI + 1;

  /** Good and events are counted in millionths. */
  private static final long ONE = 1_000_000;

  private static final int ERROR = 2;
  private static final long HALF = 1L << 55;
  private static final int DIMENSIONS = 1;
  private static final int LABELS = SeriesDefinition.FIXED_DIMENSIONS + DIMENSIONS;

  private static final ObjectiveConfig FAST =
      new ObjectiveConfig("fast", 99.9, Duration.ofNanos(THRESHOLD), null, null, null);
  private static final ObjectiveConfig CART =
      new ObjectiveConfig("cart", 99.0, null, "GET /cart/*", Set.of(SpanKind.SERVER), null);

  private int maxPerApplication = 100;
  private long nowMillis = 1_700_000_000_000L;
  private long offset;
  private Aggregation aggregation = newAggregation(FAST, CART);
  private QueueImage image = aggregation.newImage();
  private QueueAggregator owner = newOwner(image);

  /** Events and good ones by the label of the objective, of all windows. */
  private final Map<String, long[]> counted = new TreeMap<>();

  private Aggregation newAggregation(ObjectiveConfig... objectives) {
    Aggregation made =
        Aggregation.builder(() -> 1)
            .series(
                new SeriesConfig(
                    List.of(new SeriesConfig.Dimension("http.route", null, null)),
                    List.of(),
                    null,
                    maxPerApplication,
                    null,
                    null,
                    null,
                    null,
                    new TemplatesConfig(true, List.of())))
            .histogram(new HistogramConfig(List.of(10.0, 1_000.0)))
            .build();
    made.measures(true);
    made.dimensions(rules(objectives));
    return made;
  }

  private static Rules rules(ObjectiveConfig... objectives) {
    RuleKeys keys =
        new RuleKeys(null, null, null, null, null, null, null, null, null, List.of(objectives));
    return new Rules(1, RuleKeys.NONE, List.of(new Rules.OfApplications("*", keys)));
  }

  private QueueAggregator newOwner(QueueImage from) {
    QueueAggregator made =
        aggregation.newAggregator(
            QUEUE, aggregation.newDecoder(), new SpanPipelineMetrics() {}, from);
    made.beginAt(0);
    return made;
  }

  private void accept(BatchMessage batch) {
    owner.accept(batch.message(offset++), nowMillis);
  }

  /** Adds the sums of the window that ends to those of all. */
  private void count() throws MalformedRecordException {
    SealedWindow sealed = SealedWindows.seal(owner, offset, nowMillis);
    if (sealed == null) {
      return;
    }
    SealedWindow window = HandOverTest.read(sealed);
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
        List<String> labels = definition.values().subList(LABELS, definition.values().size());
        String slo = labels.get(labels.lastIndexOf(ObjectiveConfig.LABEL) + 1);
        boolean isGood = definition.values().get(1).equals(ObjectiveConfig.GOOD);
        counted
                .computeIfAbsent(definition.values().getFirst() + " " + slo, each -> new long[2])[
                isGood ? 1 : 0] +=
            window.durationNanos()[row];
      }
    }
    image.apply(window);
  }

  private Map<String, List<Double>> counts() {
    Map<String, List<Double>> all = new TreeMap<>();
    counted.forEach((name, sums) ->
        all.put(name, Arrays.stream(sums).mapToObj(sum -> (double) sum / ONE).toList()));
    return all;
  }

  @Test
  void goodSpansHaveNotFailedAndAreFasterThanTheThresholdToTheNanosecond() throws Exception {
    accept(
        new BatchMessage("shop")
            .span("a", BatchMessage.SERVER, 0, THRESHOLD - 1, 0)
            .span("a", BatchMessage.SERVER, 0, THRESHOLD, 0)
            .span("a", BatchMessage.SERVER, ERROR, 1, 0)
            .span("a", BatchMessage.CLIENT, 0, 1, 0));
    accept(
        new BatchMessage("bank")
            .demand(1, "http.route")
            .grouped("a", BatchMessage.SERVER, 0, THRESHOLD - 1, 0)
            .grouped("a", BatchMessage.SERVER, 0, THRESHOLD, 0)
            .grouped("a", BatchMessage.SERVER, ERROR, 1, 0)
            .grouped("a", BatchMessage.CLIENT, 0, 1, 0));
    count();

    assertThat(counts())
        .as("of three events one is good, in groups as whole")
        .isEqualTo(Map.of("shop fast", List.of(3.0, 1.0), "bank fast", List.of(3.0, 1.0)));
  }

  @Test
  void goodCounterExistsFromTheFirstEventOn() throws Exception {
    accept(new BatchMessage("shop").span("a", BatchMessage.SERVER, ERROR, 1, 0));
    count();

    assertThat(counts()).isEqualTo(Map.of("shop fast", List.of(1.0, 0.0)));
    assertThat(image.slots()).as("series of the span, events and good").isEqualTo(3);
  }

  @Test
  void operationIsTheNameThatSeriesHave() throws Exception {
    accept(
        new BatchMessage("shop")
            .span("GET /cart/4711", BatchMessage.SERVER, 0, 1, 0)
            .span("GET /cart/4712", BatchMessage.SERVER, ERROR, 1, 0)
            .span("GET /cart", BatchMessage.SERVER, 0, 1, 0)
            .span("GET /cart/4711", 5, 0, 1, 0));
    count();
    assertThat(counts())
        .isEqualTo(Map.of("shop fast", List.of(4.0, 3.0), "shop cart", List.of(2.0, 1.0)));
    List<String> names = new ArrayList<>();
    for (int series = 0; series < image.slots(); series++) {
      names.add(image.definition(series).values().get(1));
    }
    String name = names.stream().filter(each -> each.startsWith("GET /cart/")).findAny().get();
    assertThat(name).as("the template's name").doesNotContain("4711");

    aggregation.dimensions(rules(new ObjectiveConfig("exact", 99.0, null, name, null, null)));
    accept(new BatchMessage("shop").span("GET /cart/5", BatchMessage.SERVER, 0, 1, 0));
    count();
    assertThat(counts()).containsEntry("shop exact", List.of(1.0, 1.0));
  }

  @Test
  void operationMatchesALongNameAsSeriesCutIt() throws Exception {
    aggregation.dimensions(
        rules(
            new ObjectiveConfig("cut", 99.0, null, "GET *x", null, null),
            new ObjectiveConfig("whole", 99.0, null, "*tail", null, null)));
    accept(
        new BatchMessage("shop")
            .span("GET " + "x".repeat(2_000) + "tail", BatchMessage.SERVER, 0, 1, 0));
    count();

    assertThat(image.definition(0).values().get(1)).endsWith("x").hasSizeLessThan(2_000);
    assertThat(counts()).isEqualTo(Map.of("shop cut", List.of(1.0, 1.0)));
  }

  @Test
  void sampledSpansCountWithTheirWeight() throws Exception {
    accept(
        new BatchMessage("shop")
            .span("a", BatchMessage.SERVER, 0, 1, HALF)
            .span("a", BatchMessage.SERVER, ERROR, 1, HALF));
    count();

    assertThat(counts()).isEqualTo(Map.of("shop fast", List.of(4.0, 2.0)));
  }

  @Test
  void objectivesCountExactlyWithoutRoomForSeries() throws Exception {
    maxPerApplication = 1;
    aggregation = newAggregation(FAST, CART);
    owner = newOwner(image);
    accept(
        new BatchMessage("shop")
            .span("GET /cart/1", BatchMessage.SERVER, 0, 1, 0)
            .span("b", BatchMessage.SERVER, ERROR, 1, 0));
    count();

    assertThat(counts())
        .isEqualTo(Map.of("shop fast", List.of(2.0, 1.0), "shop cart", List.of(1.0, 1.0)));
    assertThat(image.definition(2).values()).contains("otel_metric_overflow");
  }

  @Test
  void countersGoOnWhenAThresholdChanges() throws Exception {
    accept(new BatchMessage("shop").span("a", BatchMessage.SERVER, 0, THRESHOLD, 0));
    count();
    int slots = image.slots();
    aggregation.dimensions(
        rules(new ObjectiveConfig("fast", 99.9, Duration.ofSeconds(1), null, null, null)));
    accept(new BatchMessage("shop").span("a", BatchMessage.SERVER, 0, THRESHOLD, 0));
    count();
    accept(new BatchMessage("shop").span("a", BatchMessage.SERVER, 0, THRESHOLD, 0));
    count();

    assertThat(counts()).isEqualTo(Map.of("shop fast", List.of(3.0, 2.0)));
    assertThat(image.slots()).isEqualTo(slots);
  }

  @Test
  void changedThresholdLeavesSeriesOfAFullApplicationInPlace() throws Exception {
    maxPerApplication = 3;
    aggregation = newAggregation(FAST);
    owner = newOwner(image);
    accept(new BatchMessage("shop").span("a", BatchMessage.SERVER, 0, 1, 0));
    count();
    aggregation.dimensions(
        rules(new ObjectiveConfig("fast", 99.9, Duration.ofSeconds(1), null, null, null)));
    accept(new BatchMessage("shop").span("a", BatchMessage.SERVER, 0, 1, 0));
    count();
    accept(
        new BatchMessage("shop")
            .span("b", BatchMessage.SERVER, 0, 1, 0)
            .span("c", BatchMessage.SERVER, 0, 1, 0));
    count();

    assertThat(counts()).isEqualTo(Map.of("shop fast", List.of(4.0, 4.0)));
    assertThat(image.definitions())
        .filteredOn(SeriesDefinition::isOfMeasure)
        .hasSize(2)
        .noneMatch(each -> each.values().contains("otel_metric_overflow"));
  }

  /** Owners, and objectives in force, change at random. */
  @Property(tries = 50)
  void everyEventCountsOnceThroughTakeOvers(@ForAll long seed) throws Exception {
    Random random = new Random(seed);
    counted.clear();
    List<ObjectiveConfig> inForce = List.of(FAST, CART);
    aggregation = newAggregation(FAST, CART);
    image = aggregation.newImage();
    owner = newOwner(image);
    Map<String, long[]> expected = new TreeMap<>();
    for (int i = 0; i < 40; i++) {
      if (random.nextInt(5) == 0) {
        inForce = List.of(FAST, CART).stream().filter(each -> random.nextBoolean()).toList();
        aggregation.dimensions(rules(inForce.toArray(ObjectiveConfig[]::new)));
      }
      boolean isGrouped = random.nextBoolean();
      BatchMessage batch = new BatchMessage("shop");
      if (isGrouped) {
        batch.demand(1, "http.route");
      }
      for (int spans = random.nextInt(1, 6); spans > 0; spans--) {
        String name = random.nextBoolean() ? "GET /cart/" + random.nextInt(9) : "work";
        int kind = random.nextBoolean() ? BatchMessage.SERVER : BatchMessage.CLIENT;
        int status = random.nextInt(3);
        long nanos = THRESHOLD - 1 + random.nextInt(2);
        if (isGrouped) {
          batch.grouped(name, kind, status, nanos, 0);
        } else {
          batch.span(name, kind, status, nanos, 0);
        }
        boolean isFast = status != ERROR && nanos < THRESHOLD;
        if (kind == BatchMessage.SERVER && inForce.contains(FAST)) {
          add(expected, "shop fast", isFast);
        }
        if (kind == BatchMessage.SERVER && inForce.contains(CART) && name.startsWith("GET")) {
          add(expected, "shop cart", status != ERROR);
        }
      }
      accept(batch);
      nowMillis += random.nextInt(20_000);
      if (random.nextInt(3) == 0) {
        count();
      }
      if (random.nextInt(8) == 0) {
        count();
        aggregation = newAggregation(inForce.toArray(ObjectiveConfig[]::new));
        QueueImage copy = aggregation.newImage();
        HandOverTest.copy(image, copy);
        owner = newOwner(copy);
      }
    }
    count();
    assertThat(counted.keySet()).isEqualTo(expected.keySet());
    expected.forEach((name, values) -> assertThat(counted.get(name)).as(name).isEqualTo(values));
  }

  private static void add(Map<String, long[]> sums, String name, boolean isGood) {
    long[] sum = sums.computeIfAbsent(name, each -> new long[2]);
    sum[0] += ONE;
    sum[1] += isGood ? ONE : 0;
  }

  @Test
  void spansOfObjectivesAllocateNothing() {
    List<byte[]> messages = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      BatchMessage batch = new BatchMessage("shop");
      for (int span = 0; span < 20; span++) {
        batch.span("GET /cart/" + span, BatchMessage.SERVER, span % 3, 20L * span * MILLI, 0);
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

    assertThat(least).isZero();
  }
}
