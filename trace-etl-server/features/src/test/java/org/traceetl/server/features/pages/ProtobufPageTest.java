package org.traceetl.server.features.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.prometheus.metrics.expositionformats.generated.com_google_protobuf_4_36_1.Metrics;
import io.prometheus.metrics.shaded.com_google_protobuf_4_36_1.Timestamp;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.HistogramConfig.Kind;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.StandardProfile;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.NativeBuckets;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * A page of protobuf, read by generated classes, says what that of OpenMetrics says, and what the
 * native buckets of the windows add up to.
 */
class ProtobufPageTest {
  private static final int SERIES = 12;
  private static final QueueId QUEUE = new QueueId("broker", 0);
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String SPAN = "b7ad6b7169203331";

  /** Sums of more than 2^53 ns are the next double or one beside it. */
  private static final double SUM_ERROR = 0x1p-51;

  private static HistogramConfig histogram(Kind kind, int schema) {
    return new HistogramConfig(PageFixture.BOUNDS.boundsMillis(), kind, schema);
  }

  private static List<Metrics.MetricFamily> parse(byte[] page) {
    List<Metrics.MetricFamily> families = new ArrayList<>();
    var in = new ByteArrayInputStream(page);
    try {
      while (in.available() > 0) {
        families.add(Metrics.MetricFamily.parseDelimitedFrom(in));
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return families;
  }

  /** Returns the values of each counter on a page, by its name. */
  static Map<String, List<Double>> counters(byte[] page) {
    Map<String, List<Double>> counters = new TreeMap<>();
    for (Metrics.MetricFamily family : parse(page)) {
      if (family.getType() == Metrics.MetricType.COUNTER) {
        counters.put(
            family.getName(),
            family.getMetricList().stream().map(one -> one.getCounter().getValue()).toList());
      }
    }
    return counters;
  }

  /** Returns the values on a page, by the names and labels of text. */
  static Map<Samples.Key, Double> values(byte[] page) {
    return Said.of(parse(page)).values;
  }

  private static Map<String, String> labels(List<Metrics.LabelPair> pairs) {
    Map<String, String> labels = new TreeMap<>();
    pairs.forEach(pair -> labels.put(pair.getName(), pair.getValue()));
    return labels;
  }

  private static double seconds(Timestamp timestamp) {
    return new BigDecimal(timestamp.getSeconds())
        .add(BigDecimal.valueOf(timestamp.getNanos(), 9))
        .doubleValue();
  }

  /** What a page says, by the names of text. */
  private static final class Said {
    final Map<Samples.Key, Double> values = new HashMap<>();
    final Map<Samples.Key, String> exemplars = new HashMap<>();

    static Said of(Samples samples, boolean hasClassic) {
      Said said = new Said();
      samples.values.forEach((key, value) -> {
        if (hasClassic || !key.name().endsWith("_bucket")) {
          said.values.put(key, value.doubleValue());
        }
      });
      if (hasClassic) {
        samples.exemplars.forEach((key, exemplar) ->
            said.exemplars.put(
                key,
                exemplar.labels()
                    + " "
                    + exemplar.value().doubleValue()
                    + " "
                    + exemplar.timestamp().doubleValue()));
      }
      return said;
    }

    static Said of(List<Metrics.MetricFamily> families) {
      Said said = new Said();
      for (Metrics.MetricFamily family : families) {
        family.getMetricList().forEach(metric -> said.add(family, metric));
      }
      return said;
    }

    private void add(Metrics.MetricFamily family, Metrics.Metric metric) {
      Map<String, String> labels = labels(metric.getLabelList());
      assertThat(labels).hasSize(metric.getLabelCount());
      if (family.getType() == Metrics.MetricType.COUNTER) {
        put(family.getName(), labels, metric.getCounter().getValue());
        put(
            family.getName().replaceAll("_total$", "_created"),
            labels,
            seconds(metric.getCounter().getCreatedTimestamp()));
        return;
      }
      Metrics.Histogram histogram = metric.getHistogram();
      put(family.getName() + "_count", labels, histogram.getSampleCount());
      put(family.getName() + "_sum", labels, histogram.getSampleSum());
      put(family.getName() + "_created", labels, seconds(histogram.getCreatedTimestamp()));
      for (Metrics.Bucket bucket : histogram.getBucketList()) {
        Map<String, String> withLe = new TreeMap<>(labels);
        double bound = bucket.getUpperBound();
        withLe.put("le", bound == Double.POSITIVE_INFINITY ? "+Inf" : Double.toString(bound));
        var key = new Samples.Key(family.getName() + "_bucket", withLe);
        values.put(key, (double) bucket.getCumulativeCount());
        if (bucket.hasExemplar()) {
          exemplars.put(key, text(bucket.getExemplar()));
        }
      }
    }

    static String text(Metrics.Exemplar exemplar) {
      return labels(exemplar.getLabelList())
          + " "
          + exemplar.getValue()
          + " "
          + seconds(exemplar.getTimestamp());
    }

    private void put(String name, Map<String, String> labels, double value) {
      assertThat(values.put(new Samples.Key(name, labels), value)).isNull();
    }
  }

  /** By index as Prometheus has it; the zero bucket is at {@code MIN_VALUE}. */
  private static Map<Integer, Long> natives(Metrics.Histogram histogram) {
    Map<Integer, Long> natives = new TreeMap<>();
    if (histogram.getZeroCount() > 0) {
      natives.put(Integer.MIN_VALUE, histogram.getZeroCount());
    }
    int index = 0;
    int delta = 0;
    long count = 0;
    for (Metrics.BucketSpan span : histogram.getPositiveSpanList()) {
      index += span.getOffset();
      for (int i = 0; i < span.getLength(); i++) {
        count += histogram.getPositiveDelta(delta++);
        natives.put(index++, count);
      }
    }
    assertThat(delta).isEqualTo(histogram.getPositiveDeltaCount());
    return natives;
  }

  @Property(tries = 150)
  void aPageSaysWhatTheOpenMetricsPageSaysAndWhatNativeBucketsAddUpTo(
      @ForAll long seed, @ForAll StandardProfile profile, @ForAll Kind kind) {
    var random = new Random(seed);
    HistogramConfig histogram = histogram(kind, random.nextInt(-4, 9));
    MetricsConfig metrics = new MetricsConfig(profile, null, null, null, null, null, null);
    NativeBuckets buckets = new NativeBuckets(histogram.nativeSchema(), metrics.unit().nanos());
    Map<String, Map<Integer, Long>> expected = new HashMap<>();
    QueueImage image = new QueueImage(0, kind == Kind.NATIVE ? 1 : PageFixture.STRIDE, 1);
    Naming naming = PageFixture.naming(metrics, histogram);
    try (SpanPages pages = PageFixture.started(naming);
        SpanPages next = PageFixture.started(naming)) {
      for (int windows = random.nextInt(1, 5); windows > 0; windows--) {
        SealedWindow window = window(random, kind, buckets, expected);
        pages.window(window);
        image.apply(window);
        if (random.nextBoolean()) {
          PageFixture.bytes(pages, Encoding.PROTOBUF);
        }
      }

      assertSame(pages, kind, expected);
      assertThat(PageFixture.bytes(pages, Encoding.PROTOBUF_GZIP))
          .isEqualTo(PageFixture.bytes(pages, Encoding.PROTOBUF));

      long nowNanos = System.nanoTime();
      next.restored(QUEUE, image, nowNanos);
      next.shownUntil(QUEUE, nowNanos + PageFixture.LONG.toNanos());
      assertSame(next, kind, expected);
    }
  }

  private static void assertSame(
      SpanPages pages, Kind kind, Map<String, Map<Integer, Long>> expected) {
    Samples text = Samples.parse(PageFixture.text(pages, Encoding.OPENMETRICS));
    List<Metrics.MetricFamily> families = parse(PageFixture.bytes(pages, Encoding.PROTOBUF));
    assertThat(families)
        .extracting(Metrics.MetricFamily::getName)
        .containsExactly(text.families.get(0) + "_total", text.families.get(1));
    Said wanted = Said.of(text, kind != Kind.NATIVE);
    Said said = Said.of(families);
    assertThat(said.values.keySet()).isEqualTo(wanted.values.keySet());
    said.values.forEach((key, value) -> {
      double of = wanted.values.get(key);
      if (key.name().endsWith("_sum")) {
        assertThat(Math.abs(value - of)).as(key.name()).isLessThanOrEqualTo(of * SUM_ERROR);
      } else {
        assertThat(value).as(key.name()).isEqualTo(of);
      }
    });
    assertThat(said.exemplars).isEqualTo(wanted.exemplars);
    assertSame(
        Samples.parse(PageFixture.text(pages, Encoding.OPENMETRICS_2)), text, kind, expected);
    for (Metrics.Metric metric : families.get(1).getMetricList()) {
      Metrics.Histogram histogram = metric.getHistogram();
      if (kind == Kind.CLASSIC) {
        assertThat(histogram.hasSchema()).isFalse();
        assertThat(histogram.getPositiveSpanCount()).isZero();
      } else {
        assertThat(histogram.hasSchema()).isTrue();
        assertThat(histogram.getPositiveSpanCount()).isPositive();
        assertThat(histogram.getZeroThreshold()).isPositive();
        assertThat(natives(histogram))
            .isEqualTo(expected.get(labels(metric.getLabelList()).get("span_name")));
      }
    }
  }

  /** Compares the page of OpenMetrics 2.0 with that of 1.0 and the native buckets. */
  private static void assertSame(
      Samples version2, Samples text, Kind kind, Map<String, Map<Integer, Long>> expected) {
    assertThat(version2.families)
        .containsExactly(text.families.get(0) + "_total", text.families.get(1));
    assertThat(Said.of(version2, true).values).isEqualTo(Said.of(text, kind != Kind.NATIVE).values);
    Map<String, Map<Integer, Long>> natives = new HashMap<>();
    version2.natives.forEach((key, buckets) -> natives.put(key.labels().get("span_name"), buckets));
    assertThat(natives).isEqualTo(kind == Kind.CLASSIC ? Map.of() : expected);
  }

  private static SealedWindow window(
      Random random, Kind kind, NativeBuckets buckets, Map<String, Map<Integer, Long>> expected) {
    int stride = kind == Kind.NATIVE ? 1 : PageFixture.STRIDE;
    var window = Windows.of(QUEUE, stride);
    for (int series = 0; series < SERIES; series++) {
      String name = "op\n\"" + series + "\\\\n\\ é \uD83D\uDE00";
      if (!expected.containsKey(name)) {
        if (random.nextInt(3) > 0) {
          continue;
        }
        window.create(series, "app", name, "2", "0", random.nextBoolean() ? "/r\\" : null, null);
        expected.put(name, new TreeMap<>());
      }
      if (random.nextBoolean()) {
        long[] counts = random.longs(stride, 0, 1L << random.nextInt(1, 40)).toArray();
        window.row(series, random.nextLong(1L << random.nextInt(1, 60)), counts);
        if (kind != Kind.CLASSIC) {
          window.natives(natives(random, buckets, expected.get(name)));
        }
      }
      if (random.nextInt(8) == 0) {
        window.evict(series);
        expected.remove(name);
      }
    }
    return window.seal();
  }

  private static Map<Integer, Long> natives(
      Random random, NativeBuckets buckets, Map<Integer, Long> totals) {
    Map<Integer, Long> natives = new TreeMap<>();
    int around = random.nextInt(buckets.count());
    for (int i = random.nextInt(12); i > 0; i--) {
      int number = Math.clamp(around + random.nextInt(-3, 4), 0, buckets.count() - 1);
      number = random.nextInt(5) == 0 ? 0 : number;
      long count = 1 + random.nextLong(1L << random.nextInt(1, 40));
      natives.put(number, count);
    }
    natives.forEach((number, count) ->
        totals.merge(
            number == NativeBuckets.ZERO ? Integer.MIN_VALUE : buckets.index(number),
            count,
            Long::sum));
    return natives;
  }

  @Test
  void anExemplarStandsInItsBucketAndBesideNativeOnes() {
    for (Kind kind : Kind.values()) {
      int stride = kind == Kind.NATIVE ? 1 : PageFixture.STRIDE;
      Naming naming = PageFixture.naming(PageFixture.OTEL, histogram(kind, 3));
      try (SpanPages pages = PageFixture.started(naming)) {
        pages.window(
            Windows.of(QUEUE, stride)
                .create(0, "app", "op", "2", "0")
                .row(0, 12_500_000, 0, 0, 1)
                .exemplar(kind == Kind.NATIVE ? 0 : 2, TRACE, SPAN, 12_500_000)
                .natives(kind == Kind.CLASSIC ? Map.of() : Map.of(100, 1L))
                .seal());
        String expected =
            Map.of("span_id", SPAN, "trace_id", TRACE).entrySet().stream()
                    .sorted(Map.Entry.comparingByKey())
                    .map(Object::toString)
                    .toList()
                    .toString()
                    .replace('[', '{')
                    .replace(']', '}')
                + " 12.5 1.700000001012E9";

        Metrics.Histogram histogram =
            parse(PageFixture.bytes(pages, Encoding.PROTOBUF)).get(1).getMetric(0).getHistogram();
        assertThat(histogram.getExemplarsList().stream().map(Said::text))
            .isEqualTo(kind == Kind.CLASSIC ? List.of() : List.of(expected));
        assertThat(
                histogram.getBucketList().stream()
                    .filter(Metrics.Bucket::hasExemplar)
                    .map(bucket -> bucket.getUpperBound() + " " + Said.text(bucket.getExemplar())))
            .isEqualTo(kind == Kind.NATIVE ? List.of() : List.of("1000.0 " + expected));
      }
    }
  }

  @Test
  void aPageWithoutSeriesHasItsFamilies() {
    Naming naming = PageFixture.naming(PageFixture.TEMPO, histogram(Kind.BOTH, 3));
    try (SpanPages pages = PageFixture.started(naming)) {
      List<Metrics.MetricFamily> families = parse(PageFixture.bytes(pages, Encoding.PROTOBUF));

      assertThat(families)
          .extracting(Metrics.MetricFamily::getType)
          .containsExactly(Metrics.MetricType.COUNTER, Metrics.MetricType.HISTOGRAM);
      assertThat(families).allMatch(family -> family.getMetricCount() == 0);
    }
  }

  @Test
  void aValueOfWhatIsEscapedIsReadAsItWas() {
    String slashes = "\\".repeat(1_000);
    String mixed = "\\\"\nn".repeat(1_000);
    Naming naming = PageFixture.naming(PageFixture.OTEL, histogram(Kind.CLASSIC, 3));
    try (SpanPages pages = PageFixture.started(naming)) {
      pages.window(
          Windows.of(QUEUE, PageFixture.STRIDE)
              .create(0, slashes, mixed, "2", "0", "\"".repeat(1_000), "\n".repeat(1_000))
              .row(0, 1, 1)
              .seal());

      assertThat(
              labels(
                      parse(PageFixture.bytes(pages, Encoding.PROTOBUF))
                          .getFirst()
                          .getMetric(0)
                          .getLabelList())
                  .values())
          .contains(slashes, mixed, "\"".repeat(1_000), "\n".repeat(1_000));
    }
  }

  @Test
  void sumsUpTo104DaysAreTheDoublesThatTextIsReadAs() {
    Naming naming = PageFixture.naming(PageFixture.OTEL, histogram(Kind.CLASSIC, 3));
    try (SpanPages pages = PageFixture.started(naming)) {
      var random = new Random(1);
      var window = Windows.of(QUEUE, PageFixture.STRIDE);
      Map<String, Double> expected = new HashMap<>();
      for (int series = 0; series < 200; series++) {
        long nanos = random.nextLong(1L << random.nextInt(1, 54));
        window.create(series, "app", "op" + series, "2", "0").row(series, nanos, 1);
        expected.put("op" + series, Double.valueOf(BigDecimal.valueOf(nanos, 6).toString()));
      }
      pages.window(window.seal());

      Map<String, Double> said = new HashMap<>();
      parse(PageFixture.bytes(pages, Encoding.PROTOBUF))
          .get(1)
          .getMetricList()
          .forEach(metric ->
              said.put(
                  labels(metric.getLabelList()).get("span_name"),
                  metric.getHistogram().getSampleSum()));
      assertThat(said).isEqualTo(expected);
    }
  }

  /** But for deltas, which are packed: readers take either, and it is half of the bytes. */
  @Test
  void aMetricIsTheBytesThatGeneratedClassesWrite() {
    Naming naming = PageFixture.naming(PageFixture.OTEL, histogram(Kind.BOTH, 0));
    try (SpanPages pages = PageFixture.started(naming)) {
      pages.window(
          Windows.of(QUEUE, PageFixture.STRIDE)
              .create(0, "a", "o", "2", "0")
              .row(0, 3_000_000, 1, 2)
              .natives(Map.of(NativeBuckets.ZERO, 1L))
              .seal());
      byte[] page = PageFixture.bytes(pages, Encoding.PROTOBUF);
      byte[] metric = parse(page).get(1).getMetric(0).toByteArray();

      assertThat(Arrays.copyOfRange(page, page.length - metric.length, page.length))
          .isEqualTo(metric);
    }
  }
}
