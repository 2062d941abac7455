package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.server.TraceEtlServer;
import org.traceetl.testkit.PageSample;
import tools.jackson.databind.JsonNode;

/**
 * Tests that names which only learning can join become one series, on one queue, without a lost
 * span.
 */
final class LearntNamesEndToEndTest {
  private static final int QUEUES = 6;
  private static final int USERS = 500;
  private static final String CALLS = "traces_span_metrics_calls_total";

  @TempDir private Path directory;

  @Test
  void namesThatVaryBecomeOneSeriesAndEverySpanCountsOnce() throws Exception {
    EmbeddedInstallation.Settings settings = settings();
    AtomicLong sent = new AtomicLong();
    AtomicBoolean enough = new AtomicBoolean();
    try (EmbeddedInstallation first = EmbeddedInstallation.start(settings);
        TraceEtlServer second = TraceEtlServer.start(SharedBroker.furtherServer(settings))) {
      first.awaitReady(Duration.ofSeconds(60));
      Thread load = Thread.ofPlatform().start(() -> load(first.otlpGrpcPort(), sent, enough));
      try {
        EndToEndTest.eventually("the rule with agent and servers")
            .untilAsserted(() -> {
              assertThat(rules(first.httpPort())).isEqualTo(List.of("shop /users/{*} 1"));
              assertThat(rules(second.port())).isEqualTo(rules(first.httpPort()));
              List<PageSample> agent = EndToEndTest.samples(first.agentTelemetryPort());
              assertThat(PageSample.sum(agent, "trace_etl_agent_learnt_name_rules")).isEqualTo(1);
            });
      } finally {
        enough.set(true);
        load.join();
      }
      EndToEndTest.eventually("every span once")
          .untilAsserted(() -> assertThat(sum(calls(first, second))).isEqualTo(sent.get()));
      Map<String, Double> before = calls(first, second);

      try (OtlpSpans shop = OtlpSpans.overGrpc("shop", first.otlpGrpcPort())) {
        sent.addAndGet(sendAll(shop));
      }
      EndToEndTest.eventually("every further span once")
          .untilAsserted(() -> assertThat(sum(calls(first, second))).isEqualTo(sent.get()));
      Map<String, Double> risen = calls(first, second);
      before.forEach((series, calls) -> risen.merge(series, -calls, Double::sum));
      risen.values().removeIf(calls -> calls == 0);
      assertThat(risen.keySet())
          .hasSize(2)
          .anyMatch(series -> series.contains("span_name=\"/users/{*}/cart\""))
          .anyMatch(series -> series.contains("span_name=\"/health\""));
      assertThat(risen.values()).containsExactlyInAnyOrder((double) USERS, 1.0);
      // The documentation shows this line.
      System.out.println(
          "Learnt names: "
              + EndToEndTest.json(second.port(), "/api/cardinality").get("learntNames"));
    }
  }

  private EmbeddedInstallation.Settings settings() throws IOException {
    String topic = SharedBroker.newTopic(QUEUES);
    Map<String, Object> properties = SharedBroker.decidingServer(topic);
    properties.put("trace-etl.hotspots.enabled", false);
    properties.put("trace-etl.series.templates.learn.more-than", 100);
    return SharedBroker.settings(topic, directory, properties);
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

  private static List<String> rules(int port) throws Exception {
    JsonNode learnt = EndToEndTest.json(port, "/api/cardinality").get("learntNames");
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
  private static Map<String, Double> calls(EmbeddedInstallation first, TraceEtlServer second)
      throws Exception {
    List<PageSample> samples = new ArrayList<>(EndToEndTest.samples(first.httpPort()));
    samples.addAll(EndToEndTest.samples(second.port()));
    return PageSample.sums(samples, CALLS);
  }

  private static double sum(Map<String, Double> calls) {
    return calls.values().stream().mapToDouble(one -> one).sum();
  }
}
