package org.traceetl.perf.bench;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.traceetl.perf.bench.process.Usage;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.testkit.Ports;
import org.traceetl.testkit.Program;
import org.traceetl.testkit.RocketMqPrograms;

/**
 * The whole path in separate processes: log-agent, RocketMQ's name server and broker,
 * trace-etl-server without an index.
 */
final class TraceEtl implements Contender {
  private static final Duration START_LIMIT = Duration.ofMinutes(2);
  private static final Duration DRAIN_LIMIT = Duration.ofMinutes(1);
  private static final String PUBLISHED = "trace_etl_agent_spans_published_total ";

  /** A server that uses a smaller share of a core is idle: it polls and finds no messages. */
  private static final double IDLE_SHARE = 0.2;

  private static final Duration LOOK = Duration.ofMillis(100);

  private final Installed installed;
  private final Duration window;
  private final RocketMqPrograms rocketMq;
  private final Program agent;
  private final Program server;
  private final int otlpPort;
  private final int telemetryPort;
  private final int serverPort;
  private HttpClient http;

  /**
   * @param installed the programs and their settings
   * @param dimensions of the series, in addition to application, name, kind and status
   */
  TraceEtl(
      Path directory,
      Ports ports,
      Installed installed,
      List<SeriesConfig.Dimension> dimensions,
      Duration window)
      throws IOException {
    this.installed = installed;
    this.window = window;
    Files.createDirectories(directory);
    rocketMq =
        new RocketMqPrograms(
            directory, ports, installed.jvmOptions("broker"), installed.brokerSettings());
    otlpPort = ports.next();
    telemetryPort = ports.next();
    serverPort = ports.next();
    agent = agent(directory);
    server = server(directory, dimensions);
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
        rocketmq: {name-server: "%s"}
        telemetry: {host: 127.0.0.1, port: %d}
        %s\
        """
            .formatted(
                home.resolve("state"),
                otlpPort,
                rocketMq.address(),
                telemetryPort,
                installed.agentSettings()));
    return installed.program(
        "agent", "agent", home, installed.agentJar(), config, telemetry("/health"));
  }

  private Program server(Path directory, List<SeriesConfig.Dimension> dimensions)
      throws IOException {
    Path home = Files.createDirectories(directory.resolve("server"));
    Path config = home.resolve("trace-etl-server.yaml");
    Files.writeString(
        config,
        """
        server: {port: %d, address: 127.0.0.1}
        trace-etl:
          rocketmq: {name-server: "%s"}
          window: {length: %dms}
          series:
            dimensions: [%s]
        """
            .formatted(
                serverPort,
                rocketMq.address(),
                window.toMillis(),
                dimensions.stream()
                    .map(dimension -> "{attribute: " + dimension.attribute() + "}")
                    .collect(Collectors.joining(", "))));
    return installed.program(
        "server",
        "server",
        home,
        installed.serverJar(),
        config,
        URI.create("http://127.0.0.1:" + serverPort + "/ready"));
  }

  private URI telemetry(String path) {
    return URI.create("http://127.0.0.1:" + telemetryPort + path);
  }

  @Override
  public void start(HttpClient http) throws IOException, InterruptedException {
    this.http = http;
    rocketMq.start(installed.queues());
    rocketMq.makeDecisionsTopic();
    agent.start();
    server.start();
    agent.awaitReady(http, START_LIMIT);
    server.awaitReady(http, START_LIMIT);
  }

  @Override
  public int otlpPort() {
    return otlpPort;
  }

  @Override
  public URI page() {
    return URI.create("http://127.0.0.1:" + serverPort + "/metrics");
  }

  @Override
  public List<Program> programs() {
    return List.of(agent, rocketMq.nameServer(), rocketMq.broker(), server);
  }

  @Override
  public void awaitTaken(long spans) throws IOException, InterruptedException {
    long startNanos = System.nanoTime();
    Usage usage = new Usage(server.pid());
    boolean taken = false;
    while (!taken) {
      if (System.nanoTime() - startNanos > DRAIN_LIMIT.toNanos()) {
        throw new IOException(
            "of %d spans that the agent took, %d reached the broker within %s; see %s"
                .formatted(spans, published(), DRAIN_LIMIT, agent.log()));
      }
      long cpuNanos = usage.cpuNanos();
      Thread.sleep(LOOK);
      boolean idle = usage.cpuNanos() - cpuNanos < LOOK.toNanos() * IDLE_SHARE;
      taken = idle && published() >= spans;
    }
  }

  private long published() throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(telemetry("/metrics")).build();
    return http.send(request, HttpResponse.BodyHandlers.ofLines())
        .body()
        .filter(line -> line.startsWith(PUBLISHED))
        .mapToLong(line -> (long) Double.parseDouble(line.substring(PUBLISHED.length())))
        .sum();
  }

  @Override
  public long millisToNextPage() {
    return window.toMillis() - System.currentTimeMillis() % window.toMillis();
  }

  @Override
  public void close() {
    Program.kill(programs());
  }
}
