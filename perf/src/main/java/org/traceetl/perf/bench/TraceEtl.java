package org.traceetl.perf.bench;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.traceetl.perf.bench.process.Usage;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.testkit.PageSample;
import org.traceetl.testkit.Ports;
import org.traceetl.testkit.Program;
import org.traceetl.testkit.RocketMqPrograms;

/**
 * The whole path in separate processes: log-agent, RocketMQ's name server and broker,
 * trace-etl-server without an index.
 */
public final class TraceEtl implements Contender {
  private static final Duration START_LIMIT = Duration.ofMinutes(2);
  private static final Duration DRAIN_LIMIT = Duration.ofMinutes(1);
  private static final String PUBLISHED = "trace_etl_agent_spans_published_total";

  /** A server that uses a smaller share of a core is idle: it polls and finds no messages. */
  private static final double IDLE_SHARE = 0.2;

  private static final Duration LOOK = Duration.ofMillis(100);

  private final Installed installed;
  private final List<SeriesConfig.Dimension> dimensions;
  private final Duration window;
  private final boolean edges;
  private final RocketMqPrograms rocketMq;
  private final Program agent;
  private final Program server;
  private final int grpcPort;
  private final int httpPort;
  private final int telemetryPort;
  private final int serverPort;
  private HttpClient http;

  /**
   * Chooses ports and writes configurations.
   *
   * @param installed the programs and their settings
   * @param dimensions of the series, in addition to application, name, kind and status
   * @param rings the directory of rings; null: the agent receives OTLP over gRPC alone
   */
  public TraceEtl(
      Path directory,
      Ports ports,
      Installed installed,
      List<SeriesConfig.Dimension> dimensions,
      Duration window,
      Path rings)
      throws IOException {
    this(directory, ports, installed, dimensions, window, rings, "");
  }

  /**
   * Chooses ports and writes configurations.
   *
   * @param more of the server's keys below {@code trace-etl}, in YAML, each in a line
   */
  TraceEtl(
      Path directory,
      Ports ports,
      Installed installed,
      List<SeriesConfig.Dimension> dimensions,
      Duration window,
      Path rings,
      String more)
      throws IOException {
    this(directory, ports, installed, dimensions, window, rings, more, false);
  }

  /**
   * Chooses ports and writes configurations of programs that also count the service graph.
   *
   * @param edges how half-edges wait
   */
  static TraceEtl withEdges(
      Path directory,
      Ports ports,
      Installed installed,
      List<SeriesConfig.Dimension> dimensions,
      Duration window,
      EdgeLimits edges)
      throws IOException {
    return new TraceEtl(
        directory, ports, installed, dimensions, window, null, edges.settings(), true);
  }

  private TraceEtl(
      Path directory,
      Ports ports,
      Installed installed,
      List<SeriesConfig.Dimension> dimensions,
      Duration window,
      Path rings,
      String more,
      boolean edges)
      throws IOException {
    this.installed = installed;
    this.dimensions = List.copyOf(dimensions);
    this.window = window;
    this.edges = edges;
    Files.createDirectories(directory);
    rocketMq =
        new RocketMqPrograms(
            directory, ports, installed.jvmOptions("broker"), installed.brokerSettings());
    grpcPort = ports.next();
    httpPort = rings == null ? 0 : ports.next();
    telemetryPort = ports.next();
    serverPort = ports.next();
    agent =
        installed.agent(
            directory.resolve("agent"),
            telemetryPort,
            """
            ring: {%s}
            otlp: {host: 127.0.0.1, grpc-port: %d, http-port: %d}
            rocketmq: {name-server: "%s"}
            """
                    .formatted(
                        rings == null ? "enabled: false" : "directory: " + rings,
                        grpcPort,
                        httpPort,
                        rocketMq.address())
                + (installed.bundles() ? "" : "rocketmq.bundles: off\n"));
    server = server(directory.resolve("server"), serverPort, more);
  }

  /**
   * Returns a server on the same broker that is not started.
   *
   * @param home the directory for its files and its log
   * @param more of its keys below {@code trace-etl}, in YAML, each in a line
   */
  Program server(Path home, int port, String more) throws IOException {
    return installed.server(
        home,
        port,
        """
        trace-etl:
          rocketmq: {name-server: "%s"}
          window: {length: %dms}
          series:
            dimensions: [%s]
        %s\
        """
            .formatted(
                rocketMq.address(),
                window.toMillis(),
                dimensions.stream()
                    .map(dimension -> "{attribute: " + dimension.attribute() + "}")
                    .collect(Collectors.joining(", ")),
                more.indent(2)));
  }

  @Override
  public void start(HttpClient http) throws IOException, InterruptedException {
    this.http = http;
    rocketMq.start(installed.queues());
    rocketMq.makeDecisionsTopic();
    if (edges) {
      rocketMq.makeTopic("trace-edges", installed.queues());
      rocketMq.makeTopic("trace-edge-windows", installed.queues());
    }
    agent.start();
    server.start();
    agent.awaitReady(http, START_LIMIT);
    server.awaitReady(http, START_LIMIT);
    String logs = agent.log() + " and " + server.log();
    if (installed.detail() == Detail.DEMAND) {
      DemandInForce.await(http, agentMetrics(), logs);
    }
    if (installed.bundles()) {
      DemandInForce.awaitBundles(http, agentMetrics(), logs);
    }
    if (edges) {
      DemandInForce.awaitEdges(http, agentMetrics(), logs);
    }
  }

  @Override
  public int otlpPort() {
    return grpcPort;
  }

  public int httpPort() {
    return httpPort;
  }

  public Program agent() {
    return agent;
  }

  public Program server() {
    return server;
  }

  public RocketMqPrograms rocketMq() {
    return rocketMq;
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
            "of %d spans that the agent accepted, %d reached the broker within %s; see %s"
                .formatted(spans, published(), DRAIN_LIMIT, agent.log()));
      }
      long cpuNanos = usage.cpuNanos();
      Thread.sleep(LOOK);
      boolean idle = usage.cpuNanos() - cpuNanos < LOOK.toNanos() * IDLE_SHARE;
      taken = idle && published() >= spans;
    }
  }

  private long published() throws IOException, InterruptedException {
    return (long) PageSample.sum(PageSample.of(http, agentMetrics()), PUBLISHED);
  }

  private URI agentMetrics() {
    return URI.create("http://127.0.0.1:" + telemetryPort + "/metrics");
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
