package org.traceetl.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.awaitility.Awaitility.await;

import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.testing.trace.TestSpanData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.ConfigReader;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.kubernetes.ApiServer;
import org.traceetl.agent.kubernetes.PodJson;
import org.traceetl.agent.publish.MemoryTransport;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.common.Clocks;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpanBatchReader;

/** Agents whose senders are pods: their address is that of this host. */
@Timeout(120)
final class KubernetesAgentTest {
  private static final PodJson POD = PodJson.of("checkout-7d4b9c6f5b-x2x4q", "127.0.0.1");

  @TempDir private Path directory;

  private MemoryTransport transport;

  @BeforeEach
  void createTransport() {
    transport =
        new MemoryTransport() {
          @Override
          public List<BrokerQueue> queues() {
            return List.of(new BrokerQueue("broker-a", 0));
          }
        };
  }

  @Test
  void attributesOfThePodAreInTheBatch() throws Exception {
    try (ApiServer server = new ApiServer(directory, 0)) {
      server.put(POD);
      try (RunningAgent agent = start(server.yaml())) {
        await().until(() -> AgentPage.value(agent, "kubernetes_pods") == 1);
        assertThat(post(agent, "unknown_service:java")).isEqualTo(200);
        await().until(() -> transport.stored().size() == 1);
        sendByGrpc(agent);
        await().until(() -> transport.stored().size() == 2);

        for (MemoryTransport.Stored batch : transport.stored()) {
          assertThat(resource(batch.body()))
              .contains(
                  entry("application", "checkout"),
                  entry("service.name", "checkout"),
                  entry("service.version", "1.4.2"),
                  entry("k8s.namespace.name", "shop"),
                  entry("k8s.deployment.name", "checkout"),
                  entry("k8s.node.name", "node-1"),
                  entry("k8s.pod.name", POD.name()));
        }
        assertThat(AgentPage.value(agent, "kubernetes_completed_resources_total")).isEqualTo(2);
      }
    }
  }

  @Test
  void resourceThatWouldBecomeTooLargeStaysAsReceived() throws Exception {
    try (ApiServer server = new ApiServer(directory, 0)) {
      server.put(POD);
      try (RunningAgent agent = start(server.yaml())) {
        await().until(() -> AgentPage.value(agent, "kubernetes_pods") == 1);
        String application = "x".repeat(65_500);
        assertThat(post(agent, application)).isEqualTo(200);
        await().until(() -> transport.stored().size() == 1);

        assertThat(resource(transport.stored().getFirst().body()))
            .containsExactly(entry("application", application), entry("service.name", application));
        assertThat(AgentPage.value(agent, "spans_rejected_total{.*}")).isZero();
      }
    }
  }

  @Test
  void repeatAfterARestartCountsOnceThoughThePodIsKnownByThen() throws Exception {
    try (ApiServer server = new ApiServer(directory, 0)) {
      try (RunningAgent agent = start(server.yaml())) {
        assertThat(post(agent, "shop")).isEqualTo(200);
        await().until(() -> !transport.stored().isEmpty());
        assertThat(AgentPage.value(agent, "kubernetes_unmatched_resources_total{.*}")).isOne();
      }
      server.put(POD);
      try (RunningAgent agent = start(server.yaml())) {
        await().until(() -> AgentPage.value(agent, "kubernetes_pods") == 1);
        assertThat(post(agent, "shop")).isEqualTo(200);
        assertThat(AgentPage.value(agent, "otlp_requests_repeated_total")).isOne();
        assertThat(AgentPage.value(agent, "spans_received_total{.*}")).isZero();
      }
      assertThat(transport.stored()).hasSize(1);
      assertThat(resource(transport.stored().getFirst().body()))
          .containsExactly(entry("application", "shop"), entry("service.name", "shop"));
    }
  }

  @Test
  void spansCountWhileTheApiServerIsAway() throws Exception {
    String yaml;
    try (ApiServer server = new ApiServer(directory, 0)) {
      yaml = server.yaml();
    }
    try (RunningAgent agent = start(yaml)) {
      assertThat(post(agent, "shop")).isEqualTo(200);
      assertThat(AgentPage.value(agent, "kubernetes_unmatched_resources_total{reason=\"stale\",}"))
          .isOne();
    }
  }

  @Test
  void withoutTheKeyThereIsNoThreadOrMetric() throws Exception {
    try (RunningAgent agent = start("")) {
      assertThat(agent.metricsPage()).doesNotContain("_kubernetes_");
      assertThat(Thread.getAllStackTraces().keySet())
          .noneMatch(thread -> thread.getName().startsWith("kubernetes-"));
    }
  }

  private RunningAgent start(String more) throws IOException {
    String yaml =
        """
        state-directory: %s
        otlp: {host: 127.0.0.1, grpc-port: 0, http-port: 0}
        telemetry: {host: 127.0.0.1, port: 0}
        ring: {enabled: false}
        routing: {hotspots: false, learnt-names: false}
        detail: {default: full}
        rocketmq: {bundles: off}
        """
            .formatted(directory.resolve("state"));
    RunningAgent agent =
        RunningAgent.start(
            ConfigReader.read(yaml + more, Map.of()).config(),
            new Platform(
                Clocks.SYSTEM,
                new Random(7),
                Disk.SYSTEM,
                (config, identity) -> transport,
                "host"));
    await().until(() -> agent.problem().isEmpty());
    return agent;
  }

  private static int post(RunningAgent agent, String application) throws Exception {
    String json =
        """
        {"resourceSpans": [{
          "resource": {"attributes": [
            {"key": "service.name", "value": {"stringValue": "%s"}}]},
          "scopeSpans": [{"spans": [
            {"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "00f067aa0ba902b7",
             "name": "op", "kind": 2, "startTimeUnixNano": "1795255028312000000",
             "endTimeUnixNano": "1795255028412000000"}]}]}]}
        """
            .formatted(application);
    String url = "http://127.0.0.1:" + agent.otlpHttpPort().orElseThrow() + "/v1/traces";
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client
          .send(
              HttpRequest.newBuilder(URI.create(url))
                  .header("Content-Type", "application/json")
                  // A header of the sender is not its address.
                  .header("X-Forwarded-For", "10.9.9.9")
                  .POST(HttpRequest.BodyPublishers.ofString(json))
                  .build(),
              BodyHandlers.discarding())
          .statusCode();
    }
  }

  /** Sends a span without a resource. */
  private static void sendByGrpc(RunningAgent agent) {
    SpanData span =
        TestSpanData.builder()
            .setSpanContext(
                SpanContext.create(
                    "0af7651916cd43dd8448eb211c80319d",
                    "00f067aa0ba902b8",
                    TraceFlags.getSampled(),
                    TraceState.getDefault()))
            .setName("op")
            .setKind(SpanKind.SERVER)
            .setStatus(StatusData.unset())
            .setStartEpochNanos(1_795_255_028_312_000_000L)
            .setEndEpochNanos(1_795_255_028_412_000_000L)
            .setHasEnded(true)
            .build();
    try (OtlpGrpcSpanExporter exporter =
        OtlpGrpcSpanExporter.builder()
            .setEndpoint("http://127.0.0.1:" + agent.otlpGrpcPort().orElseThrow())
            .build()) {
      assertThat(exporter.export(List.of(span)).join(30, TimeUnit.SECONDS).isSuccess()).isTrue();
    }
  }

  /** Returns the application and the resource attributes of a batch. */
  private static Map<String, String> resource(byte[] body) {
    SpanBatchReader reader = new SpanBatchReader();
    assertThat(reader.wrap(body, 0, body.length)).isEqualTo(Rejection.NONE);
    Map<String, String> texts = new LinkedHashMap<>();
    texts.put("application", text(reader, reader.application()));
    for (int i = 0; i < reader.resourceAttributeCount(); i++) {
      texts.put(
          text(reader, reader.resourceAttributeKey(i)),
          text(reader, reader.resourceAttributeValue(i)));
    }
    return texts;
  }

  private static String text(SpanBatchReader reader, int index) {
    return new String(
        reader.buffer(), reader.dictionaryOffset(index), reader.dictionaryLength(index), UTF_8);
  }
}
