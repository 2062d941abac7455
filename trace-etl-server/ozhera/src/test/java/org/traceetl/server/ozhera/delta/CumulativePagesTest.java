package org.traceetl.server.ozhera.delta;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.features.pages.SpanPages;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.format.RecordWriter;
import org.traceetl.server.journal.format.SnapshotFormat;
import org.traceetl.server.ozhera.OzheraConfig;
import org.traceetl.server.ozhera.OzheraNaming;
import org.traceetl.server.ozhera.OzheraProfile;
import org.traceetl.server.ozhera.SeriesLayout;
import org.traceetl.server.ozhera.SpanType;
import org.traceetl.server.ozhera.TypeMetrics;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/** Cumulative pages under OzHera's names. */
class CumulativePagesTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final int QUEUES = 3;
  private static final int SERIES = 24;
  private static final Pattern SAMPLE = Pattern.compile("([^ #{]+)\\{(.*)\\} (\\S+)");

  private static SpanPages pages() {
    var metrics =
        new MetricsConfig(
            new OzheraProfile(), null, null, MetricsConfig.QueueLabel.ALWAYS, null, null, null);
    var pages =
        new SpanPages(
            new OzheraNaming(
                metrics,
                new OzheraConfig("staging", null, OzheraConfig.Temporality.CUMULATIVE, null, null)),
            Clocks.SYSTEM,
            nanos -> {});
    pages.start();
    return pages;
  }

  private static String text(SpanPages pages, Encoding encoding) throws Exception {
    pages.await(LONG);
    var out = new ByteArrayOutputStream();
    pages.page(encoding, LONG).with(new byte[0]).writeTo(out);
    return out.toString(UTF_8);
  }

  /** By name, then labels. */
  private static Map<String, String> samples(String page) {
    Map<String, String> samples = new TreeMap<>();
    page.lines()
        .filter(line -> !line.startsWith("#"))
        .forEach(line -> {
          Matcher sample = SAMPLE.matcher(line);
          assertThat(sample.matches()).as(line).isTrue();
          assertThat(samples.put(sample.group(1) + sample.group(2), sample.group(3)))
              .as("twice on the page: " + line)
              .isNull();
        });
    return samples;
  }

  @Test
  void everySeriesStandsAtTheMetricsOfItsOutcome() throws Exception {
    try (SpanPages pages = pages()) {
      pages.window(
          DeltaWindows.of(DeltaWindows.QUEUE, 0, 10)
              .create(0, SpanType.HTTP_SERVER, SeriesLayout.FAST, "a-b", "/x", "10.0.0.1")
              .create(1, SpanType.HTTP_SERVER, SeriesLayout.SLOW, "a-b", "/x", "10.0.0.1")
              .create(
                  2,
                  SpanType.HTTP_SERVER,
                  SeriesLayout.FAILED,
                  "a-b",
                  "/x",
                  "10.0.0.1",
                  null,
                  null,
                  null,
                  null,
                  "503")
              .create(
                  3, SpanType.REDIS, SeriesLayout.FAST, "a-b", "GET", null, "e", "7", "h", "6379")
              .create(DeltaWindows.overflow(4, SpanType.MYSQL, SeriesLayout.FAILED, "a-b"))
              .row(0, 60_500_000, 1, 1)
              .row(1, 1_500_000_000L, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)
              .row(2, 7_000_000, 4)
              .row(3, 2_000_000_000L, 0, 0, 0, 0, 0, 0, 0, 1)
              .row(4, 1_000_000, 2)
              .books("a-b", 12, 1)
              .seal());

      Map<String, String> samples = samples(text(pages, Encoding.TEXT));

      String queue = ",trace_etl_queue=\"broker-a/3\"";
      String of =
          "methodName=\"/x\",application=\"a_b\",serverIp=\"10.0.0.1\",serverEnv=\"default_env\"";
      String fast = of + ",outcome=\"fast\"" + queue;
      String slow = of + ",outcome=\"slow\"" + queue;
      String failed = of + ",errorCode=\"503\",outcome=\"failed\"" + queue;
      assertThat(samples)
          .containsEntry("staging_hera_aopTotalMethodCount_total" + fast, "2")
          .containsEntry("staging_hera_aopTotalMethodCount_total" + slow, "1")
          .containsEntry("staging_hera_aopTotalMethodCount_total" + failed, "4")
          .containsEntry("staging_hera_aopSuccessMethodCount_total" + fast, "2")
          .containsEntry("staging_hera_aopSuccessMethodCount_total" + slow, "1")
          .doesNotContainKey("staging_hera_aopSuccessMethodCount_total" + failed)
          .containsEntry("staging_hera_httpSlowQuery_total" + slow, "1")
          .doesNotContainKey("staging_hera_httpSlowQuery_total" + fast)
          .containsEntry("staging_hera_httpError_total" + failed, "4")
          .doesNotContainKey("staging_hera_httpError_total" + fast)
          .containsEntry("staging_hera_aopMethodTimeCount_bucket" + fast + ",le=\"50.0\"", "1")
          .containsEntry("staging_hera_aopMethodTimeCount_bucket" + fast + ",le=\"100.0\"", "2")
          .containsEntry("staging_hera_aopMethodTimeCount_bucket" + fast + ",le=\"+Inf\"", "2")
          .containsEntry("staging_hera_aopMethodTimeCount_sum" + fast, "60.5")
          .containsEntry("staging_hera_aopMethodTimeCount_count" + fast, "2")
          .containsEntry(
              "staging_trace_statistics_span_count_totalapplication=\"a-b\"" + queue, "11");
      String redis =
          "host=\"h\",method=\"GET\",port=\"6379\",application=\"a_b\",serverEnv=\"e\","
              + "serverEnvId=\"7\",outcome=\"fast\""
              + queue;
      assertThat(samples)
          .containsEntry("staging_hera_RedisMethodTimeCost_bucket" + redis + ",le=\"1000.0\"", "0")
          .containsEntry("staging_hera_RedisMethodTimeCost_bucket" + redis + ",le=\"+Inf\"", "1")
          .doesNotContainKey("staging_hera_RedisMethodTimeCost_bucket" + redis + ",le=\"2000.0\"")
          .containsEntry(
              "staging_hera_dbError_totalsqlMethod=\"_overflow\",application=\"a_b\","
                  + "outcome=\"failed\""
                  + queue,
              "2");
      assertThat(text(pages, Encoding.OPENMETRICS))
          .contains(
              "staging_hera_aopTotalMethodCount_created{" + fast + "} 1700000000\n",
              "staging_trace_statistics_span_count_created{application=\"a-b\"" + queue);
    }
  }

  /** A series as the test adds it up. */
  private static final class Model {
    final SpanType type;
    final int outcome;
    final String labels;
    final long[] buckets = new long[DeltaWindows.STRIDE];
    long nanos;

    Model(SpanType type, int outcome, String labels) {
      this.type = type;
      this.outcome = outcome;
      this.labels = labels;
    }
  }

  /** Some queues of two servers: windows, hand-overs by way of a snapshot's bytes. */
  @Property(tries = 60)
  void pagesOfAllServersAreTheSumOfTheWindowsWhoeverOwnsTheQueues(@ForAll long seed)
      throws Exception {
    var random = new Random(seed);
    List<Map<Integer, Model>> queues = new ArrayList<>();
    List<Map<String, Long>> received = new ArrayList<>();
    List<QueueImage> images = new ArrayList<>();
    int[] owners = new int[QUEUES];
    for (int queue = 0; queue < QUEUES; queue++) {
      queues.add(new HashMap<>());
      received.add(new TreeMap<>());
      images.add(image());
    }
    try (SpanPages one = pages();
        SpanPages other = pages()) {
      List<SpanPages> servers = List.of(one, other);
      for (int step = random.nextInt(1, 25); step > 0; step--) {
        int queue = random.nextInt(QUEUES);
        QueueId id = new QueueId("broker", queue);
        if (random.nextInt(6) == 0) {
          servers.get(owners[queue]).released(id);
          owners[queue] = 1 - owners[queue];
          long nowNanos = System.nanoTime();
          images.set(queue, throughASnapshot(images.get(queue)));
          SpanPages next = servers.get(owners[queue]);
          next.restored(id, images.get(queue), nowNanos);
          next.shownUntil(id, nowNanos + LONG.toNanos());
          next.await(LONG);
          continue;
        }
        SealedWindow window = window(random, id, step, queues.get(queue), received.get(queue));
        images.get(queue).apply(window);
        servers.get(owners[queue]).window(window);
        if (random.nextInt(4) == 0) {
          text(servers.get(owners[queue]), Encoding.values()[random.nextInt(2)]);
        }
      }
      Map<String, String> actual = samples(text(one, Encoding.TEXT));
      actual.putAll(samples(text(other, Encoding.TEXT)));

      assertThat(actual).isEqualTo(expected(queues, received));
    }
  }

  private static QueueImage image() {
    return new QueueImage(0, DeltaWindows.STRIDE, 1).keepReceived();
  }

  private static QueueImage throughASnapshot(QueueImage image) throws Exception {
    var out = new RecordWriter();
    SnapshotFormat.encode(image, out);
    QueueImage read = image();
    byte[] bytes = out.toByteArray();
    SnapshotFormat.decode(bytes, 0, bytes.length, read);
    return read;
  }

  private static SealedWindow window(
      Random random, QueueId id, int step, Map<Integer, Model> live, Map<String, Long> received) {
    DeltaWindows window = DeltaWindows.of(id, 0, 1);
    for (int series = 0; series < SERIES; series++) {
      Model model = live.get(series);
      if (model == null) {
        if (random.nextInt(4) > 0) {
          continue;
        }
        SpanType type = SpanType.values()[random.nextInt(SpanType.values().length)];
        int outcome = random.nextInt(3);
        String name = "m" + step + "." + series;
        model =
            new Model(
                type,
                outcome,
                TypeMetrics.of(type).name()
                    + "=\""
                    + name
                    + "\",application=\"a\",serverEnv=\"default_env\""
                    + (TypeMetrics.of(type).errorCode() && outcome == SeriesLayout.FAILED
                        ? ",errorCode=\"500\""
                        : "")
                    + ",outcome=\""
                    + List.of("fast", "slow", "failed").get(outcome)
                    + "\",trace_etl_queue=\""
                    + id
                    + "\"");
        live.put(series, model);
        window.create(series, type, outcome, "a", name);
      }
      long[] counts = new long[DeltaWindows.STRIDE];
      for (int bucket = 0; bucket <= model.type.boundsMillis().size(); bucket++) {
        counts[bucket] = random.nextLong(1L << random.nextInt(1, 40));
        model.buckets[bucket] += counts[bucket];
      }
      long nanos = random.nextLong(1L << random.nextInt(1, 60));
      model.nanos += nanos;
      window.row(series, nanos, counts);
      if (random.nextInt(12) == 0) {
        window.evict(series);
        live.remove(series);
      }
    }
    for (String application : List.of("a", "b-c")) {
      long spans = random.nextInt(3) == 0 ? 0 : random.nextInt(1, 100);
      if (spans > 0) {
        window.books(application, spans + 2, 2);
        received.merge(
            "staging_trace_statistics_span_count_totalapplication=\""
                + application
                + "\",trace_etl_queue=\""
                + id
                + "\"",
            spans,
            Long::sum);
      }
    }
    return window.seal();
  }

  private static Map<String, String> expected(
      List<Map<Integer, Model>> queues, List<Map<String, Long>> received) {
    Map<String, String> expected = new TreeMap<>();
    received.forEach(
        queue -> queue.forEach((sample, spans) -> expected.put(sample, Long.toString(spans))));
    for (Map<Integer, Model> queue : queues) {
      for (Model model : queue.values()) {
        TypeMetrics names = TypeMetrics.of(model.type);
        long spans = 0;
        String durations = "staging_hera_" + names.durations();
        for (int bucket = 0; bucket <= model.type.boundsMillis().size(); bucket++) {
          spans += model.buckets[bucket];
          String le =
              bucket == model.type.boundsMillis().size()
                  ? "+Inf"
                  : model.type.boundsMillis().get(bucket).toString();
          expected.put(
              durations + "_bucket" + model.labels + ",le=\"" + le + "\"", Long.toString(spans));
        }
        expected.put(durations + "_count" + model.labels, Long.toString(spans));
        expected.put(
            durations + "_sum" + model.labels,
            BigDecimal.valueOf(model.nanos, 6).stripTrailingZeros().toPlainString());
        expected.put(counter(names.total(), model), Long.toString(spans));
        if (model.outcome == SeriesLayout.FAILED) {
          expected.put(counter(names.error(), model), Long.toString(spans));
        } else {
          expected.put(counter(names.success(), model), Long.toString(spans));
        }
        if (model.outcome == SeriesLayout.SLOW && names.slow() != null) {
          expected.put(counter(names.slow(), model), Long.toString(spans));
        }
      }
    }
    return expected;
  }

  private static String counter(String name, Model model) {
    return "staging_hera_" + name + "_total" + model.labels;
  }
}
