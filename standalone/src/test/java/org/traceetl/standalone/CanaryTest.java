package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.Platform;
import org.traceetl.agent.RunningAgent;
import org.traceetl.agent.config.ConfigReader;
import org.traceetl.common.Clocks;
import org.traceetl.server.TraceEtlServer;
import org.traceetl.server.canary.Canary;
import org.traceetl.server.canary.CanaryConfig;
import org.traceetl.testkit.EmbeddedRocketMq;
import org.traceetl.testkit.PageSample;
import org.traceetl.testkit.Ports;
import org.traceetl.testkit.Prometheus;

/** A canary of a real installation, each part of which stops and comes back. */
final class CanaryTest {
  private static final String TOPIC = "spans";
  private static final String JOURNAL = "windows";
  private static final int QUEUES = 4;
  private static final List<String> PATHS = List.of("http", "grpc");
  private static final List<String> STAGES =
      List.of("agent", "broker", "server", "pipeline", "index", "prometheus");

  @TempDir private Path directory;

  private EmbeddedRocketMq broker;
  private Map<String, Object> serverProperties;
  private String agentYaml;
  private TraceEtlServer server;
  private RunningAgent agent;
  private Prometheus prometheus;
  private Canary canary;

  @BeforeEach
  void start() throws Exception {
    Path target = Path.of(System.getProperty("basedir", "."), "target");
    broker = EmbeddedRocketMq.start(target.resolve("broker-" + UUID.randomUUID()));
    broker.createTopic(TOPIC, QUEUES);
    broker.createTopic(JOURNAL, QUEUES);
    Ports ports = new Ports();
    int serverPort = ports.next();
    int httpPort = ports.next();
    int grpcPort = ports.next();
    serverProperties =
        Map.of(
            "server.port",
            serverPort,
            "trace-etl.rocketmq.name-server",
            broker.namesrvAddress(),
            "trace-etl.rocketmq.topic",
            TOPIC,
            "trace-etl.journal.topic",
            JOURNAL,
            "trace-etl.window.length",
            "500ms",
            "trace-etl.index.type",
            "lucene",
            "trace-etl.index.lucene.directory",
            directory.resolve("index").toString());
    agentYaml =
        """
        state-directory: '%s'
        otlp: {host: 127.0.0.1, http-port: %d, grpc-port: %d}
        ring.enabled: false
        rocketmq: {name-server: '%s', topic: %s}
        telemetry: {host: 127.0.0.1, port: 0}
        """
            .formatted(
                directory.resolve("agent"), httpPort, grpcPort, broker.namesrvAddress(), TOPIC);
    startServer();
    startAgent();
    prometheus =
        Prometheus.start(directory.resolve("prometheus"), serverPort, Duration.ofSeconds(1));
    URI serverUrl = URI.create("http://127.0.0.1:" + serverPort);
    canary =
        Canary.start(
            new CanaryConfig(
                URI.create("http://127.0.0.1:" + httpPort),
                URI.create("http://127.0.0.1:" + grpcPort),
                null,
                serverUrl,
                List.of(),
                true,
                prometheus.writeUri().resolve("/"),
                "trace-etl-canary",
                "traces_span_metrics_calls_total",
                Duration.ofMillis(500),
                Duration.ofSeconds(10),
                Duration.ofHours(1),
                null,
                null,
                null,
                "127.0.0.1",
                0),
            Clocks.SYSTEM,
            new Random());
  }

  @AfterEach
  void stop() throws Exception {
    if (canary != null) {
      canary.close();
    }
    if (prometheus != null) {
      prometheus.close();
    }
    if (agent != null) {
      agent.close();
    }
    if (server != null) {
      server.close();
    }
    broker.close();
  }

  private void startServer() {
    server = TraceEtlServer.start(serverProperties);
  }

  private void startAgent() throws Exception {
    agent = RunningAgent.start(ConfigReader.read(agentYaml, Map.of()).config(), Platform.SYSTEM);
  }

  @Test
  void brokenStageIsNamedAndNothingIsMissingAfterIt() throws Exception {
    awaitGreen();

    broker.stopBroker();
    awaitRed("broker");
    broker.startBroker();
    awaitGreen();

    server.close();
    awaitRed("server");
    startServer();
    awaitGreen();

    agent.drain(Duration.ofSeconds(10));
    agent.close();
    awaitRed("agent");
    startAgent();
    awaitGreen();
  }

  private void awaitRed(String stage) {
    EndToEndTest.eventually("stage " + stage)
        .untilAsserted(() -> assertThat(red(page()).get(stage)).isEqualTo(PATHS.size()));
  }

  /** Waits until further probes of each path have passed every stage. */
  private void awaitGreen() throws Exception {
    Map<String, Double> before = figures(page(), "seen_total");
    // At any instant, the latest probe of one path may be under way.
    for (String path : PATHS) {
      EndToEndTest.eventually("further probes by " + path)
          .untilAsserted(() -> {
            List<PageSample> page = page();
            double seen = figures(page, "seen_total").get(path);
            assertThat(red(page)).isEqualTo(allGreen());
            assertThat(seen).isGreaterThan(before.getOrDefault(path, 0.0) + 10);
            assertThat(figures(page, "expected_total").get(path)).isEqualTo(seen);
            assertThat(figures(page, "unanswered_spans").get(path)).isZero();
          });
    }
    assertThat(figures(page(), "mismatch_total"))
        .containsOnlyKeys(PATHS)
        .allSatisfy((path, spans) -> assertThat(spans).isZero());
  }

  private static Map<String, Integer> allGreen() {
    Map<String, Integer> green = new HashMap<>();
    STAGES.forEach(stage -> green.put(stage, 0));
    return green;
  }

  private List<PageSample> page() throws Exception {
    return EndToEndTest.samples(canary.port());
  }

  /** Returns how many paths are red, by stage. */
  private static Map<String, Integer> red(List<PageSample> page) {
    Map<String, Integer> red = new HashMap<>();
    for (PageSample sample : page) {
      if (sample.name().equals("trace_etl_canary_red")) {
        red.merge(sample.labels().get("stage"), (int) sample.value(), Integer::sum);
      }
    }
    return red;
  }

  private static Map<String, Double> figures(List<PageSample> page, String name) {
    Map<String, Double> figures = new HashMap<>();
    for (PageSample sample : page) {
      if (sample.name().equals("trace_etl_canary_" + name)) {
        figures.put(sample.labels().get("path"), sample.value());
      }
    }
    return figures;
  }
}
