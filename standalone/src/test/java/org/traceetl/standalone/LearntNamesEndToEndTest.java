package org.traceetl.standalone;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.server.TraceEtlServer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tests that names which only learning can join become one series, on one queue, without a lost
 * span.
 */
final class LearntNamesEndToEndTest {
  private static final int QUEUES = 6;
  private static final int USERS = 500;
  private static final String CALLS = "traces_span_metrics_calls_total{";

  @TempDir private Path directory;

  @Test
  void namesThatVaryBecomeOneSeriesAndEverySpanCountsOnce() throws Exception {
    EmbeddedInstallation.Settings settings = settings();
    AtomicLong sent = new AtomicLong();
    AtomicBoolean enough = new AtomicBoolean();
    try (EmbeddedInstallation first = EmbeddedInstallation.start(settings);
        TraceEtlServer second = TraceEtlServer.start(second(settings))) {
      first.awaitReady(Duration.ofSeconds(60));
      Thread load = Thread.ofPlatform().start(() -> load(first.otlpGrpcPort(), sent, enough));
      try {
        EndToEndTest.eventually("the rule with agent and servers")
            .untilAsserted(() -> {
              assertThat(rules(first.httpPort())).isEqualTo(List.of("shop /users/{*} 1"));
              assertThat(rules(second.port())).isEqualTo(rules(first.httpPort()));
              assertThat(page(first.agentTelemetryPort(), "/metrics"))
                  .contains("trace_etl_agent_learnt_name_rules 1.0\n");
            });
      } finally {
        enough.set(true);
        load.join();
      }
      EndToEndTest.eventually("every span once")
          .untilAsserted(() -> assertThat(sum(calls(first, second))).isEqualTo(sent.get()));
      Map<String, Long> before = calls(first, second);

      try (OtlpSpans shop = OtlpSpans.overGrpc("shop", first.otlpGrpcPort())) {
        sent.addAndGet(sendAll(shop));
      }
      EndToEndTest.eventually("every further span once")
          .untilAsserted(() -> assertThat(sum(calls(first, second))).isEqualTo(sent.get()));
      Map<String, Long> risen = calls(first, second);
      before.forEach((series, calls) -> risen.merge(series, -calls, Long::sum));
      risen.values().removeIf(calls -> calls == 0);
      assertThat(risen.keySet())
          .hasSize(2)
          .anyMatch(series -> series.contains("span_name=\"/users/{*}/cart\""))
          .anyMatch(series -> series.contains("span_name=\"/health\""));
      assertThat(risen.values()).containsExactlyInAnyOrder((long) USERS, 1L);
      // The documentation shows this line.
      System.out.println(
          "Learnt names: "
              + new JsonMapper()
                  .readTree(page(second.port(), "/api/cardinality"))
                  .get("learntNames"));
    }
  }

  private EmbeddedInstallation.Settings settings() throws IOException {
    String topic = SharedBroker.newTopic(QUEUES);
    SharedBroker.get().createTopic("routing-of-" + topic, 1);
    Map<String, Object> properties = new HashMap<>();
    properties.put("trace-etl.rocketmq.consumer-group", topic);
    properties.put("trace-etl.rocketmq.workers", 1);
    properties.put("trace-etl.index.type", "none");
    properties.put("trace-etl.hotspots.topic", "routing-of-" + topic);
    properties.put("trace-etl.hotspots.interval", "1s");
    properties.put("trace-etl.hotspots.enabled", false);
    properties.put("trace-etl.metrics.queue-label", "always");
    properties.put("trace-etl.series.templates.learn.more-than", 100);
    return SharedBroker.settings(topic, directory, properties);
  }

  private static Map<String, Object> second(EmbeddedInstallation.Settings settings) {
    Map<String, Object> properties = new HashMap<>(EmbeddedInstallation.serverProperties(settings));
    properties.put("server.port", 0);
    return properties;
  }

  private static void load(int port, AtomicLong sent, AtomicBoolean enough) {
    try (OtlpSpans shop = OtlpSpans.overGrpc("shop", port)) {
      while (!enough.get()) {
        sent.addAndGet(sendAll(shop));
      }
    }
  }

  private static int sendAll(OtlpSpans shop) {
    for (int user = 0; user < USERS; user++) {
      shop.send("/users/" + word(user) + "/cart", SpanKind.SERVER, StatusCode.OK, 5_000_000);
    }
    shop.send("/health", SpanKind.SERVER, StatusCode.OK, 5_000_000);
    shop.flush();
    return USERS + 1;
  }

  /** Returns a different word for each number, without any sign of an identifier. */
  private static String word(int number) {
    List<String> syllables = List.of("ka", "lo", "mi", "ne", "ru", "sa", "ti", "vo");
    return syllables.get(number % 8)
        + syllables.get(number / 8 % 8)
        + syllables.get(number / 64 % 8);
  }

  private static List<String> rules(int port) throws IOException {
    JsonNode learnt = new JsonMapper().readTree(page(port, "/api/cardinality")).get("learntNames");
    return learnt
        .get("rules")
        .valueStream()
        .map(rule ->
            rule.get("application").asString()
                + " "
                + rule.get("rule").asString()
                + " "
                + rule.get("tokensBehind").asInt())
        .toList();
  }

  /** Returns the calls of all series of both servers, which have different queues. */
  private static Map<String, Long> calls(EmbeddedInstallation first, TraceEtlServer second)
      throws IOException {
    Map<String, Long> calls = new TreeMap<>();
    for (int port : new int[] {first.httpPort(), second.port()}) {
      page(port, "/metrics")
          .lines()
          .filter(line -> line.startsWith(CALLS))
          .forEach(line -> {
            int value = line.lastIndexOf(' ');
            calls.merge(
                line.substring(0, value),
                (long) Double.parseDouble(line.substring(value + 1)),
                Long::sum);
          });
    }
    return calls;
  }

  private static long sum(Map<String, Long> calls) {
    return calls.values().stream().mapToLong(Long::longValue).sum();
  }

  private static String page(int port, String path) throws IOException {
    try (InputStream in = URI.create("http://127.0.0.1:" + port + path).toURL().openStream()) {
      return new String(in.readAllBytes(), UTF_8);
    }
  }
}
