package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.server.TraceEtlServer;
import org.traceetl.testkit.PageSample;
import tools.jackson.databind.JsonNode;

/**
 * Tests that objectives count the spans of a real SDK to the nanosecond: equally if agents group
 * spans by the demand, and if they send them in full; and on through servers that join, leave and
 * restart.
 */
final class ObjectivesTest {
  private static final int QUEUES = 4;
  private static final int ROUNDS = 20;

  /** Enough for spans on each queue, as an application's are on one. */
  private static final int SERVICES = 6;

  private static final long THRESHOLD_NANOS = 300_000_000;
  private static final String GROUPED = "grouped-";
  private static final String FULL = "full-";
  private static final String RULES =
      """
      revision: 1
      defaults:
        objectives:
          - {name: requests, target: 99.9}
          - {name: orders-fast, target: 99, faster-than: 300ms, operation: "POST /orders/*"}
      """;

  @TempDir private Path directory;

  /** Batches of spans that were sent. */
  private int sent;

  @Test
  void objectivesCountExactlyWithAnyDetailAndOnOtherServers() throws Exception {
    Path file = directory.resolve("rules.yaml");
    Files.writeString(file, RULES);
    String topic = SharedBroker.newTopic(QUEUES);
    Map<String, Object> properties = SharedBroker.decidingServer(topic);
    properties.put("trace-etl.rules.file", file.toString());
    properties.put("trace-etl.rules.switch-after", "1s");
    properties.put("trace-etl.demand.full", FULL + "*");
    EmbeddedInstallation.Settings settings = SharedBroker.settings(topic, directory, properties);
    try (EmbeddedInstallation first = EmbeddedInstallation.start(settings)) {
      first.awaitReady(Duration.ofSeconds(60));
      awaitRules(first.httpPort());
      EndToEndTest.eventually("the agent with the demand")
          .untilAsserted(() ->
              assertThat(
                      PageSample.sum(
                          EndToEndTest.samples(first.agentTelemetryPort()),
                          "trace_etl_agent_demand_version"))
                  .isPositive());
      send(first);
      awaitCounts(first.httpPort());
      assertThat(
              PageSample.sum(
                  EndToEndTest.samples(first.agentTelemetryPort()),
                  "trace_etl_agent_spans_grouped_total"))
          .as("spans that the agent grouped")
          .isPositive();
      try (TraceEtlServer second = TraceEtlServer.start(SharedBroker.furtherServer(settings))) {
        EndToEndTest.eventually("a queue of the second server")
            .untilAsserted(() ->
                assertThat(sum(List.of(second.port()), "events", GROUPED, "requests"))
                    .isBetween(1.0, 4.0 * ROUNDS * SERVICES - 1));
        send(first);
        awaitCounts(first.httpPort(), second.port());
      }
      awaitCounts(first.httpPort());
    }
    try (EmbeddedInstallation next = EmbeddedInstallation.start(settings)) {
      next.awaitReady(Duration.ofSeconds(60));
      awaitCounts(next.httpPort());
      send(next);
      awaitCounts(next.httpPort());
    }
  }

  private static void awaitRules(int port) {
    EndToEndTest.eventually("the file in force")
        .untilAsserted(() -> {
          JsonNode rules = EndToEndTest.json(port, "/api/rules");
          assertThat(rules.get("source").asString()).isEqualTo("file");
          assertThat(rules.get("waits").isNull()).isTrue();
          assertThat(rules.at("/applications/0/objectives/1/fasterThanSeconds").asDouble())
              .isEqualTo(0.3);
        });
  }

  private void send(EmbeddedInstallation installation) {
    for (int service = 0; service < 2 * SERVICES; service++) {
      String name = (service < SERVICES ? GROUPED : FULL) + service % SERVICES;
      try (OtlpSpans spans = OtlpSpans.overGrpc(name, installation.otlpGrpcPort())) {
        for (int i = 0; i < ROUNDS; i++) {
          String order = "POST /orders/" + i;
          spans.send(order, SpanKind.SERVER, StatusCode.UNSET, THRESHOLD_NANOS - 1);
          spans.send(order, SpanKind.SERVER, StatusCode.OK, THRESHOLD_NANOS);
          spans.send(order, SpanKind.SERVER, StatusCode.ERROR, 1_000);
          spans.send("GET /", SpanKind.SERVER, StatusCode.UNSET, 2 * THRESHOLD_NANOS);
          spans.send(order, SpanKind.CLIENT, StatusCode.ERROR, 1_000);
        }
        spans.flush();
      }
    }
    sent++;
  }

  private void awaitCounts(Integer... ports) {
    List<Integer> all = List.of(ports);
    EndToEndTest.eventually("all events of " + sent + " batches")
        .untilAsserted(() -> {
          int rounds = ROUNDS * SERVICES * sent;
          for (String services : List.of(GROUPED, FULL)) {
            assertThat(sum(all, "events", services, "requests")).isEqualTo(4 * rounds);
            assertThat(sum(all, "good", services, "requests")).isEqualTo(3 * rounds);
            assertThat(sum(all, "events", services, "orders-fast")).isEqualTo(3 * rounds);
            assertThat(sum(all, "good", services, "orders-fast")).isEqualTo(rounds);
          }
        });
  }

  private static double sum(List<Integer> ports, String what, String services, String slo)
      throws Exception {
    double sum = 0;
    for (int port : ports) {
      sum +=
          EndToEndTest.samples(port).stream()
              .filter(sample -> sample.name().equals("trace_etl_slo_" + what + "_total"))
              .filter(sample -> sample.labels().get("service_name").startsWith(services))
              .filter(sample -> slo.equals(sample.labels().get("slo")))
              .mapToDouble(PageSample::value)
              .sum();
    }
    return sum;
  }
}
