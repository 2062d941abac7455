package org.traceetl.server.web;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.proto.SpanBatchWriter;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.StandardProfile;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.consume.queue.FilledWindow;
import org.traceetl.server.consume.queue.QueueAggregator;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.testkit.Programs;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Spans of known durations, recorded in windows, scraped by a real Prometheus that keeps native
 * histograms: its buckets and its answers are those of the durations. Then the queue moves to
 * another server, as its journal's image, and the counts go on.
 */
class NativeHistogramsTest {
  private static final QueueId QUEUE = new QueueId("broker-a", 0);
  private static final Duration PATIENCE = Duration.ofSeconds(120);
  private static final int SPANS = 2_000;

  private final HttpClient client = HttpClient.newHttpClient();
  private final List<Long> durations = new ArrayList<>();
  private final Random random = new Random(1);
  private long offset;

  @ParameterizedTest
  @CsvSource({
    "NATIVE, 3, OTEL, traces_span_metrics_duration_milliseconds, 1000000",
    "BOTH, 4, TEMPO, traces_spanmetrics_latency, 1000000000",
    "NATIVE, -1, OTEL, traces_span_metrics_duration_milliseconds, 1000000",
  })
  void prometheusAnswersWhatTheDurationsAre(
      HistogramConfig.Kind kind,
      int schema,
      StandardProfile profile,
      String family,
      long unitNanos,
      @TempDir Path directory)
      throws Exception {
    Assumptions.assumeTrue(Programs.find("prometheus").isPresent(), "no Prometheus on the path");
    Map<String, Object> properties =
        Map.of(
            "server.port",
            0,
            "trace-etl.histogram.kind",
            kind.name(),
            "trace-etl.histogram.native-schema",
            schema,
            "trace-etl.metrics.profile",
            profile.name());
    MetricsConfig metrics = new MetricsConfig(profile, null, null, null, null, null, null);
    Aggregation aggregation =
        Aggregation.builder(() -> 1)
            .histogram(new HistogramConfig(profile.histogram().boundsMillis(), kind, schema))
            .unit(metrics.unit())
            .build();
    QueueImage image = aggregation.newImage();
    QueueAggregator aggregator =
        aggregation.newAggregator(QUEUE, aggregation.newDecoder(), new SpanPipelineMetrics());
    aggregator.beginAt(0);
    HandMadeService.Factory factory = new HandMadeService.Factory();
    Process prometheus = null;
    WebServer server = WebServer.start(List.of(), properties, false, factory);
    try {
      prometheus = prometheus(directory, server.port());
      String api = "http://" + address(directory.resolve("prometheus.log")) + "/api/v1/";
      for (int window = 0; window < 3; window++) {
        SealedWindow sealed = window(aggregator);
        image.apply(sealed);
        factory.made.pages.window(sealed);
      }
      assertAnswers(api, family, schema, unitNanos);

      int port = server.port();
      server.close();
      Map<String, Object> samePort = new TreeMap<>(properties);
      samePort.put("server.port", port);
      server = WebServer.start(List.of(), samePort, false, factory);
      long nowNanos = System.nanoTime();
      factory.made.pages.restored(QUEUE, image, nowNanos);
      factory.made.pages.shownUntil(QUEUE, nowNanos + PATIENCE.toNanos());
      aggregator =
          aggregation.newAggregator(
              QUEUE, aggregation.newDecoder(), new SpanPipelineMetrics(), image);
      factory.made.pages.window(window(aggregator));
      assertAnswers(api, family, schema, unitNanos);
      assertThat(value(api, "resets(histogram_count(" + family + ")[10m:1s])")).isZero();
      assertThat(Files.readString(directory.resolve("prometheus.log")))
          .doesNotContain("level=error")
          .doesNotContain("Error on ingesting");
    } finally {
      server.close();
      if (prometheus != null) {
        prometheus.destroy();
        prometheus.waitFor();
      }
    }
  }

  /** Spans of one series, from 0 ns to minutes, also on bounds and beside them. */
  private SealedWindow window(QueueAggregator aggregator) {
    SpanBatchWriter writer = new SpanBatchWriter();
    writer.begin();
    writer.application(intern(writer, "shop"));
    for (int i = 0; i < SPANS; i++) {
      long nanos =
          switch (i % 20) {
            case 0 -> 0;
            case 1 -> 1_000_000L << i / 20 % 16;
            case 2 -> (1_000_000L << i / 20 % 16) + 1;
            case 3 -> 1_000_000_000L >> i / 20 % 20;
            default -> (long) (20_000_000 * Math.exp(2 * random.nextGaussian()));
          };
      writer.startSpan(
          7, i + 1, i + 1, 0, intern(writer, "GET /"), 2, 0, 1_700_000_000_000_000_000L, nanos, 0);
      writer.endSpan();
      durations.add(nanos);
    }
    int length = writer.finish(1, 0, 1, offset);
    aggregator.accept(Arrays.copyOf(writer.buffer(), length), System.currentTimeMillis());
    FilledWindow filled = aggregator.swap(++offset, System.currentTimeMillis());
    SealedWindow sealed = filled.seal();
    filled.giveBack();
    return sealed;
  }

  private static int intern(SpanBatchWriter writer, String text) {
    byte[] bytes = text.getBytes(UTF_8);
    return writer.intern(bytes, 0, bytes.length);
  }

  private void assertAnswers(String api, String family, int schema, long unitNanos) {
    await()
        .atMost(PATIENCE)
        .untilAsserted(() ->
            assertThat(value(api, "histogram_count(" + family + ")"))
                .isEqualTo((double) durations.size()));
    try {
      double sum = durations.stream().mapToLong(nanos -> nanos).sum() / (double) unitNanos;
      assertThat(value(api, "histogram_sum(" + family + ")")).isEqualTo(sum);

      double factor = Math.pow(2, Math.pow(2, -schema));
      Map<Double, Double> buckets = buckets(api, family);
      assertThat(buckets.values().stream().mapToDouble(count -> count).sum())
          .isEqualTo(durations.size());
      buckets.forEach((upper, count) -> {
        // Bounds are doubles to Prometheus, and no duration is so near to one but those that it is.
        double last = upper * (1 + 1e-12) * unitNanos;
        double before = upper / factor * (1 + 1e-12) * unitNanos;
        long within =
            durations.stream()
                .filter(nanos -> upper < 1e-30 ? nanos == 0 : nanos > before && nanos <= last)
                .count();
        assertThat(count).as("up to %s", upper).isEqualTo((double) within);
      });

      List<Long> sorted = durations.stream().sorted().toList();
      for (double quantile : new double[] {0.25, 0.5, 0.9, 0.99}) {
        double exact =
            sorted.get((int) Math.ceil(quantile * sorted.size()) - 1) / (double) unitNanos;
        double answered = value(api, "histogram_quantile(" + quantile + ", " + family + ")");
        assertThat(answered).isCloseTo(exact, within(exact * (factor - 1) * 1.01));
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  /** Counts by upper bound, of the one series. */
  private Map<Double, Double> buckets(String api, String family)
      throws IOException, InterruptedException {
    Map<Double, Double> buckets = new TreeMap<>();
    JsonNode result = query(api, family);
    assertThat(result.size()).isEqualTo(1);
    for (JsonNode bucket : result.get(0).get("histogram").get(1).get("buckets")) {
      buckets.put(
          Double.valueOf(bucket.get(2).asString()), Double.valueOf(bucket.get(3).asString()));
    }
    return buckets;
  }

  private double value(String api, String query) throws IOException, InterruptedException {
    JsonNode result = query(api, query);
    return result.isEmpty()
        ? Double.NaN
        : Double.parseDouble(result.get(0).get("value").get(1).asString());
  }

  private JsonNode query(String api, String query) throws IOException, InterruptedException {
    HttpResponse<byte[]> response =
        client.send(
            HttpRequest.newBuilder(
                    URI.create(api + "query?query=" + URLEncoder.encode(query, UTF_8)))
                .timeout(PATIENCE)
                .build(),
            HttpResponse.BodyHandlers.ofByteArray());
    JsonNode answer = new JsonMapper().readTree(response.body());
    assertThat(answer.get("status").asString()).as(answer.toString()).isEqualTo("success");
    return answer.get("data").get("result");
  }

  private static Process prometheus(Path directory, int port) throws IOException {
    Path config = directory.resolve("prometheus.yml");
    Files.writeString(
        config,
        """
        global: {scrape_interval: 1s}
        scrape_configs:
          - job_name: trace-etl
            static_configs: [{targets: ['localhost:%d']}]
        """
            .formatted(port));
    return new ProcessBuilder(
            Programs.find("prometheus").orElseThrow().toString(),
            "--config.file=" + config,
            "--storage.tsdb.path=" + directory.resolve("data"),
            "--web.listen-address=127.0.0.1:0",
            "--enable-feature=exemplar-storage,native-histograms")
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve("prometheus.log").toFile())
        .start();
  }

  /** Where Prometheus listens, as its log says. */
  private static String address(Path log) {
    Pattern listening = Pattern.compile("Listening on\"? address=([0-9.:]+)");
    Matcher[] found = new Matcher[1];
    await()
        .atMost(PATIENCE)
        .until(() -> {
          found[0] = listening.matcher(Files.readString(log));
          return found[0].find();
        });
    return found[0].group(1);
  }
}
