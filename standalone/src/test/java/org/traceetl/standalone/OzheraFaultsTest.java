package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.proto.thrift.ozhera.TSpanData;
import org.traceetl.testkit.Elasticsearch;
import org.traceetl.testkit.PageSample;
import org.traceetl.testkit.Programs;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tests that the replacements do not have the faults found in OzHera's metric service and log
 * agent. All parts are real: RocketMQ, the whole server, and Elasticsearch where documents matter.
 */
final class OzheraFaultsTest {
  private static final JsonMapper JSON = new JsonMapper();
  private static final Duration FAST = Duration.ofMillis(60);
  private static final String TOTAL = "staging_hera_aopTotalMethodCount_total";
  private static final String STATISTICS = "staging_trace_statistics_span_count_total";
  private static final int QUEUES = 2;

  @TempDir private Path directory;

  private final List<AutoCloseable> open = new ArrayList<>();
  private String topic;
  private OzheraSender spans;

  @BeforeEach
  void start() throws Exception {
    topic = SharedBroker.newTopic(QUEUES);
    spans = OzheraSender.to(topic);
    open.add(spans);
  }

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable one : open.reversed()) {
      one.close();
    }
  }

  private OzheraServer server(Map<String, Object> more) throws Exception {
    OzheraServer server = OzheraServer.start(topic, more);
    open.add(server);
    return server;
  }

  private void sendHttp(int count) throws Exception {
    for (int i = 0; i < count; i++) {
      spans.send(OzheraSender.http("shop", "/orders", FAST));
    }
  }

  /**
   * Fault 1: a scrape, also a manual one, took the window away from every other scraper. Each of
   * two Prometheus had a part; at a longer interval half was lost.
   */
  @Test
  void scrapeTakesNoDataFromAnotherScraper() throws Exception {
    OzheraServer server = server(Map.of());
    OzheraServer.Scraper often = server.scraper("prometheus-a");
    OzheraServer.Scraper seldom = server.scraper("prometheus-b");
    int sent = 0;
    for (int round = 0; round < 6; round++) {
      sendHttp(5);
      sent += 5;
      // Several windows, with manual reads between them.
      often.await(TOTAL, sent);
      assertThat(
              OzheraServer.get(server.uri("/metrics"), Map.of("User-Agent", "curl/8.5.0"))
                  .statusCode())
          .isEqualTo(200);
    }
    seldom.scrape();
    assertThat(seldom.sums()).isEqualTo(often.sums());
    assertThat(seldom.sum(TOTAL)).isEqualTo(sent);
  }

  /** Fault 1: the content of an answer that did not arrive was lost. */
  @Test
  void lostAnswerIsPartOfTheNextOne() throws Exception {
    OzheraServer server = server(Map.of());
    OzheraServer.Scraper witness = server.scraper("witness");
    OzheraServer.Scraper scraper = server.scraper("unlucky");
    int methods = 4_000;
    for (int i = 0; i < methods; i++) {
      spans.send(OzheraSender.http("shop", "/orders/" + "x".repeat(200) + i, FAST));
    }
    witness.await(TOTAL, methods);
    hangUpAfterAFewBytes(server.port(), "unlucky");
    scraper.scrape();
    assertThat(scraper.sums()).isEqualTo(witness.sums());
  }

  /**
   * Disconnects early; the page's megabytes exceed the kernel's buffer for a client that does not
   * read.
   */
  private static void hangUpAfterAFewBytes(int port, String scraper) throws IOException {
    try (Socket socket = new Socket()) {
      socket.setOption(StandardSocketOptions.SO_RCVBUF, 4_096);
      socket.setSoLinger(true, 0);
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      socket
          .getOutputStream()
          .write(
              ("GET /metrics?scraper=" + scraper + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
                  .getBytes(StandardCharsets.US_ASCII));
      assertThat(socket.getInputStream().readNBytes(1_000)).hasSize(1_000);
    }
  }

  /**
   * Fault 2: series had no limit, nothing was freed without scrapes, and from the fifth window on
   * all waiting data was discarded.
   */
  @Test
  void unscrapedDataIsBoundedAndDeliveredInFull() throws Exception {
    int most = 40;
    OzheraServer server =
        server(
            Map.of(
                "trace-etl.series.max-per-application", most, "trace-etl.series.max", 10 * most));
    OzheraServer.Scraper witness = server.scraper("witness");
    OzheraServer.Scraper late = server.scraper("late");
    int sent = 0;
    for (int window = 0; window < 8; window++) {
      for (int i = 0; i < 50; i++) {
        spans.send(OzheraSender.http("shop", "/orders/" + sent++, FAST));
      }
      witness.await(STATISTICS, sent);
    }
    late.scrape();
    assertThat(late.sum(STATISTICS)).isEqualTo(sent);
    assertThat(late.sum(TOTAL)).isEqualTo(sent);
    assertThat(late.sums().keySet().stream().filter(one -> one.startsWith(TOTAL + "{")).count())
        .isLessThanOrEqualTo(most + 1);
  }

  /**
   * Fault 3: spans counted during a swap of windows were lost, and a full queue towards
   * Elasticsearch blocked all consumers.
   */
  @Test
  void swapsLoseNoSpansAndAFullIndexQueueBlocksNoConsumer() throws Exception {
    OzheraServer server =
        server(
            Map.of(
                "trace-etl.window.length",
                "100ms",
                "trace-etl.index.type",
                "elasticsearch",
                // The port has no listener.
                "trace-etl.index.elasticsearch.urls",
                "http://127.0.0.1:1",
                "trace-etl.index.elasticsearch.layout",
                "ozhera",
                "trace-etl.drain-within",
                "2s"));
    OzheraServer.Scraper scraper = server.scraper("prometheus");
    int sent = 0;
    for (int i = 0; i < 3_000; i++) {
      spans.send(
          OzheraSender.with(OzheraSender.http("shop", "/orders", FAST), "error", true),
          OzheraSender.http("stock", "/items", FAST));
      sent += 2;
      if (i % 300 == 0) {
        scraper.scrape();
      }
    }
    scraper.await(TOTAL, sent);
    assertThat(scraper.sum("staging_hera_httpError_total")).isEqualTo(sent / 2);
    assertThat(scraper.sum("staging_hera_aopMethodTimeCount_count")).isEqualTo(sent);
  }

  /**
   * Fault 4: messages were acknowledged before their window was delivered. A crash lost the window,
   * and messages that a restart read again counted twice.
   */
  @Test
  void crashLosesAndRepeatsNoSpan() throws Exception {
    OzheraServer.Scraper scraper;
    int sent = 10;
    try (OzheraServer first = OzheraServer.start(topic, Map.of())) {
      scraper = first.scraper("prometheus");
      sendHttp(sent);
      scraper.await(TOTAL, sent);
    }
    // The window is longer than this test: none is sealed.
    try (ServerProcess victim =
        ServerProcess.start(
            directory, OzheraServer.properties(topic, Map.of("trace-etl.window.length", "10m")))) {
      sendHttp(7);
      sent += 7;
      EndToEndTest.eventually("spans in the live window")
          .until(() ->
              PageSample.sum(
                      PageSample.of(OzheraServer.HTTP, victim.uri("/jvm")),
                      "trace_etl_batches_accepted_total")
                  >= 7);
      victim.kill();
    }
    try (OzheraServer next = OzheraServer.start(topic, Map.of())) {
      scraper.moveTo(next);
      scraper.await(TOTAL, sent);
      sendHttp(3);
      sent += 3;
      scraper.await(TOTAL, sent);
    }
    // A stop drains the server.
    try (OzheraServer last = OzheraServer.start(topic, Map.of())) {
      scraper.moveTo(last);
      sendHttp(4);
      sent += 4;
      scraper.await(TOTAL, sent);
    }
  }

  /** Fault 5: a span without the value of a label was dropped without a report. */
  @Test
  void spanWithoutALabelCounts() throws Exception {
    OzheraServer.Scraper scraper = server(Map.of()).scraper("prometheus");
    TSpanData dubbo =
        OzheraSender.with(
            OzheraSender.span("shop", "reserve", FAST),
            "span.kind",
            "client",
            "rpc.system",
            "dubbo",
            "rpc.service",
            null);
    TSpanData consumer =
        OzheraSender.with(
            OzheraSender.span("shop", "consume", FAST),
            "span.kind",
            "consumer",
            "messaging.system",
            "rocketmq");
    consumer.getExtra().unsetIp();
    spans.send(dubbo, consumer);
    scraper.await(STATISTICS, 2);
    assertThat(scraper.sums())
        .containsEntry(
            "staging_hera_dubboBisTotalCount_total{application=\"shop\",methodName=\"reserve\","
                + "serverEnv=\"staging\",serverEnvId=\"77\",serverIp=\"10.1.2.3\"}",
            1.0)
        .containsEntry(
            "staging_hera_rocketmqConsumerTotalCount_total{application=\"shop\","
                + "serverEnv=\"staging\",serverEnvId=\"77\"}",
            1.0);
  }

  /**
   * Fault 6: documents that Elasticsearch refused in a bulk request were lost, nothing was retried,
   * and above 30,000 waiting documents all were discarded.
   */
  @Test
  void refusedDocumentIsRetried() throws Exception {
    URI elasticsearch = Elasticsearch.shared().url();
    String prefix = "refusing-errors-";
    put(
        elasticsearch.resolve("/_index_template/refusing"),
        """
        {"index_patterns": ["%s*"], "priority": 1000,
         "template": {"settings": {"index.blocks.write": true}}}
        """
            .formatted(prefix));
    OzheraServer.Scraper scraper =
        server(OzheraServer.indexed(elasticsearch, prefix)).scraper("prometheus");
    spans.send(OzheraSender.with(OzheraSender.http("shop", "/orders", FAST), "error", true));
    scraper.await(TOTAL, 1);
    // The document has been refused at the latest when the index exists.
    EndToEndTest.eventually("the index that takes nothing")
        .until(() -> search(elasticsearch, prefix).at("/_shards/total").asInt(0) > 0);
    assertThat(search(elasticsearch, prefix).at("/hits/total/value").asInt(-1)).isZero();
    put(elasticsearch.resolve("/" + prefix + "*/_settings"), "{\"index.blocks.write\": false}");
    EndToEndTest.eventually("the document")
        .until(() -> search(elasticsearch, prefix).at("/hits/total/value").asInt(0) == 1);
  }

  private static JsonNode search(URI elasticsearch, String prefix) throws Exception {
    HttpResponse<String> response =
        OzheraServer.get(elasticsearch.resolve("/" + prefix + "*/_search"), Map.of());
    return JSON.readTree(response.body());
  }

  private static void put(URI uri, String body) throws Exception {
    HttpResponse<String> response =
        OzheraServer.HTTP.send(
            HttpRequest.newBuilder(uri)
                .timeout(Duration.ofSeconds(20))
                .header("Content-Type", "application/json")
                .PUT(HttpRequest.BodyPublishers.ofString(body))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
  }

  /**
   * Fault 7: the content type could differ from the body's, an error was a 200 without a body, and
   * a token was required but never checked.
   */
  @Test
  void answersHaveTheirContentTypeAndErrorsTheirStatus() throws Exception {
    OzheraServer server = server(Map.of());
    server.scraper("prometheus");
    for (String accept :
        List.of(
            "*/*",
            "text/plain;version=0.0.4",
            "application/openmetrics-text;version=1.0.0",
            "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily")) {
      sendHttp(1);
      HttpResponse<String> page =
          OzheraServer.get(server.uri("/metrics?scraper=witness"), Map.of("Accept", accept));
      assertThat(page.statusCode()).isEqualTo(200);
      assertThat(page.headers().firstValue("Content-Type").orElseThrow())
          .startsWith("text/plain")
          .contains("version=0.0.4");
      assertThat(page.body()).startsWith("# HELP ").endsWith("\n").doesNotContain("# EOF");
    }
    HttpResponse<String> refused =
        OzheraServer.get(server.uri("/metrics?scraper=no%20name"), Map.of());
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("scraper");
    HttpResponse<String> twice =
        OzheraServer.get(server.uri("/metrics?scraper=a&scraper=b"), Map.of());
    assertThat(twice.statusCode()).isEqualTo(400);

    Programs.Result valid =
        Programs.run(
            List.of(Programs.require("promtool"), "check", "metrics"),
            OzheraServer.get(server.uri("/metrics?scraper=late"), Map.of())
                .body()
                .getBytes(StandardCharsets.UTF_8));
    assertThat(valid.output()).doesNotContain("error while linting");
  }

  /**
   * Fault 8: the agent moved its checkpoint before the broker had the spans, wrote its file in
   * place and forgot a failed batch. It sent a span only when the next line arrived.
   */
  @Test
  void agentLosesNoLineAndSendsTheLastOne() throws Exception {
    Path log = Files.createDirectories(directory.resolve("log/shop/trace")).resolve("trace.log");
    String agents = SharedBroker.newTopic(QUEUES);
    EmbeddedInstallation.Settings settings =
        SharedBroker.settings(
            agents,
            directory,
            List.of(directory.resolve("log").resolve("*/trace/trace.log").toString()),
            Map.of(
                "trace-etl.metrics.profile",
                "ozhera",
                "trace-etl.ozhera.scrapers",
                OzheraServer.SCRAPERS,
                "trace-etl.index.type",
                "none"));
    Map<String, Double> sums = new TreeMap<>();
    int lines = 0;
    for (int run = 0; run < 3; run++) {
      try (EmbeddedInstallation installation = EmbeddedInstallation.start(settings)) {
        installation.awaitReady(Duration.ofSeconds(60));
        URI page = URI.create("http://127.0.0.1:" + installation.httpPort());
        EndToEndTest.eventually("the server's queues")
            .until(() -> OzheraServer.get(page.resolve("/ready"), Map.of()).statusCode() == 200);
        OzheraServer.Scraper scraper = OzheraServer.scraper(page, "prometheus", sums);
        // No line follows the last one; more are written while no agent reads.
        for (int i = 0; i < 5; i++) {
          Files.writeString(
              log, line(lines++), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
        scraper.await(TOTAL, lines);
      }
      Files.writeString(log, line(lines++), StandardOpenOption.APPEND);
    }
    assertThat(sums.keySet()).anyMatch(sample -> sample.contains("serverIp=\"10.0.0.7\""));
  }

  private static String line(int number) {
    return "2026-11-21 10:00:00.000 ||| %d000000 ### 1500000 ### 10.0.0.7 ### shop ### /orders ### OK"
            .formatted(Instant.now().toEpochMilli())
        + " ### %032x ### %016x ### ".formatted(number + 1, number + 1)
        + "[{\"key\":\"span.kind\",\"type\":\"string\",\"value\":\"server\"},"
        + "{\"key\":\"http.method\",\"type\":\"string\",\"value\":\"GET\"}] ### [] ### "
        + "{\"serviceName\":\"shop\",\"tags\":[]} ### [] ### \n";
  }

  /** Fault 9: methods, addresses and SQL created series without a limit. */
  @Test
  void seriesAboveTheLimitBecomeOneWithExactSums() throws Exception {
    int most = 30;
    OzheraServer.Scraper scraper =
        server(Map.of("trace-etl.series.max-per-application", most)).scraper("prometheus");
    int sent = 400;
    for (int i = 0; i < sent; i++) {
      TSpanData span = OzheraSender.http("shop", "/orders/" + i, FAST);
      span.getExtra().setIp("10.1." + i / 200 + "." + i % 200);
      spans.send(i % 4 == 0 ? OzheraSender.with(span, "error", true) : span);
    }
    scraper.await(STATISTICS, sent);
    assertThat(scraper.sum(TOTAL)).isEqualTo(sent);
    assertThat(scraper.sum("staging_hera_httpError_total")).isEqualTo(sent / 4);
    assertThat(scraper.sum("staging_hera_aopSuccessMethodCount_total")).isEqualTo(sent - sent / 4);
    assertThat(scraper.sum("staging_hera_aopMethodTimeCount_count")).isEqualTo(sent);
    assertThat(scraper.sums().keySet().stream().filter(one -> one.startsWith(TOTAL + "{")).count())
        .isLessThanOrEqualTo(most + 1);
    assertThat(scraper.sums().keySet())
        .anyMatch(
            sample -> sample.contains("application=\"shop\"") && sample.contains("_overflow"));
  }

  /** Fault 10: database passwords were stored in Elasticsearch in clear text. */
  @Test
  void passwordIsOnNoPageAndInNoDocument() throws Exception {
    URI elasticsearch = Elasticsearch.shared().url();
    String prefix = "secret-errors-";
    OzheraServer.Scraper scraper =
        server(OzheraServer.indexed(elasticsearch, prefix)).scraper("prometheus");
    String secret = "hunter2";
    List<String> connections =
        List.of(
            "mysql://shop:" + secret + "@db:3306",
            "jdbc:mysql://db:3306/shop?user=shop&password=" + secret,
            "shop:" + secret + "@tcp(db:3306)/shop");
    int sent = 0;
    for (String connection : connections) {
      for (String system : List.of("mysql", "mongodb")) {
        spans.send(
            OzheraSender.with(
                OzheraSender.span("shop", "dbDriver", FAST),
                "span.kind",
                "client",
                "db.system",
                system,
                "db.connection_string",
                connection,
                "db.statement",
                "alter user shop identified by '" + secret + "'",
                "db.driver.userName",
                "shop",
                "db.driver.password",
                secret,
                "error",
                true));
        sent++;
      }
    }
    spans.send(
        OzheraSender.with(
            OzheraSender.span("shop", "AUTH", FAST),
            "db.system",
            "redis",
            "db.statement",
            "AUTH " + secret,
            "error",
            true));
    sent++;
    scraper.await(STATISTICS, sent);
    assertThat(scraper.sums().toString()).contains("dataSource=").doesNotContain(secret);
    int documents = sent;
    EndToEndTest.eventually("the documents")
        .until(() -> search(elasticsearch, prefix).at("/hits/total/value").asInt(0) == documents);
    assertThat(
            OzheraServer.get(elasticsearch.resolve("/" + prefix + "*/_search?size=100"), Map.of())
                .body())
        .contains("dataSource")
        .doesNotContain(secret);
  }

  /**
   * Fault 11: the check whether a rule applied to an application was reversed, so that nearly every
   * rule applied to one named {@code a}.
   */
  @Test
  void ruleDoesNotApplyToAPrefixOfItsApplication() throws Exception {
    Path rules =
        Files.writeString(
            directory.resolve("rules.yaml"),
            """
            exclude:
              applications: [load-test]
            degrade: {server-ip: true, dubbo-method: true, sql: true, applications: [payment-gateway]}
            applications:
              payment-gateway:
                slower-than-millis: {http: 10}
            """);
    OzheraServer.Scraper scraper =
        server(Map.of("trace-etl.ozhera.rules-file", rules.toString())).scraper("prometheus");
    List<String> applications = List.of("a", "pay", "payment-gateway", "load", "load-test-1");
    for (String application : applications) {
      spans.send(OzheraSender.http(application, "/orders", FAST));
    }
    scraper.await(STATISTICS, applications.size());
    Map<String, String> ips = new HashMap<>();
    scraper.sums().keySet().stream()
        .filter(sample -> sample.startsWith(TOTAL + "{"))
        .forEach(sample ->
            ips.put(
                sample.replaceFirst(".*application=\"([^\"]*)\".*", "$1"),
                sample.replaceFirst(".*serverIp=\"([^\"]*)\".*", "$1")));
    assertThat(ips)
        .isEqualTo(
            Map.of(
                "a", "10.1.2.3",
                "pay", "10.1.2.3",
                "payment_gateway", "10.0.0.0",
                "load", "10.1.2.3"));
    assertThat(
            scraper.sum(sample ->
                sample.startsWith("staging_hera_httpSlowQuery_total{")
                    && sample.contains("application=\"payment_gateway\"")))
        .isEqualTo(1);
    assertThat(scraper.sum("staging_hera_httpSlowQuery_total")).isEqualTo(1);
  }

  /** Deltas, which are not acknowledged, cannot fix faults 1 and 4 exactly; totals can. */
  @Test
  void cumulativePagesContinueAfterAKill() throws Exception {
    Map<String, Object> cumulative =
        Map.of("trace-etl.ozhera.temporality", "cumulative", "trace-etl.ozhera.scrapers", "");
    int sent = 10;
    try (ServerProcess victim =
        ServerProcess.start(directory, OzheraServer.properties(topic, cumulative))) {
      sendHttp(sent);
      awaitCumulative(victim.uri("/"), sent);
      sendHttp(7);
      sent += 7;
      victim.kill();
    }
    try (OzheraServer next = OzheraServer.start(topic, cumulative)) {
      awaitCumulative(next.uri("/"), sent);
      sendHttp(3);
      sent += 3;
      awaitCumulative(next.uri("/"), sent);
    }
    // A stop drains the server, and hands over.
    try (OzheraServer last = OzheraServer.start(topic, cumulative)) {
      awaitCumulative(last.uri("/"), sent);
      sendHttp(4);
      awaitCumulative(last.uri("/"), sent + 4);
    }
  }

  /** Waits until counter, histogram and books on a page have this sum, and no more. */
  private static void awaitCumulative(URI server, double sum) {
    for (String metric : List.of(TOTAL, "staging_hera_aopMethodTimeCount_count", STATISTICS)) {
      EndToEndTest.eventually(metric)
          .untilAsserted(() -> {
            List<PageSample> page = PageSample.of(OzheraServer.HTTP, server.resolve("/metrics"));
            assertThat(PageSample.sum(page, metric)).isEqualTo(sum);
          });
    }
  }
}
