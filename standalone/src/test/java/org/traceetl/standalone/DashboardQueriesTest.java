package org.traceetl.standalone;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.IdGenerator;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.traceetl.agent.Platform;
import org.traceetl.agent.RunningAgent;
import org.traceetl.agent.config.ConfigReader;
import org.traceetl.common.Clocks;
import org.traceetl.server.TraceEtlServer;
import org.traceetl.server.canary.Canary;
import org.traceetl.server.canary.CanaryConfig;
import org.traceetl.testkit.Elasticsearch;
import org.traceetl.testkit.OwnCertificate;
import org.traceetl.testkit.Ports;
import org.traceetl.testkit.Prometheus;

/**
 * Tests that a real Prometheus and a real Elasticsearch, fed by real servers, return data for all
 * queries. These are the queries of the dashboards and rules in {@code deploy}, of Grafana's trace
 * view and service graph, and of Jaeger's monitor tab. {@link GrafanaVariables} and {@link
 * ElasticsearchQueries} replace variables and macros as Grafana does.
 *
 * <p>Three servers read the same spans, one for each name and unit of durations in the rules. Two
 * Prometheus read each server: one its classic buckets and one its native ones.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class DashboardQueriesTest {
  private static final int QUEUES = 4;
  private static final int EDGE_QUEUES = 2;
  private static final String APPLICATION = "shop";
  private static final String DATABASE = "stock-db";
  private static final String DATA_STREAM = "dashboards";
  private static final String MILLIS_ROW = "Durations in milliseconds (profile otel)";
  private static final String SECONDS_ROW =
      "Durations in seconds (profile tempo, or metrics.unit: seconds)";

  private static final String OBJECTIVES =
      """
      revision: 1
      defaults.objectives: [{name: requests, target: 99, faster-than: 1s}]
      """;

  private static final Path RULES =
      Path.of(System.getProperty("basedir", "."), "..", "deploy", "prometheus");

  /** Names in expressions, each with its matchers. */
  private static final Pattern SELECTOR =
      Pattern.compile(
          "\\b(?:up|trace_etl_\\w+|traces_\\w+|(?:service|operation|edge|application):[\\w:]+)\\b"
              + "(\\{[^}]*})?");

  @TempDir private static Path directory;

  /** The servers' settings for the names of durations, and the dashboard rows for other names. */
  private enum Names {
    OTEL(SECONDS_ROW, Map.of("trace-etl.metrics.queue-label", "always")),
    OTEL_SECONDS(MILLIS_ROW, Map.of("trace-etl.metrics.unit", "seconds")),
    TEMPO(MILLIS_ROW, Map.of("trace-etl.metrics.profile", "tempo"));

    private final String rowOfOthers;
    private final Map<String, Object> properties;

    Names(String rowOfOthers, Map<String, Object> properties) {
      this.rowOfOthers = rowOfOthers;
      this.properties = properties;
    }
  }

  /** The durations in a Prometheus. */
  enum Kind {
    OTEL(Names.OTEL, false),
    OTEL_NATIVE(Names.OTEL, true),
    OTEL_SECONDS(Names.OTEL_SECONDS, false),
    OTEL_SECONDS_NATIVE(Names.OTEL_SECONDS, true),
    TEMPO(Names.TEMPO, false),
    TEMPO_NATIVE(Names.TEMPO, true);

    private final Names names;
    private final boolean nativeBuckets;

    Kind(Names names, boolean nativeBuckets) {
      this.names = names;
      this.nativeBuckets = nativeBuckets;
    }
  }

  private final Map<Kind, Prometheus> prometheus = new EnumMap<>(Kind.class);
  private final List<TraceEtlServer> others = new ArrayList<>();
  private final CountDownLatch enough = new CountDownLatch(1);
  private String topic;
  private String edgesTopic;
  private EmbeddedInstallation installation;
  private ElasticsearchQueries elasticsearch;
  private Canary canary;
  private RunningAgent forwarding;
  private Thread load;

  @BeforeAll
  void start() throws Exception {
    Elasticsearch server = Elasticsearch.shared();
    elasticsearch = new ElasticsearchQueries(server.url(), DATA_STREAM);
    topic = SharedBroker.newTopic(QUEUES);
    edgesTopic = SharedBroker.newTopic(EDGE_QUEUES);
    Map<String, Object> properties = new HashMap<>(Names.OTEL.properties);
    properties.put("trace-etl.hotspots.topic", SharedBroker.newRoutingTopic(topic));
    properties.put("trace-etl.hotspots.interval", "5s");
    properties.put("trace-etl.edges.enabled", true);
    properties.put("trace-etl.edges.topic", edgesTopic);
    properties.put("trace-etl.edges.journal-topic", SharedBroker.journalOf(edgesTopic));
    properties.put("trace-etl.edges.max-wait", "5s");
    properties.put("trace-etl.histogram.kind", "both");
    properties.put("trace-etl.events.enabled", true);
    properties.put("trace-etl.series.max-per-application", 20);
    properties.put("trace-etl.index.type", "elasticsearch");
    properties.put("trace-etl.index.elasticsearch.urls", server.url().toString());
    properties.put("trace-etl.index.elasticsearch.data-stream", DATA_STREAM);
    Path objectives = directory.resolve("objectives.yaml");
    Files.writeString(objectives, OBJECTIVES);
    properties.put("trace-etl.rules.file", objectives.toString());
    properties.put("trace-etl.rules.switch-after", "1s");
    EmbeddedInstallation.Settings settings = SharedBroker.settings(topic, directory, properties);
    installation = EmbeddedInstallation.start(settings);
    installation.awaitReady(Duration.ofSeconds(60));
    Map<Names, Integer> ports = new EnumMap<>(Map.of(Names.OTEL, installation.httpPort()));
    for (Names names : List.of(Names.OTEL_SECONDS, Names.TEMPO)) {
      TraceEtlServer other = TraceEtlServer.start(other(names, settings));
      others.add(other);
      ports.put(names, other.port());
    }
    canary = canary();
    forwarding = forwardingAgent();
    for (Kind kind : Kind.values()) {
      Map<String, Integer> targets = new HashMap<>();
      targets.put("trace-etl-server", ports.get(kind.names));
      if (kind.names == Names.OTEL) {
        targets.put("log-agent", installation.agentTelemetryPort());
        targets.put("trace-etl-canary", canary.port());
        targets.put("forwarding-agent", forwarding.telemetryPort().orElseThrow());
      }
      prometheus.put(
          kind,
          Prometheus.startWithRules(
              directory.resolve(kind.name()),
              targets,
              List.of(
                  RULES.resolve("trace-etl-recording.rules.yaml"),
                  RULES.resolve("trace-etl-alerts.rules.yaml"),
                  rulesOf(objectives, kind.names)),
              kind.nativeBuckets));
    }
    sendMalformedSpan();
    load = Thread.ofPlatform().name("load").start(this::load);
  }

  @AfterAll
  void stop() throws Exception {
    enough.countDown();
    if (load != null) {
      load.join();
    }
    prometheus.values().forEach(Prometheus::close);
    others.forEach(TraceEtlServer::close);
    if (canary != null) {
      canary.close();
    }
    if (forwarding != null) {
      forwarding.close();
    }
    if (installation != null) {
      installation.close();
    }
  }

  /** Returns a file with the rules of objectives. */
  private static Path rulesOf(Path objectives, Names names) throws IOException {
    List<String> command = new ArrayList<>(List.of("slo", "--rules", objectives.toString()));
    names.properties.forEach((key, value) -> command.add("--" + key + "=" + value));
    StringWriter rules = new StringWriter();
    assertThat(
            TraceEtlServer.commandLine()
                .setOut(new PrintWriter(rules))
                .execute(command.toArray(String[]::new)))
        .isZero();
    return Files.writeString(directory.resolve(names + "-objectives.rules.yaml"), rules.toString());
  }

  /** Returns the settings of another server that reads the same spans. */
  private Map<String, Object> other(Names names, EmbeddedInstallation.Settings settings)
      throws IOException {
    String journal = "journal-" + names + "-" + topic;
    SharedBroker.get().createTopic(journal, QUEUES);
    String edgesJournal = "journal-" + names + "-" + edgesTopic;
    SharedBroker.get().createTopic(edgesJournal, EDGE_QUEUES);
    Map<String, Object> properties = new HashMap<>(EmbeddedInstallation.serverProperties(settings));
    properties.putAll(names.properties);
    properties.put("trace-etl.metrics.queue-label", "conflict");
    properties.put("trace-etl.rocketmq.consumer-group", names + "-" + topic);
    properties.put("trace-etl.journal.topic", journal);
    properties.put("trace-etl.edges.journal-topic", edgesJournal);
    properties.put("trace-etl.index.type", "none");
    return properties;
  }

  /**
   * Returns an agent that forwards to the one of the installation, and looks for the pods of a
   * cluster that does not answer.
   */
  private RunningAgent forwardingAgent() throws Exception {
    Path token = Files.writeString(directory.resolve("token"), "token");
    Path root = OwnCertificate.in(directory).certificate();
    Ports ports = new Ports();
    String yaml =
        """
        state-directory: '%s'
        otlp: {host: 127.0.0.1, http-port: %d, grpc-port: %d}
        ring.enabled: false
        rocketmq: {name-server: '%s', topic: %s}
        telemetry: {host: 127.0.0.1, port: 0}
        forward.endpoints: [{name: next, url: 'http://127.0.0.1:%d'}]
        kubernetes:
          {enabled: true, node-name: node, url: 'https://127.0.0.1:%d', token-file: '%s', ca-file: '%s'}
        """
            .formatted(
                directory.resolve("forwarding"),
                ports.next(),
                ports.next(),
                SharedBroker.get().namesrvAddress(),
                topic,
                installation.otlpHttpPort(),
                ports.next(),
                token,
                root);
    return RunningAgent.start(ConfigReader.read(yaml, Map.of()).config(), Platform.SYSTEM);
  }

  private Canary canary() throws IOException {
    return Canary.start(
        new CanaryConfig(
            URI.create("http://127.0.0.1:" + installation.otlpHttpPort()),
            null,
            null,
            null,
            List.of(URI.create("http://127.0.0.1:" + installation.httpPort())),
            false,
            null,
            "trace-etl-canary",
            "traces_span_metrics_calls_total",
            Duration.ofSeconds(5),
            Duration.ofSeconds(45),
            Duration.ofHours(1),
            null,
            null,
            null,
            "127.0.0.1",
            0),
        Clocks.SYSTEM,
        new Random());
  }

  /** Sends a span with an ID of three bytes, which the agent refuses. */
  private void sendMalformedSpan() throws IOException, InterruptedException {
    byte[] request = {0x0a, 9, 0x12, 7, 0x12, 5, 0x0a, 3, 1, 2, 3};
    HttpResponse<Void> response;
    try (HttpClient http = HttpClient.newHttpClient()) {
      response =
          http.send(
              HttpRequest.newBuilder(
                      URI.create("http://127.0.0.1:" + installation.otlpHttpPort() + "/v1/traces"))
                  .header("Content-Type", "application/x-protobuf")
                  .POST(HttpRequest.BodyPublishers.ofByteArray(request))
                  .build(),
              HttpResponse.BodyHandlers.discarding());
    }
    assertThat(response.statusCode()).isEqualTo(200);
  }

  /**
   * Sends all kinds of visible spans: slow ones, failed ones with exceptions, several kinds, and an
   * application with more operations and edges than its series limit.
   */
  private void load() {
    try (OtlpSpans shop = OtlpSpans.overGrpc(APPLICATION, installation.otlpGrpcPort());
        OtlpSpans stock = OtlpSpans.overGrpc("stock", installation.otlpGrpcPort());
        OtlpSpans crowded = OtlpSpans.overHttp("crowded", installation.otlpHttpPort())) {
      do {
        shop.send("GET /cart", SpanKind.SERVER, StatusCode.UNSET, 5_000_000);
        shop.send("POST /order", SpanKind.SERVER, StatusCode.UNSET, 3_000_000_000L);
        shop.sendFailed("POST /order", List.of(new IOException("away")));
        shop.send("orders process", SpanKind.CONSUMER, StatusCode.OK, 20_000_000);
        shop.send("SELECT", SpanKind.CLIENT, StatusCode.UNSET, 1_000_000);
        for (char first = 'a'; first <= 'z'; first++) {
          for (char second = 'a'; second <= 'd'; second++) {
            crowded.send("call " + first + second, SpanKind.SERVER, StatusCode.UNSET, 1_000_000);
          }
          queryDatabase(crowded, "db-" + first);
        }
        requests(shop, stock);
        sampled(shop);
        queryDatabase(stock, DATABASE);
        shop.flush();
        stock.flush();
        crowded.flush();
      } while (!enough.await(200, TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Sends a call that fails at its server, a message, and a call without the client's span. */
  private static void requests(OtlpSpans shop, OtlpSpans stock) {
    Span call = shop.start("call", SpanKind.CLIENT, Context.root());
    Span answer = stock.start("answer", SpanKind.SERVER, Context.root().with(call));
    answer.setStatus(StatusCode.ERROR);
    Span message = shop.start("send", SpanKind.PRODUCER, Context.root());
    Span receipt = stock.start("process", SpanKind.CONSUMER, Context.root().with(message));
    Span notSent = shop.start("call", SpanKind.CLIENT, Context.root());
    Span unpaired = stock.start("answer", SpanKind.SERVER, Context.root().with(notSent));
    Stream.of(answer, call, message, receipt, unpaired).forEach(Span::end);
  }

  /** Sends a span of a trace that was sampled: it stands for two. */
  private static void sampled(OtlpSpans application) {
    SpanContext caller =
        SpanContext.createFromRemoteParent(
            IdGenerator.random().generateTraceId(),
            IdGenerator.random().generateSpanId(),
            TraceFlags.getSampled(),
            TraceState.builder().put("ot", "th:8").build());
    application.start("sampled", SpanKind.INTERNAL, Context.root().with(Span.wrap(caller))).end();
  }

  private static void queryDatabase(OtlpSpans application, String database) {
    application.send(
        "SELECT",
        SpanKind.CLIENT,
        StatusCode.UNSET,
        1_000_000,
        Attributes.of(
            AttributeKey.stringKey("db.system.name"),
            "mysql",
            AttributeKey.stringKey("db.namespace"),
            database));
  }

  /**
   * Excludes native histograms of profile tempo: label_replace of Prometheus 2.42, Debian's
   * version, converts them to plain numbers.
   */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "TEMPO_NATIVE")
  void everyQueryOfTheApplicationsDashboardsReturnsData(Kind kind) throws Exception {
    for (Dashboard dashboard : Dashboard.all()) {
      if (!dashboard.name().equals("trace-etl-service")) {
        assertReturnsData(kind, dashboard);
      }
    }
  }

  @Test
  void everyQueryOfTheServicesDashboardReturnsData() throws Exception {
    for (Dashboard dashboard : Dashboard.all()) {
      if (dashboard.name().equals("trace-etl-service")) {
        assertReturnsData(Kind.OTEL, dashboard);
      }
    }
  }

  private void assertReturnsData(Kind kind, Dashboard dashboard) throws Exception {
    Prometheus asked = prometheus.get(kind);
    for (GrafanaVariables.Choice choice : GrafanaVariables.Choice.values()) {
      GrafanaVariables variables = variables(asked, dashboard, choice);
      List<Dashboard.Query> left = new ArrayList<>(dashboard.queries());
      left.removeIf(query -> query.row().equals(kind.names.rowOfOthers));
      assertThat(left).isNotEmpty();
      EndToEndTest.eventually("data for " + kind + " and " + choice)
          .untilAsserted(() -> {
            for (Dashboard.Query query : List.copyOf(left)) {
              String expression = variables.inPromql(query.expression());
              if (asked.hasData(expression, query.instant())
                  && (!query.exemplars() || !asked.exemplars(expression).isEmpty())) {
                left.remove(query);
              }
            }
            assertThat(left).isEmpty();
          });
    }
  }

  /** Resolves variables as Grafana does; their queries return values. */
  private GrafanaVariables variables(
      Prometheus asked, Dashboard dashboard, GrafanaVariables.Choice choice) {
    GrafanaVariables[] variables = new GrafanaVariables[1];
    EndToEndTest.eventually("the variables of " + dashboard.name())
        .untilAsserted(() ->
            variables[0] =
                GrafanaVariables.resolve(
                    dashboard, choice, Map.of("application", APPLICATION), asked, elasticsearch));
    return variables[0];
  }

  @Test
  void everySearchOfTheDashboardsFindsDocuments() throws Exception {
    List<Dashboard> searching =
        Dashboard.all().stream().filter(one -> !one.searches().isEmpty()).toList();
    assertThat(searching).isNotEmpty();
    for (Dashboard dashboard : searching) {
      for (GrafanaVariables.Choice choice : GrafanaVariables.Choice.values()) {
        GrafanaVariables variables = variables(prometheus.get(Kind.OTEL), dashboard, choice);
        for (Dashboard.Search search : dashboard.searches()) {
          EndToEndTest.eventually(search.where() + ", " + choice)
              .untilAsserted(
                  () -> assertThat(elasticsearch.found(search.target(), variables)).isPositive());
        }
      }
    }
  }

  @Test
  void everyRuleIsEvaluatedAndFindsItsSeries() throws Exception {
    for (Kind kind : Kind.values()) {
      EndToEndTest.eventually("rules without errors, " + kind)
          .untilAsserted(() ->
              assertThat(prometheus.get(kind).rules())
                  .hasSizeGreaterThan(50)
                  .allSatisfy(rule -> assertThat(rule.error()).as(rule.name()).isEmpty()));
    }
    List<String> selectors =
        new ArrayList<>(
            prometheus.get(Kind.OTEL).rules().stream()
                .flatMap(rule -> SELECTOR.matcher(rule.expression()).results())
                .map(match -> match.group())
                .distinct()
                .toList());
    // A label; promtool's tests cover its rule.
    assertThat(selectors.remove("trace_etl_queue")).isTrue();
    // Exists in profile ozhera only, at /jvm: OzheraFaultsTest.
    assertThat(selectors.remove("trace_etl_ozhera_rules_refused")).isTrue();
    // The series exists after a refused payload only; promtool's tests cover it.
    assertThat(selectors.remove("trace_etl_agent_payloads_total{admission=~\"full|broker_away\"}"))
        .isTrue();
    selectors.add("trace_etl_agent_payloads_total");
    // These exist after minutes of requests of two versions; promtool's tests cover their rule.
    assertThat(selectors.removeIf(selector -> selector.startsWith("trace_etl_deploy_"))).isTrue();
    for (String selector : selectors) {
      EndToEndTest.eventually("series for " + selector).until(() -> isInAnyPrometheus(selector));
    }
  }

  private boolean isInAnyPrometheus(String selector) throws Exception {
    for (Prometheus one : prometheus.values()) {
      if (one.hasData("count(" + selector + ")", true)) {
        return true;
      }
    }
    return false;
  }

  @Test
  void unreadableMessagesRaiseAlerts() throws Exception {
    // Start from 0: a counter that is first scraped at 1 has not increased.
    for (Kind kind : Kind.values()) {
      EndToEndTest.eventually("a scrape, " + kind)
          .until(() ->
              prometheus.get(kind).hasData("trace_etl_batches_rejected_total == 0", true)
                  && prometheus
                      .get(kind)
                      .hasData("trace_etl_edges_batches_rejected_total == 0", true));
    }
    SharedBroker.send(topic, 0, "no batch".getBytes(UTF_8));
    SharedBroker.send(edgesTopic, 0, "no batch".getBytes(UTF_8));

    awaitAlert(Kind.OTEL, "alertname=\"TraceEtlAgentSpansRejected\"");
    for (Kind kind : Kind.values()) {
      awaitAlert(kind, "alertname=\"TraceEtlSpansRejected\", pipeline=\"\"");
      awaitAlert(kind, "alertname=\"TraceEtlSpansRejected\", pipeline=\"half-edges\"");
    }
  }

  private void awaitAlert(Kind kind, String labels) {
    EndToEndTest.eventually(labels + ", " + kind)
        .until(() ->
            prometheus.get(kind).hasData("ALERTS{" + labels + ", alertstate=\"firing\"}", true));
  }

  /**
   * Tests the queries of Grafana's Tempo data source for the table next to its service graph
   * (rateMetric, errorRateMetric and durationMetric of graphTransform.ts, built by buildExpr in
   * datasource.ts). Also tests those of the trace view's link "Metrics for this span" without a
   * custom query (createSpanLink.tsx).
   */
  @Test
  void theTempoProfileAnswersGrafanasTraceView() throws Exception {
    assertAnswered(
        Kind.TEMPO,
        Stream.of(
            "topk(5, sum(rate(traces_spanmetrics_calls_total{span_kind=\"SPAN_KIND_SERVER\"}[60s]))"
                + " by (span_name))",
            "topk(5, sum(rate(traces_spanmetrics_calls_total{status_code=\"STATUS_CODE_ERROR\","
                + "span_name=~\"GET /cart|POST /order\"}[60s])) by (span_name))",
            "histogram_quantile(.9, sum(rate(traces_spanmetrics_latency_bucket"
                + "{span_name=~\"POST /order\"}[60s])) by (le))",
            "sum(rate(traces_spanmetrics_calls_total{span_name=\"GET /cart\"}[30s]))",
            "histogram_quantile(0.5, sum(rate(traces_spanmetrics_latency_bucket"
                + "{service=\"shop\"}[5m])) by (le))"));
  }

  /**
   * Tests the queries of the service graph of Grafana's Tempo data source
   * (makePromServiceMapRequest of datasource.ts), which finds nodes and edges in their labels.
   */
  @Test
  void grafanasServiceGraphFindsTheEdges() {
    Map<String, List<String>> edgesOfMetrics =
        Map.of(
            "request_total",
            List.of("shop > stock", "user > shop", "stock > " + DATABASE),
            "request_failed_total",
            List.of("shop > stock", "user > shop"),
            "request_server_seconds_sum",
            List.of("shop > stock", "user > shop"),
            "request_server_seconds_bucket",
            List.of("shop > stock", "user > shop"));
    edgesOfMetrics.forEach((name, edges) -> {
      String metric = "traces_service_graph_" + name;
      awaitEdges("sum by (client, server) (rate(" + metric + "[60s])) > 0", edges);
    });
    awaitEdges(
        "group by (client, connection_type, server) (traces_service_graph_request_total)",
        List.of(
            "shop > stock",
            "shop > stock messaging_system",
            "user > shop virtual_node",
            "stock > " + DATABASE + " database"));
  }

  private void awaitEdges(String query, List<String> edges) {
    EndToEndTest.eventually(query)
        .untilAsserted(() ->
            assertThat(prometheus.get(Kind.TEMPO).query(query))
                .extracting(sample -> edge(sample.labels()))
                .containsAll(edges));
  }

  private static String edge(Map<String, String> labels) {
    String ends = labels.get("client") + " > " + labels.get("server");
    String type = labels.get("connection_type");
    return type == null ? ends : ends + " " + type;
  }

  /**
   * Tests the queries behind a node and an edge of that service graph (getFieldConfig and
   * makeHistogramLink of datasource.ts).
   */
  @Test
  void theEdgesAnswerTheLinksOfGrafanasServiceGraph() {
    Stream.Builder<String> queries = Stream.builder();
    for (String labels : List.of("server=\"stock\"", "client=\"shop\",server=\"stock\"")) {
      for (String metric : List.of("request_total", "request_failed_total")) {
        queries.add(
            "sum by (client, server)(rate(traces_service_graph_%s{%s}[30s]))"
                .formatted(metric, labels));
      }
      queries.add(p90("request_server_seconds_bucket", labels));
    }
    assertAnswered(Kind.TEMPO, queries.build());
    assertAnswered(Kind.TEMPO_NATIVE, Stream.of(p90("request_server_seconds", "server=\"stock\"")));
  }

  private static String p90(String metric, String labels) {
    return "histogram_quantile(0.9, sum(rate(traces_service_graph_%s{%s}[30s])) by (le, client, server))"
        .formatted(metric, labels);
  }

  /**
   * Tests the queries of Jaeger's monitor tab (GetLatencies, GetCallRates and GetErrorRates of
   * reader.go in internal/storage/metricstore/prometheus), for a service and for each of its
   * operations. Jaeger's defaults apply: namespace traces_span_metrics, normalized names, unit ms.
   */
  @Test
  void theOtelProfileAnswersJaegersMonitorTab() throws Exception {
    String filter = "service_name =~ \"shop\", ";
    String kind = "span_kind =~ \"SPAN_KIND_SERVER\"";
    String calls = "traces_span_metrics_calls_total";
    Stream.Builder<String> queries = Stream.builder();
    for (String by : List.of("service_name", "service_name,span_name")) {
      for (String quantile : List.of("0.50", "0.75", "0.95")) {
        queries.add(
            "histogram_quantile("
                + quantile
                + ", sum(rate(traces_span_metrics_duration_milliseconds_bucket{%s%s}[10m])) by (%s,le))"
                    .formatted(filter, kind, by));
      }
      String all = "sum(rate(%s{%s%s}[10m])) by (%s)".formatted(calls, filter, kind, by);
      queries.add(all);
      queries.add(
          "sum(rate(%s{%sstatus_code = \"STATUS_CODE_ERROR\", %s}[10m])) by (%s) / %s"
              .formatted(calls, filter, kind, by, all));
    }
    assertAnswered(Kind.OTEL, queries.build());
  }

  private void assertAnswered(Kind kind, Stream<String> queries) {
    queries.forEach(query ->
        EndToEndTest.eventually(query).until(() -> prometheus.get(kind).hasData(query, false)));
  }
}
