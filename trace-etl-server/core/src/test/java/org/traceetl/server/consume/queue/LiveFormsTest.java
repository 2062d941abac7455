package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.server.consume.queue.SealedWindows.values;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.HistogramConfig.Kind;
import org.traceetl.server.config.MetricsConfig.Unit;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.format.MalformedRecordException;
import org.traceetl.server.rules.RuleKeys;
import org.traceetl.server.rules.Rules;
import org.traceetl.server.window.Form;
import org.traceetl.server.window.NativeBuckets;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;

/** Tests that rules change buckets and unit of some applications while all spans count once. */
class LiveFormsTest {
  private static final QueueId QUEUE = new QueueId("b", 0);
  private static final long MILLI = 1_000_000;
  private static final HistogramConfig CONFIGURED =
      new HistogramConfig(List.of(10.0, 100.0, 1_000.0), Kind.CLASSIC, 2);

  private int maxPerApplication = 1_000;
  private long nowMillis = 1_700_000_000_000L;
  private long offset;
  private Aggregation aggregation = newAggregation(CONFIGURED);
  private QueueAggregator owner = newOwner(aggregation.newImage());

  private Aggregation newAggregation(HistogramConfig histogram) {
    return Aggregation.builder(() -> 1)
        .series(
            new SeriesConfig(
                List.of(), null, null, maxPerApplication, null, null, null, null, null))
        .histogram(histogram)
        .unit(Unit.MILLISECONDS)
        .build();
  }

  private QueueAggregator newOwner(QueueImage image) {
    QueueAggregator owner =
        aggregation.newAggregator(
            QUEUE, aggregation.newDecoder(), new SpanPipelineMetrics() {}, image);
    owner.beginAt(0);
    return owner;
  }

  private static Rules rules(String application, List<Double> bounds, Kind kind, Unit unit) {
    return new Rules(
        1,
        RuleKeys.NONE,
        List.of(
            new Rules.OfApplications(
                application,
                new RuleKeys(null, null, bounds, kind, null, unit, null, null, null))));
  }

  private void accept(String application, long... durationNanos) {
    BatchMessage batch = new BatchMessage(application);
    for (long nanos : durationNanos) {
      batch.span("GET", nanos);
    }
    owner.accept(batch.message(offset++), nowMillis);
  }

  private SealedWindow seal() {
    return SealedWindows.seal(owner, offset, nowMillis);
  }

  private static long[] counts(SealedWindow window, int row) {
    return Arrays.copyOfRange(window.counts(), row * window.stride(), (row + 1) * window.stride());
  }

  @Test
  void changeOfOneApplicationRestartsItsSeriesOnly() {
    accept("shop", 20 * MILLI);
    accept("blog", 20 * MILLI);
    SealedWindow before = seal();

    aggregation.dimensions(rules("sh*", List.of(5.0, 25.0), null, Unit.SECONDS));
    accept("shop", 5 * MILLI, 20 * MILLI, 30 * MILLI, 2_000 * MILLI);
    accept("blog", 20 * MILLI);
    SealedWindow changed = seal();

    assertThat(changed.schema()).isEqualTo(before.schema());
    assertThat(changed.stride()).isEqualTo(before.stride());
    assertThat(changed.created())
        .extracting(SeriesDefinition::values)
        .containsExactly(values("shop", "GET", "2", "0", Form.KEY, "unit=s;bounds=5,25"));
    assertThat(changed.rows()).isEqualTo(2);
    assertThat(counts(changed, 0)).containsExactly(1, 1, 2, 0);
    assertThat(counts(changed, 1)).containsExactly(0, 1, 0, 0);
    assertThat(changed.series()[1]).isEqualTo(before.series()[1]);

    aggregation.dimensions(rules("shop", List.of(10.0, 100.0, 1_000.0), null, null));
    accept("shop", 20 * MILLI);
    SealedWindow back = seal();
    assertThat(back.created()).as("the form of the configuration has no name").isEmpty();
    assertThat(back.series()).startsWith(before.series()[0]);
  }

  @Test
  void nativeBucketsHaveMemoryWhereRulesRequireThem() {
    aggregation.dimensions(rules("shop", null, Kind.BOTH, null));
    accept("blog", 20 * MILLI);
    accept("shop", 20 * MILLI, 21 * MILLI);
    SealedWindow both = seal();
    assertThat(both.natives().end(0)).as("blog").isZero();
    assertThat(Arrays.stream(both.natives().counts()).sum()).isEqualTo(2);
    assertThat(counts(both, 1)).containsExactly(0, 2, 0, 0);

    aggregation.dimensions(rules("shop", null, Kind.NATIVE, null));
    accept("shop", 20 * MILLI, 21 * MILLI, 2_000 * MILLI);
    SealedWindow only = seal();
    assertThat(only.created().getFirst().values()).endsWith("unit=ms;native=2");
    assertThat(Arrays.stream(only.natives().counts()).sum()).isEqualTo(3);
    assertThat(counts(only, 0)).as("one bucket has all").containsExactly(3, 0, 0, 0);

    aggregation.dimensions(null);
    accept("shop", 20 * MILLI);
    assertThat(seal().natives().isEmpty()).isTrue();
  }

  @Test
  void classicBucketsReplaceNativeOnes() {
    aggregation = newAggregation(new HistogramConfig(List.of(10.0, 100.0), Kind.BOTH, 2));
    owner = newOwner(aggregation.newImage());
    aggregation.dimensions(rules("shop", null, Kind.CLASSIC, null));
    accept("shop", 20 * MILLI);
    accept("blog", 20 * MILLI);

    SealedWindow window = seal();
    assertThat(window.created().getFirst().values()).endsWith("unit=ms;bounds=10,100");
    assertThat(window.natives().end(0)).isZero();
    assertThat(window.natives().end(1)).isEqualTo(1);
  }

  @Test
  void spansWithoutRoomCountInTheBucketsOfTheConfiguration() {
    maxPerApplication = 1;
    aggregation = newAggregation(CONFIGURED);
    owner = newOwner(aggregation.newImage());
    aggregation.dimensions(rules("shop", List.of(30.0), Kind.BOTH, null));
    BatchMessage batch = new BatchMessage("shop").span("GET", 20 * MILLI).span("PUT", 20 * MILLI);
    owner.accept(batch.message(offset++), nowMillis);

    SealedWindow window = seal();
    assertThat(window.created())
        .extracting(SeriesDefinition::overflow)
        .containsExactly(false, true);
    assertThat(counts(window, 0)).containsExactly(1, 0, 0, 0);
    assertThat(counts(window, 1)).containsExactly(0, 1, 0, 0);
    assertThat(window.natives().end(0)).isEqualTo(window.natives().end(1));
  }

  @Test
  void moreBucketsThanTheConfigurationHasAreNotApplied() {
    aggregation.dimensions(rules("shop", List.of(1.0, 2.0, 3.0, 4.0), null, null));
    accept("shop", 20 * MILLI);
    assertThat(seal().created().getFirst().values()).isEqualTo(values("shop", "GET", "2", "0"));
  }

  @Test
  void forgedFormsAreNotRestored() {
    QueueImage image = aggregation.newImage();
    image.to(0);
    List<String> forged =
        List.of(
            "", "unit=s", "unit=s;bounds=2,1", "x".repeat(Form.MAX_BYTES + 1), "unit=s;bounds=1");
    for (int series = 0; series < forged.size(); series++) {
      image.create(
          new SeriesDefinition(
              series,
              nowMillis,
              false,
              values("shop", "GET", "2", "0", Form.KEY, forged.get(series))));
    }

    owner = newOwner(image);
    assertThat(owner.seriesCount()).isEqualTo(1);
  }

  /** Spans of a series by bucket: classic ones by their place, native ones from 1,000 on. */
  private static final class Counts extends TreeMap<Integer, Long> {
    private static final int NATIVE = 1_000;

    void add(int bucket, long spans) {
      if (spans > 0) {
        merge(bucket, spans, Long::sum);
      }
    }
  }

  /** Rules, owners and spans change at random. */
  @Property(tries = 60)
  void eachSpanCountsOnceInTheBucketsOfItsRules(@ForAll long seed) throws MalformedRecordException {
    Random random = new Random(seed);
    Kind kind = Kind.values()[random.nextInt(3)];
    HistogramConfig configured =
        new HistogramConfig(List.of(10.0, 100.0, 1_000.0), kind, random.nextInt(4));
    aggregation = newAggregation(configured);
    owner = newOwner(aggregation.newImage());
    QueueImage image = aggregation.newImage();
    Rules inForce = null;
    Map<List<String>, Counts> expected = new HashMap<>();
    Map<List<String>, Counts> counted = new HashMap<>();
    for (int i = 0; i < 40; i++) {
      if (random.nextInt(4) == 0) {
        inForce = random.nextInt(4) == 0 ? null : draw(random);
        aggregation.dimensions(inForce);
      }
      for (int batches = random.nextInt(4); batches > 0; batches--) {
        String application = random.nextBoolean() ? "shop" : "blog";
        long[] nanos = random.longs(random.nextInt(1, 5), 0, 2_000 * MILLI).toArray();
        accept(application, nanos);
        expect(
            application.equals("shop") ? inForce : null, configured, application, nanos, expected);
      }
      nowMillis += random.nextInt(40_000);
      count(image, counted);
      if (random.nextInt(5) == 0) {
        aggregation = newAggregation(configured);
        aggregation.dimensions(inForce);
        QueueImage copy = aggregation.newImage();
        HandOverTest.copy(image, copy);
        owner = newOwner(copy);
      }
    }
    assertThat(counted).isEqualTo(expected);
  }

  private static Rules draw(Random random) {
    List<Double> bounds =
        random
            .ints(random.nextInt(1, 4), 1, 2_000)
            .sorted()
            .distinct()
            .asDoubleStream()
            .boxed()
            .toList();
    return new Rules(
        1,
        RuleKeys.NONE,
        List.of(
            new Rules.OfApplications(
                "shop",
                new RuleKeys(
                    null,
                    null,
                    random.nextBoolean() ? bounds : null,
                    random.nextBoolean() ? Kind.values()[random.nextInt(3)] : null,
                    random.nextBoolean() ? random.nextInt(6) : null,
                    random.nextBoolean() ? Unit.values()[random.nextInt(2)] : null,
                    null,
                    null,
                    null))));
  }

  private static void expect(
      Rules rules,
      HistogramConfig configured,
      String application,
      long[] spans,
      Map<List<String>, Counts> expected) {
    RuleKeys keys = rules == null ? RuleKeys.NONE : rules.applications().getFirst().keys();
    HistogramConfig histogram =
        new HistogramConfig(
            keys.boundsMillis() == null ? configured.boundsMillis() : keys.boundsMillis(),
            keys.kind() == null ? configured.kind() : keys.kind(),
            keys.nativeSchema() == null ? configured.nativeSchema() : keys.nativeSchema());
    Unit unit = keys.unit() == null ? Unit.MILLISECONDS : keys.unit();
    Form own = form(histogram, unit);
    if (own.buckets() > form(configured, Unit.MILLISECONDS).buckets()) {
      own = form(configured, Unit.MILLISECONDS);
      histogram = configured;
      unit = Unit.MILLISECONDS;
    }
    List<String> series = new ArrayList<>(values(application, "GET", "2", "0"));
    if (!own.equals(form(configured, Unit.MILLISECONDS))) {
      series.addAll(List.of(Form.KEY, own.text()));
    }
    Counts counts = expected.computeIfAbsent(series, absent -> new Counts());
    long[] bounds = histogram.boundsNanos();
    for (long nanos : spans) {
      int bucket = 0;
      while (bucket < bounds.length && nanos > bounds[bucket]) {
        bucket++;
      }
      counts.add(bucket, 1);
      if (histogram.hasNative()) {
        counts.add(
            Counts.NATIVE + new NativeBuckets(histogram.nativeSchema(), unit.nanos()).of(nanos), 1);
      }
    }
  }

  private static Form form(HistogramConfig histogram, Unit unit) {
    return new Form(
        histogram.boundsNanos(),
        histogram.hasNative() ? histogram.nativeSchema() : null,
        unit.nanos());
  }

  /** Ends a window; adds it to the image, and its spans to those of the image's series. */
  private void count(QueueImage image, Map<List<String>, Counts> counted)
      throws MalformedRecordException {
    SealedWindow window = seal();
    if (window == null) {
      return;
    }
    window = HandOverTest.read(window);
    Map<Integer, List<String>> created = new HashMap<>();
    window.created().forEach(each -> created.put(each.series(), each.values()));
    for (int row = 0; row < window.rows(); row++) {
      List<String> known = created.get(window.series()[row]);
      Counts counts =
          counted.computeIfAbsent(
              known == null ? image.definition(window.series()[row]).values() : known,
              absent -> new Counts());
      long[] classic = counts(window, row);
      for (int bucket = 0; bucket < classic.length; bucket++) {
        counts.add(bucket, classic[bucket]);
      }
      for (int at = window.natives().begin(row); at < window.natives().end(row); at++) {
        counts.add(Counts.NATIVE + window.natives().buckets()[at], window.natives().counts()[at]);
      }
    }
    image.apply(window);
  }

  @Test
  void spansWithFormsAllocateNothing() {
    aggregation.dimensions(rules("shop", List.of(5.0, 25.0), Kind.BOTH, Unit.SECONDS));
    byte[][] messages =
        IntStream.range(0, 2_000)
            .mapToObj(i -> {
              BatchMessage batch = new BatchMessage(i % 4 == 0 ? "blog" : "shop");
              for (int span = 0; span < 20; span++) {
                batch.span("GET", span * MILLI);
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
