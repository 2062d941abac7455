package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.opentelemetry.api.trace.StatusCode;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.server.TraceEtlServer;
import tools.jackson.databind.JsonNode;

/**
 * Tests that the API reports exact numbers of spans: on the server that counted them, on one
 * without a queue, and on one that started later.
 */
final class FleetApiTest {
  private static final int QUEUES = 2;
  private static final int ROUNDS = 3;
  private static final List<String> SERVICES = List.of("cart", "shop", "bank");

  @TempDir private Path directory;

  @Test
  void everyServerReportsExactNumbersOfTheFleet() throws Exception {
    EmbeddedInstallation.Settings settings = settings();
    try (EmbeddedInstallation first = EmbeddedInstallation.start(settings)) {
      first.awaitReady(Duration.ofSeconds(60));
      try (TraceEtlServer second = TraceEtlServer.start(second(settings))) {
        eventually("a server that the group gives no queue")
            .untilAsserted(() -> {
              JsonNode queues = EndToEndTest.json(second.port(), "/api/queues").get("queues");
              assertThat(queues).hasSize(QUEUES);
              for (JsonNode queue : queues) {
                assertThat(queue.get("own").asBoolean()).isFalse();
                assertThat(queue.get("owner").asString("")).endsWith(":" + first.httpPort());
              }
            });
        send(first.otlpGrpcPort());
        assertExact(first.httpPort());
        assertExact(second.port());
        assertOwner(first.httpPort());
      }
      try (TraceEtlServer later = TraceEtlServer.start(second(settings))) {
        assertExact(later.port());
      }
    }
  }

  private static void send(int port) {
    for (String service : SERVICES) {
      try (OtlpSpans spans = OtlpSpans.overGrpc(service, port)) {
        for (int round = 0; round < ROUNDS; round++) {
          spans.sendExpected();
          spans.flush();
        }
      }
    }
  }

  private static void assertExact(int port) {
    eventually("all of it, in minutes that have ended")
        .untilAsserted(() -> {
          assertOperations(port);
          assertHistory(port);
          assertBooks(port);
          assertQueuesAndAgents(port);
        });
  }

  /** Returns calls and errors by name and kind. */
  private static Map<String, List<Long>> expected() {
    Map<String, List<Long>> expected = new TreeMap<>();
    for (Expected.Series series : Expected.series()) {
      long calls = (long) series.durationsNanos().size() * ROUNDS;
      long errors = series.status() == StatusCode.ERROR ? calls : 0;
      expected.merge(
          series.name() + " SPAN_KIND_" + series.kind(),
          List.of(calls, errors),
          (one, other) ->
              List.of(one.getFirst() + other.getFirst(), one.getLast() + other.getLast()));
    }
    return expected;
  }

  private static void assertOperations(int port) throws Exception {
    Set<String> names = new HashSet<>();
    EndToEndTest.json(port, "/api/applications?minutes=59")
        .get("applications")
        .forEach(application -> {
          names.add(application.get("application").asString());
          assertThat(application.get("calls").asInt()).isEqualTo(Expected.spans() * ROUNDS);
        });
    assertThat(names).isEqualTo(Set.copyOf(SERVICES));
    for (String service : SERVICES) {
      Map<String, List<Long>> told = new TreeMap<>();
      EndToEndTest.json(port, "/api/operations?minutes=59&application=" + service)
          .get("operations")
          .forEach(operation ->
              told.put(
                  operation.get("operation").asString() + " " + operation.get("kind").asString(),
                  List.of(operation.get("calls").asLong(), operation.get("errors").asLong())));
      assertThat(told).isEqualTo(expected());
    }
  }

  private static void assertHistory(int port) throws Exception {
    String operation = URLEncoder.encode("GET /users/{id}", StandardCharsets.UTF_8);
    JsonNode history =
        EndToEndTest.json(
            port,
            "/api/history?application=shop&kind=SPAN_KIND_SERVER&buckets=true&operation="
                + operation);
    assertThat(history.get("boundsMillis")).hasSize(Expected.BOUNDS_MILLIS.length);
    long[] buckets = new long[Expected.BOUNDS_MILLIS.length + 1];
    for (JsonNode minute : history.get("minutes")) {
      for (int bucket = 0; bucket < buckets.length; bucket++) {
        buckets[bucket] += minute.get("buckets").get(bucket).asLong();
      }
    }
    // Each bound has a span on it and one a nanosecond beyond it; two are below the first.
    long[] expected = new long[buckets.length];
    Arrays.fill(expected, 2L * ROUNDS);
    expected[0] = 3L * ROUNDS;
    expected[buckets.length - 1] = ROUNDS;
    assertThat(buckets).isEqualTo(expected);
  }

  private static void assertBooks(int port) throws Exception {
    JsonNode books = EndToEndTest.json(port, "/api/books?minutes=60");
    int all = Expected.spans() * ROUNDS;
    assertThat(books.get("upToDate").asBoolean()).isTrue();
    assertThat(books.at("/fleet/received").asInt()).isEqualTo(all * SERVICES.size());
    assertThat(books.at("/fleet/recorded").asInt()).isEqualTo(all * SERVICES.size());
    assertThat(books.get("applications")).hasSize(SERVICES.size());
    for (JsonNode application : books.get("applications")) {
      assertThat(application.get("received").asInt()).isEqualTo(all);
      assertThat(application.get("recorded").asInt()).isEqualTo(all);
    }
  }

  private static void assertQueuesAndAgents(int port) throws Exception {
    long messages = 0;
    JsonNode queues = EndToEndTest.json(port, "/api/queues").get("queues");
    assertThat(queues).hasSize(QUEUES);
    for (JsonNode queue : queues) {
      messages += queue.get("offset").asLong(0);
      assertThat(queue.get("lagMessages").asLong(-1)).isZero();
      assertThat(queue.get("end").asLong()).isEqualTo(queue.get("offset").asLong());
      assertThat(queue.get("growing").asBoolean()).isFalse();
    }
    JsonNode agents = EndToEndTest.json(port, "/api/agents");
    assertThat(agents.get("total").asInt()).isEqualTo(1);
    JsonNode agent = agents.get("agents").get(0);
    // Each message is a batch of the only agent.
    assertThat(agent.get("batches").asLong()).isEqualTo(messages).isPositive();
    assertThat(agent.get("started").isNull()).isFalse();
    assertThat(agent.get("queues").asInt()).isBetween(1, QUEUES);
  }

  /** Asserts that only the owner reports its stored series. */
  private static void assertOwner(int port) throws Exception {
    JsonNode answer = EndToEndTest.json(port, "/api/queues");
    int series = 0;
    for (JsonNode queue : answer.get("queues")) {
      assertThat(queue.get("own").asBoolean()).isTrue();
      series += queue.get("series").asInt();
    }
    assertThat(answer.get("series").asInt())
        .isEqualTo(series)
        .isEqualTo(SERVICES.size() * Expected.series().size());
  }

  private static ConditionFactory eventually(String what) {
    // Waits for the end of a minute, and for a look at the brokers.
    return await(what).atMost(Duration.ofMinutes(4)).pollInterval(Duration.ofSeconds(1));
  }

  private EmbeddedInstallation.Settings settings() throws IOException {
    String topic = SharedBroker.newTopic(QUEUES);
    Map<String, Object> properties = new HashMap<>();
    // Two clients own two queues: a later client, whose name sorts after theirs, gets none.
    properties.put("trace-etl.rocketmq.workers", QUEUES);
    properties.put("trace-etl.index.type", "none");
    return SharedBroker.settings(topic, directory, properties);
  }

  private static Map<String, Object> second(EmbeddedInstallation.Settings settings) {
    Map<String, Object> properties = SharedBroker.furtherServer(settings);
    properties.put("trace-etl.rocketmq.workers", 1);
    return properties;
  }
}
