package org.traceetl.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.common.Clocks;
import org.traceetl.proto.RulesRecord;
import org.traceetl.proto.SpanBatchWriter;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.log.RocketMqLogs;
import org.traceetl.server.rules.PublishedRules;
import org.traceetl.server.rules.RuleKeys;
import org.traceetl.server.rules.Rules;
import org.traceetl.server.window.QueueId;
import org.traceetl.testkit.TestRocketMq;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What {@code preview} says of a real broker's messages. */
class PreviewCommandTest {
  private static final String TOPIC = "previewed";
  private static final String EMPTY_TOPIC = "empty";

  /** A preview ignores the last two keys. */
  private static final String RULES =
      """
      revision: 7
      applications:
        - application: sh*
          series.dimensions: [{attribute: user}]
          histogram.bounds-millis: [1, 2]
          documents.slower-than: 1ms
          objectives: [{name: requests, target: 99.9}]
      """;

  @TempDir private static Path home;
  private static TestRocketMq rocketMq;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private Clocks clocks = Clocks.SYSTEM;

  @TempDir private Path directory;

  @BeforeAll
  static void start() throws Exception {
    rocketMq = new TestRocketMq(home);
    rocketMq.createTopic(TOPIC, 2);
    rocketMq.createTopic(EMPTY_TOPIC, 1);
    rocketMq.createTopic("trace-windows", 2);
    for (int i = 0; i < 40; i++) {
      rocketMq.send(TOPIC, i % 2, message("shop", "GET /users/" + i, "u" + i % 10, i));
    }
    rocketMq.send(TOPIC, 0, message("bank", "pay", "u1", 40));
  }

  @AfterAll
  static void stop() {
    rocketMq.close();
  }

  private static byte[] message(String application, String name, String user, long sequence) {
    SpanBatchWriter writer = new SpanBatchWriter();
    writer.begin();
    writer.application(intern(writer, application));
    writer.startSpan(
        7, sequence, 1, 0, intern(writer, name), 2, 0, 1_700_000_000_000_000_000L, 1, 0);
    writer.attribute(intern(writer, "user"), intern(writer, user));
    writer.endSpan();
    return Arrays.copyOf(writer.buffer(), writer.finish(1, 0, 1, sequence));
  }

  private static int intern(SpanBatchWriter writer, String text) {
    byte[] bytes = text.getBytes(UTF_8);
    return writer.intern(bytes, 0, bytes.length);
  }

  private int run(String topic, String rules, String application, String... more) throws Exception {
    Path file = Files.writeString(directory.resolve("rules.yaml"), rules);
    return execute(
        Stream.concat(
                Stream.of(
                    "preview",
                    "--trace-etl.rocketmq.topic=" + topic,
                    "--trace-etl.rocketmq.name-server=" + rocketMq.namesrvAddress(),
                    "--trace-etl.series.max-per-application=3",
                    "--application=" + application,
                    "--rules=" + file),
                Arrays.stream(more))
            .toArray(String[]::new));
  }

  private int execute(String... arguments) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    return TraceEtlServer.run(
        clocks, new PrintWriter(out, true), new PrintWriter(err, true), arguments);
  }

  @Test
  void rulesAreComparedWithTheConfiguration() throws Exception {
    assertThat(run(TOPIC, RULES, "shop", "--since=1h")).isZero();

    assertThat(out.toString().lines().map(line -> line.strip().replaceAll(" +", " ")))
        .startsWith("shop: 40 of 41 messages (0 refused), 40 spans (0 filtered), 2 queues")
        .contains(
            "In force is the configuration: no published rules were found.",
            "configuration revision 7",
            "series 1 10",
            // Users with even and odd numbers are on different queues.
            "series on all queues 2 10",
            "above the limit of a queue 0 4",
            "queues above the limit 0 2",
            "samples of a text page 40 60",
            "span_name 1 10 GET /users/{id} (10)",
            "The limit of a queue: trace-etl.series.max-per-application = 3");
    assertThat(mark()).isEqualTo(JournalLog.NONE);
  }

  @Test
  void rulesOfAnUnknownTopicAreAwaitedIfServersHaveAFile() throws Exception {
    String decisions = "late-decisions";
    RulesRecord record =
        PublishedRules.record(new Rules(6, RuleKeys.NONE, List.of()), System.currentTimeMillis());
    AtomicInteger pauses = new AtomicInteger();
    clocks =
        SkippedPauses.clocks(nanos -> {
          if (pauses.incrementAndGet() == 2) {
            rocketMq.createTopic(decisions, 1);
            send(decisions, record);
          }
        });
    String topic = "--trace-etl.hotspots.topic=" + decisions;
    assertThat(run(TOPIC, RULES, "shop", topic)).isZero();
    assertThat(out.toString()).contains("In force is the configuration");
    assertThat(pauses).hasValue(0);

    String file = "--trace-etl.rules.file=" + directory.resolve("rules.yaml");
    assertThat(run(TOPIC, RULES, "shop", topic, file)).as(err.toString()).isZero();
    assertThat(err.toString()).contains("; trying again for up to ");
    assertThat(out.toString()).contains("In force: revision 6.");
  }

  private static void send(String topic, RulesRecord record) {
    try {
      rocketMq.send(topic, 0, record.encode());
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void rulesAreComparedWithThoseInForce() throws Exception {
    String decisions = "decisions";
    rocketMq.createTopic(decisions, 1);
    RuleKeys byUser =
        new RuleKeys(
            List.of(new SeriesConfig.Dimension("user", null, null)),
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null);
    for (int revision = 5; revision <= 6; revision++) {
      List<Rules.OfApplications> all =
          revision == 5 ? List.of() : List.of(new Rules.OfApplications("shop", byUser));
      RulesRecord record =
          PublishedRules.record(
              new Rules(revision, RuleKeys.NONE, all), System.currentTimeMillis());
      rocketMq.send(decisions, 0, record.encode());
    }
    String topic = "--trace-etl.hotspots.topic=" + decisions;
    assertThat(run(TOPIC, "revision: 7\n", "shop", topic)).as(err.toString()).isZero();
    assertThat(out.toString().lines().map(line -> line.strip().replaceAll(" +", " ")))
        .contains("In force: revision 6.", "revision 6 revision 7", "series on all queues 10 2");

    try (TraceEtlServer server = server(Map.of("trace-etl.hotspots.topic", decisions));
        HttpClient client = HttpClient.newHttpClient()) {
      Awaitility.await()
          .atMost(Duration.ofMinutes(1))
          .untilAsserted(() -> {
            JsonNode compared =
                new JsonMapper().readTree(sent(client, server, "shop", RULES).body());
            assertThat(compared.at("/inForce/rules").asString()).isEqualTo("revision 6");
            assertThat(compared.at("/inForce/seriesOnQueues").asLong()).isEqualTo(10);
          });
    }
  }

  @Test
  void jsonHasTheSameFigures() throws Exception {
    assertThat(run(TOPIC, RULES, "shop", "--json")).isZero();

    JsonNode json = new JsonMapper().readTree(out.toString());
    assertThat(json.get("application").asString()).isEqualTo("shop");
    assertThat(json.at("/inForce/seriesOnQueues").asLong()).isEqualTo(2);
    assertThat(json.at("/proposed/overflowing").asLong()).isEqualTo(4);
    assertThat(json.at("/proposed/labels/3/label").asString()).isEqualTo("user");
    assertThat(json.at("/proposed/labels/3/top").size()).isEqualTo(10);
    assertThat(json.at("/proposed/errorFactor").asDouble()).isEqualTo(1);
    long page = json.at("/proposed/pageBytes").asLong();
    // Six samples and two times of creation of each series.
    assertThat(page / 10).isBetween(500L, 2_000L);
  }

  @Test
  void whatCannotBeComparedIsSaid() throws Exception {
    assertThat(run(TOPIC, RULES, "absent")).isEqualTo(1);
    assertThat(err.toString())
        .contains(
            "Application absent has no spans in 41 messages (0 refused). They have spans of: bank,"
                + " shop");
    assertThat(run(EMPTY_TOPIC, RULES, "shop")).isEqualTo(1);
    assertThat(err.toString()).startsWith("Topic empty has no messages of spans since 20");
    clocks = SkippedPauses.clocks(nanos -> {});
    assertThat(run("unknown", RULES, "shop")).isEqualTo(1);
    assertThat(err.toString())
        .startsWith("Topic unknown is not known to name server")
        .contains("; trying again for up to ");
    assertThat(run(TOPIC, "revision: 1\nrule: 2\n", "shop")).isEqualTo(2);
    assertThat(err.toString())
        .startsWith("rule: is not a key of rules; ")
        .endsWith("rules.yaml:2\n");
    assertThat(run(TOPIC, RULES, "shop", "--since=soon")).isEqualTo(2);
    assertThat(run(TOPIC, RULES, "shop", "--since=0s")).isEqualTo(2);
    assertThat(err.toString()).startsWith("--since = 0s: must be 1s or more");
    assertThat(run(TOPIC, RULES, "shop", "--trace-etl.series.max=0")).isEqualTo(2);
    assertThat(run(TOPIC, RULES, "shop", "--unknown")).isEqualTo(2);
    assertThat(err.toString()).startsWith("--unknown: is neither an option nor --KEY=VALUE");
    assertThat(
            run(
                TOPIC,
                RULES,
                "shop",
                "--trace-etl.metrics.profile=ozhera",
                "--trace-etl.ozhera.scrapers=prometheus"))
        .isEqualTo(2);
    assertThat(err.toString())
        .startsWith("trace-etl.metrics.profile = ozhera: must be otel or tempo");
    assertThat(execute("--trace-etl.series.max=1", "preview", "--application=a", "--rules=b"))
        .isEqualTo(2);
    assertThat(err.toString()).startsWith("All options must come after the command");
    assertThat(execute("preview", "--application=a")).isEqualTo(2);
    assertThat(out.toString()).isEmpty();
    assertThat(execute("preview", "--help")).isZero();
    assertThat(out.toString()).contains("--rules=FILE", "--config=FILE", "Exit codes: 0 compared");
  }

  @Test
  void aServerComparesRulesThatItIsSent() throws Exception {
    try (TraceEtlServer server = server(Map.of());
        HttpClient client = HttpClient.newHttpClient()) {
      JsonNode compared = new JsonMapper().readTree(sent(client, server, "shop", RULES).body());
      assertThat(compared.at("/inForce/seriesOnQueues").asLong()).isEqualTo(2);
      assertThat(compared.at("/proposed/rules").asString()).isEqualTo("revision 7");
      assertThat(compared.at("/proposed/seriesOnQueues").asLong()).isEqualTo(10);
      assertThat(compared.at("/complete").asBoolean()).isTrue();

      assertThat(sent(client, server, "absent", RULES))
          .returns(404, HttpResponse::statusCode)
          .extracting(HttpResponse::body, STRING)
          .contains("Application absent has no spans in 41 messages");
      assertThat(sent(client, server, "shop", "revision: 1\nrule: 2\n"))
          .returns(400, HttpResponse::statusCode)
          .extracting(HttpResponse::body, STRING)
          .contains("rule: is not a key of rules; rules.yaml:2");
      assertThat(sent(client, server, "shop", "revision: [1\n").body())
          .contains("body = rules.yaml:2: is not YAML");
    }
  }

  private static TraceEtlServer server(Map<String, Object> more) {
    Map<String, Object> properties = new HashMap<>(more);
    properties.put("server.port", 0);
    properties.put("trace-etl.rocketmq.topic", TOPIC);
    properties.put("trace-etl.rocketmq.name-server", rocketMq.namesrvAddress());
    properties.put("trace-etl.rocketmq.consumer-group", "of-the-server");
    properties.put("trace-etl.index.type", "none");
    return TraceEtlServer.start(properties);
  }

  private static HttpResponse<String> sent(
      HttpClient client, TraceEtlServer server, String application, String rules) throws Exception {
    return client.send(
        HttpRequest.newBuilder(
                URI.create(
                    "http://localhost:"
                        + server.port()
                        + "/api/preview?since=1h&application="
                        + application))
            .header("Content-Type", "application/yaml")
            .POST(HttpRequest.BodyPublishers.ofString(rules))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private static long mark() throws Exception {
    RocketMqConfig config =
        new RocketMqConfig(rocketMq.namesrvAddress(), TOPIC, null, null, null, null);
    try (RocketMqLogs logs =
        new RocketMqLogs(config, TOPIC, Duration.ofSeconds(10), Clocks.SYSTEM)) {
      logs.start();
      QueueId queue = logs.queues().iterator().next();
      return logs.open(queue).mark(config.consumerGroup());
    }
  }
}
