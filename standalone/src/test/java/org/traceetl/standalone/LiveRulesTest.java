package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
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
 * Tests that a changed file of rules changes, in agent and servers, from which duration spans
 * become documents and which labels, buckets and unit their series have, while every span counts
 * once and no series of another application begins again.
 */
final class LiveRulesTest {
  private static final int QUEUES = 2;
  private static final int SPANS = 200;
  private static final long SLOW_NANOS = 100_000_000;
  private static final long FAST_NANOS = 10_000_000;
  private static final AttributeKey<String> TIER = AttributeKey.stringKey("customer.tier");
  private static final String LABEL = "customer_tier=\"gold\"";
  private static final String MILLIS = "traces_span_metrics_duration_milliseconds";
  private static final String SECONDS = "traces_span_metrics_duration_seconds";

  @TempDir private Path directory;
  private Path file;

  @Test
  void documentsAndLabelsFollowTheRulesOnAllServers() throws Exception {
    file = directory.resolve("rules.yaml");
    write(1, "10s", "");
    EmbeddedInstallation.Settings settings = settings();
    ServerHandOverTest.Observer observer = new ServerHandOverTest.Observer();
    try (EmbeddedInstallation installation = EmbeddedInstallation.start(settings);
        OtlpSpans shop = OtlpSpans.overGrpc("shop", installation.otlpGrpcPort())) {
      installation.awaitReady(Duration.ofSeconds(60));
      int port = installation.httpPort();
      observer.add(port);
      awaitDemand(installation, 10);
      send(shop, SLOW_NANOS);
      awaitSum(observer, SPANS);
      assertThat(grouped(installation)).isPositive();
      assertThat(slow(port)).isEmpty();

      write(2, "50ms", "");
      awaitDemand(installation, 0.05);
      Set<String> sent = send(shop, SLOW_NANOS);
      EndToEndTest.eventually("a document of each span, so the agent sent all of them whole")
          .untilAsserted(() -> assertThat(slow(port)).isEqualTo(sent));
      awaitSum(observer, 2 * SPANS);

      // Spans that agents group have the attribute only if the demand has it.
      write(3, "10s", "series: {dimensions: [{attribute: customer.tier}]}");
      JsonNode rules = awaitSwitch(port, 3);
      awaitDemand(installation, 10);
      double groupedBefore = grouped(installation);
      send(shop, FAST_NANOS);
      awaitSum(observer, 3 * SPANS);
      assertThat(grouped(installation)).isGreaterThan(groupedBefore);
      assertThat(observer.sum(LABEL)).isEqualTo(SPANS);
      assertThat(outdated(port)).isZero();

      // A rolling restart: the next server still has the earlier file.
      write(1, "10s", "");
      Map<String, Object> properties = SharedBroker.furtherServer(settings);
      properties.put("trace-etl.index.type", "none");
      try (TraceEtlServer next = TraceEtlServer.start(properties)) {
        EndToEndTest.eventually("the same rules on both servers")
            .untilAsserted(() -> {
              JsonNode its = EndToEndTest.json(next.port(), "/api/rules");
              assertThat(its.get("source").asString()).isEqualTo("record");
              assertThat(its.get("revision").asInt()).isEqualTo(3);
              assertThat(its.get("file").get("state").asString()).isEqualTo("older");
              assertThat(its.get("waits").isNull()).isTrue();
              assertThat(its.get("applications")).isEqualTo(rules.get("applications"));
            });
        observer.add(next.port());
        EndToEndTest.eventually("a queue of the next server")
            .untilAsserted(() -> {
              observer.look();
              assertThat(observer.shownBy(next.port())).isPositive();
            });
        send(shop, FAST_NANOS);
        awaitSum(observer, 4 * SPANS);
        assertThat(observer.sum(LABEL)).as("on two servers").isEqualTo(2 * SPANS);
        assertThat(outdated(next.port())).isZero();
        observer.remove(next.port());
      }
      awaitSum(observer, 4 * SPANS);
      assertThat(observer.setbacks).isEmpty();
    }
  }

  @Test
  void bucketsAndUnitFollowTheRulesOnAllServers() throws Exception {
    file = directory.resolve("rules.yaml");
    write(1, "10s", "");
    EmbeddedInstallation.Settings settings = settings();
    ServerHandOverTest.Observer observer = new ServerHandOverTest.Observer();
    try (EmbeddedInstallation installation = EmbeddedInstallation.start(settings);
        OtlpSpans shop = OtlpSpans.overGrpc("shop", installation.otlpGrpcPort());
        OtlpSpans blog = OtlpSpans.overGrpc("blog", installation.otlpGrpcPort())) {
      installation.awaitReady(Duration.ofSeconds(60));
      int port = installation.httpPort();
      observer.add(port);
      awaitDemand(installation, 10);
      send(shop, FAST_NANOS);
      send(blog, FAST_NANOS);
      awaitSum(observer, 2 * SPANS);

      write(2, "10s", "histogram.bounds-millis: [5, 20]");
      awaitSwitch(port, 2);
      send(shop, FAST_NANOS);
      send(blog, FAST_NANOS);
      awaitSum(observer, 4 * SPANS);
      assertThat(bucket(port, MILLIS, "shop", "20.0")).isEqualTo(SPANS);
      assertThat(bucket(port, MILLIS, "shop", "5.0")).isZero();
      assertThat(bucket(port, MILLIS, "shop", "10.0")).as("as before").isEqualTo(SPANS);
      assertThat(bucket(port, MILLIS, "blog", "10.0")).isEqualTo(2 * SPANS);

      write(3, "10s", "histogram.bounds-millis: [5, 20]\n    metrics.unit: seconds");
      JsonNode rules = awaitSwitch(port, 3);
      assertThat(rules.at("/applications/0/histogram/unit").asString()).isEqualTo("seconds");
      Map<String, Object> properties = SharedBroker.furtherServer(settings);
      properties.put("trace-etl.index.type", "none");
      try (TraceEtlServer next = TraceEtlServer.start(properties)) {
        EndToEndTest.eventually("the same rules on both servers")
            .untilAsserted(() -> {
              JsonNode its = EndToEndTest.json(next.port(), "/api/rules");
              assertThat(its.get("revision").asInt()).isEqualTo(3);
              assertThat(its.get("waits").isNull()).isTrue();
            });
        observer.add(next.port());
        EndToEndTest.eventually("a queue of the next server")
            .untilAsserted(() -> {
              observer.look();
              assertThat(observer.shownBy(next.port())).isPositive();
            });
        send(shop, FAST_NANOS);
        send(blog, FAST_NANOS);
        awaitSum(observer, 6 * SPANS);
        assertThat(
                bucket(port, SECONDS, "shop", "0.02")
                    + bucket(next.port(), SECONDS, "shop", "0.02"))
            .isEqualTo(SPANS);
        observer.remove(next.port());
      }
      EndToEndTest.eventually("the queue of the ended server, taken over")
          .untilAsserted(() -> {
            assertThat(bucket(port, SECONDS, "shop", "0.02")).isEqualTo(SPANS);
            assertThat(bucket(port, MILLIS, "shop", "20.0")).isEqualTo(SPANS);
            assertThat(bucket(port, MILLIS, "blog", "10.0")).isEqualTo(3 * SPANS);
          });
      awaitSum(observer, 6 * SPANS);
      assertThat(observer.setbacks).isEmpty();
    }
  }

  private static double bucket(int port, String histogram, String service, String le)
      throws Exception {
    return EndToEndTest.samples(port).stream()
        .filter(sample -> sample.name().equals(histogram + "_bucket"))
        .filter(sample -> service.equals(sample.labels().get("service_name")))
        .filter(sample -> le.equals(sample.labels().get("le")))
        .mapToDouble(PageSample::value)
        .sum();
  }

  private EmbeddedInstallation.Settings settings() throws IOException {
    String topic = SharedBroker.newTopic(QUEUES);
    Map<String, Object> properties = SharedBroker.decidingServer(topic);
    properties.put("trace-etl.index.type", "lucene");
    properties.put("trace-etl.documents.slower-than", "1m");
    properties.put("trace-etl.documents.per-series", 100_000);
    properties.put("trace-etl.rules.file", file.toString());
    properties.put("trace-etl.rules.switch-after", "3s");
    return SharedBroker.settings(topic, directory, properties);
  }

  private void write(int revision, String slowerThan, String series) throws IOException {
    Files.writeString(
        file,
        """
        revision: %d
        applications:
          - application: shop
            documents: {slower-than: %s}
            %s
        """
            .formatted(revision, slowerThan, series));
  }

  /** Waits until a server counts by the rules of its file; returns them. */
  private static JsonNode awaitSwitch(int port, int revision) throws Exception {
    EndToEndTest.eventually("the rules of the file in force")
        .untilAsserted(() -> {
          JsonNode rules = EndToEndTest.json(port, "/api/rules");
          assertThat(rules.get("source").asString()).isEqualTo("file");
          assertThat(rules.get("revision").asInt()).isEqualTo(revision);
          assertThat(rules.get("waits").isNull()).isTrue();
        });
    return EndToEndTest.json(port, "/api/rules");
  }

  private static double outdated(int port) throws Exception {
    return PageSample.sum(EndToEndTest.samples(port), "trace_etl_rules_outdated_spans_total");
  }

  private static Set<String> send(OtlpSpans shop, long durationNanos) {
    Set<String> traces = new HashSet<>();
    Attributes attributes = Attributes.of(TIER, "gold");
    for (int i = 0; i < SPANS; i++) {
      traces.add(shop.send("/" + i % 4, SpanKind.SERVER, StatusCode.OK, durationNanos, attributes));
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
