package org.traceetl.server.features.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

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
import net.jqwik.api.constraints.LongRange;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.StandardProfile;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Format;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/** Whatever windows come: the page, read back, is what they add up to. */
class SpanPagesPropertyTest {
  private static final int QUEUES = 3;
  private static final int SERIES = 12;
  private static final String[] LABELS = {
    "a",
    "a.b",
    "a_b",
    "le",
    "otel.metric.overflow",
    "span_name",
    "trace.etl.queue",
    "http.route",
    "__x"
  };
  private static final String[] LE = {"2.0", "10.5", "1000.0", "+Inf"};
  private static final String[] LE_SECONDS = {"0.002", "0.0105", "1.0", "+Inf"};

  /** A series as the test adds it up. */
  private static final class Model {
    final Map<String, String> labels = new TreeMap<>();
    final long[] buckets = new long[PageFixture.STRIDE];
    long nanos;
    Samples.Exemplar exemplar;
    int exemplarBucket;
  }

  @Property(tries = 60)
  void pageIsTheSumOfTheWindows(@ForAll long seed, @ForAll boolean tempo) {
    var random = new Random(seed);
    var profile = tempo ? StandardProfile.TEMPO : StandardProfile.OTEL;
    boolean seconds = profile == StandardProfile.TEMPO;
    var naming = PageFixture.naming(new MetricsConfig(profile, null, null, null, null, null, null));
    Map<Integer, Map<Integer, Model>> queues = new HashMap<>();
    try (SpanPages pages = PageFixture.started(naming)) {
      int steps = random.nextInt(1, 25);
      for (int step = 0; step < steps; step++) {
        int queue = random.nextInt(QUEUES);
        if (random.nextInt(10) == 0) {
          pages.released(queue(queue));
          queues.remove(queue);
          continue;
        }
        pages.window(
            fold(random, queue, queues.computeIfAbsent(queue, q -> new HashMap<>()), seconds)
                .seal());
        if (random.nextInt(4) == 0) {
          // Sections that are kept from here on must not hide what comes later.
          PageFixture.bytes(pages, Encoding.values()[random.nextInt(8)]);
        }
      }

      Samples text = null;
      for (Encoding encoding : PageFixture.ENCODINGS) {
        if (encoding.format() == Format.PROTOBUF) {
          // ProtobufPageTest holds it to the page of OpenMetrics.
          continue;
        }
        Samples samples = Samples.parse(PageFixture.text(pages, encoding));
        assertPage(samples, encoding.format(), seconds, queues);
        if (encoding == Encoding.TEXT) {
          text = samples;
        } else if (encoding == Encoding.TEXT_GZIP) {
          assertThat(samples.values).isEqualTo(text.values);
        }
      }
      assertThat(pages.totals().unknownRows()).isZero();
    }
  }

  @Property(tries = 60)
  void aQueueTakenOverShowsWhatItsLastOwnerWould(@ForAll long seed) throws Exception {
    var random = new Random(seed);
    var naming = PageFixture.naming(PageFixture.OTEL);
    Map<Integer, Model> live = new HashMap<>();
    QueueImage image = new QueueImage(0, PageFixture.STRIDE, 1);
    try (SpanPages steady = PageFixture.started(naming);
        SpanPages next = PageFixture.started(naming)) {
      for (int windows = random.nextInt(10); windows > 0; windows--) {
        SealedWindow window = fold(random, 0, live, false).seal();
        steady.window(window);
        image.apply(window);
      }
      if (random.nextBoolean()) {
        next.window(
            Windows.of(queue(0), PageFixture.STRIDE).create(0, "old", "o", "2", "0").seal());
      }
      long nowNanos = System.nanoTime();
      next.restored(queue(0), image, nowNanos);
      next.shownUntil(queue(0), nowNanos + PageFixture.LONG.toNanos());
      for (int windows = random.nextInt(5); windows > 0; windows--) {
        SealedWindow window = fold(random, 0, live, false).seal();
        steady.window(window);
        next.window(window);
      }

      for (Encoding encoding : new Encoding[] {Encoding.TEXT, Encoding.OPENMETRICS}) {
        assertThat(withoutExemplars(PageFixture.text(next, encoding)))
            .isEqualTo(withoutExemplars(PageFixture.text(steady, encoding)));
      }
      assertThat(next.totals().unknownRows()).isZero();
    }
  }

  /** The journal's images have none. */
  private static String withoutExemplars(String page) {
    return page.replaceAll(" # \\{trace_id.*", "");
  }

  @Property(tries = 300)
  void exemplarsCanBeReadWhateverTimeTheirSpanClaims(
      @ForAll long startUnixNanos, @ForAll @LongRange(min = 0) long durationNanos) {
    try (SpanPages pages = PageFixture.started(PageFixture.naming(PageFixture.OTEL))) {
      pages.window(
          Windows.of(queue(0), PageFixture.STRIDE)
              .create(0, "app", "op", "2", "0")
              .row(0, durationNanos, 1)
              .exemplar(
                  0,
                  "0af7651916cd43dd8448eb211c80319c",
                  "b7ad6b7169203331",
                  startUnixNanos,
                  durationNanos)
              .seal());

      assertThat(Samples.parse(PageFixture.text(pages, Encoding.OPENMETRICS)).exemplars.values())
          .singleElement()
          .satisfies(exemplar -> {
            assertThat(exemplar.value()).isEqualByComparingTo(BigDecimal.valueOf(durationNanos, 6));
            assertThat(exemplar.timestamp())
                .isCloseTo(
                    BigDecimal.valueOf(Math.max(0, startUnixNanos), 9)
                        .add(BigDecimal.valueOf(durationNanos, 9)),
                    within(BigDecimal.valueOf(2, 3)));
          });
    }
  }

  private static Windows fold(Random random, int queue, Map<Integer, Model> live, boolean seconds) {
    var window = Windows.of(queue(queue), PageFixture.STRIDE);
    for (int series = 0; series < SERIES; series++) {
      Model model = live.get(series);
      if (model == null) {
        if (random.nextInt(3) > 0) {
          continue;
        }
        model = new Model();
        live.put(series, model);
        String name = "op\n\"" + series + "\\ " + queue + "." + random.nextInt(1_000_000);
        boolean routed = random.nextBoolean();
        List<String> values =
            new ArrayList<>(Arrays.asList("app", name, "2", "0", routed ? "/r" : null, null));
        for (int i = random.nextInt(5); i > 0; i--) {
          String label = LABELS[random.nextInt(LABELS.length)];
          values.add(label);
          values.add(label + "=\"");
          String underscored = label.replace('.', '_');
          if (underscored.startsWith("a") || !routed && underscored.equals("http_route")) {
            model.labels.putIfAbsent(underscored, label + "=\"");
          }
        }
        window.create(series, values.toArray(String[]::new));
        model.labels.put(seconds ? "service" : "service_name", "app");
        model.labels.put("span_name", name);
        model.labels.put("span_kind", "SPAN_KIND_SERVER");
        model.labels.put("status_code", "STATUS_CODE_UNSET");
        if (routed) {
          model.labels.put("http_route", "/r");
        }
      }
      if (random.nextBoolean()) {
        record(random, window, series, model, seconds);
      }
      if (random.nextInt(8) == 0) {
        window.evict(series);
        live.remove(series);
      }
    }
    return window;
  }

  private static void record(
      Random random, Windows window, int series, Model model, boolean seconds) {
    long[] counts = random.longs(PageFixture.STRIDE, 0, 1L << random.nextInt(1, 40)).toArray();
    long nanos = random.nextLong(1L << random.nextInt(1, 60));
    window.row(series, nanos, counts);
    for (int i = 0; i < counts.length; i++) {
      model.buckets[i] += counts[i];
    }
    model.nanos += nanos;
    if (random.nextInt(3) == 0) {
      long duration = random.nextLong(5_000_000_000L);
      model.exemplarBucket = random.nextInt(PageFixture.STRIDE);
      String trace = "%016x%016x".formatted(random.nextLong(), random.nextLong());
      String span = "%016x".formatted(random.nextLong());
      window.exemplar(model.exemplarBucket, trace, span, duration);
      model.exemplar =
          new Samples.Exemplar(
              Map.of("trace_id", trace, "span_id", span),
              BigDecimal.valueOf(duration, seconds ? 9 : 6),
              BigDecimal.valueOf(1_700_000_001_000L + duration / 1_000_000, 3));
    }
  }

  private static void assertPage(
      Samples samples, Format format, boolean seconds, Map<Integer, Map<Integer, Model>> queues) {
    String calls = seconds ? "traces_spanmetrics_calls" : "traces_span_metrics_calls";
    String duration =
        seconds ? "traces_spanmetrics_latency" : "traces_span_metrics_duration_milliseconds";
    boolean openMetrics = format.isOpenMetrics();
    assertThat(samples.families)
        .containsExactly(format == Format.OPENMETRICS ? calls : calls + "_total", duration);
    Map<Samples.Key, BigDecimal> expected = new HashMap<>();
    Map<Samples.Key, Samples.Exemplar> exemplars = new HashMap<>();
    for (Map<Integer, Model> queue : queues.values()) {
      for (Model model : queue.values()) {
        long count = Arrays.stream(model.buckets).sum();
        put(expected, calls + "_total", model, BigDecimal.valueOf(count));
        put(expected, duration + "_count", model, BigDecimal.valueOf(count));
        put(expected, duration + "_sum", model, BigDecimal.valueOf(model.nanos, seconds ? 9 : 6));
        long cumulative = 0;
        for (int i = 0; i < model.buckets.length; i++) {
          cumulative += model.buckets[i];
          Map<String, String> labels = new TreeMap<>(model.labels);
          labels.put("le", (seconds ? LE_SECONDS : LE)[i]);
          var key = new Samples.Key(duration + "_bucket", labels);
          expected.put(key, plain(BigDecimal.valueOf(cumulative)));
          if (openMetrics && model.exemplar != null && model.exemplarBucket == i) {
            exemplars.put(
                format.isOpenMetrics2() ? new Samples.Key(duration, model.labels) : key,
                model.exemplar);
          }
        }
        if (openMetrics) {
          BigDecimal created = BigDecimal.valueOf(Windows.CREATED_MILLIS, 3);
          put(expected, calls + "_created", model, created);
          put(expected, duration + "_created", model, created);
        }
      }
    }
    Map<Samples.Key, BigDecimal> actual = new HashMap<>();
    samples.values.forEach((key, value) -> actual.put(key, plain(value)));
    assertThat(actual).isEqualTo(expected);
    assertThat(samples.exemplars.keySet()).isEqualTo(exemplars.keySet());
    samples.exemplars.forEach((key, exemplar) -> {
      assertThat(exemplar.labels()).isEqualTo(exemplars.get(key).labels());
      assertThat(exemplar.value()).isEqualByComparingTo(exemplars.get(key).value());
      assertThat(exemplar.timestamp()).isEqualByComparingTo(exemplars.get(key).timestamp());
    });
  }

  private static void put(
      Map<Samples.Key, BigDecimal> expected, String name, Model model, BigDecimal value) {
    expected.put(new Samples.Key(name, model.labels), plain(value));
  }

  /** Equal numbers as equal objects. */
  private static BigDecimal plain(BigDecimal value) {
    return value.signum() == 0 ? BigDecimal.ZERO : value.stripTrailingZeros();
  }

  private static QueueId queue(int number) {
    return new QueueId("broker", number);
  }
}
