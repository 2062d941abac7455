package org.traceetl.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.dialect.Dialects;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.traceetl.proto.Demand;
import org.traceetl.proto.Demand.Part;
import org.traceetl.proto.Demand.SlowRule;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.NameRule;
import org.traceetl.proto.NameRules;
import org.traceetl.server.features.history.Histories;
import org.traceetl.server.features.hotspot.Hotspots;
import org.traceetl.server.features.index.Cursor;
import org.traceetl.server.features.index.TracePage;
import org.traceetl.server.queues.KnownQueues;
import org.traceetl.server.queues.QueueStatus;
import org.traceetl.server.queues.QueueWatch;
import org.traceetl.server.rocketmq.Endpoint;
import org.traceetl.server.series.Cardinality;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.RowlessWindow;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.WindowCompleteness;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** What the document says of the API, held to real answers: every path of it, whoever wrote it. */
class OpenApiTest {
  private static final long NOW = HandMadeService.NOW.toEpochMilli();
  private static final String DOCUMENT = "https://trace-etl.invalid/openapi.yaml";
  private static final HandMadeService.Factory FACTORY = new HandMadeService.Factory();
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  /** Parameters that a path needs to answer, and others that make it say more. */
  private static final Map<String, List<String>> QUESTIONS =
      Map.ofEntries(
          Map.entry("/api/applications", List.of("spark=true", "minutes=59&sort=p99&limit=1")),
          Map.entry("/api/operations", List.of("application=shop")),
          Map.entry("/api/objectives", List.of("application=shop", "application=unknown")),
          Map.entry(
              "/api/history",
              List.of(
                  "application=shop",
                  "application=shop&operation=GET%20/&kind=SPAN_KIND_SERVER&buckets=true")),
          Map.entry(
              "/api/services",
              List.of("", "application=shop&steps=2&connection=none&sort=p95&order=asc")),
          Map.entry(
              "/api/services/growth",
              List.of("application=shop&sort=errors&limit=5", "application=none")),
          Map.entry("/api/traces", List.of("", "format=csv")),
          Map.entry("/api/deploys", List.of("", "application=shop")),
          Map.entry("/api/books", List.of("", "minutes=60&search=s")),
          Map.entry("/api/preview", List.of("application=shop&since=6h")),
          Map.entry(
              "/api/why",
              List.of(
                  "application=shop&failed=true",
                  "application=shop&slowerThan=1s&kind=server&operation=GET%20/cart",
                  "application=shop&baseline=1h&from=2026-11-30T10:00:00Z&to=2026-11-30T10:10:00Z")));

  private static WebServer server;
  private static JsonNode document;

  @BeforeAll
  static void start() throws Exception {
    try (InputStream in = OpenApiTest.class.getResourceAsStream("/static/openapi.yaml")) {
      document = new YAMLMapper().readTree(in);
    }
    server = WebServer.start(List.of(), Map.of("server.port", 0), false, FACTORY);
    fill(FACTORY.made);
    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> FACTORY.made.fleet.servers().isPresent());
  }

  @AfterAll
  static void close() {
    server.close();
    CLIENT.close();
  }

  /** Something everywhere: an empty list fits every schema. */
  private static void fill(HandMadeService service) {
    QueueId queue = new QueueId("broker-a", 0);
    long[] counts = new long[17];
    counts[3] = 5;
    Histories.upToDate(service.history);
    Histories.add(service.history, NOW - 60_000, "shop", true, counts);
    Histories.add(service.history, NOW - 60_000, "quiet", false, new long[17]);
    Histories.addEvents(service.history, NOW - 60_000, "shop", "fast", 4);
    Histories.add(
        service.history,
        queue,
        NOW,
        List.of(
            new Books("shop", 9, 5, 1, 1, 1, Map.of("malformed", 1L), 1),
            new Books("", 1, 0, 0, 0, 0, Map.of("malformed", 1L), 0)),
        new AcceptedBatches(new long[] {1, 2, 3, 0, 5}),
        new AcceptedBatches(new long[] {2, 2, 3, 4, 5}));
    QueueId other = new QueueId("broker-b", 1);
    service.queues =
        new KnownQueues(
            List.of(new QueueStatus(queue, 9, 8, 12, 5, 6, 7, 0)),
            new QueueWatch.Seen(
                Map.of(queue, 11L, other, 3L),
                Map.of(other, new Endpoint(true, "::1", 80)),
                Set.of()),
            Set.of(other),
            50);
    service.hotspots =
        new Hotspots(
            Hotspots.State.DECIDER,
            7,
            NOW,
            8,
            NOW,
            1.25,
            List.of(
                new Hotspots.Application("hot", 9, 0.9, 8, 7, 5, false, NOW, false, true, 1),
                new Hotspots.Application("other", 1, 0.1, 2, 2, 5, true, 0, true, false, 0)),
            List.of(
                new Hotspots.Queue(queue, 15, 12, 4, 12.5, true),
                new Hotspots.Queue(other, 0, 0, 1, Double.NaN, false)));
    service.metrics.crowded(
        queue,
        new Cardinality(
            "crowded",
            "max-per-application",
            100,
            99,
            7,
            3,
            List.of(new Cardinality.Dimension("span_name", 50, List.of("a", "b"))),
            0));
    service.learnt =
        new LearntNames(
            7, 1, Map.of("shop", new NameRules(List.of(new NameRule("/users/", 1, 501, 0)))));
    service.completeness.window(
        new RowlessWindow(queue, 0, 10, NOW - 15_000, NOW)
            .books(List.of(new Books("shop", 5, 5, 0, 0, 0, Map.of(), 0)))
            .completeness(
                new WindowCompleteness(
                    NOW - 60_000,
                    NOW,
                    List.of(
                        new WindowCompleteness.Agent(false, 1, 2, "web-1"),
                        new WindowCompleteness.Agent(true, 3, 4, "")),
                    7))
            .seal());
    service.completeness.window(
        new RowlessWindow(other, 0, 10, NOW - 15_000, NOW)
            .books(List.of(new Books("quiet", 5, 5, 0, 0, 0, Map.of(), 0)))
            .seal());
    service.demand =
        new Demand(
            7,
            NOW,
            Map.of(
                "0a1b",
                new Part(
                    NOW,
                    7,
                    false,
                    15_000,
                    List.of("http.route"),
                    List.of(new SlowRule("shop-*", 1 << 2, 250_000_000)),
                    1_000_000_000,
                    List.of("audit"))));
    TraceDocument trace =
        new TraceDocument(
            "0af7651916cd43dd8448eb211c80319c",
            "b7ad6b7169203331",
            "shop",
            "GET /cart",
            2,
            2,
            null,
            1_700_000_000_123_456_789L,
            12_345_678,
            TraceDocument.Reason.EXEMPLAR,
            Map.of("http.route", "/cart"));
    service.index.answer =
        new TracePage(List.of(trace), new Cursor(1, trace.traceId(), trace.spanId()));
  }

  private static HttpResponse<String> ask(String path, String query) throws Exception {
    URI uri = URI.create("http://localhost:" + server.port() + query);
    HttpRequest.Builder request = HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(60));
    if (method(path).equals("post")) {
      request
          .header("Content-Type", "application/yaml")
          .POST(HttpRequest.BodyPublishers.ofString("revision: 1"));
    }
    return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  /** Returns the one method of a path. */
  private static String method(String path) {
    return paths().get(path).has("post") ? "post" : "get";
  }

  /** The schema at a place of the document, by JSON pointer. */
  private static Schema schema(String pointer) {
    SchemaRegistry registry =
        SchemaRegistry.withDefaultDialect(
            Dialects.getOpenApi31(),
            builder ->
                builder.schemas(
                    Map.of(DOCUMENT, JsonMapper.shared().writeValueAsString(document))));
    return registry.getSchema(SchemaLocation.of(DOCUMENT + "#" + pointer));
  }

  private static void assertFits(HttpResponse<String> response, String pointer) {
    List<com.networknt.schema.Error> errors =
        schema(pointer)
            .validate(
                response.body(),
                InputFormat.JSON,
                execution ->
                    execution.executionConfig(config -> config.formatAssertionsEnabled(true)));
    assertThat(errors).as(response.uri() + " answers " + response.body()).isEmpty();
  }

  private static String escaped(String key) {
    return key.replace("~", "~0").replace("/", "~1");
  }

  @TestFactory
  List<DynamicTest> everyPathAnswersAsItIsDescribed() {
    List<DynamicTest> tests = new ArrayList<>();
    for (String path : new TreeMap<>(paths()).keySet()) {
      for (String question : QUESTIONS.getOrDefault(path, List.of(""))) {
        String asked = question.isEmpty() ? path : path + "?" + question;
        tests.add(DynamicTest.dynamicTest(asked, () -> assertAnswers(path, asked)));
      }
    }
    assertThat(tests).hasSizeGreaterThan(10);
    return tests;
  }

  private static Map<String, JsonNode> paths() {
    Map<String, JsonNode> paths = new TreeMap<>();
    document.get("paths").forEachEntry(paths::put);
    return paths;
  }

  private static void assertAnswers(String path, String asked) throws Exception {
    HttpResponse<String> response = ask(path, asked);

    assertThat(response.statusCode()).as(asked + ": " + response.body()).isEqualTo(200);
    String type = response.headers().firstValue("Content-Type").orElse("").replaceAll(";.*", "");
    String pointer = "/paths/" + escaped(path) + "/" + method(path) + "/responses/200/content";
    assertThat(document.at(pointer).has(type)).as(type + " of " + path).isTrue();
    if (type.equals("application/json")) {
      assertFits(response, pointer + "/application~1json/schema");
    }
  }

  @Test
  void everyRefusalIsAProblem() throws Exception {
    for (String path : paths().keySet()) {
      HttpResponse<String> response = ask(path, path + "?no-such-parameter=1");

      assertThat(response.statusCode()).as(path).isEqualTo(400);
      assertThat(response.headers().firstValue("Content-Type"))
          .as(path)
          .contains("application/problem+json");
      assertFits(
          response, "/components/responses/Problem/content/application~1problem+json/schema");
    }
  }

  @Test
  void wrongAnswersAreFound() {
    assertThat(
            schema("/components/schemas/Applications")
                .validate(
                    "{\"upToDate\":true,\"minutes\":1,\"total\":1,\"matching\":1,"
                        + "\"applications\":[{\"application\":7}]}",
                    InputFormat.JSON))
        .isNotEmpty();
  }
}
