package org.traceetl.server.web;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.NameRule;
import org.traceetl.proto.NameRules;
import org.traceetl.server.features.history.Histories;
import org.traceetl.server.features.hotspot.Hotspots;
import org.traceetl.server.features.index.Cursor;
import org.traceetl.server.features.index.TracePage;
import org.traceetl.server.features.index.TraceQuery;
import org.traceetl.server.series.Cardinality;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowPanes;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The port as its clients meet it. */
class WebServerTest {
  private static final String OPENMETRICS = "application/openmetrics-text;version=1.0.0";
  private static final HandMadeService.Factory FACTORY = new HandMadeService.Factory();
  private static final HttpClient CLIENT = HttpClient.newHttpClient();
  private static WebServer server;

  @BeforeAll
  static void start() throws Exception {
    server = WebServer.start(List.of(), Map.of("server.port", 0), false, FACTORY);
    FACTORY.made.pages.window(window());
    FACTORY.made.pages.await(Duration.ofSeconds(60));
  }

  @AfterAll
  static void close() {
    server.close();
    CLIENT.close();
  }

  @Test
  void metricsAreTextByDefault() throws Exception {
    HttpResponse<byte[]> response = get("/metrics");

    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(header(response, "Content-Type"))
        .isEqualToIgnoringWhitespace("text/plain; version=0.0.4; charset=utf-8");
    assertThat(header(response, "Content-Encoding")).isEmpty();
    assertThat(header(response, "Vary")).isEqualTo("Accept, Accept-Encoding");
    assertThat(text(response))
        .contains("traces_span_metrics_calls_total{service_name=\"shop\"")
        .contains("trace_etl_build_info{version=\"test\",} 1.0\n")
        .contains("jvm_")
        .doesNotContain("_created")
        .doesNotContain("# EOF");
  }

  @Test
  void openMetricsHasOneEndMarker() throws Exception {
    HttpResponse<byte[]> response = get("/metrics", "Accept", OPENMETRICS);

    assertThat(header(response, "Content-Type"))
        .isEqualToIgnoringWhitespace("application/openmetrics-text; version=1.0.0; charset=utf-8");
    assertThat(text(response))
        .contains("traces_span_metrics_calls_created{")
        .contains("# TYPE trace_etl_build_info gauge\n")
        .endsWith("\n# EOF\n")
        .containsOnlyOnce("# EOF");
  }

  @ParameterizedTest
  @ValueSource(strings = {"text/plain", OPENMETRICS})
  void gzipIsTheSamePageCompressed(String accept) throws Exception {
    HttpResponse<byte[]> plain = get("/metrics", "Accept", accept);
    HttpResponse<byte[]> gzip = get("/metrics", "Accept", accept, "Accept-Encoding", "gzip");

    assertThat(header(gzip, "Content-Encoding")).isEqualTo("gzip");
    assertThat(header(gzip, "Content-Type")).isEqualTo(header(plain, "Content-Type"));
    byte[] unpacked;
    try (var in = new GZIPInputStream(new ByteArrayInputStream(gzip.body()))) {
      unpacked = in.readAllBytes();
    }
    assertThat(spanFamilies(new String(unpacked, UTF_8))).isEqualTo(spanFamilies(text(plain)));
  }

  @Test
  void shardsAreThePageAndTheFirstHasTheServersOwnMetrics() throws Exception {
    String first = text(get("/metrics?shard=0/2", "Accept", OPENMETRICS));
    String second = text(get("/metrics?shard=1%2F2", "Accept", OPENMETRICS));

    assertThat(first).contains("# TYPE trace_etl_build_info gauge\n").endsWith("\n# EOF\n");
    assertThat(second)
        .contains("# TYPE traces_span_metrics_calls counter\n")
        .doesNotContain("trace_etl_build_info")
        .endsWith("\n# EOF\n")
        .containsOnlyOnce("# EOF");
    assertThat(Stream.of(first, second).flatMap(WebServerTest::spanSamples))
        .containsExactlyInAnyOrderElementsOf(
            spanSamples(text(get("/metrics", "Accept", OPENMETRICS))).toList());
    assertThat(text(get("/metrics?shard=1/2"))).doesNotContain("# EOF", "trace_etl_build_info");
    HttpResponse<byte[]> gzip =
        get("/metrics?shard=1/2", "Accept", OPENMETRICS, "Accept-Encoding", "gzip");
    try (var in = new GZIPInputStream(new ByteArrayInputStream(gzip.body()))) {
      assertThat(new String(in.readAllBytes(), UTF_8)).isEqualTo(second);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"shard=", "shard=2/2", "shard=0/65", "shard=a", "shard=0/2&shard=1/2"})
  void aWrongShardIsRefused(String query) throws Exception {
    HttpResponse<byte[]> response = get("/metrics?" + query);

    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(header(response, "Content-Type")).isEqualTo("application/problem+json");
    assertThat(text(response)).contains("\"detail\":\"shard");
  }

  @Test
  void scrapersAtDifferentTimesSeeTheSameSpans() throws Exception {
    String first = spanFamilies(text(get("/metrics")));
    get("/metrics", "Accept", OPENMETRICS, "Accept-Encoding", "gzip");

    assertThat(spanFamilies(text(get("/metrics")))).isEqualTo(first);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/health", "/ready", "/actuator/health/liveness", "/actuator/health/readiness"})
  void healthIsUp(String path) throws Exception {
    HttpResponse<byte[]> response = get(path);

    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(text(response)).contains("\"status\":\"UP\"");
  }

  @Test
  void missingQueuesAreNamedAndAffectOnlyReadiness() throws Exception {
    FACTORY.made.missing = Map.of("broker-a/3", "is being taken over");
    try {
      HttpResponse<byte[]> ready = get("/ready");

      assertThat(ready.statusCode()).isEqualTo(503);
      assertThat(text(ready)).contains("\"broker-a/3\":\"is being taken over\"");
      assertThat(get("/health").statusCode()).isEqualTo(200);
    } finally {
      FACTORY.made.missing = Map.of();
    }
  }

  @Test
  void queueOfASilentBrokerIsNamedWhileTheServerIsReady() throws Exception {
    FACTORY.made.missing = Map.of("broker-a/3", "appending failed");
    FACTORY.made.brokerSilent = true;
    try {
      HttpResponse<byte[]> ready = get("/ready");

      assertThat(ready.statusCode()).isEqualTo(200);
      assertThat(text(ready)).contains("\"broker-a/3\":\"appending failed\"");
    } finally {
      FACTORY.made.missing = Map.of();
      FACTORY.made.brokerSilent = false;
    }
  }

  @Test
  void deadFoldThreadFailsMetricsAndHealth() throws Exception {
    var factory = new HandMadeService.Factory();
    try (var dead = WebServer.start(List.of(), Map.of("server.port", 0), false, factory)) {
      factory.made.pages.close();

      HttpResponse<byte[]> metrics = get(dead, "/metrics");
      assertThat(metrics.statusCode()).isEqualTo(503);
      assertThat(header(metrics, "Content-Type")).isEqualTo("application/problem+json");
      assertThat(get(dead, "/health").statusCode()).isEqualTo(503);
      assertThat(get(dead, "/ready").statusCode()).isEqualTo(200);
    }
  }

  @Test
  void closingDrainsFirst() {
    var factory = new HandMadeService.Factory();
    var closing = WebServer.start(List.of(), Map.of("server.port", 0), false, factory);
    assertThat(factory.made.drained).isFalse();

    closing.close();
    closing.close();

    assertThat(factory.made.drained).isTrue();
    assertThat(factory.made.closed).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/nothing", "/page/nothing.js", "/error"})
  void unknownPathsAreExplained(String path) throws Exception {
    HttpResponse<byte[]> response = get(path);

    assertThat(response.statusCode()).isEqualTo(404);
    assertThat(header(response, "Content-Type")).isEqualTo("application/problem+json");
    assertThat(json(response).get("detail").asString())
        .startsWith(path + ": is not a path of this server");
  }

  @Test
  void takenPortStartsNothing() {
    var factory = new HandMadeService.Factory();

    assertThatThrownBy(
            () -> WebServer.start(List.of(), Map.of("server.port", server.port()), false, factory))
        .isInstanceOf(PortTaken.class);
    assertThat(factory.made).isNull();
  }

  @Test
  void failedStartLeavesNothingRunning() {
    var factory = new HandMadeService.Factory();
    Map<String, Object> properties =
        Map.of("server.port", 0, "management.server.port", server.port());

    assertThatThrownBy(() -> WebServer.start(List.of(), properties, false, factory))
        .isInstanceOf(RuntimeException.class);
    assertThat(factory.made.closed).isTrue();
  }

  @Test
  void tokenIsRequiredForData() throws Exception {
    try (var guarded =
        WebServer.start(
            List.of("--trace-etl.web.token=open sesame"),
            Map.of("server.port", 0),
            false,
            new HandMadeService.Factory())) {
      for (String path :
          List.of("/metrics", "/api/traces", "/api/applications", "/api/cardinality")) {
        assertThat(get(guarded, path).statusCode()).isEqualTo(401);
        assertThat(get(guarded, path, "Authorization", "Bearer open").statusCode()).isEqualTo(401);
        assertThat(get(guarded, path, "Authorization", "bearer open sesame").statusCode())
            .isEqualTo(200);
      }
      assertThat(get(guarded, "/ready").statusCode()).isEqualTo(200);
    }
  }

  @Test
  void tracesAreSearchedByEveryParameter() throws Exception {
    FACTORY.made.index.answer =
        new TracePage(
            List.of(
                new TraceDocument(
                    "0af7651916cd43dd8448eb211c80319c",
                    "b7ad6b7169203331",
                    "shop",
                    "GET /cart",
                    2,
                    2,
                    "boom",
                    1_700_000_000_123_456_789L,
                    12_345_678,
                    TraceDocument.Reason.ERROR,
                    Map.of("http.route", "/cart"))),
            new Cursor(1, "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"));
    String cursor = FACTORY.made.index.answer.next().toText();

    HttpResponse<byte[]> response =
        get(
            "/api/traces?application=shop&operation=GET%20/cart&reason=error"
                + "&from=2023-11-14T22:13:20Z&to=1700000001000&limit=7&cursor="
                + cursor);

    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(FACTORY.made.index.asked)
        .isEqualTo(
            new TraceQuery(
                "shop",
                "GET /cart",
                TraceDocument.Reason.ERROR,
                1_700_000_000_000_000_000L,
                1_700_000_001_000_000_000L,
                7,
                FACTORY.made.index.answer.next()));
    assertThat(json(response))
        .isEqualTo(
            new JsonMapper()
                .readTree(
                    """
                    {"traces":[{"traceId":"0af7651916cd43dd8448eb211c80319c",
                    "spanId":"b7ad6b7169203331","application":"shop","operation":"GET /cart",
                    "kind":"SERVER","status":"ERROR","statusMessage":"boom",
                    "start":"2023-11-14T22:13:20.123456789Z","durationMillis":12.345678,
                    "reason":"error","attributes":{"http.route":"/cart"}}],"next":"CURSOR"}
                    """
                        .replace("CURSOR", cursor)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "reason=late|reason = late: must be one of error, slow, exemplar",
        "limit=0|limit = 0: must be a number from 1 to 1000",
        "limit=many|limit = many: must be a number from 1 to 1000",
        "from=yesterday|from = yesterday: must be a time as RFC 3339 (2026-11-21T10:00:00Z) or"
            + " milliseconds since 1970",
        "to=99999999999999999999|to = 99999999999999999999: must be a time",
        "from=2&to=1|from = 2: must not be after to = 1",
        "slices=12|slices = 12: requires from and to",
        "slices=61&from=1&to=2|slices = 61: must be a number from 1 to 60",
        "slices=11&from=1&to=2|slices = 11: slices * limit must be at most 1000, and is 1100",
        "cursor=x|cursor: is not a cursor that a search has returned",
        "aplication=shop|aplication: is not a parameter of this path; the parameters are"
            + " application, cursor,",
        "limit=1&limit=2|limit: must be given once",
      })
  void wrongParametersAreExplained(String example) throws Exception {
    String[] parts = example.split("\\|", -1);

    HttpResponse<byte[]> response = get("/api/traces?" + parts[0]);

    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(header(response, "Content-Type")).isEqualTo("application/problem+json");
    assertThat(json(response).get("detail").asString()).contains(parts[1]);
  }

  @Test
  void historyOfAnApplicationIsListedByMinute() throws Exception {
    addHistory("history shop");

    JsonNode answer = json(get("/api/history?application=history%20shop&minutes=2"));

    assertThat(answer.get("application").asString()).isEqualTo("history shop");
    assertThat(answer.get("upToDate").asBoolean()).isFalse();
    assertThat(answer.get("minutes")).hasSize(2);
    JsonNode ended = answer.get("minutes").get(0);
    assertThat(ended.get("start").asString()).isEqualTo("2026-11-21T00:00:00Z");
    assertThat(ended.get("ended").asBoolean()).isTrue();
    assertThat(ended.get("calls").asLong()).isEqualTo(6);
    assertThat(ended.get("errors").asLong()).isEqualTo(2);
    assertThat(ended.get("durationMillis").asDouble()).isEqualTo(2);
    assertThat(ended.get("p50Millis").asDouble()).isEqualTo(1.5);
    JsonNode now = answer.get("minutes").get(1);
    assertThat(now.get("ended").asBoolean()).isFalse();
    assertThat(now.get("calls").asLong()).isZero();
    assertThat(now.get("p99Millis").isNull()).isTrue();
  }

  @Test
  void hotspotsAreListedWithTheirDecisions() throws Exception {
    FACTORY.made.hotspots =
        new Hotspots(
            Hotspots.State.DECIDER,
            7,
            1_795_255_000_000L,
            8,
            1_795_255_030_000L,
            1.25,
            List.of(
                new Hotspots.Application(
                    "hot", 900, 0.9, 8, 7, 150, false, 1_795_255_000_000L, false, true, 12.5),
                new Hotspots.Application("other", 100, 0.1, 2, 2, 50, true, 0, true, false, 0)),
            List.of(
                new Hotspots.Queue(new QueueId("b", 3), 150, 120, 4, 12.5, true),
                new Hotspots.Queue(new QueueId("b", 1), 0, 0, 1, Double.NaN, false)));

    JsonNode answer = json(get("/api/hotspots"));

    assertThat(answer.toString())
        .isEqualTo(
            ("{'state':'decider','epoch':7,'decided':'2026-11-21T09:56:40Z',"
                    + "'looked':'2026-11-21T09:57:10Z','queues':8,'maxToMean':1.25,'applications':["
                    + "{'application':'hot','spansPerSecond':900.0,'share':0.9,'queues':8,"
                    + "'usedQueues':7,'heaviestQueueSpansPerSecond':150.0,'spread':'series',"
                    + "'since':'2026-11-21T09:56:40Z','pinned':false,'stuck':true,'lagSpans':12.5},"
                    + "{'application':'other','spansPerSecond':100.0,'share':0.1,'queues':2,"
                    + "'usedQueues':2,'heaviestQueueSpansPerSecond':50.0,'spread':'random',"
                    + "'since':null,'pinned':true,'stuck':false,'lagSpans':0.0}],"
                    + "'behind':[{'queue':'b/3','spansPerSecond':150.0,"
                    + "'recordedSpansPerSecond':120.0,'lagMessages':4,'lagSpans':12.5,"
                    + "'growing':true},{'queue':'b/1','spansPerSecond':0.0,"
                    + "'recordedSpansPerSecond':0.0,'lagMessages':1,'lagSpans':null,"
                    + "'growing':false}]}")
                .replace('\'', '"'));
  }

  @Test
  void applicationsAtALimitAreListedWithTheirCulprit() throws Exception {
    FACTORY.made.metrics.crowded(
        new QueueId("b", 3),
        new Cardinality(
            "crowded",
            "max-per-application",
            100,
            99,
            7,
            3,
            List.of(new Cardinality.Dimension("span_name", 50, List.of("a", "b"))),
            0));

    assertThat(json(get("/api/cardinality")).get("applications").get(0).toString())
        .isEqualTo(
            "{\"application\":\"crowded\",\"queue\":\"b/3\",\"series\":99,"
                + "\"limit\":\"max-per-application\",\"max\":100,\"overflowedSpans\":0,"
                + "\"overflowedInLastWindow\":7,\"overflowedEventsInLastWindow\":3,"
                + "\"culprit\":\"span_name\","
                + "\"values\":{\"span_name\":50},\"examples\":[\"a\",\"b\"],"
                + "\"at\":\"1970-01-01T00:00:00Z\"}");
    assertThat(get("/api/cardinality?limit=0").statusCode()).isEqualTo(400);
  }

  @Test
  void learntNamesAreListed() throws Exception {
    NameRule ofUsers = new NameRule("/users/", 1, 501, 0);
    NameRule ofOrders = new NameRule("/orders/", 0, 502, 0);
    FACTORY.made.learnt =
        new LearntNames(7, 1, Map.of("shop", new NameRules(List.of(ofUsers, ofOrders))));
    try {
      assertThat(json(get("/api/cardinality")).get("learntNames").toString())
          .isEqualTo(
              "{\"epoch\":7,\"rules\":["
                  + "{\"application\":\"shop\",\"rule\":\"/orders/{*}\",\"tokensBehind\":0,"
                  + "\"values\":502,\"since\":\"1970-01-01T00:00:00Z\"},"
                  + "{\"application\":\"shop\",\"rule\":\"/users/{*}\",\"tokensBehind\":1,"
                  + "\"values\":501,\"since\":\"1970-01-01T00:00:00Z\"}]}");
      assertThat(json(get("/api/cardinality?limit=1")).get("learntNames").get("rules")).hasSize(1);
    } finally {
      FACTORY.made.learnt = LearntNames.NONE;
    }
  }

  @Test
  void applicationsAreListedWithTheirRates() throws Exception {
    addHistory("listed");

    JsonNode answer = json(get("/api/applications?minutes=1&limit=1000"));

    assertThat(answer.get("minutes").asInt()).isEqualTo(1);
    JsonNode listed =
        answer
            .get("applications")
            .valueStream()
            .filter(application -> application.get("application").asString().equals("listed"))
            .findFirst()
            .orElseThrow();
    assertThat(listed.get("callsPerSecond").asDouble()).isEqualTo(0.1);
    assertThat(listed.get("errorsPerSecond").asDouble()).isEqualTo(2 / 60.0);
    assertThat(listed.get("p95Millis").asDouble()).isPositive();
    assertThat(json(get("/api/applications?limit=1")).get("applications")).hasSize(1);
  }

  /** Four calls and two failed ones in the minute before. */
  private static void addHistory(String application) {
    long nowMillis = HandMadeService.NOW.toEpochMilli();
    long[] counts = new long[17];
    counts[0] = 4;
    Histories.add(FACTORY.made.history, nowMillis - 60_000, application, false, counts);
    counts[0] = 0;
    counts[16] = 2;
    Histories.add(FACTORY.made.history, nowMillis - 45_000, application, true, counts);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "history|400|application: must be given",
        "history?application=nobody|404|application = nobody: has no spans in the last hour",
        "history?application=shop&minutes=61|400|minutes = 61: must be a number from 1 to 60",
        "applications?minutes=60|400|minutes = 60: must be a number from 1 to 59",
        "applications?limit=x|400|limit = x: must be a number from 1 to 10000",
        "applications?application=shop|400|application: is not a parameter of this path; the"
            + " parameters are filter, limit,",
      })
  void wrongHistoryRequestsAreExplained(String example) throws Exception {
    String[] parts = example.split("\\|", -1);

    HttpResponse<byte[]> response = get("/api/" + parts[0]);

    assertThat(response.statusCode()).isEqualTo(Integer.parseInt(parts[1]));
    assertThat(header(response, "Content-Type")).isEqualTo("application/problem+json");
    assertThat(json(response).get("detail").asString()).contains(parts[2]);
  }

  @Test
  void errorOfABrokenIndexContainsNoSecrets() throws Exception {
    FACTORY.made.index.broken = true;
    try {
      HttpResponse<byte[]> response = get("/api/traces");

      assertThat(response.statusCode()).isEqualTo(503);
      assertThat(text(response)).contains("did not answer").doesNotContain("secret");
    } finally {
      FACTORY.made.index.broken = false;
    }
  }

  private static SealedWindow window() {
    return new SealedWindow(
        new QueueId("broker-a", 0),
        0,
        1,
        0,
        15_000,
        List.of(new SeriesDefinition(0, 1, false, Arrays.asList("shop", "GET /cart", "2", "0"))),
        new int[0],
        1,
        17,
        new int[] {0},
        Arrays.copyOf(new long[] {5}, 17),
        new long[] {1_000_000},
        new int[] {-1},
        new int[] {0},
        List.of(),
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

  private static Stream<String> spanSamples(String page) {
    return page.lines().filter(line -> line.startsWith("traces_"));
  }

  private static String spanFamilies(String page) {
    String families =
        page.lines()
            .filter(line -> line.contains("traces_span_metrics"))
            .reduce("", (all, line) -> all + line + "\n");
    assertThat(families).contains("_bucket{");
    return families;
  }

  private static HttpResponse<byte[]> get(String path, String... headers) throws Exception {
    return get(server, path, headers);
  }

  private static HttpResponse<byte[]> get(WebServer from, String path, String... headers)
      throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(URI.create("http://localhost:" + from.port() + path))
            .timeout(Duration.ofSeconds(60));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
  }

  private static String header(HttpResponse<?> response, String name) {
    return response.headers().firstValue(name).orElse("");
  }

  private static String text(HttpResponse<byte[]> response) {
    return new String(response.body(), UTF_8);
  }

  private static JsonNode json(HttpResponse<byte[]> response) {
    return new JsonMapper().readTree(response.body());
  }
}
