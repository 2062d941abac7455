package org.traceetl.perf.systest;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.traceetl.testkit.Ports;
import org.traceetl.testkit.Program;
import org.traceetl.testkit.Prometheus;

/** The programs of a system test, each with its configuration, ports and directory. */
public abstract class Installation implements AutoCloseable {
  protected static final Duration START_LIMIT = Duration.ofMinutes(3);

  /** Settings of a small broker, in addition to its addresses and directories. */
  protected static final Map<String, Object> BROKER_SETTINGS =
      Map.of(
          "mappedFileSizeCommitLog",
          64 << 20,
          "mappedFileSizeConsumeQueue",
          20 * 20_000,
          "messageIndexEnable",
          false,
          "timerWheelEnable",
          false,
          "autoCreateTopicEnable",
          false,
          "waitTimeMillsInSendQueue",
          1_000,
          "diskMaxUsedSpaceRatio",
          95);

  /** JVM options of a broker without replicas. */
  protected static final List<String> BROKER_OPTIONS =
      List.of("-Xmx512m", "-XX:MaxDirectMemorySize=1024m", "-XX:+UseSerialGC");

  /**
   * Programs that are built or installed outside the test.
   *
   * @param serverJar the server as it is shipped
   * @param elasticsearch the home of an unpacked Elasticsearch
   * @param prometheus the program
   */
  public record Parts(Path serverJar, Path elasticsearch, Path prometheus) {}

  protected final Path directory;
  protected final Parts parts;
  protected final Ports ports = new Ports();
  protected final List<Program> servers = new ArrayList<>();
  protected final List<Integer> serverPorts = new ArrayList<>();

  protected Installation(Path directory, Parts parts) {
    this.directory = directory;
    this.parts = parts;
  }

  /** Starts all programs in the order of their dependencies, and creates the topics. */
  public abstract void start(HttpClient http) throws IOException, InterruptedException;

  protected abstract List<Program> all();

  protected final void awaitAll(HttpClient http) throws IOException, InterruptedException {
    for (Program program : all()) {
      program.awaitReady(http, START_LIMIT);
    }
  }

  protected static URI local(int port) {
    return URI.create("http://127.0.0.1:" + port);
  }

  protected final Path home(String name) throws IOException {
    return Files.createDirectories(directory.resolve(name));
  }

  protected final Path log(String name) {
    return directory.resolve(name + ".log");
  }

  /** Returns a program of this project; {@code main} is its class or jar with the JVM's option. */
  protected final Program java(
      String name,
      String memory,
      List<String> main,
      String yaml,
      Map<String, String> environment,
      URI ready)
      throws IOException {
    Path home = home(name);
    List<String> command =
        new ArrayList<>(
            List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
    command.addAll(List.of(memory.split(" ")));
    command.addAll(
        List.of(
            "-XX:+UseSerialGC",
            "-XX:+ExitOnOutOfMemoryError",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-Duser.home=" + home,
            "-Drocketmq.home.dir=" + home,
            "-Drocketmq.log.root=" + home.resolve("rocketmq-log")));
    command.addAll(main);
    command.add("--config=" + Files.writeString(home.resolve("config.yaml"), yaml));
    return new Program(name, command, environment, log(name), ready);
  }

  /** Adds a server on the port that was added last. */
  protected final void addServer(String memory, String yaml, Map<String, String> environment)
      throws IOException {
    servers.add(
        java(
            "server-" + serverPorts.size(),
            memory,
            List.of("-jar", parts.serverJar.toString()),
            yaml,
            environment,
            local(serverPorts.getLast()).resolve("/ready")));
  }

  /**
   * Returns a Prometheus that scrapes all servers.
   *
   * @param lines of the scrape configuration, and further sections of the configuration
   * @param options of the program
   */
  protected final Program prometheus(
      String name,
      int port,
      int intervalSeconds,
      int timeoutSeconds,
      String lines,
      String... options)
      throws IOException {
    return Prometheus.program(
        parts.prometheus.toString(),
        name,
        home(name),
        log(name),
        port,
        """
        global:
          scrape_interval: %ds
          scrape_timeout: %ds
        scrape_configs:
          - job_name: trace-etl
            static_configs:
              - targets: [%s]
        %s\
        """
            .formatted(
                intervalSeconds,
                timeoutSeconds,
                serverPorts.stream()
                    .map(target -> "\"127.0.0.1:" + target + "\"")
                    .collect(Collectors.joining(", ")),
                lines),
        options);
  }

  @Override
  public void close() throws IOException {
    Program.kill(all());
  }
}
