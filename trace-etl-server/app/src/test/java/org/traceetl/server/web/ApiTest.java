package org.traceetl.server.web;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.ByteArrayInputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.traceetl.proto.Demand;
import org.traceetl.proto.Demand.KeyRule;
import org.traceetl.proto.Demand.Part;
import org.traceetl.proto.Demand.SlowRule;
import org.traceetl.server.features.history.Histories;
import org.traceetl.server.features.index.Cursor;
import org.traceetl.server.features.index.TracePage;
import org.traceetl.server.queues.KnownQueues;
import org.traceetl.server.queues.QueueStatus;
import org.traceetl.server.queues.QueueWatch;
import org.traceetl.server.rocketmq.Endpoint;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.RowlessWindow;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.WindowCompleteness;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The API as a page and curl meet it. */
class ApiTest {
  private static final long NOW = HandMadeService.NOW.toEpochMilli();
  private static final long MINUTE = 60_000;
  private static final QueueId A = new QueueId("a", 0);
  private static final QueueId B = new QueueId("b", 3);

  private final HandMadeService.Factory factory = new HandMadeService.Factory();
  private final HttpClient client = HttpClient.newHttpClient();
  private WebServer server;

  @BeforeEach
  void start() {
    server = WebServer.start(List.of(), Map.of("server.port", 0), false, factory);
  }

  @AfterEach
  void close() {
    server.close();
    client.close();
  }

  private HttpResponse<byte[]> get(String path, String... headers) throws Exception {
    return send("GET", path, headers);
  }

  private HttpResponse<byte[]> send(String method, String path, String... headers)
      throws Exception {
    var request =
        HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + path))
            .method(method, HttpRequest.BodyPublishers.noBody())
            .timeout(Duration.ofSeconds(60));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
  }

  private JsonNode json(String path) throws Exception {
    HttpResponse<byte[]> response = get(path);
    assertThat(response.statusCode()).as(path).isEqualTo(200);
    assertThat(header(response, "Content-Type")).isEqualTo("application/json");
    return new JsonMapper().readTree(response.body());
  }

  private static String header(HttpResponse<?> response, String name) {
    return response.headers().firstValue(name).orElse("");
  }

  /** Calls of 1 ms in the minute before, and failed ones beyond all buckets. */
  private void add(String application, String operation, String kind, int calls, int errors) {
    long[] counts = new long[17];
    counts[0] = calls;
    Histories.add(factory.made.history, NOW - MINUTE, application, operation, kind, false, counts);
    counts[0] = 0;
    counts[16] = errors;
    Histories.add(factory.made.history, NOW - MINUTE, application, operation, kind, true, counts);
  }

  private void add(String application, int calls, int errors) {
    add(application, "GET /", "SPAN_KIND_SERVER", calls, errors);
  }

  private List<String> applications(String query) throws Exception {
    return names(json("/api/applications?" + query), "applications", "application");
  }

  private static List<String> names(JsonNode answer, String list, String name) {
    return answer.get(list).valueStream().map(one -> one.get(name).asString()).toList();
  }

  @Test
  void applicationsAreSearchedFilteredSortedAndPaged() throws Exception {
    String examples =
        """
                                     | busy,Shop,cart,idle
        sort=calls&order=asc         | idle,cart,Shop,busy
        sort=errors                  | Shop,busy,cart,idle
        sort=error-ratio             | Shop,busy,cart,idle
        sort=error-ratio&order=asc   | cart,busy,Shop,idle
        sort=p99                     | Shop,busy,cart,idle
        sort=p50&order=asc           | cart,busy,Shop,idle
        sort=name                    | Shop,busy,cart,idle
        sort=name&order=desc         | idle,cart,busy,Shop
        search=sHo                   | Shop
        filter=failing               | busy,Shop
        filter=slow                  | busy,Shop
        limit=2&offset=1             | Shop,cart
        offset=4                     |
        search=&sort=                | busy,Shop,cart,idle
        """;
    add("Shop", 1, 5);
    add("cart", 4, 0);
    add("busy", 90, 2);
    Histories.add(
        factory.made.history, NOW - 40 * MINUTE, "idle", "GET /", "SPAN_KIND_SERVER", false, 7);

    for (String example : examples.split("\n", -1)) {
      String[] parts = (example + " ").split("\\|", -1);
      if (parts.length == 2) {
        assertThat(String.join(",", applications(parts[0].strip())))
            .as(example)
            .isEqualTo(parts[1].strip());
      }
    }
  }

  @Test
  void objectivesShowHowFastTheirBudgetsBurn() throws Exception {
    add("shop", 3, 1);
    Histories.addEvents(factory.made.history, NOW - MINUTE, "shop", "fast", 4);
    Histories.addEvents(factory.made.history, NOW - 30 * MINUTE, "shop", "fast", 6);
    Histories.addEvents(factory.made.history, NOW - MINUTE, "shop", "of earlier rules", 5);

    JsonNode answer = json("/api/objectives?application=shop");

    assertThat(names(answer, "objectives", "name")).containsExactly("fast", "unused");
    assertThat(answer.get("observedSeconds").asInt()).isEqualTo(30 * 60);
    JsonNode fast = answer.at("/objectives/0");
    assertThat(fast.get("events").asInt()).isEqualTo(10);
    assertThat(fast.get("good").asDouble()).isEqualTo(2);
    assertThat(fast.get("burnRate").asDouble()).as("0.8 of 0.01").isCloseTo(80, within(1e-9));
    assertThat(fast.get("recentBurnRate").asDouble()).isCloseTo(75, within(1e-9));
    assertThat(fast.get("budgetSpent").asDouble())
        .as("half an hour of 30 days")
        .isCloseTo(80 * 0.5 / 24 / 30, within(1e-9));
    assertThat(answer.at("/objectives/1/events").asInt()).isZero();
    assertThat(answer.at("/objectives/1/burnRate").isNull()).isTrue();

    assertThat(names(json("/api/operations?application=shop"), "operations", "operation"))
        .as("objectives are no operations")
        .containsExactly("GET /");
    assertThat(json("/api/applications").at("/applications/0/calls").asInt()).isEqualTo(4);
  }

  @Test
  void completenessNamesTheAgentsThatHoldItBack() throws Exception {
    factory.made.completeness.window(
        new RowlessWindow(A, 0, 10, NOW - 15_000, NOW)
            .books(List.of(new Books("shop", 5, 5, 0, 0, 0, Map.of(), 0)))
            .completeness(
                new WindowCompleteness(
                    NOW - 60_000,
                    NOW,
                    List.of(
                        new WindowCompleteness.Agent(false, 1, 2, "web-1\u0000"),
                        new WindowCompleteness.Agent(true, 3, 4, "")),
                    7))
            .seal());
    String until = "'" + HandMadeService.NOW.minusSeconds(60) + "'";
    String named =
        "'completeUntil':"
            + until
            + ",'heldBackBy':[{'host':'web-1\\u0000',"
            + "'agent':'00000000-0000-0001-0000-000000000002'}],"
            + "'excluded':[{'host':'','agent':'00000000-0000-0003-0000-000000000004'}]}]";

    assertThat(json("/api/completeness").toString().replace('"', '\''))
        .isEqualTo(
            "{'upToDate':true,'applications':[{'application':'shop',"
                + named
                + ",'queues':[{'queue':'a/0',"
                + named.replace(until, until + ",'agents':7")
                + "}");
    assertThat(json("/api/completeness?application=cart").get("applications")).isEmpty();
    assertThat(json("/api/completeness?application=shop").get("applications")).hasSize(1);
    assertThat(get("/api/completeness?limit=0").statusCode()).isEqualTo(400);
  }

  @Test
  void pageReturnsTotalAndMatchingCounts() throws Exception {
    add("Shop", 1, 5);
    add("cart", 4, 0);

    JsonNode answer = json("/api/applications?filter=failing&limit=1&offset=1");

    assertThat(answer.get("total").asInt()).isEqualTo(2);
    assertThat(answer.get("matching").asInt()).isEqualTo(1);
    assertThat(answer.get("applications")).isEmpty();
  }

  @Test
  void sparkHasSixtyCompleteMinutes() throws Exception {
    add("shop", 3, 2);
    Histories.add(
        factory.made.history, NOW - 60 * MINUTE, "shop", "GET /", "SPAN_KIND_SERVER", false, 7);
    Histories.add(factory.made.history, NOW, "shop", "GET /", "SPAN_KIND_SERVER", false, 1_000);

    JsonNode spark = json("/api/applications?spark=true").at("/applications/0/spark");

    assertThat(spark.get("calls")).hasSize(60);
    assertThat(spark.get("calls").get(0).asLong()).isEqualTo(7);
    assertThat(spark.get("calls").get(59).asLong()).isEqualTo(5);
    assertThat(spark.get("errors").get(59).asLong()).isEqualTo(2);
    assertThat(json("/api/applications").at("/applications/0/spark").isMissingNode()).isTrue();
  }

  @Test
  void servicesAreListedByTheirEdges() throws Exception {
    JsonNode answer = json("/api/services?application=shop&steps=&connection=&search=&sort=calls");

    assertThat(names(answer, "edges", "client")).containsExactly("shop", "user");
    assertThat(answer.at("/edges/0").toString().replace('"', '\''))
        .startsWith(
            "{'client':'shop','server':'pay','connection':null,'calls':60,'errors':15,"
                + "'callsPerSecond':0.2,'errorsPerSecond':0.05,'errorRatio':0.25,"
                + "'clientMs':{'p50Millis':55.0,");
    assertThat(answer.at("/edges/1/clientMs").isNull()).isTrue();
    assertThat(answer.get("services").toString().replace('"', '\''))
        .isEqualTo(
            "[{'name':'pay','unpairedClients':0.0,'unpairedServers':0.0,'paired':1.0},"
                + "{'name':'shop','unpairedClients':0.05,'unpairedServers':0.0,'paired':0.8}]");
    assertThat(answer.get("total").asInt()).isEqualTo(4);
    assertThat(answer.get("matching").asInt()).isEqualTo(2);
    assertThat(json("/api/services?search=user").at("/edges/0/server").asString())
        .isEqualTo("shop");
    for (String wrong :
        List.of(
            "minutes=60",
            "steps=1",
            "application=shop&steps=3",
            "connection=call",
            "sort=p50",
            "limit=5001",
            "offset=-1",
            "page=1")) {
      assertThat(get("/api/services?" + wrong).statusCode()).as(wrong).isEqualTo(400);
    }
  }

  @Test
  void calleesThatGrewAreListed() throws Exception {
    JsonNode answer = json("/api/services/growth?application=shop&sort=errors");

    assertThat(names(answer, "callees", "server")).containsExactly("pay");
    JsonNode pay = answer.at("/callees/0");
    assertThat(pay.get("baselineErrorRatio").asDouble()).isEqualTo(5 / 60.0);
    assertThat(pay.get("errorRatio").asDouble()).isEqualTo(0.25);
    for (String wrong : List.of("", "application=shop&sort=p95", "application=shop&from=x")) {
      assertThat(get("/api/services/growth?" + wrong).statusCode()).as(wrong).isEqualTo(400);
    }
  }

  @Test
  void operationsAreListedByKind() throws Exception {
    add("shop", "GET /", "SPAN_KIND_SERVER", 6, 0);
    add("shop", "GET /", "SPAN_KIND_CLIENT", 60, 6);
    add("cart", "GET /other", "SPAN_KIND_SERVER", 1, 0);

    JsonNode answer = json("/api/operations?application=shop&minutes=1");

    assertThat(answer.get("application").asString()).isEqualTo("shop");
    assertThat(names(answer, "operations", "operation")).containsExactly("GET /", "GET /");
    assertThat(names(answer, "operations", "kind"))
        .containsExactly("SPAN_KIND_CLIENT", "SPAN_KIND_SERVER");
    assertThat(answer.at("/operations/0/callsPerSecond").asDouble()).isEqualTo(1.1);
    assertThat(answer.at("/operations/0/errors").asLong()).isEqualTo(6);
    assertThat(get("/api/operations?application=nobody").statusCode()).isEqualTo(404);
  }

  @Test
  void operationHasAHistoryWithBuckets() throws Exception {
    String hostile = "\u0416".repeat(9_000) + "<script>\u202e\"&=;%\u0000";
    add("shop", hostile, "SPAN_KIND_SERVER", 6, 3);
    add("shop", 100, 0);
    String path =
        "/api/history?application=shop&kind=SPAN_KIND_SERVER&buckets=true&minutes=2&operation="
            + URLEncoder.encode(hostile, UTF_8);

    JsonNode answer = json(path);

    assertThat(answer.get("operation").asString()).isEqualTo(hostile);
    assertThat(answer.get("boundsMillis")).hasSize(16);
    JsonNode minute = answer.at("/minutes/0");
    assertThat(minute.get("calls").asLong()).isEqualTo(9);
    assertThat(minute.get("buckets")).hasSize(17);
    assertThat(minute.at("/buckets/0").asLong()).isEqualTo(6);
    assertThat(minute.at("/buckets/16").asLong()).isEqualTo(3);
    assertThat(json("/api/history?application=shop").at("/minutes/58/buckets").isMissingNode())
        .isTrue();
  }

  @Test
  void unchangedAnswersAre304() throws Exception {
    add("shop", 1, 0);
    for (String path :
        List.of(
            "applications",
            "operations?application=shop",
            "history?application=shop",
            "books",
            "agents",
            "queues")) {
      HttpResponse<byte[]> first = get("/api/" + path);
      String etag = header(first, "ETag");
      assertThat(etag).as(path).startsWith("W/\"");
      assertThat(header(first, "Cache-Control")).startsWith("private, max-age=");

      HttpResponse<byte[]> same = get("/api/" + path, "If-None-Match", "\"x\", " + etag);

      assertThat(same.statusCode()).isEqualTo(304);
      assertThat(same.body()).isEmpty();
      assertThat(header(same, "ETag")).isEqualTo(etag);
    }
    String before = header(get("/api/applications"), "ETag");
    add("shop", 1, 0);
    assertThat(get("/api/applications", "If-None-Match", before).statusCode()).isEqualTo(200);
  }

  @Test
  void otherMethodsAreRefused() throws Exception {
    for (String method : List.of("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "QUERY")) {
      HttpResponse<byte[]> response = send(method, "/api/applications");

      assertThat(response.statusCode()).isEqualTo(405);
      assertThat(header(response, "Allow")).isEqualTo("GET, HEAD");
      assertThat(header(response, "Content-Type")).isEqualTo("application/problem+json");
    }
  }

  @Test
  void controlCharactersAreRefusedInParametersAndHeaders() throws Exception {
    HttpResponse<byte[]> parameter = get("/api/agents?%C2%94%01=1");
    assertThat(parameter.statusCode()).isEqualTo(400);
    assertThat(header(parameter, "Content-Type")).isEqualTo("application/problem+json");
    assertThat(new String(parameter.body(), UTF_8)).contains("is not a parameter");

    try (var socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      socket
          .getOutputStream()
          .write(
              "GET /api/agents HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: \u0085\r\nConnection: close\r\n\r\n"
                  .getBytes(ISO_8859_1));
      assertThat(new String(socket.getInputStream().readAllBytes(), UTF_8))
          .startsWith("HTTP/1.1 400 ")
          .contains("a header contains characters");
    }
  }

  @Test
  void headAnswersWithoutABody() throws Exception {
    HttpResponse<byte[]> response = send("HEAD", "/api/applications");

    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(header(response, "Content-Type")).isEqualTo("application/json");
    assertThat(response.body()).isEmpty();
  }

  @Test
  void errorsAreExplained() throws Exception {
    String examples =
        """
        nothing                                  | 404 | /api/nothing: is not a path of the API
        applications/                            | 404 | is not a path
        operations                               | 400 | application: must be given
        history?application=a&operation=b        | 400 | operation = b: requires parameter kind
        history?application=a&kind=b             | 400 | kind = b: requires parameter operation
        applications?spark=yes                   | 400 | spark = yes: must be one of false, true
        applications?offset=-1                   | 400 | offset = -1: must be a number from 0
        applications?sort=rate                   | 400 | sort = rate: must be one of calls, errors
        applications?search=%FF                  | 400 | UTF-8
        books?minutes=61                         | 400 | minutes = 61: must be a number from 1 to 60
        agents?search=a                          | 400 | search: is not a parameter
        queues?limit=1                           | 400 | limit: is not a parameter
        traces?format=xml                        | 400 | format = xml: must be one of json, csv
        """;

    for (String example : examples.strip().split("\n", -1)) {
      String[] parts = example.split("\\|", -1);
      HttpResponse<byte[]> response = get("/api/" + parts[0].strip());

      assertThat(header(response, "Content-Type")).isEqualTo("application/problem+json");
      assertThat(new String(response.body(), UTF_8)).contains(parts[2].strip());
      assertThat(response.statusCode()).isEqualTo(Integer.parseInt(parts[1].strip()));
      assertThat(header(response, "ETag")).isEmpty();
    }
  }

  /**
   * An IllegalArgumentException that no parameter causes, such as for a document of another tool.
   */
  @Test
  void faultOfTheServerIsLoggedAndAnswered500() throws Exception {
    factory.made.index.fault = new IllegalArgumentException("reason = secret: is not a reason");

    var logger = (Logger) LoggerFactory.getLogger(ApiProblems.class);
    var logged = new ListAppender<ILoggingEvent>();
    logged.start();
    logger.addAppender(logged);

    HttpResponse<byte[]> response = get("/api/traces");

    logger.detachAppender(logged);
    assertThat(response.statusCode()).isEqualTo(500);
    assertThat(header(response, "Content-Type")).isEqualTo("application/problem+json");
    assertThat(new String(response.body(), UTF_8))
        .contains("an internal error occurred")
        .doesNotContain("secret");
    assertThat(logged.list)
        .singleElement()
        .satisfies(event -> {
          assertThat(event.getFormattedMessage())
              .isEqualTo("Failed to answer /api/traces because of an internal error");
          assertThat(event.getThrowableProxy().getMessage()).contains("reason = secret");
        });
  }

  @Test
  void largeAnswersAreCompressedButNotTwice() throws Exception {
    for (int i = 0; i < 100; i++) {
      add("application " + i, 1, 0);
    }
    HttpResponse<byte[]> gzip = get("/api/applications", "Accept-Encoding", "gzip");

    assertThat(header(gzip, "Content-Encoding")).isEqualTo("gzip");
    assertThat(header(gzip, "Vary")).containsIgnoringCase("accept-encoding");
    try (var in = new GZIPInputStream(new ByteArrayInputStream(gzip.body()))) {
      assertThat(new JsonMapper().readTree(in).get("total").asInt()).isEqualTo(100);
    }
    assertThat(gzip.body().length).isLessThan(get("/api/applications").body().length / 4);
    HttpResponse<byte[]> metrics = get("/metrics", "Accept-Encoding", "gzip");
    try (var in = new GZIPInputStream(new ByteArrayInputStream(metrics.body()))) {
      assertThat(new String(in.readAllBytes(), UTF_8)).startsWith("# HELP");
    }
  }

  @Test
  void booksListApplicationsWithMostOverflowFirst() throws Exception {
    Histories.add(
        factory.made.history,
        A,
        NOW,
        List.of(
            new Books("big", 102, 90, 0, 4, 5, Map.of("malformed", 1L, "of later", 2L), 2),
            new Books("crowded", 20, 10, 10, 0, 0, Map.of(), 0)),
        AcceptedBatches.NONE);
    Histories.add(
        factory.made.history,
        B,
        NOW - 10 * MINUTE,
        List.of(new Books("crowded", 1, 1, 0, 0, 0, Map.of(), 0)),
        AcceptedBatches.NONE);

    JsonNode answer = json("/api/books");

    assertThat(answer.get("fleet").toString())
        .isEqualTo(
            "{\"received\":122,\"recorded\":100,\"overflowed\":10,\"filtered\":4,"
                + "\"duplicate\":5,\"rejected\":{\"malformed\":1,\"other\":2},\"heldBack\":2}");
    assertThat(names(answer, "applications", "application")).containsExactly("crowded", "big");
    assertThat(answer.get("total").asInt()).isEqualTo(2);
    assertThat(json("/api/books?minutes=60").at("/fleet/received").asLong()).isEqualTo(123);
    assertThat(names(json("/api/books?search=BI"), "applications", "application"))
        .containsExactly("big");
  }

  @Test
  void agentsAreListedOldestFirst() throws Exception {
    Histories.add(
        factory.made.history, A, NOW, List.of(), batches(1, 7, 2, 5, 8), batches(2, 9, 1, 0, 0));
    Histories.add(factory.made.history, B, NOW - 5 * MINUTE, List.of(), batches(2, 9, 1, 0, 1));
    Histories.add(factory.made.history, B, NOW - 6 * MINUTE, List.of(), batches(3, 3, 9, 4, 4));

    JsonNode answer = json("/api/agents");

    assertThat(answer.get("total").asInt()).isEqualTo(3);
    assertThat(answer.get("leftOut").asBoolean()).isFalse();
    assertThat(names(answer, "agents", "agent"))
        .containsExactly(
            "00000000-0000-0003-0000-000000000003",
            "00000000-0000-0001-0000-000000000007",
            "00000000-0000-0002-0000-000000000009");
    assertThat(answer.at("/agents/0/started").isNull()).isTrue();
    assertThat(answer.at("/agents/1/batches").asLong()).isEqualTo(4);
    assertThat(answer.at("/agents/2/batches").asLong()).isEqualTo(3);
    assertThat(answer.at("/agents/2/queues").asInt()).isEqualTo(2);
    assertThat(answer.at("/agents/2/started").asString()).isEqualTo("2026-11-20T23:56:15Z");
    assertThat(answer.at("/agents/2/lastSeen").asString()).isEqualTo("2026-11-21T00:01:30Z");
    assertThat(names(json("/api/agents?limit=1&offset=1"), "agents", "agent"))
        .containsExactly("00000000-0000-0001-0000-000000000007");
  }

  private static AcceptedBatches batches(long... run) {
    return new AcceptedBatches(run);
  }

  @Test
  void queuesCombineJournalAndBrokers() throws Exception {
    Histories.add(
        factory.made.history,
        A,
        NOW - MINUTE,
        List.of(new Books("shop", 600, 600, 0, 0, 0, Map.of(), 0)),
        AcceptedBatches.NONE);
    factory.made.queues =
        new KnownQueues(
            List.of(new QueueStatus(A, 9, 8, 12, 5, 6, 7, 0)),
            new QueueWatch.Seen(
                Map.of(A, 11L, B, 3L), Map.of(B, new Endpoint(false, "10.0.0.2", 80)), Set.of()),
            Set.of(B),
            50);

    JsonNode answer = json("/api/queues");

    assertThat(answer.toString())
        .isEqualTo(
            ("{'upToDate':false,'series':5,'maxSeries':50,'queues':["
                    + "{'queue':'a/0','owner':null,'own':true,'spansPerSecond':2.0,"
                    + "'applications':1,'lastWindow':'2026-11-21T00:00:30Z','offset':10,'end':12,"
                    + "'lagMessages':2,'growing':false,'series':5,'agents':7},"
                    + "{'queue':'b/3','owner':'10.0.0.2:80','own':false,'spansPerSecond':0.0,"
                    + "'applications':0,'lastWindow':null,'offset':null,'end':3,"
                    + "'lagMessages':null,'growing':true,'series':null,'agents':null}]}")
                .replace('\'', '"'));
  }

  @Test
  void csvOfTracesContainsNoFormulas() throws Exception {
    TraceDocument document =
        new TraceDocument(
            "0af7651916cd43dd8448eb211c80319c",
            "b7ad6b7169203331",
            "=cmd|' /C calc'!A0",
            "GET \"/cart\",\r\nx",
            2,
            2,
            "@sum(1)",
            1_700_000_000_123_456_789L,
            12_345_678,
            TraceDocument.Reason.ERROR,
            Map.of());
    Cursor next = new Cursor(1, document.traceId(), document.spanId());
    factory.made.index.answer = new TracePage(List.of(document), next);

    HttpResponse<byte[]> response = get("/api/traces?format=csv&limit=1&application=a%26b");

    assertThat(header(response, "Content-Type")).startsWith("text/csv").contains("charset=utf-8");
    assertThat(new String(response.body(), UTF_8))
        .isEqualTo(
            "traceId,spanId,application,operation,kind,status,statusMessage,start,durationMillis,"
                + "reason\r\n0af7651916cd43dd8448eb211c80319c,b7ad6b7169203331,"
                + "'=cmd|' /C calc'!A0,\"GET \"\"/cart\"\",\r\nx\",SERVER,ERROR,'@sum(1),"
                + "2023-11-14T22:13:20.123456789Z,12.345678,error\r\n");
    assertThat(header(response, "Link"))
        .isEqualTo(
            "</api/traces?application=a%26b&cursor="
                + next.toText()
                + "&format=csv&limit=1>; rel=\"next\"");
    factory.made.index.answer = new TracePage(Arrays.asList(document), null);
    assertThat(header(get("/api/traces?format=csv"), "Link")).isEmpty();
  }

  @Test
  void disabledHotspotsAreAnsweredWithThatState() throws Exception {
    factory.made.hotspots = null;

    assertThat(json("/api/hotspots").toString())
        .isEqualTo("{\"state\":\"disabled\",\"applications\":[],\"behind\":[]}");
  }

  @Test
  void demandIsListedByConfiguration() throws Exception {
    factory.made.demand =
        new Demand(
            9,
            1_795_255_000_000L,
            Map.of(
                "ff00",
                new Part(1_795_255_030_000L, 7, true, 1_000, List.of(), List.of(), 0, List.of()),
                "0a1b",
                new Part(
                    1_795_255_000_000L,
                    5,
                    false,
                    15_000,
                    List.of("http.route"),
                    List.of(
                        new SlowRule("shop-*", 1 << 2 | 1 << 3, 250_000_000),
                        new SlowRule("*", 0, 2_000_000_000)),
                    1_500_000_000,
                    List.of("audit"),
                    Demand.BUNDLES
                        | Demand.PANES
                        | Demand.HEARTBEATS
                        | Demand.OPEN_PANES
                        | Demand.SIZES
                        | Demand.EDGES
                        | Demand.LABELS,
                    List.of("service.namespace"),
                    List.of(new KeyRule("shop-*", 1)))));

    assertThat(json("/api/demand").toString())
        .isEqualTo(
            ("{'state':'published','version':7,'epoch':9,'decided':'2026-11-21T09:56:40Z','parts':["
                    + "{'fingerprint':'0a1b','own':true,'seen':'2026-11-21T09:56:40Z','version':5,"
                    + "'everything':false,'exemplarIntervalSeconds':15.0,'spanKeys':['http.route'],"
                    + "'slow':[{'application':'shop-*','kinds':['SERVER','CLIENT'],'seconds':0.25},"
                    + "{'application':'*','kinds':[],'seconds':2.0}],'slowOtherwiseSeconds':1.5,"
                    + "'full':['audit'],'bundles':true,'panes':true,'heartbeats':true,'openPanes':true,"
                    + "'sizes':true,'edges':true,'labels':true,'forms':false,'variances':false,'edgeKeys':['service.namespace'],"
                    + "'keysOfApplications':[{'application':'shop-*','keys':['http.route']}]},"
                    + "{'fingerprint':'ff00','own':false,'seen':'2026-11-21T09:57:10Z','version':7,"
                    + "'everything':true,'exemplarIntervalSeconds':1.0,'spanKeys':[],'slow':[],"
                    + "'slowOtherwiseSeconds':0.0,'full':[],'bundles':false,'panes':false,"
                    + "'heartbeats':false,'openPanes':false,'sizes':false,'edges':false,'labels':false,"
                    + "'forms':false,'variances':false,'edgeKeys':[],'keysOfApplications':[]}]}")
                .replace('\'', '"'));
  }

  @Test
  void absentAndDisabledDemandsAreAnsweredWithThatState() throws Exception {
    assertThat(json("/api/demand").toString())
        .isEqualTo("{\"state\":\"none\",\"version\":0,\"epoch\":0,\"decided\":null,\"parts\":[]}");
    factory.made.demand = null;
    assertThat(json("/api/demand").get("state").asText()).isEqualTo("disabled");
  }

  @Test
  void rulesAreListedByApplication() throws Exception {
    assertThat(json("/api/rules").toString())
        .isEqualTo(
            ("{'source':'configuration','revision':0,'published':null,'waits':null,'file':null,"
                    + "'applications':[{'application':'*','slowerThanSeconds':1.0,'thresholds':["
                    + "{'application':'shop-*','kinds':['CONSUMER'],'slowerThanSeconds':30.0}],"
                    + "'dimensions':[{'attribute':'cloud.region','label':'region','from':"
                    + "'resource'}],'templates':[{'application':'*','pattern':'job .*',"
                    + "'template':'job'}],'histogram':{'kind':'classic','boundsMillis':[2.0,4.0,6.0,"
                    + "8.0,10.0,50.0,100.0,200.0,400.0,800.0,1000.0,1400.0,2000.0,5000.0,10000.0,"
                    + "15000.0],'nativeSchema':null,'unit':'seconds'},'measures':[],'objectives':[]}]}")
                .replace('\'', '"'));
  }
}
