package org.traceetl.server.web;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.server.ozhera.SeriesLayout;
import org.traceetl.server.ozhera.SpanType;
import org.traceetl.server.ozhera.delta.DeltaWindows;
import org.traceetl.server.window.SealedWindow;

/** The port in profile ozhera, as scrapers meet it. */
class DeltaServletTest {
  private static final String COUNTER = "staging_hera_CustomizeMethodTotalCount_total{";

  /** So many that their page fits no socket's buffers. */
  private static final int MANY_SERIES = 10_000;

  private final HandMadeService.Factory factory = new HandMadeService.Factory();
  private final HttpClient client = HttpClient.newHttpClient();
  private WebServer server;

  @BeforeEach
  void start() {
    server =
        WebServer.start(
            List.of(),
            Map.of(
                "server.port",
                0,
                "trace-etl.metrics.profile",
                "ozhera",
                "trace-etl.ozhera.scrapers",
                "a,b",
                "trace-etl.web.token",
                "let me in"),
            false,
            factory);
  }

  @AfterEach
  void close() {
    server.close();
    client.close();
  }

  private HttpResponse<byte[]> get(String path, String... headers) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + path))
            .timeout(Duration.ofSeconds(60))
            .header("Authorization", "Bearer let me in");
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
  }

  private String page(String path, String... headers) throws Exception {
    HttpResponse<byte[]> response = get(path, headers);
    assertThat(response.statusCode()).isEqualTo(200);
    return new String(response.body(), UTF_8);
  }

  private static String header(HttpResponse<?> response, String name) {
    return response.headers().firstValue(name).orElse("");
  }

  private static SealedWindow window(long from, int series, long spans) {
    DeltaWindows window = DeltaWindows.of(DeltaWindows.QUEUE, from, from + 10);
    for (int i = 0; i < series; i++) {
      window
          .create(i, SpanType.CUSTOM_METHOD, SeriesLayout.FAST, "shop", "work-" + i)
          .row(i, 1, spans);
    }
    return window.seal();
  }

  private void keep(SealedWindow window) throws Exception {
    factory.made.deltas.window(window);
    factory.made.deltas.await(Duration.ofSeconds(60));
  }

  /** Sum of the counters on a page. */
  private static long spans(String page) {
    return page.lines()
        .filter(line -> line.startsWith(COUNTER))
        .mapToLong(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "text/plain",
        "application/openmetrics-text;version=1.0.0",
        "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
      })
  void contentTypeAlwaysMatchesTheBody(String accept) throws Exception {
    keep(window(0, 1, 5));

    HttpResponse<byte[]> response = get("/metrics?scraper=a", "Accept", accept);

    assertThat(header(response, "Content-Type"))
        .isEqualToIgnoringWhitespace("text/plain; version=0.0.4; charset=utf-8");
    assertThat(new String(response.body(), UTF_8))
        .contains(COUNTER + "methodName=\"work-0\",application=\"shop\"")
        .doesNotContain("# EOF");
  }

  @Test
  void gzipIsTheSamePageCompressed() throws Exception {
    keep(window(0, 1, 5));
    String plain = page("/metrics?scraper=a");

    HttpResponse<byte[]> gzip = get("/metrics?scraper=b", "Accept-Encoding", "gzip");

    assertThat(header(gzip, "Content-Encoding")).isEqualTo("gzip");
    try (var in = new GZIPInputStream(new ByteArrayInputStream(gzip.body()))) {
      assertThat(new String(in.readAllBytes(), UTF_8)).isEqualTo(plain);
    }
  }

  @Test
  void twoScrapersEachGetEverythingAndACurlChangesNothing() throws Exception {
    keep(window(0, 1, 1));
    assertThat(spans(page("/metrics?scraper=a"))).isEqualTo(1);
    assertThat(spans(page("/metrics?scraper=b"))).isEqualTo(1);
    assertThat(spans(page("/metrics", "User-Agent", "curl/8.5.0"))).isEqualTo(1);
    keep(window(10, 1, 5));
    assertThat(spans(page("/metrics", "User-Agent", "curl/8.6.0"))).isEqualTo(5);
    assertThat(spans(page("/metrics?scraper=a"))).isEqualTo(5);
    keep(window(20, 1, 7));

    assertThat(spans(page("/metrics?scraper=a"))).isEqualTo(7);
    // Late: the sum of what it missed.
    assertThat(spans(page("/metrics?scraper=b"))).isEqualTo(12);
    assertThat(spans(page("/metrics?scraper=b"))).isZero();
  }

  @Test
  void aPageOfManySeriesComesWhole() throws Exception {
    keep(window(0, MANY_SERIES, 3));

    assertThat(spans(page("/metrics?scraper=a"))).isEqualTo(3 * MANY_SERIES);
  }

  private Socket request(String path, String... headers) throws IOException {
    var socket = new Socket();
    socket.setReceiveBufferSize(4 * 1024);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
    String request =
        "GET "
            + path
            + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer let me in\r\n"
            + String.join("", headers)
            + "\r\n";
    socket.getOutputStream().write(request.getBytes(UTF_8));
    return socket;
  }

  @Test
  void whatAClientThatBreaksOffDidNotGetIsPartOfItsNextAnswer() throws Exception {
    keep(window(0, MANY_SERIES, 3));
    try (Socket socket = request("/metrics?scraper=a")) {
      assertThat(socket.getInputStream().readNBytes(1_000)).hasSize(1_000);
      socket.setSoLinger(true, 0);
    }
    await().until(() -> factory.made.deltas.totals().failed() == 1);
    keep(window(10, 1, 5));

    assertThat(spans(page("/metrics?scraper=a"))).isEqualTo(3 * MANY_SERIES + 5);
  }

  @Test
  void anAnswerThatTakesLongerThanItsScraperWaitsIsBrokenOff() throws Exception {
    keep(window(0, MANY_SERIES, 3));
    long sentNanos = System.nanoTime();
    try (Socket socket =
        request("/metrics?scraper=a", "X-Prometheus-Scrape-Timeout-Seconds: 2\r\n")) {
      assertThat(socket.getInputStream().readNBytes(1_000)).hasSize(1_000);
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> System.nanoTime() - sentNanos > TimeUnit.SECONDS.toNanos(3));

      assertThat(new String(rest(socket), UTF_8)).doesNotEndWith("\r\n0\r\n\r\n");
    }
    assertThat(spans(page("/metrics?scraper=a"))).isEqualTo(3 * MANY_SERIES);
  }

  private static byte[] rest(Socket socket) {
    var read = new java.io.ByteArrayOutputStream();
    try {
      socket.getInputStream().transferTo(read);
    } catch (IOException e) {
      // Reset: as good an end as any.
    }
    return read.toByteArray();
  }

  @Test
  void errorsAreErrors() throws Exception {
    assertError(get("/metrics?scraper="), 400, "scraper: must be 1 to 64");
    assertError(get("/metrics?scraper=a%20b"), 400, "scraper: must be 1 to 64");
    assertError(get("/metrics?scraper=a&scraper=b"), 400, "scraper: must be given once");
    assertError(get("/metrics?scraper=a&shard=0/2"), 400, "deltas have no shards");
    factory.made.deltas.close();
    assertError(get("/metrics?scraper=a"), 503, "the fold thread has ended");
    assertThat(get("/health").statusCode()).isEqualTo(503);
  }

  private static void assertError(HttpResponse<byte[]> response, int status, String text) {
    assertThat(response.statusCode()).isEqualTo(status);
    assertThat(header(response, "Content-Type")).isEqualTo("application/problem+json");
    assertThat(new String(response.body(), UTF_8)).contains(text);
  }

  @Test
  void onlyConfiguredScrapersAreGivenDeltas() throws Exception {
    keep(window(0, 1, 5));

    assertError(get("/metrics?scraper=stranger"), 403, "trace-etl.ozhera.scrapers");
    assertError(
        get("/metrics", "X-Prometheus-Scrape-Timeout-Seconds", "10"), 403, "must send its name");
    HttpResponse<byte[]> gzip = get("/metrics", "Accept-Encoding", "gzip");
    try (var in = new GZIPInputStream(new ByteArrayInputStream(gzip.body()))) {
      assertThat(new String(in.readAllBytes(), UTF_8)).isEqualTo(page("/metrics"));
    }
    assertThat(spans(page("/metrics"))).isEqualTo(5);
    assertThat(factory.made.deltas.totals().delivered()).isZero();
    assertThat(factory.made.deltas.totals().missedMessages()).containsOnlyKeys("a", "b");
    assertThat(spans(page("/metrics?scraper=a"))).isEqualTo(5);
  }

  @Test
  void aQuestionWithoutBodyGivesNothingAway() throws Exception {
    keep(window(0, 1, 5));
    HttpRequest head =
        HttpRequest.newBuilder(
                URI.create("http://localhost:" + server.port() + "/metrics?scraper=a"))
            .header("Authorization", "Bearer let me in")
            .HEAD()
            .build();
    assertThat(client.send(head, HttpResponse.BodyHandlers.discarding()).statusCode())
        .isEqualTo(405);

    assertThat(spans(page("/metrics?scraper=a"))).isEqualTo(5);
  }

  @Test
  void jvmHasTheJvmsMetricsAndTheServersOwn() throws Exception {
    keep(window(0, 1, 5));

    assertThat(page("/jvm"))
        .contains("jvm_threads_current")
        .contains("trace_etl_build_info{version=\"test\",} 1.0\n")
        .doesNotContain("_hera_");
    assertThat(header(get("/jvm", "Accept", "application/openmetrics-text"), "Content-Type"))
        .startsWith("application/openmetrics-text");
    assertThat(page("/metrics")).doesNotContain("jvm_");
  }

  @Test
  void theTokenIsChecked() throws Exception {
    for (String path : List.of("/metrics", "/metrics?scraper=a", "/jvm")) {
      HttpRequest bare =
          HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + path)).build();
      assertThat(client.send(bare, HttpResponse.BodyHandlers.discarding()).statusCode())
          .isEqualTo(401);
    }
    assertThat(get("/ready").statusCode()).isEqualTo(200);
    assertThat(get("/health").statusCode()).isEqualTo(200);
    assertThat(get("/api/traces").statusCode()).isEqualTo(200);
  }
}
