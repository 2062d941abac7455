package org.traceetl.perf.bench.overhead;

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
import java.util.Map;
import java.util.stream.Stream;
import org.traceetl.testkit.Ports;
import org.traceetl.testkit.Program;
import org.traceetl.testkit.RocketMqPrograms;

/** A host with an agent, RocketMQ and a server, each in its own process. */
final class Host implements AutoCloseable {
  private static final Duration START_LIMIT = Duration.ofMinutes(2);
  private static final int QUEUES = 4;
  private static final int WINDOW_MILLIS = 1_000;

  /** If no span arrives for this duration, none is under way: agents retry within 30 s. */
  private static final Duration SILENCE = Duration.ofSeconds(40);

  /** The time in which a killed server restores its counts. */
  private static final Duration RECOVERY = Duration.ofMinutes(3);

  private static final Duration LOOK = Duration.ofMillis(250);
  private static final String CALLS = "traces_span_metrics_calls_total{";

  private final HttpClient http = HttpClient.newHttpClient();
  private final Path rings;
  private final RocketMqPrograms rocketMq;
  private final Program agent;
  private final Program server;
  private final int grpcPort;
  private final int httpPort;
  private final int serverPort;

  /**
   * Chooses ports and writes configurations.
   *
   * @param rings the directory of rings, on tmpfs
   */
  Host(Path directory, Path rings) throws IOException {
    this.rings = rings;
    Ports ports = new Ports();
    rocketMq =
        new RocketMqPrograms(
            directory,
            ports,
            List.of("-Xmx512m", "-XX:MaxDirectMemorySize=1g", "-XX:+UseSerialGC"),
            Map.of());
    grpcPort = ports.next();
    httpPort = ports.next();
    serverPort = ports.next();
    agent = agent(directory.resolve("agent"), ports.next());
    server = server(directory.resolve("server"));
  }

  private Program agent(Path home, int telemetryPort) throws IOException {
    Files.createDirectories(home);
    Path config = home.resolve("log-agent.yaml");
    Files.writeString(
        config,
        """
        state-directory: %s
        otlp: {host: 127.0.0.1, grpc-port: %d, http-port: %d}
        ring: {directory: %s}
        rocketmq: {name-server: "%s"}
        telemetry: {host: 127.0.0.1, port: %d}
        """
            .formatted(
                home.resolve("state"),
                grpcPort,
                httpPort,
                rings,
                rocketMq.address(),
                telemetryPort));
    return program(
        "log-agent",
        home,
        jar(Path.of("log-agent", "target"), "log-agent-[^-]+(-SNAPSHOT)?\\.jar"),
        config,
        URI.create("http://127.0.0.1:" + telemetryPort + "/health"));
  }

  private Program server(Path home) throws IOException {
    Files.createDirectories(home);
    Path config = home.resolve("trace-etl-server.yaml");
    Files.writeString(
        config,
        """
        server: {port: %d, address: 127.0.0.1}
        trace-etl:
          rocketmq: {name-server: "%s"}
          window: {length: %dms}
        """
            .formatted(serverPort, rocketMq.address(), WINDOW_MILLIS));
    return program(
        "trace-etl-server",
        home,
        jar(Path.of("trace-etl-server", "app", "target"), "trace-etl-server-.*-exec\\.jar"),
        config,
        URI.create("http://127.0.0.1:" + serverPort + "/ready"));
  }

  private static Program program(String name, Path home, Path jar, Path config, URI ready) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("@" + Path.of("deploy", "jvm", name + ".options").toAbsolutePath());
    command.addAll(
        List.of(
            "-Duser.home=" + home,
            "-Drocketmq.log.root=" + home.resolve("rocketmq-log"),
            "-jar",
            jar.toString(),
            "--config=" + config));
    return new Program(name, command, Map.of(), home.resolve(name + ".log"), ready);
  }

  private static Path jar(Path directory, String name) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> file.getFileName().toString().matches(name))
          .findFirst()
          .orElseThrow(() -> new IOException("nothing called " + name + " in " + directory))
          .toAbsolutePath();
    }
  }

  /** Starts all programs; they are ready when this method returns. */
  void start() throws IOException, InterruptedException {
    rocketMq.start(QUEUES);
    rocketMq.makeDecisionsTopic();
    server.start();
    startAgent();
    server.awaitReady(http, START_LIMIT);
  }

  void startAgent() throws IOException, InterruptedException {
    agent.start();
    agent.awaitReady(http, START_LIMIT);
  }

  void killAgent() {
    agent.kill();
  }

  /** Kills the server, the broker and the name server, as {@code kill -9} does. */
  void killWhatIsBehind() {
    Program.kill(List.of(server, rocketMq.broker(), rocketMq.nameServer()));
  }

  /** Restarts the killed programs with their data. */
  void startWhatIsBehind() throws IOException, InterruptedException {
    rocketMq.nameServer().start();
    rocketMq.broker().start();
    server.start();
    server.awaitReady(http, START_LIMIT);
  }

  /**
   * Returns the environment variables of an application that traces through the agent in this way.
   */
  Map<String, String> environment(Way way) {
    return way.environment(Integer.toString(httpPort), Integer.toString(grpcPort), rings);
  }

  /** Returns the spans of an application on the server's page. */
  private long calls(String application) throws IOException, InterruptedException {
    HttpRequest page =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + serverPort + "/metrics")).build();
    String label = "service_name=\"" + application + "\"";
    return http.send(page, HttpResponse.BodyHandlers.ofLines())
        .body()
        .filter(line -> line.startsWith(CALLS) && line.contains(label))
        .mapToLong(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  /**
   * Waits until the page counts the expected spans of an application, or until no more arrive.
   *
   * @param before spans that it has already counted; a killed server restores this count
   */
  long awaitCalls(String application, long before, long expected)
      throws IOException, InterruptedException {
    long counted = calls(application);
    long changedNanos = System.nanoTime();
    while (counted < expected
        && System.nanoTime() - changedNanos < (counted < before ? RECOVERY : SILENCE).toNanos()) {
      Thread.sleep(LOOK);
      long now = calls(application);
      if (now != counted) {
        counted = now;
        changedNanos = System.nanoTime();
      }
    }
    if (counted < before) {
      throw new IOException(
          "the page counted %d spans of %s, and now %d".formatted(before, application, counted));
    }
    return counted;
  }

  @Override
  public void close() {
    Program.kill(List.of(agent, server, rocketMq.broker(), rocketMq.nameServer()));
    http.shutdownNow();
  }
}
