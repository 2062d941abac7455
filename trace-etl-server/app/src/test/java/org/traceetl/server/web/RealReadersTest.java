package org.traceetl.server.web;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
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
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowPanes;
import org.traceetl.testkit.Programs;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The page as real programs read it: what was folded is what they know. */
class RealReadersTest {
  private static final int STRIDE = 17;
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";

  /** Labels that break careless writers, by the count that tells them apart. */
  private static final Map<Long, String> HOSTILE =
      Map.of(
          11L, "plain",
          12L, "\"quoted\" \\ and \\n",
          13L, "two\nlines",
          14L, "} 5 # {a=\"b\"} 1",
          15L, "é \uD83D\uDE00 \u0007 \r\t",
          16L, ",le=\"+Inf\"");

  private static final HandMadeService.Factory FACTORY = new HandMadeService.Factory();
  private static WebServer server;

  @BeforeAll
  static void start() throws Exception {
    server = WebServer.start(List.of(), Map.of("server.port", 0), false, FACTORY);
    // Two queues: the sections of a compressed page have to fit together.
    FACTORY.made.pages.window(window(0, 11, 13));
    FACTORY.made.pages.window(window(1, 14, 16));
    FACTORY.made.pages.await(PATIENCE);
  }

  @AfterAll
  static void close() {
    server.close();
  }

  @Test
  void prometheusKnowsEveryCountLabelAndExemplar(@TempDir Path directory) throws Exception {
    Optional<Path> program = Programs.find("prometheus");
    if (program.isEmpty()) {
      return;
    }
    Path config = directory.resolve("prometheus.yml");
    Files.writeString(
        config,
        """
        global: {scrape_interval: 1s}
        scrape_configs:
          - job_name: trace-etl
            static_configs: [{targets: ['localhost:%d']}]
        """
            .formatted(server.port()));
    Path log = directory.resolve("prometheus.log");
    Process prometheus =
        new ProcessBuilder(
                program.get().toString(),
                "--config.file=" + config,
                "--storage.tsdb.path=" + directory.resolve("data"),
                "--web.listen-address=127.0.0.1:0",
                "--enable-feature=exemplar-storage")
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try (var client = HttpClient.newHttpClient()) {
      String api = "http://" + address(log) + "/api/v1/";
      await()
          .atMost(PATIENCE)
          .untilAsserted(() ->
              assertThat(values(client, api, "traces_span_metrics_calls_total"))
                  .hasSize(HOSTILE.size()));

      assertThat(values(client, api, "traces_span_metrics_calls_total")).isEqualTo(expected());
      assertThat(
              values(client, api, "traces_span_metrics_duration_milliseconds_bucket{le=\"2.0\"}"))
          .isEqualTo(expected());
      assertThat(values(client, api, "traces_span_metrics_duration_milliseconds_sum"))
          .isEqualTo(expected());
      JsonNode exemplars =
          get(
              client,
              api
                  + "query_exemplars?query=traces_span_metrics_duration_milliseconds_bucket&start=1&end="
                  + Instant.now().getEpochSecond());
      assertThat(exemplars.findValuesAsString("trace_id"))
          .hasSize(HOSTILE.size())
          .containsOnly(TRACE);
      assertThat(Files.readString(log)).doesNotContain("level=warn component=\"scrape");
    } finally {
      prometheus.destroy();
      prometheus.waitFor();
    }
  }

  @Test
  void curlUnpacksThePage() throws Exception {
    Optional<Path> curl = Programs.find("curl");
    if (curl.isEmpty()) {
      return;
    }
    Process process =
        new ProcessBuilder(
                curl.get().toString(),
                "--silent",
                "--show-error",
                "--fail",
                "--compressed",
                "--header",
                "Accept: application/openmetrics-text",
                "http://localhost:" + server.port() + "/metrics")
            .redirectErrorStream(true)
            .start();

    String page = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).isZero();
    assertThat(page).contains("span_name=\"plain\"").contains("jvm_").endsWith("# EOF\n");
  }

  private static Map<String, Double> expected() {
    Map<String, Double> expected = new HashMap<>();
    HOSTILE.forEach((count, name) -> expected.put(name, (double) count));
    return expected;
  }

  /** By span name. */
  private static Map<String, Double> values(HttpClient client, String api, String query)
      throws IOException, InterruptedException {
    Map<String, Double> values = new HashMap<>();
    JsonNode answer = get(client, api + "query?query=" + URLEncoder.encode(query, UTF_8));
    for (JsonNode series : answer.get("data").get("result")) {
      values.put(
          series.get("metric").get("span_name").asString(),
          Double.valueOf(series.get("value").get(1).asString()));
    }
    return values;
  }

  private static JsonNode get(HttpClient client, String uri)
      throws IOException, InterruptedException {
    HttpResponse<byte[]> response =
        client.send(
            HttpRequest.newBuilder(URI.create(uri)).timeout(PATIENCE).build(),
            HttpResponse.BodyHandlers.ofByteArray());
    return new JsonMapper().readTree(response.body());
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

  /** Every series has as many spans of 1 ms as its number says. */
  private static SealedWindow window(int queue, int first, int last) {
    List<SeriesDefinition> created = new ArrayList<>();
    int rows = last - first + 1;
    int[] series = new int[rows];
    long[] counts = new long[rows * STRIDE];
    long[] nanos = new long[rows];
    for (int row = 0; row < rows; row++) {
      long count = first + row;
      created.add(
          new SeriesDefinition(
              row, 1_700_000_000_000L, false, Arrays.asList("shop", HOSTILE.get(count), "2", "0")));
      series[row] = row;
      counts[row * STRIDE] = count;
      nanos[row] = 1_000_000 * count;
    }
    long now = System.currentTimeMillis();
    var document =
        new TraceDocument(
            TRACE,
            "b7ad6b7169203331",
            "shop",
            "any",
            2,
            0,
            null,
            1_000_000 * (now - 1_000),
            1_000_000,
            TraceDocument.Reason.EXEMPLAR,
            Map.of());
    return new SealedWindow(
        new QueueId("broker-a", queue),
        0,
        1,
        now - 15_000,
        now,
        created,
        new int[0],
        rows,
        STRIDE,
        series,
        counts,
        nanos,
        new int[rows],
        new int[rows],
        List.of(document),
        List.of(),
        0,
        new long[0],
        AcceptedBatches.NONE,
        NativeCounts.NONE,
        WindowPanes.NONE,
        WindowCompleteness.NONE,
        SealedWindow.UNKNOWN_CLOSED,
        false,
        EdgeChange.NONE);
  }
}
