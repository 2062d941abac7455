package org.traceetl.standalone;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.resources.Resource;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.GZIPInputStream;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.testkit.PageSample;
import org.traceetl.testkit.Programs;
import org.traceetl.testkit.Prometheus;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tests the path from real SDKs through the agent, a real RocketMQ and the server into two real
 * Prometheus. Their query API must return what was sent.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class EndToEndTest {
  private static final int QUEUES = 4;
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  @TempDir private static Path directory;
  private String topic;
  private EmbeddedInstallation installation;
  private Prometheus prometheus;
  private Prometheus slowPrometheus;

  @BeforeAll
  void start() throws Exception {
    topic = SharedBroker.newTopic(QUEUES);
    installation =
        EmbeddedInstallation.start(
            SharedBroker.settings(
                topic,
                directory,
                List.of(directory.resolve("log").resolve("*/trace/trace.log").toString()),
                // One worker: a queue that moves to another loses the exemplars of its page.
                Map.of("trace-etl.events.enabled", true, "trace-etl.rocketmq.workers", 1)));
    installation.awaitReady(Duration.ofSeconds(60));
    int port = installation.httpPort();
    prometheus = Prometheus.start(directory.resolve("fast"), port, Duration.ofSeconds(1));
    slowPrometheus = Prometheus.start(directory.resolve("slow"), port, Duration.ofSeconds(3));
  }

  @AfterAll
  void stop() throws IOException {
    if (slowPrometheus != null) {
      slowPrometheus.close();
    }
    if (prometheus != null) {
      prometheus.close();
    }
    if (installation != null) {
      installation.close();
    }
  }

  @Test
  void prometheusReturnsTheSpansThatSdksSend() throws Exception {
    Set<String> services =
        new TreeSet<>(Set.of("java-grpc", "java-http", "python-grpc", "python-http"));
    try (ExecutorService senders = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> sent =
          services.stream().<Future<?>>map(one -> senders.submit(() -> sendFrom(one))).toList();
      for (Future<?> one : sent) {
        one.get();
      }
    }

    for (String service : services) {
      eventually("the fast Prometheus")
          .untilAsserted(() -> Expected.assertIn(prometheus, service, 1));
    }
    for (String service : services) {
      eventually("the slow Prometheus")
          .untilAsserted(() -> Expected.assertIn(slowPrometheus, service, 1));
    }
    // Later counts do not change, and rate() and increase() include the first increments.
    for (String service : services) {
      Expected.assertIn(prometheus, service, 1);
      assertThat(prometheus.value(spans("received", service))).isEqualTo(Expected.spans());
      assertThat(prometheus.value(spans("recorded", service))).isEqualTo(Expected.spans());
      assertExemplarsAreIndexed(service);
      assertHistoryAgrees(service);
    }
    assertBooksBalance();
  }

  private Void sendFrom(String service) throws Exception {
    boolean grpc = service.endsWith("grpc");
    int port = grpc ? installation.otlpGrpcPort() : installation.otlpHttpPort();
    if (service.startsWith("java")) {
      try (OtlpSpans spans =
          grpc ? OtlpSpans.overGrpc(service, port) : OtlpSpans.overHttp(service, port)) {
        spans.sendExpected();
      }
      System.out.println("Real component: OpenTelemetry SDK for Java " + javaSdkVersion());
      return null;
    }
    Programs.Result result =
        Programs.run(
            List.of(
                Programs.python(),
                Path.of(System.getProperty("basedir", "."), "src/test/python/send_spans.py")
                    .toString(),
                grpc ? "grpc" : "http",
                service,
                Integer.toString(port)),
            OtlpSpans.expectedAsJson());
    assertThat(result.exitCode()).as(result.output()).isZero();
    String version =
        Programs.run(
                List.of(
                    Programs.python(),
                    "-c",
                    "from importlib.metadata import version; print(version('opentelemetry-sdk'))"),
                new byte[0])
            .output()
            .strip();
    System.out.println("Real component: OpenTelemetry SDK for Python " + version);
    return null;
  }

  private static String javaSdkVersion() {
    return Resource.getDefault().getAttribute(AttributeKey.stringKey("telemetry.sdk.version"));
  }

  /** Asserts that every exemplar leads to a trace, and every series with spans has one. */
  private void assertExemplarsAreIndexed(String service) throws Exception {
    List<Map<String, String>> exemplars =
        prometheus.exemplars(
            "traces_span_metrics_duration_milliseconds_bucket{service_name=\"" + service + "\"}");
    Set<String> traceIds = new HashSet<>();
    Set<String> series = new HashSet<>();
    for (Map<String, String> exemplar : exemplars) {
      traceIds.add(exemplar.get("trace_id"));
      series.add(
          exemplar.get("span_name") + exemplar.get("span_kind") + exemplar.get("status_code"));
    }
    assertThat(series).as("series with exemplars").hasSize(Expected.series().size());
    eventually("the index")
        .untilAsserted(() ->
            assertThat(traceIds(traces("application=" + service + "&limit=1000")))
                .containsAll(traceIds));
  }

  private void assertHistoryAgrees(String service) throws Exception {
    long calls =
        (long)
            prometheus.value(
                "sum(traces_span_metrics_calls_total{service_name=\"" + service + "\"})");
    eventually("the history")
        .untilAsserted(() -> {
          long sum = 0;
          JsonNode history = json(installation.httpPort(), "/api/history?application=" + service);
          for (JsonNode minute : history.path("minutes")) {
            sum += minute.path("calls").asLong();
          }
          assertThat(sum).isEqualTo(calls);
        });
  }

  @Test
  void exceptionsAreCountedByTypeAndOtherEventsAreNot() throws Exception {
    String service = "throwing";
    for (boolean grpc : new boolean[] {true, false}) {
      try (OtlpSpans spans =
          grpc
              ? OtlpSpans.overGrpc(service, installation.otlpGrpcPort())
              : OtlpSpans.overHttp(service, installation.otlpHttpPort())) {
        for (int i = 0; i < 50; i++) {
          IOException away = new IOException("away");
          spans.sendFailed("GET /cart", List.of(away, away), "retry");
          spans.sendFailed("GET /cart", List.of(new IllegalStateException()));
        }
        spans.flush();
      }
    }

    String events = "traces_span_metrics_events_total{service_name=\"throwing\"}";
    eventually("the exceptions")
        .untilAsserted(() ->
            assertThat(
                    prometheus.query(events).stream()
                        .map(sample ->
                            String.join(
                                " ",
                                sample.labels().get("span_name"),
                                sample.labels().get("span_kind"),
                                sample.labels().get("status_code"),
                                sample.labels().get("event_name"),
                                sample.labels().get("exception_type"),
                                Long.toString((long) sample.value()))))
                .containsExactlyInAnyOrder(
                    "GET /cart SPAN_KIND_SERVER STATUS_CODE_ERROR exception"
                        + " java.io.IOException 200",
                    "GET /cart SPAN_KIND_SERVER STATUS_CODE_ERROR exception"
                        + " java.lang.IllegalStateException 100"));
    assertThat(prometheus.value("sum(traces_span_metrics_calls_total{service_name=\"throwing\"})"))
        .isEqualTo(200);
    assertHistoryAgrees(service);
    assertBooksBalance();
  }

  @Test
  void eachLineOfARotatedTraceLogCountsOnce() throws Exception {
    String application = "log-writer";
    Path log = Files.createDirectories(directory.resolve("log/log-writer/trace"));
    Path current = log.resolve("trace.log");
    int number = 0;
    for (int file = 0; file < 3; file++) {
      for (int i = 0; i < 100; i++) {
        append(current, line(application, number++));
      }
      String incomplete = line(application, number++);
      int half = incomplete.length() / 2;
      append(current, incomplete.substring(0, half));
      append(current, incomplete.substring(half));
      if (file < 2) {
        int written = number;
        eventually("the lines before the rotation")
            .untilAsserted(() ->
                assertThat(prometheus.value(spans("received", application))).isEqualTo(written));
        Files.move(current, log.resolve("trace.log-2026-11-21-10-0" + file));
      }
    }
    int lines = number;
    String calls = "sum(traces_span_metrics_calls_total{service_name=\"log-writer\"})";
    eventually("all lines")
        .untilAsserted(() -> assertThat(prometheus.value(calls)).isEqualTo(lines));
    String upTo2 =
        "traces_span_metrics_duration_milliseconds_bucket"
            + "{service_name=\"log-writer\",span_kind=\"SPAN_KIND_SERVER\",le=~\"2(.0)?\"}";
    assertThat(prometheus.value(upTo2)).isEqualTo(lines);
    assertThat(prometheus.value(upTo2.replace("_bucket", "_sum").replace(",le=~\"2(.0)?\"", "")))
        .isEqualTo(lines * 1.5);
  }

  private static void append(Path file, String text) throws IOException {
    Files.writeString(file, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  private static String line(String application, int number) {
    Instant now = Instant.now();
    return "2026-11-21 10:00:00.000 ||| %d000000 ### 1500000 ### 10.0.0.7 ### %s ### /orders ### OK"
            .formatted(now.toEpochMilli(), application)
        + " ### %032x ### %016x ### ".formatted(number + 1, number + 1)
        + "[{\"key\":\"span.kind\",\"type\":\"string\",\"value\":\"server\"}] ### [] ### "
        + "{\"serviceName\":\"%s\",\"tags\":[]} ### [] ### \n".formatted(application);
  }

  @Test
  void malformedMessageLosesNoOtherSpan() throws Exception {
    String service = "between-junk";
    int junkBefore = (int) orZero(prometheus.value("sum(trace_etl_batches_rejected_total)"));
    List<byte[]> junk =
        List.of(
            "no batch".getBytes(UTF_8),
            new byte[] {1},
            new byte[64 * 1024],
            "\u0018\u0007 {\"spans\": []}".getBytes(UTF_8));
    try (OtlpSpans spans = OtlpSpans.overGrpc(service, installation.otlpGrpcPort())) {
      for (byte[] body : junk) {
        spans.send("good", SpanKind.SERVER, StatusCode.OK, 5_000_000);
        spans.flush();
        for (int queue = 0; queue < QUEUES; queue++) {
          SharedBroker.send(topic, queue, body);
        }
        spans.send("good", SpanKind.SERVER, StatusCode.OK, 5_000_000);
        spans.flush();
      }
    }

    eventually("the refused messages")
        .untilAsserted(() ->
            assertThat(prometheus.value("sum(trace_etl_batches_rejected_total)"))
                .isEqualTo(junkBefore + junk.size() * QUEUES));
    eventually("the spans between them")
        .untilAsserted(() ->
            assertThat(
                    prometheus.value(
                        "traces_span_metrics_calls_total{service_name=\"" + service + "\"}"))
                .isEqualTo(2 * junk.size()));
    assertBooksBalance();
  }

  /**
   * Asserts for each application: received = recorded + overflowed + filtered + duplicate +
   * rejected.
   */
  private void assertBooksBalance() throws Exception {
    String books =
        "sum by (application) (trace_etl_spans_received_total) - sum by (application)"
            + " ({__name__=~\"trace_etl_spans_"
            + "(recorded|overflowed|filtered|duplicate|rejected)_total\"})";
    eventually("balanced books")
        .untilAsserted(() -> {
          List<Prometheus.Sample> balances = prometheus.query(books);
          assertThat(balances).isNotEmpty();
          assertThat(balances)
              .as("by application")
              .hasSameSizeAs(prometheus.query("trace_etl_spans_received_total"));
          assertThat(balances).allSatisfy(one -> assertThat(one.value()).isZero());
        });
  }

  @Test
  void pageHasTheFormatOfItsHeaders() throws Exception {
    try (OtlpSpans spans = OtlpSpans.overGrpc("on-the-page", installation.otlpGrpcPort())) {
      spans.send("page", SpanKind.SERVER, StatusCode.OK, 5_000_000);
      spans.flush();
    }
    eventually("the span").until(() -> text(page("text/plain", "")).contains("on-the-page"));

    HttpResponse<byte[]> classic = page("text/plain;version=0.0.4", "");
    assertThat(classic.headers().firstValue("Content-Type").orElseThrow())
        .startsWith("text/plain")
        .contains("version=0.0.4")
        .contains("charset=utf-8");
    assertThat(text(classic)).doesNotContain("# EOF").doesNotContain("# {");

    HttpResponse<byte[]> open =
        page("application/openmetrics-text;version=1.0.0,text/plain;q=0.5", "");
    assertThat(open.headers().firstValue("Content-Type").orElseThrow().replace(" ", ""))
        .isEqualTo("application/openmetrics-text;version=1.0.0;charset=utf-8");
    assertThat(text(open)).endsWith("# EOF\n").contains(" # {trace_id=\"").contains("_created");

    HttpResponse<byte[]> gzip = page("text/plain", "gzip");
    assertThat(gzip.headers().firstValue("Content-Encoding")).hasValue("gzip");
    try (var unzipped = new GZIPInputStream(new ByteArrayInputStream(gzip.body()))) {
      assertThat(new String(unzipped.readAllBytes(), UTF_8)).contains("on-the-page");
    }
  }

  @Test
  void promtoolReportsOnlyTheUnitOfTheProfile() throws Exception {
    Programs.Result result =
        Programs.run(
            List.of(Programs.require("promtool"), "check", "metrics"),
            page("text/plain", "").body());
    // OpenTelemetry's names have the unit milliseconds.
    assertThat(
            result
                .output()
                .lines()
                .filter(line ->
                    !line.equals(
                        "traces_span_metrics_duration_milliseconds"
                            + " use base unit \"seconds\" instead of \"milliseconds\"")))
        .isEmpty();
  }

  @Test
  void hotspotsAreDisabledWithoutTheQueueLabel() throws Exception {
    // By default, as here, only conflicting series have the label of the queue.
    assertThat(json(installation.httpPort(), "/api/hotspots").get("state").asString())
        .isEqualTo("disabled");
  }

  private HttpResponse<byte[]> page(String accept, String encoding) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + installation.httpPort() + "/metrics"))
            .header("Accept", accept);
    if (!encoding.isEmpty()) {
      request.header("Accept-Encoding", encoding);
    }
    HttpResponse<byte[]> response =
        HTTP.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    assertThat(response.statusCode()).isEqualTo(200);
    return response;
  }

  private static String text(HttpResponse<byte[]> response) {
    return new String(response.body(), UTF_8);
  }

  private JsonNode traces(String query) throws Exception {
    return traces(installation.httpPort(), query);
  }

  static JsonNode traces(int port, String query) throws Exception {
    return json(port, "/api/traces?" + query).path("traces");
  }

  static JsonNode json(int port, String path) throws Exception {
    HttpResponse<String> response =
        HTTP.send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return new JsonMapper().readTree(response.body());
  }

  static Set<String> traceIds(JsonNode traces) {
    Set<String> ids = new HashSet<>();
    for (JsonNode trace : traces) {
      ids.add(trace.path("traceId").asString());
    }
    return ids;
  }

  /** Returns the samples on the metrics page of a server or an agent. */
  static List<PageSample> samples(int port) throws IOException, InterruptedException {
    return PageSample.of(HTTP, URI.create("http://127.0.0.1:" + port + "/metrics"));
  }

  private static String spans(String what, String application) {
    return "trace_etl_spans_" + what + "_total{application=\"" + application + "\"}";
  }

  private static double orZero(double value) {
    return Double.isNaN(value) ? 0 : value;
  }

  static ConditionFactory eventually(String what) {
    return await(what).atMost(Duration.ofSeconds(90)).pollInterval(Duration.ofMillis(300));
  }
}
