package org.traceetl.perf.bench;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.traceetl.perf.process.Ports;
import org.traceetl.perf.process.Program;
import org.traceetl.perf.process.RocketMq;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * An agent, RocketMQ and several servers as processes of their own, quick to decide on hotspots
 * once they may: {@link #letHotspotsMove}.
 */
final class Fleet implements AutoCloseable {
  static final Duration WINDOW = Duration.ofSeconds(1);

  private static final Duration START_LIMIT = Duration.ofMinutes(2);
  private static final JsonMapper JSON = new JsonMapper();

  private final Installed installed;
  private final HttpClient http;
  private final RocketMq rocketMq;
  private final Program agent;
  private final List<Program> servers = new ArrayList<>();
  private final List<URI> serverUris = new ArrayList<>();
  private final int otlpPort;
  private final URI telemetry;

  Fleet(Path directory, Ports ports, Installed installed, int servers, HttpClient http)
      throws IOException {
    this.installed = installed;
    this.http = http;
    Files.createDirectories(directory);
    rocketMq =
        new RocketMq(directory, ports, installed.jvmOptions("broker"), installed.brokerSettings());
    otlpPort = ports.next();
    telemetry = URI.create("http://127.0.0.1:" + ports.next());
    agent = agent(directory);
    for (int i = 1; i <= servers; i++) {
      serverUris.add(URI.create("http://127.0.0.1:" + ports.next()));
      this.servers.add(server(directory, "server-" + i, serverUris.getLast()));
    }
  }

  private Program agent(Path directory) throws IOException {
    Path home = Files.createDirectories(directory.resolve("agent"));
    Path config = home.resolve("log-agent.yaml");
    Files.writeString(
        config,
        """
        state-directory: %s
        ring: {enabled: false}
        otlp: {host: 127.0.0.1, grpc-port: %d, http-port: 0}
        rocketmq: {name-server: "%s", route-refresh-millis: 1000}
        telemetry: {host: 127.0.0.1, port: %d}
        """
            .formatted(home.resolve("state"), otlpPort, rocketMq.address(), telemetry.getPort()));
    return installed.program(
        "agent", "agent", home, installed.agentJar(), config, telemetry.resolve("/health"));
  }

  private Program server(Path directory, String name, URI uri) throws IOException {
    Path home = Files.createDirectories(directory.resolve(name));
    Path config = home.resolve("trace-etl-server.yaml");
    Files.writeString(
        config,
        """
        server: {port: %d, address: 127.0.0.1}
        trace-etl:
          rocketmq: {name-server: "%s", workers: 1}
          window: {length: %dms}
          metrics: {queue-label: always}
          hotspots: {interval: %dms, grow-after: 2, min-queue-rate: 1}
        """
            .formatted(
                uri.getPort(), rocketMq.address(), WINDOW.toMillis(), 2 * WINDOW.toMillis()));
    return installed.program(
        "server", name, home, installed.serverJar(), config, uri.resolve("/ready"));
  }

  /** Starts all, without the topic of the decisions. */
  void start() throws IOException, InterruptedException {
    rocketMq.start(installed.queues());
    agent.start();
    for (Program server : servers) {
      server.start();
    }
    agent.awaitReady(http, START_LIMIT);
    for (Program server : servers) {
      server.awaitReady(http, START_LIMIT);
    }
  }

  /** Switches automatic hotspots on. */
  void letHotspotsMove() throws IOException, InterruptedException {
    rocketMq.makeDecisionsTopic();
  }

  int otlpPort() {
    return otlpPort;
  }

  /** A metric of each server, added up over its labels. */
  double[] sums(String metric) throws IOException, InterruptedException {
    double[] sums = new double[serverUris.size()];
    for (int i = 0; i < sums.length; i++) {
      sums[i] = sum(serverUris.get(i), metric);
    }
    return sums;
  }

  /** The epoch of the decisions that the agent follows; 0 for none. */
  double agentEpoch() throws IOException, InterruptedException {
    return sum(telemetry, "trace_etl_agent_hotspot_epoch");
  }

  /** What the server that decides says about hotspots; null while none does. */
  JsonNode hotspots() throws IOException, InterruptedException {
    for (URI server : serverUris) {
      JsonNode answer = JSON.readTree(get(server.resolve("/api/hotspots")));
      if (answer.path("state").asString("").equals("decider")) {
        return answer;
      }
    }
    return null;
  }

  private double sum(URI program, String metric) throws IOException, InterruptedException {
    return get(program.resolve("/metrics"))
        .lines()
        .filter(line -> line.startsWith(metric + "{") || line.startsWith(metric + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  private String get(URI uri) throws IOException, InterruptedException {
    HttpResponse<String> response =
        http.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() != 200) {
      throw new IOException(uri + " answers " + response.statusCode());
    }
    return response.body();
  }

  @Override
  public void close() {
    List<Program> all = new ArrayList<>(servers);
    all.addAll(List.of(agent, rocketMq.broker(), rocketMq.nameServer()));
    Program.kill(all);
  }
}
