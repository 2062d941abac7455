package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.server.TraceEtlServer;
import org.traceetl.testkit.PageSample;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tests that an application that outgrows its queues under load gets all of them, without a change
 * of counts.
 */
final class HotspotTest {
  private static final int QUEUES = 6;
  private static final int OPERATIONS = 60;
  private static final String CALLS = "traces_span_metrics_calls_total";

  @TempDir private Path directory;

  @Test
  void hotspotMovesToMoreQueuesAndEverySpanCountsOnce() throws Exception {
    EmbeddedInstallation.Settings settings = settings();
    AtomicLong sent = new AtomicLong();
    AtomicBoolean enough = new AtomicBoolean();
    try (EmbeddedInstallation first = EmbeddedInstallation.start(settings);
        TraceEtlServer second = TraceEtlServer.start(SharedBroker.furtherServer(settings))) {
      first.awaitReady(Duration.ofSeconds(60));
      Thread load = Thread.ofPlatform().start(() -> load(first.otlpGrpcPort(), sent, enough));
      try {
        EndToEndTest.eventually("all queues for the hotspot")
            .until(() -> hotspot(first.httpPort()).path("queues").asInt() == QUEUES);
        EndToEndTest.eventually("spans on all of them, seen by the other server")
            .until(() -> hotspot(second.port()).path("usedQueues").asInt() == QUEUES);
        EndToEndTest.eventually("messages that no window has yet")
            .until(() -> !hotspots(second.port()).get("behind").isEmpty());
      } finally {
        enough.set(true);
        load.join();
      }
      EndToEndTest.eventually("every span once")
          .untilAsserted(() ->
              assertThat(calls(first.httpPort()) + calls(second.port())).isEqualTo(sent.get()));
      EndToEndTest.eventually("none once all are in windows")
          .until(() -> hotspots(first.httpPort()).get("behind").isEmpty());

      JsonNode decided = hotspots(first.httpPort());
      Set<String> states = new HashSet<>();
      states.add(decided.get("state").asString());
      states.add(hotspots(second.port()).get("state").asString());
      assertThat(states).containsExactlyInAnyOrder("decider", "follower");
      List<PageSample> agent = EndToEndTest.samples(first.agentTelemetryPort());
      assertThat(PageSample.sum(agent, "trace_etl_agent_hotspot_applications")).isEqualTo(1);
      // The documentation shows these lines.
      System.out.println("Hotspots: " + decided);
      EndToEndTest.samples(first.httpPort()).stream()
          .filter(sample -> sample.name().startsWith("trace_etl_hotspot_"))
          .forEach(sample -> System.out.println(sample.series() + " " + sample.value()));
    }
  }

  private EmbeddedInstallation.Settings settings() throws IOException {
    String topic = SharedBroker.newTopic(QUEUES);
    Map<String, Object> properties = SharedBroker.decidingServer(topic);
    properties.put("trace-etl.hotspots.grow-after", 2);
    properties.put("trace-etl.hotspots.min-queue-rate", 0);
    properties.put("trace-etl.hotspots.pinned", "small-*");
    return SharedBroker.settings(topic, directory, properties);
  }

  /** Sends nine tenths of all spans from one application; the others are on every queue. */
  private static void load(int port, AtomicLong sent, AtomicBoolean enough) {
    try (OtlpSpans hot = OtlpSpans.overGrpc("hot", port);
        OtlpSpans one = OtlpSpans.overGrpc("small-1", port);
        OtlpSpans two = OtlpSpans.overGrpc("small-2", port)) {
      while (!enough.get()) {
        sent.addAndGet(send(hot, OPERATIONS) + send(one, 3) + send(two, 3));
      }
    }
  }

  private static int send(OtlpSpans spans, int operations) {
    for (int i = 0; i < operations; i++) {
      spans.send("operation" + i, SpanKind.SERVER, StatusCode.OK, 5_000_000);
    }
    spans.flush();
    return operations;
  }

  private static JsonNode hotspot(int port) throws Exception {
    for (JsonNode application : hotspots(port).get("applications")) {
      if (application.get("application").asString().equals("hot")) {
        return application;
      }
    }
    return new JsonMapper().createObjectNode();
  }

  private static JsonNode hotspots(int port) throws Exception {
    return EndToEndTest.json(port, "/api/hotspots");
  }

  private static long calls(int port) throws Exception {
    return (long) PageSample.sum(EndToEndTest.samples(port), CALLS);
  }
}
