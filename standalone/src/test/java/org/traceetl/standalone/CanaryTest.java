package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.LogAgent;
import org.traceetl.testkit.Elasticsearch;
import org.traceetl.testkit.PageSample;
import org.traceetl.testkit.Ports;
import org.traceetl.testkit.Program;
import org.traceetl.testkit.Programs;
import org.traceetl.testkit.Prometheus;
import org.traceetl.testkit.RocketMqPrograms;

/**
 * A canary of a real installation, each program of which is killed and started again. Prints how
 * long the canary took; {@code -Dtraceetl.canary-deadline=45s} measures with the default.
 */
final class CanaryTest {
  private static final int QUEUES = 4;
  private static final List<String> PATHS = List.of("http", "grpc", "ring");
  private static final List<String> STAGES =
      List.of("agent", "broker", "server", "pipeline", "index", "prometheus");
  private static final Duration START_LIMIT = Duration.ofMinutes(3);
  private static final String DEADLINE = System.getProperty("traceetl.canary-deadline", "8s");

  @TempDir private Path directory;

  private RocketMqPrograms rocketMq;
  private Elasticsearch elasticsearch;
  private ServerProcess server;
  private Program agent;
  private Program prometheus;
  private ServerProcess canary;
  private int canaryPort;

  /** Ends a program, or starts it and waits until it is ready. */
  private interface Action {
    void run() throws Exception;
  }

  @BeforeEach
  void start() throws Exception {
    Ports ports = new Ports();
    rocketMq =
        new RocketMqPrograms(
            directory,
            ports,
            List.of("-Xmx256m", "-XX:MaxDirectMemorySize=512m", "-XX:+UseSerialGC"),
            Map.of(
                "mappedFileSizeCommitLog",
                64 << 20,
                "mappedFileSizeConsumeQueue",
                20 * 20_000,
                "timerWheelEnable",
                false,
                "diskMaxUsedSpaceRatio",
                95));
    rocketMq.start(QUEUES);
    elasticsearch = Elasticsearch.shared();
    server =
        ServerProcess.start(
            directory.resolve("server"),
            Map.of(
                "trace-etl.rocketmq.name-server",
                rocketMq.address(),
                "trace-etl.window.length",
                "500ms",
                "trace-etl.index.type",
                "elasticsearch",
                "trace-etl.index.elasticsearch.urls",
                elasticsearch.url(),
                "trace-etl.index.elasticsearch.data-stream",
                "canary"));
    Path rings = directory.resolve("rings");
    int httpPort = ports.next();
    int grpcPort = ports.next();
    agent = agent(ports.next(), httpPort, grpcPort, rings);
    start(agent);
    int prometheusPort = ports.next();
    prometheus = prometheus(prometheusPort);
    start(prometheus);
    canaryPort = ports.next();
    Map<String, Object> options = new HashMap<>();
    options.put("agent-http", "http://127.0.0.1:" + httpPort);
    options.put("agent-grpc", "http://127.0.0.1:" + grpcPort);
    options.put("agent-ring", rings);
    options.put("servers", server.uri("/"));
    options.put("index", true);
    options.put("prometheus", "http://127.0.0.1:" + prometheusPort);
    options.put("interval", "500ms");
    options.put("deadline", DEADLINE);
    options.put("port", canaryPort);
    canary = ServerProcess.command(directory.resolve("canary.log"), "canary", options);
  }

  private Program agent(int port, int httpPort, int grpcPort, Path rings) throws IOException {
    Path config =
        Files.writeString(
            directory.resolve("log-agent.yaml"),
            """
            state-directory: '%s'
            otlp: {host: 127.0.0.1, http-port: %d, grpc-port: %d}
            ring: {directory: '%s'}
            rocketmq: {name-server: '%s'}
            telemetry: {host: 127.0.0.1, port: %d}
            """
                .formatted(
                    directory.resolve("agent"),
                    httpPort,
                    grpcPort,
                    rings,
                    rocketMq.address(),
                    port));
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(Programs.SHORT_LIVED_JVM);
    command.addAll(
        List.of(
            "-Xmx256m",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-Drocketmq.log.root=" + directory.resolve("rocketmq-log"),
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            LogAgent.class.getName(),
            "--config=" + config));
    return new Program(
        "agent",
        command,
        Map.of(),
        directory.resolve("agent.log"),
        URI.create("http://127.0.0.1:" + port + "/health"));
  }

  private Program prometheus(int port) throws IOException {
    return Prometheus.program(
        Programs.require("prometheus"),
        "prometheus",
        directory.resolve("prometheus"),
        directory.resolve("prometheus.log"),
        port,
        """
        global: {scrape_interval: 1s, scrape_timeout: 1s}
        scrape_configs:
          - job_name: trace-etl
            static_configs: [{targets: ["127.0.0.1:%d"]}]
        """
            .formatted(server.port()));
  }

  private static void start(Program program) throws Exception {
    program.start();
    try (HttpClient http = HttpClient.newHttpClient()) {
      program.awaitReady(http, START_LIMIT);
    }
  }

  @AfterEach
  void stop() throws Exception {
    if (canary != null) {
      canary.close();
    }
    if (server != null) {
      server.close();
    }
    List<Program> programs = new ArrayList<>(rocketMq.all());
    if (agent != null) {
      programs.add(agent);
    }
    if (prometheus != null) {
      programs.add(prometheus);
    }
    Program.kill(programs);
    rocketMq.close();
    if (elasticsearch != null && !elasticsearch.program().isRunning()) {
      elasticsearch.startAgain();
    }
  }

  @Test
  void killedStageIsNamedAndNothingIsMissingAfterIt() throws Exception {
    awaitGreen();
    breaks("prometheus", prometheus::kill, () -> start(prometheus));
    breaks("index", elasticsearch::kill, elasticsearch::startAgain);
    breaks("agent", agent::kill, () -> start(agent));
    breaks("broker", rocketMq.broker()::kill, rocketMq.broker()::start);
    breaks("server", server::kill, server::startAgain);
  }

  private void breaks(String stage, Action kill, Action start) throws Exception {
    kill.run();
    long killedNanos = System.nanoTime();
    EndToEndTest.eventually("stage " + stage)
        .untilAsserted(() -> assertThat(red(page()).get(stage)).isEqualTo(PATHS.size()));
    long redSeconds = secondsSince(killedNanos);
    start.run();
    long startedNanos = System.nanoTime();
    awaitGreen();
    System.out.printf(
        "Canary: %s killed, red after %d s; started, green after %d s%n",
        stage, redSeconds, secondsSince(startedNanos));
  }

  private static long secondsSince(long startNanos) {
    return Duration.ofNanos(System.nanoTime() - startNanos).toSeconds();
  }

  /** Waits until further probes of each path have passed every stage. */
  private void awaitGreen() throws Exception {
    EndToEndTest.eventually("the canary")
        .ignoreExceptions()
        .until(() -> figures(page(), "seen_total").keySet().containsAll(PATHS));
    Map<String, Double> before = figures(page(), "seen_total");
    // At any instant, the latest probe of one path may be under way.
    for (String path : PATHS) {
      EndToEndTest.eventually("further probes by " + path)
          .untilAsserted(() -> {
            List<PageSample> page = page();
            double seen = figures(page, "seen_total").get(path);
            assertThat(red(page)).isEqualTo(allGreen());
            assertThat(seen).isGreaterThan(before.get(path) + 4);
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
    return EndToEndTest.samples(canaryPort);
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
