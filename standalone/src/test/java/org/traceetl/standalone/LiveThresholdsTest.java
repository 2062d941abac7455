package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.server.TraceEtlServer;
import org.traceetl.testkit.PageSample;
import tools.jackson.databind.JsonNode;

/**
 * Tests that a changed file of rules changes from which duration spans become documents, in agent
 * and servers, and that all series go on.
 */
final class LiveThresholdsTest {
  private static final int QUEUES = 2;
  private static final int SPANS = 200;
  private static final long DURATION_NANOS = 100_000_000;

  @TempDir private Path directory;
  private Path file;

  @Test
  void spansSlowerThanTheNewThresholdBecomeDocumentsAndTheirSeriesGoOn() throws Exception {
    file = directory.resolve("rules.yaml");
    write(1, "10s");
    EmbeddedInstallation.Settings settings = settings();
    ServerHandOverTest.Observer observer = new ServerHandOverTest.Observer();
    try (EmbeddedInstallation installation = EmbeddedInstallation.start(settings);
        OtlpSpans shop = OtlpSpans.overGrpc("shop", installation.otlpGrpcPort())) {
      installation.awaitReady(Duration.ofSeconds(60));
      int port = installation.httpPort();
      observer.add(port);
      awaitDemand(installation, 10);
      send(shop);
      awaitSum(observer, SPANS);
      assertThat(grouped(installation)).isPositive();
      assertThat(slow(port)).isEmpty();

      write(2, "50ms");
      awaitDemand(installation, 0.05);
      Set<String> sent = send(shop);
      EndToEndTest.eventually("a document of each span, so the agent sent all of them whole")
          .untilAsserted(() -> assertThat(slow(port)).isEqualTo(sent));
      awaitSum(observer, 2 * SPANS);
      JsonNode rules = EndToEndTest.json(port, "/api/rules");
      assertThat(rules.get("source").asString()).isEqualTo("file");
      assertThat(rules.get("revision").asInt()).isEqualTo(2);

      // A rolling restart: the next server still has the earlier file.
      write(1, "10s");
      Map<String, Object> properties = SharedBroker.furtherServer(settings);
      properties.put("trace-etl.index.type", "none");
      try (TraceEtlServer next = TraceEtlServer.start(properties)) {
        EndToEndTest.eventually("the same rules on both servers")
            .untilAsserted(() -> {
              JsonNode its = EndToEndTest.json(next.port(), "/api/rules");
              assertThat(its.get("source").asString()).isEqualTo("record");
              assertThat(its.get("revision").asInt()).isEqualTo(2);
              assertThat(its.get("file").get("state").asString()).isEqualTo("older");
              assertThat(its.get("applications")).isEqualTo(rules.get("applications"));
            });
        observer.add(next.port());
        EndToEndTest.eventually("a queue of the next server")
            .untilAsserted(() -> {
              observer.look();
              assertThat(observer.shownBy(next.port())).isPositive();
            });
        observer.remove(next.port());
      }
      awaitSum(observer, 2 * SPANS);
      assertThat(observer.setbacks).isEmpty();
    }
  }

  private EmbeddedInstallation.Settings settings() throws IOException {
    String topic = SharedBroker.newTopic(QUEUES);
    Map<String, Object> properties = SharedBroker.decidingServer(topic);
    properties.put("trace-etl.index.type", "lucene");
    properties.put("trace-etl.documents.slower-than", "1m");
    properties.put("trace-etl.documents.per-series", 100_000);
    properties.put("trace-etl.rules.file", file.toString());
    return SharedBroker.settings(topic, directory, properties);
  }

  private void write(int revision, String slowerThan) throws IOException {
    Files.writeString(
        file,
        """
        revision: %d
        applications:
          - application: shop
            documents: {slower-than: %s}
        """
            .formatted(revision, slowerThan));
  }

  private static Set<String> send(OtlpSpans shop) {
    Set<String> traces = new HashSet<>();
    for (int i = 0; i < SPANS; i++) {
      traces.add(shop.send("/" + i % 4, SpanKind.SERVER, StatusCode.OK, DURATION_NANOS));
    }
    shop.flush();
    return traces;
  }

  /** Waits until the agent follows a demand in which spans are slow from this duration on. */
  private static void awaitDemand(EmbeddedInstallation installation, double seconds) {
    EndToEndTest.eventually("the agent with the demand of " + seconds + " s")
        .untilAsserted(() -> {
          JsonNode demand = EndToEndTest.json(installation.httpPort(), "/api/demand");
          List<PageSample> agent = EndToEndTest.samples(installation.agentTelemetryPort());
          assertThat(demand.get("parts").valueStream().filter(part -> part.get("own").asBoolean()))
              .singleElement()
              .satisfies(
                  own -> assertThat(own.at("/slow/0/seconds").asDouble(-1)).isEqualTo(seconds));
          assertThat(PageSample.sum(agent, "trace_etl_agent_demand_version"))
              .isEqualTo(demand.get("version").asDouble());
        });
  }

  private static double grouped(EmbeddedInstallation installation) throws Exception {
    return PageSample.sum(
        EndToEndTest.samples(installation.agentTelemetryPort()),
        "trace_etl_agent_spans_grouped_total");
  }

  private static Set<String> slow(int port) throws Exception {
    return EndToEndTest.traceIds(
        EndToEndTest.traces(port, "application=shop&reason=slow&limit=1000"));
  }

  private static void awaitSum(ServerHandOverTest.Observer observer, long spans) {
    EndToEndTest.eventually("every span once")
        .untilAsserted(() -> {
          observer.look();
          assertThat(observer.sum()).isEqualTo(spans);
        });
  }
}
