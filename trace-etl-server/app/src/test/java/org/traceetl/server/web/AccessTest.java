package org.traceetl.server.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.common.hash.Hashing;
import jakarta.servlet.ServletContext;
import jakarta.servlet.http.HttpServlet;
import java.lang.reflect.Field;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.annotation.ClassPathScanningCandidateComponentProvider;
import org.springframework.core.type.filter.AnnotationTypeFilter;
import org.springframework.core.type.filter.AssignableTypeFilter;
import org.springframework.security.crypto.bcrypt.BCryptPasswordEncoder;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;
import org.traceetl.common.Clocks;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.NameRule;
import org.traceetl.proto.NameRules;
import org.traceetl.server.binding.AccessFile;
import org.traceetl.server.binding.ConfigurationRefused;
import org.traceetl.server.config.WebConfig.SignIn;
import org.traceetl.server.features.history.Histories;
import org.traceetl.server.features.index.Cursor;
import org.traceetl.server.features.index.TracePage;
import org.traceetl.server.http.AccessPolicy;
import org.traceetl.server.http.ByApplication;
import org.traceetl.server.series.Cardinality;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.RowlessWindow;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowPanes;

/**
 * What a tenant sees of others: nothing. Each path is asked on a server that has data of the tenant
 * only, and on one that has data of another tenant as well. Both answer the same, with the same
 * status and headers. A path that no list here has fails a test.
 */
class AccessTest {
  private static final long NOW = HandMadeService.NOW.toEpochMilli();
  private static final long MINUTE = 60_000;
  private static final QueueId QUEUE = new QueueId("broker-a", 0);

  /** The other tenant's application, and what only it has. */
  private static final String OTHER = "other-bank";

  private static final String SHOP_TOKEN = "shop's token";
  private static final String ALL_TOKEN = "operators' token";

  /** Questions to the paths that answer by application. */
  private static final Map<String, List<String>> BY_APPLICATION =
      Map.ofEntries(
          Map.entry(
              "/api/applications",
              List.of(
                  "",
                  "minutes=59&spark=true",
                  "search=bank",
                  "search=o",
                  "filter=failing&sort=calls&order=desc",
                  "filter=slow",
                  "limit=1",
                  "limit=1&offset=1")),
          Map.entry(
              "/api/operations",
              List.of("application=shop", "application=" + OTHER, "application=nothing")),
          Map.entry(
              "/api/history",
              List.of(
                  "application=shop&buckets=true",
                  "application=" + OTHER,
                  "application=" + OTHER + "&operation=GET%20/&kind=SPAN_KIND_SERVER")),
          Map.entry("/api/books", List.of("", "search=bank", "limit=1&offset=1")),
          Map.entry(
              "/api/objectives",
              List.of("application=shop", "application=" + OTHER, "application=nothing")),
          Map.entry("/api/deploys", List.of("", "application=" + OTHER)),
          Map.entry(
              "/api/services",
              List.of(
                  "",
                  "search=pay",
                  "search=bank",
                  "application=shop&steps=2",
                  "application=pay",
                  "limit=1&offset=1")),
          Map.entry(
              "/api/services/growth",
              List.of(
                  "application=shop&sort=calls",
                  "application=pay&sort=calls",
                  "application=" + OTHER + "&sort=calls")),
          Map.entry(
              "/api/traces",
              List.of(
                  "",
                  "format=csv",
                  "format=csv&limit=1",
                  "application=shop",
                  "application=" + OTHER,
                  "application=" + OTHER + "&format=csv",
                  "from=2020-01-01T00:00:00Z&to=2030-01-01T00:00:00Z&slices=2")),
          Map.entry("/api/cardinality", List.of("", "limit=1")),
          Map.entry("/api/completeness", List.of("", "limit=1", "application=" + OTHER)),
          Map.entry(
              "/api/why",
              List.of(
                  "application=shop&failed=true",
                  "application=" + OTHER + "&failed=true",
                  "application=nothing&failed=true")),
          Map.entry(
              "/api/usage.csv", List.of("", "from=2026-11-20T23:40:00Z&to=2026-11-20T23:55:00Z")),
          Map.entry("/api/targets", List.of("", "shards=2")),
          Map.entry("/api/status", List.of("")),
          Map.entry("/metrics", List.of("", "shard=0/2", "shard=1/2")));

  /** Paths that show the whole fleet. */
  private static final Set<String> REFUSED =
      Set.of(
          "/api/agents",
          "/api/configuration",
          "/api/demand",
          "/api/hotspots",
          "/api/preview",
          "/api/queues",
          "/api/rules",
          "/api/why/progress");

  /** Paths without data, most of them for all. */
  private static final Set<String> WITHOUT_DATA =
      Set.of(
          "/",
          "/error",
          "/health",
          "/ready",
          "/actuator",
          "/actuator/health",
          "/actuator/health/**",
          "*.jsp",
          "*.jspx");

  /** Servlets that other profiles have at paths of their own. They are closed. */
  private static final Set<String> CLOSED_SERVLETS = Set.of("DeltaServlet", "JvmServlet");

  @TempDir private static Path directory;

  private static final HttpClient CLIENT = HttpClient.newHttpClient();
  private static final HandMadeService.Factory OWN_FACTORY = new HandMadeService.Factory();
  private static final HandMadeService.Factory BOTH_FACTORY = new HandMadeService.Factory();

  /** Has data of the tenant only. */
  private static WebServer own;

  /** Has data of the other tenant, too. */
  private static WebServer both;

  @BeforeAll
  static void start() throws Exception {
    Path tenants = directory.resolve("tenants.yaml");
    Files.writeString(
        tenants,
        """
        tenants:
          - name: shop
            applications: [shop]
            users: [ada]
            tokens-sha256: [%s]
          - name: bank
            applications: ["*-bank"]
          - name: operators
            applications: ["*"]
            users: [root]
            tokens-sha256: [%s]
        """
            .formatted(sha256(SHOP_TOKEN), sha256(ALL_TOKEN)));
    Path users = directory.resolve("users");
    Files.writeString(users, user("ada") + user("root") + user("eve"));
    own = start(tenants, users, OWN_FACTORY);
    both = start(tenants, users, BOTH_FACTORY);
    fill(OWN_FACTORY.made, false);
    fill(BOTH_FACTORY.made, true);
    for (HandMadeService service : List.of(OWN_FACTORY.made, BOTH_FACTORY.made)) {
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> service.fleet.servers().isPresent());
    }
  }

  @AfterAll
  static void close() {
    own.close();
    both.close();
    CLIENT.close();
  }

  private static WebServer start(Path tenants, Path users, HandMadeService.Factory factory) {
    return WebServer.start(
        List.of(
            "--trace-etl.web.access-file=" + tenants,
            "--trace-etl.web.token=main token",
            "--trace-etl.web.sign-in=basic",
            "--trace-etl.web.users-file=" + users),
        Map.of("server.port", 0),
        false,
        factory);
  }

  private static String user(String name) {
    return name + ":" + new BCryptPasswordEncoder(4).encode(name + "'s") + "\n";
  }

  private static String sha256(String text) {
    return Hashing.sha256().hashString(text, StandardCharsets.UTF_8).toString();
  }

  private static void fill(HandMadeService service, boolean hasOther) throws Exception {
    long[] counts = new long[17];
    counts[3] = 5;
    Histories.add(service.history, NOW - MINUTE, "shop", true, counts);
    service.metrics.crowded(QUEUE, crowded("shop"));
    service.completeness.window(window(QUEUE, "shop"));
    List<Books> books = new ArrayList<>(List.of(books("shop", 9)));
    List<TraceDocument> traces = new ArrayList<>(List.of(trace("shop", 2)));
    Map<String, NameRules> learnt = new TreeMap<>(Map.of("shop", rule("/users/")));
    List<SeriesDefinition> series = new ArrayList<>(List.of(series(0, "shop", "GET /cart")));
    if (hasOther) {
      counts[16] = 7_654_321;
      Histories.add(service.history, NOW - MINUTE, OTHER, true, counts);
      Histories.add(service.history, NOW - MINUTE, Books.OTHER, true, counts);
      Histories.addEvents(service.history, NOW - MINUTE, OTHER, "fast", 4);
      service.metrics.crowded(new QueueId("broker-b", 1), crowded(OTHER));
      service.completeness.window(window(new QueueId("broker-b", 1), OTHER));
      books.add(books(OTHER, 7_654_321));
      books.add(new Books("", 1, 0, 0, 0, 0, Map.of("malformed", 1L), 0));
      traces.addFirst(trace(OTHER, 3));
      learnt.put(OTHER, rule("/vaults/"));
      series.add(series(1, OTHER, "GET /vault \"shop\""));
    }
    Histories.add(service.history, QUEUE, NOW, books, AcceptedBatches.NONE);
    Histories.add(
        service.history,
        QUEUE,
        NOW - 10 * MINUTE,
        books.stream().map(its -> its.withBytes(3 * its.received())).toList(),
        AcceptedBatches.NONE);
    Histories.upToDate(service.history);
    service.learnt = new LearntNames(hasOther ? 9 : 7, 1, learnt);
    service.index.answer =
        new TracePage(
            traces,
            hasOther ? new Cursor(1, traces.getLast().traceId(), traces.getLast().spanId()) : null);
    service.pages.window(window(series));
    service.pages.await(Duration.ofSeconds(60));
  }

  private static Books books(String application, long spans) {
    return new Books(
        application, spans + 1, spans, 0, 0, 0, Map.of("of-" + application, 1L), spans);
  }

  private static NameRules rule(String text) {
    return new NameRules(List.of(new NameRule(text, 1, 501, 0)));
  }

  private static Cardinality crowded(String application) {
    return new Cardinality(
        application,
        "max-per-application",
        100,
        99,
        7,
        3,
        List.of(new Cardinality.Dimension("span_name", 50, List.of("of " + application))),
        0);
  }

  private static TraceDocument trace(String application, int second) {
    return new TraceDocument(
        "0af7651916cd43dd8448eb211c80319" + second,
        "b7ad6b716920333" + second,
        application,
        "GET /" + application,
        2,
        2,
        "failed in " + application,
        1_700_000_000_000_000_000L + second * 1_000_000_000L,
        12_345_678,
        TraceDocument.Reason.ERROR,
        Map.of());
  }

  private static SealedWindow window(QueueId queue, String application) {
    return new RowlessWindow(queue, 0, 10, NOW - 15_000, NOW)
        .books(List.of(new Books(application, 5, 5, 0, 0, 0, Map.of(), 0)))
        .completeness(
            new WindowCompleteness(
                NOW - MINUTE,
                NOW,
                List.of(new WindowCompleteness.Agent(false, 1, 2, "host-of-" + application)),
                7))
        .seal();
  }

  private static SeriesDefinition series(int number, String application, String operation) {
    return new SeriesDefinition(number, 1, false, Arrays.asList(application, operation, "2", "0"));
  }

  private static SealedWindow window(List<SeriesDefinition> series) {
    int rows = series.size();
    int[] numbers = series.stream().mapToInt(SeriesDefinition::series).toArray();
    int[] none = new int[rows];
    Arrays.fill(none, -1);
    long[] counts = new long[17 * rows];
    long[] sums = new long[rows];
    for (int row = 0; row < rows; row++) {
      counts[17 * row] = row == 0 ? 5 : 7_654_321;
      sums[row] = row == 0 ? 1_000_000 : 7_654_321;
    }
    return new SealedWindow(
        QUEUE,
        0,
        1,
        0,
        15_000,
        series,
        new int[0],
        rows,
        17,
        numbers,
        counts,
        sums,
        none,
        new int[rows],
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

  /** An answer without what differs with time. */
  private record Answer(int status, Map<String, List<String>> headers, String body) {
    static Answer of(HttpResponse<String> response) {
      Map<String, List<String>> headers = new TreeMap<>(response.headers().map());
      headers.remove("date");
      headers.remove("content-length");
      // By the number of requests on a connection.
      headers.remove("connection");
      String body =
          response
              .body()
              .replace(":" + response.uri().getPort(), ":8080")
              .replaceAll("\"(started|now|from|to|until|baselineFrom)\":\"[^\"]*\"", "\"$1\":\"\"");
      return new Answer(response.statusCode(), headers, body);
    }
  }

  private static HttpResponse<String> ask(WebServer server, String authorization, String path)
      throws Exception {
    return ask(server, authorization, path, "Accept", "*/*");
  }

  private static HttpResponse<String> ask(
      WebServer server, String authorization, String path, String... headers) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + path))
            .timeout(Duration.ofSeconds(60))
            .headers(headers)
            .header("Authorization", authorization);
    if (path.startsWith("/api/preview")) {
      request
          .header("Content-Type", "application/yaml")
          .POST(HttpRequest.BodyPublishers.ofString("revision: 1"));
    }
    return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static String bearer(String token) {
    return "Bearer " + token;
  }

  private static String basic(String name) {
    byte[] shown = (name + ":" + name + "'s").getBytes(StandardCharsets.UTF_8);
    return "Basic " + Base64.getEncoder().encodeToString(shown);
  }

  private static String query(String path, String question) {
    return question.isEmpty() ? path : path + "?" + question;
  }

  @TestFactory
  Stream<DynamicTest> answersAreTheSameWithAndWithoutTheOtherTenant() {
    return BY_APPLICATION.entrySet().stream()
        .flatMap(path -> path.getValue().stream().map(question -> query(path.getKey(), question)))
        .sorted()
        .map(asked ->
            DynamicTest.dynamicTest(
                asked,
                () -> {
                  for (String sender : List.of(bearer(SHOP_TOKEN), basic("ada"))) {
                    Answer expected = Answer.of(ask(own, sender, asked));
                    Answer answer = Answer.of(ask(both, sender, asked));
                    assertThat(answer).isEqualTo(expected);
                    assertThat(answer.headers).doesNotContainKey("etag");
                    assertThat(answer.body.replace("application = " + OTHER, ""))
                        .doesNotContain("bank", "vault", "7654321", "_other", "\"pay\"", "\"db\"");
                    assertThat(answer.status).isIn(200, 404);
                  }
                }));
  }

  @TestFactory
  Stream<DynamicTest> whatShowsTheWholeFleetIsRefused() {
    return REFUSED.stream()
        .sorted()
        .map(path ->
            DynamicTest.dynamicTest(
                path,
                () -> {
                  Answer refused = Answer.of(ask(both, bearer(SHOP_TOKEN), path));
                  assertThat(refused.status).isEqualTo(403);
                  assertThat(refused.body).contains(path + ": shows the whole fleet");
                  assertThat(refused).isEqualTo(Answer.of(ask(own, bearer(SHOP_TOKEN), path)));
                  String asked = path.equals("/api/preview") ? path + "?application=shop" : path;
                  assertThat(ask(both, bearer(ALL_TOKEN), asked).statusCode()).isEqualTo(200);
                }));
  }

  /** Otherwise a test above passes because there is nothing to see. */
  @Test
  void thoseWhoSeeAllSeeTheOtherTenant() throws Exception {
    for (String path :
        List.of(
            "/api/applications",
            "/api/operations?application=" + OTHER,
            "/api/history?application=" + OTHER,
            "/api/books",
            "/api/traces?format=csv",
            "/api/cardinality",
            "/api/completeness",
            "/metrics")) {
      for (String sender : List.of(bearer("main token"), bearer(ALL_TOKEN), basic("root"))) {
        assertThat(ask(both, sender, path).body()).as(path).contains("bank");
      }
    }
    assertThat(ask(both, basic("root"), "/api/services").body()).contains("\"pay\"", "\"db\"");
    assertThat(ask(both, basic("root"), "/api/applications").headers().firstValue("ETag"))
        .isPresent();
  }

  @Test
  void tenantSeesItsOwn() throws Exception {
    for (String path :
        List.of(
            "/api/applications",
            "/api/operations?application=shop",
            "/api/books",
            "/api/traces",
            "/api/services",
            "/api/deploys",
            "/api/cardinality",
            "/api/why?application=shop&failed=true",
            "/metrics")) {
      HttpResponse<String> answer = ask(both, bearer(SHOP_TOKEN), path);
      assertThat(answer.statusCode()).as(path).isEqualTo(200);
      assertThat(answer.body()).as(path).contains("\"shop\"");
    }
    assertThat(ask(both, bearer(SHOP_TOKEN), "/api/books").body())
        .contains("\"fleet\":{\"received\":10,");
  }

  @Test
  void usageHasTheApplicationsOfTheSendersTenants() throws Exception {
    String asked = "/api/usage.csv?from=2026-11-20T23:51:00Z&to=2026-11-20T23:52:00Z";
    String minute = "2026-11-20T23:51:00Z,2026-11-20T23:52:00Z,";
    String head = "from,to,tenant,application,spans,bytes,seriesSeconds,documents\r\n";
    String shop = minute + "shop,shop,10,30,0.000,0\r\n";
    String bank = minute + "bank," + OTHER + ",7654322,22962966,0.000,0\r\n";
    String unknown = minute + ",,1,3,0.000,0\r\n";
    assertThat(ask(both, bearer(SHOP_TOKEN), asked).body()).isEqualTo(head + shop);
    assertThat(ask(both, basic("ada"), asked).body()).isEqualTo(head + shop);
    assertThat(ask(both, basic("eve"), asked).body()).isEqualTo(head);
    for (String all : List.of(bearer("main token"), bearer(ALL_TOKEN), basic("root"))) {
      assertThat(ask(both, all, asked).body()).isEqualTo(head + unknown + bank + shop);
    }
    for (String wrong :
        List.of(
            "from=2026-11-20T23:51:30Z",
            "from=2026-11-20T22:00:00Z",
            "to=2026-11-21T00:01:00Z",
            "from=2026-11-20T23:52:00Z&to=2026-11-20T23:52:00Z")) {
      assertThat(ask(both, bearer(ALL_TOKEN), "/api/usage.csv?" + wrong).statusCode())
          .as(wrong)
          .isEqualTo(400);
    }
  }

  @Test
  void aChangedFileCountsWithoutARequest() throws Exception {
    Path tenants = directory.resolve("watched.yaml");
    Files.writeString(tenants, tenantOf("shop"));
    List<AccessPolicy> seen = new CopyOnWriteArrayList<>();
    try (AccessFile file = new AccessFile(tenants, SignIn.NONE, Clocks.SYSTEM, seen::add)) {
      file.start(null);
      Files.writeString(tenants, tenantOf("cart"));

      Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> seen.size() == 2);
      assertThat(seen.getLast().belonging().of("cart")).isZero();
      assertThat(file.policy()).isSameAs(seen.getLast());
    }
  }

  /** The messages that were read are those of all applications. */
  @Test
  void whyDoesNotTellHowManyMessagesTheFleetHas() throws Exception {
    String asked = "/api/why?application=shop&failed=true";
    assertThat(ask(both, bearer(SHOP_TOKEN), asked).body()).contains("\"messages\":0,");
    assertThat(ask(both, bearer(ALL_TOKEN), asked).body()).doesNotContain("\"messages\":0,");

    String without = asked + "&operation=nothing";
    assertThat(ask(both, bearer(SHOP_TOKEN), without).body())
        .contains("No spans of application shop")
        .doesNotContain("The server read", "messages");
    assertThat(ask(both, bearer(ALL_TOKEN), without).body())
        .contains("The server read", "messages, which have");
  }

  @Test
  void metricsOfATenantHaveNoMetricsOfTheServer() throws Exception {
    for (String accept :
        List.of(
            "*/*",
            "application/openmetrics-text;version=1.0.0",
            "application/openmetrics-text;version=2.0.0",
            "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
                + "encoding=delimited,text/plain;q=0.1")) {
      HttpResponse<String> page = ask(both, bearer(SHOP_TOKEN), "/metrics", "Accept", accept);

      assertThat(page.statusCode()).isEqualTo(200);
      assertThat(page.headers().firstValue("Content-Type").orElseThrow())
          .doesNotContain("protobuf");
      assertThat(page.body()).contains("\"shop\"").doesNotContain("bank", "7654321", "jvm_");
      assertThat(page.body().lines())
          .allMatch(line -> line.startsWith("#") || line.contains("\"shop\""));
    }
  }

  @Test
  void strangersToTheFileSeeNothing() throws Exception {
    assertThat(ask(both, basic("eve"), "/api/applications").body())
        .contains("\"total\":0,")
        .doesNotContain("shop", "bank");
    assertThat(ask(both, basic("eve"), "/metrics").body()).isEmpty();
    assertThat(ask(both, bearer("another token"), "/api/applications").statusCode()).isEqualTo(401);
    for (String path : List.of("/nothing", "/jvm")) {
      HttpResponse<String> refused = ask(both, bearer(SHOP_TOKEN), path);
      assertThat(refused.statusCode()).isEqualTo(403);
      assertThat(refused.body()).contains(path + ": shows the whole fleet");
    }
    assertThat(ask(both, bearer(SHOP_TOKEN), "/index.html").statusCode()).isEqualTo(200);
  }

  @Test
  void tagOfThoseWhoSeeAllIsNoneOfATenant() throws Exception {
    String tag =
        ask(both, basic("root"), "/api/applications").headers().firstValue("ETag").orElseThrow();

    HttpResponse<String> answer =
        ask(both, basic("ada"), "/api/applications", "If-None-Match", tag);

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("Cache-Control")).contains("no-store");
  }

  @Test
  void everyPathIsTestedHere() throws Exception {
    WebApplicationContext context = context(both);
    Set<String> paths = new TreeSet<>();
    for (RequestMappingInfoHandlerMapping mapping :
        context.getBeansOfType(RequestMappingInfoHandlerMapping.class).values()) {
      for (RequestMappingInfo info : mapping.getHandlerMethods().keySet()) {
        paths.addAll(info.getPatternValues());
      }
    }
    ServletContext servlets = context.getServletContext();
    servlets
        .getServletRegistrations()
        .values()
        .forEach(servlet -> paths.addAll(servlet.getMappings()));
    assertThat(paths).contains("/api/applications", "/metrics");

    paths.removeAll(BY_APPLICATION.keySet());
    paths.removeAll(REFUSED);
    paths.removeAll(WITHOUT_DATA);

    assertThat(paths).as("paths without a test of what a tenant sees").isEmpty();
  }

  /** The server above has all resources that the programs have. */
  @Test
  void everyResourceAndServletIsOnTheTestedServer() throws Exception {
    var resources = new ClassPathScanningCandidateComponentProvider(false);
    resources.addIncludeFilter(new AnnotationTypeFilter(RestController.class));
    Set<String> classes = new TreeSet<>();
    resources
        .findCandidateComponents("org.traceetl")
        .forEach(resource -> classes.add(resource.getBeanClassName()));
    assertThat(classes).hasSizeGreaterThan(10);

    Set<String> present = new TreeSet<>();
    context(both)
        .getBeansWithAnnotation(RestController.class)
        .values()
        .forEach(resource -> present.add(resource.getClass().getName()));
    assertThat(classes).isEqualTo(present);

    var servlets = new ClassPathScanningCandidateComponentProvider(false);
    servlets.addIncludeFilter(new AssignableTypeFilter(HttpServlet.class));
    Set<String> open = new TreeSet<>();
    for (var found : servlets.findCandidateComponents("org.traceetl")) {
      Class<?> servlet = Class.forName(found.getBeanClassName());
      if (ByApplication.class.isAssignableFrom(servlet)) {
        open.add(servlet.getSimpleName());
      } else {
        assertThat(CLOSED_SERVLETS).contains(servlet.getSimpleName());
      }
    }
    assertThat(open).containsExactly("MetricsServlet");
  }

  private static WebApplicationContext context(WebServer server) throws Exception {
    Field context = WebServer.class.getDeclaredField("context");
    context.setAccessible(true);
    return (WebApplicationContext) context.get(server);
  }

  @Test
  void changedFileTakesEffect() throws Exception {
    Path tenants = directory.resolve("changing.yaml");
    Files.writeString(tenants, tenantOf("shop"));
    HandMadeService.Factory factory = new HandMadeService.Factory();
    try (WebServer server =
        WebServer.start(
            List.of("--trace-etl.web.access-file=" + tenants, "--trace-etl.web.token=main token"),
            Map.of("server.port", 0),
            false,
            factory)) {
      long[] counts = new long[17];
      counts[3] = 5;
      Histories.add(factory.made.history, NOW - MINUTE, "shop", true, counts);
      assertThat(ask(server, bearer(SHOP_TOKEN), "/api/applications").body())
          .contains("\"total\":1,");
      assertThat(ask(server, bearer("other"), "/").statusCode())
          .as("the page asks for the token")
          .isEqualTo(200);

      Files.writeString(tenants, "tenants: 7");
      assertThat(ask(server, bearer(SHOP_TOKEN), "/api/applications").body())
          .contains("\"total\":1,");
      Files.writeString(tenants, tenantOf("cart"));

      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .until(
              () -> ask(server, bearer(SHOP_TOKEN), "/api/applications").body(),
              body -> body.contains("\"total\":0,"));
    }
  }

  private static String tenantOf(String application) {
    return "tenants: [{name: t, applications: [%s], tokens-sha256: [%s]}]"
        .formatted(application, sha256(SHOP_TOKEN));
  }

  @Test
  void wrongFilesAreRefusedAtTheStart() throws Exception {
    assertRefused("tenants: [{name: a b, applications: [x]}]", "tenants[0].name = a b: must be");
    assertRefused("tenants: [{name: a}]", "tenants[0].applications: must have a pattern");
    assertRefused("tenants: [{name: a, applications: [7]}]", "quote numbers");
    assertRefused(
        "tenants: [{name: a, applications: [x], role: y}]", "tenants[0].role: is unknown");
    assertRefused(
        "tenants: [{name: a, applications: [x], tokens-sha256: [open sesame]}]",
        "64 lower-case hexadecimal digits");
    assertRefused("tenants: [", "must be YAML");
    assertRefused("{}", "tenants: must be a list");
    assertRefused(
        "tenants: [{name: a, applications: [x], max-series-per-queue: many}]",
        "max-series-per-queue = many: must be a number");
    assertRefused(
        "tenants: [{name: a, applications: ['*'], max-documents-per-queue: 1}]",
        "max-documents-per-queue: must be absent with the pattern *");
    String half = IntStream.range(0, 501).mapToObj(i -> "a" + i).collect(Collectors.joining(", "));
    assertRefused(
        "tenants: [{name: a, applications: [%s]}, {name: b, applications: [%s]}]"
            .formatted(half, half),
        "tenants.applications = 1002: must be at most 1000 patterns");
    Path tenants = directory.resolve("fine.yaml");
    Files.writeString(tenants, tenantOf("shop"));
    assertThatThrownBy(() -> WebServer.check(List.of("--trace-etl.web.access-file=" + tenants)))
        .isInstanceOf(ConfigurationRefused.class)
        .hasMessageContaining("requires trace-etl.web.token or");
  }

  private static String refusal(Path tenants) {
    return catchThrowableOfType(
            ConfigurationRefused.class,
            () ->
                WebServer.check(
                    List.of("--trace-etl.web.token=x", "--trace-etl.web.access-file=" + tenants)))
        .getMessage();
  }

  @Test
  void problemsBesideAKeyThatIsNoTextAreNamedWithoutLines() throws Exception {
    Path tenants = directory.resolve("number.yaml");
    Files.writeString(tenants, "tenants: [{name: a b, applications: [x], 7: y, ~: z}]\n");

    String refused = refusal(tenants);

    assertThat(refused.lines())
        .hasSize(3)
        .allSatisfy(problem -> assertThat(problem).contains(tenants.toString()))
        .anySatisfy(problem -> assertThat(problem).contains("tenants[0].7: is unknown"))
        .anySatisfy(problem -> assertThat(problem).contains("tenants[0].name = a b"));
  }

  @Test
  void allProblemsOfAFileAreNamedWithTheirLines() throws Exception {
    Path tenants = directory.resolve("mistakes.txt");
    Files.writeString(
        tenants,
        """
        tenants:
          - name: a b
            applications: [x]
            Users: [ada]
          - applications: [x]
          - shop
          - name: shop
            applications:
              - x
              - 7
            role: {of: [y]}
            tokens-sha256:
              - %s
              - open sesame
            max-series-per-queue: many
          - {}
          - name: shop
            applications: ["*"]
            groups: sre
            max-documents-per-queue: 1
        """
            .formatted(sha256("x")));
    String known =
        "is unknown; known are applications, groups, max-documents-per-queue,"
            + " max-series-per-queue, name, tokens-sha256, users";
    String name = "must be 1 to 64 letters, digits and . _ -";
    String text =
        "must be a text of 1 to 1024 characters; quote numbers, and a pattern that begins with *";

    String refused = refusal(tenants);

    assertThat(refused.replace("trace-etl.web.access-file = " + tenants + ":", "").lines())
        .containsExactly(
            "4: tenants[0].Users: " + known,
            "2: tenants[0].name = a b: " + name,
            "5: tenants[1].name: " + name,
            "6: tenants[2]: must have keys, such as name",
            "11: tenants[3].role: " + known,
            "10: tenants[3].applications[1]: " + text,
            "15: tenants[3].max-series-per-queue = many: must be a number from 0 to 10000000",
            "14: tenants[3].tokens-sha256[1]: must be 64 lower-case hexadecimal digits, as"
                + " `sha256sum` prints",
            " tenants[4]: must have keys, such as name",
            "20: tenants[5].max-documents-per-queue: must be absent with the pattern *: no"
                + " application belongs to this tenant",
            "19: tenants[5].groups: must be a list of at most 1000",
            "17: tenants[5].name = shop: must be unique");
  }

  @Test
  void tenantsWithoutMembersAreNamed() throws Exception {
    Path tenants = directory.resolve("members.yaml");
    Files.writeString(
        tenants,
        """
        tenants:
          - {name: a, applications: [a]}
          - {name: b, applications: [b], users: [ada]}
          - {name: c, applications: [c], groups: [sre]}
          - {name: d, applications: [d], tokens-sha256: [%s]}
        """
            .formatted(sha256("x")));
    String a =
        "trace-etl.web.access-file: tenant a has no members: no users, no groups and no"
            + " tokens-sha256";

    assertThat(warnings(tenants, "--trace-etl.web.token=x"))
        .containsExactly(
            a,
            "trace-etl.web.access-file: tenant b has users or groups, who need"
                + " trace-etl.web.sign-in = basic or oidc",
            "trace-etl.web.access-file: tenant c has users or groups, who need"
                + " trace-etl.web.sign-in = basic or oidc");
    Path users = directory.resolve("members");
    Files.writeString(users, "ada:$2y$05$" + "a".repeat(53));
    assertThat(
            warnings(
                tenants, "--trace-etl.web.sign-in=basic", "--trace-etl.web.users-file=" + users))
        .containsExactly(
            a,
            "trace-etl.web.access-file: tenant c has groups, which need"
                + " trace-etl.web.sign-in = oidc");
  }

  private static List<String> warnings(Path tenants, String... arguments) {
    return AccessFile.warnings(
        WebServer.check(
                Stream.concat(
                        Stream.of("--trace-etl.web.access-file=" + tenants), Stream.of(arguments))
                    .toList())
            .web());
  }

  private static void assertRefused(String yaml, String problem) throws Exception {
    Path tenants = directory.resolve("wrong.yaml");
    Files.writeString(tenants, yaml);
    assertThatThrownBy(() ->
            WebServer.check(
                List.of("--trace-etl.web.token=x", "--trace-etl.web.access-file=" + tenants)))
        .isInstanceOf(ConfigurationRefused.class)
        .hasMessageContaining(problem)
        .hasMessageContaining("trace-etl.web.access-file")
        .hasMessageNotContaining("sesame");
  }
}
