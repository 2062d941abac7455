package org.traceetl.perf.ozhera;

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
import org.traceetl.testkit.Elasticsearch;
import org.traceetl.testkit.Ports;
import org.traceetl.testkit.Program;
import org.traceetl.testkit.RocketMqPrograms;

/** The programs of an OzHera installation whose metric service was replaced. */
final class Installation implements AutoCloseable {
  static final int QUEUES = 8;
  static final int SERVERS = 2;
  static final String TOPIC = "mone_hera_staging_trace_etl_server";
  static final String ENV = "staging";
  static final String DOMAIN = "hera";
  static final String INDEX_PREFIX = "ozhera-errors-";

  /** How often each Prometheus scrapes, seconds. */
  static final List<Integer> SCRAPE_SECONDS = List.of(15, 30);

  private static final Duration START_LIMIT = Duration.ofMinutes(3);

  private final Path directory;
  private final Parts parts;
  private final boolean cumulative;
  private final RocketMqPrograms rocketMq;

  /** Null if no documents are wanted. */
  private final Elasticsearch elasticsearch;

  private final List<Program> servers = new ArrayList<>();
  private final List<Integer> serverPorts = new ArrayList<>();
  private final List<Program> prometheus = new ArrayList<>();
  private final List<URI> prometheusUris = new ArrayList<>();

  /**
   * What is needed from outside.
   *
   * @param serverJar the server as it is shipped
   * @param elasticsearch the home of an unpacked Elasticsearch; null: no documents are written
   * @param prometheus the program
   */
  record Parts(Path serverJar, Path elasticsearch, Path prometheus) {}

  /**
   * @param cumulative whether the servers' pages are, in place of deltas by scraper
   */
  Installation(Path directory, Parts parts, Duration window, boolean cumulative)
      throws IOException, InterruptedException {
    this.directory = directory;
    this.parts = parts;
    this.cumulative = cumulative;
    Ports ports = new Ports();
    rocketMq =
        new RocketMqPrograms(
            directory,
            ports,
            List.of("-Xmx512m", "-XX:MaxDirectMemorySize=1024m", "-XX:+UseSerialGC"),
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
                5_000,
                "diskMaxUsedSpaceRatio",
                95));
    elasticsearch =
        parts.elasticsearch == null
            ? null
            : new Elasticsearch(parts.elasticsearch, directory, ports);
    Path rules =
        Files.writeString(
            directory.resolve("ozhera-rules.yaml"), RulesFile.text(SpanGenerator.RULES));
    for (int i = 1; i <= SERVERS; i++) {
      serverPorts.add(ports.next());
      servers.add(server(i, serverPorts.getLast(), window, rules));
    }
    for (int seconds : SCRAPE_SECONDS) {
      int port = ports.next();
      prometheusUris.add(URI.create("http://127.0.0.1:" + port));
      prometheus.add(prometheus(seconds, port));
    }
  }

  private Program server(int number, int port, Duration window, Path rules) throws IOException {
    String name = "server-" + number;
    Path home = Files.createDirectories(directory.resolve(name));
    Path config = home.resolve("trace-etl-server.yaml");
    Files.writeString(
        config,
        """
        server:
          port: %d
          address: 127.0.0.1
        trace-etl:
          rocketmq:
            name-server: %s
            topic: %s
            messages: ozhera
          metrics:
            profile: ozhera
          ozhera:
            env: %s
            rules-file: %s
            %s
          window:
            length: %dms
          documents:
            per-series: 100000
            per-queue: 1000000
        %s
        """
            .formatted(
                port,
                rocketMq.address(),
                TOPIC,
                ENV,
                rules,
                temporality(),
                window.toMillis(),
                index()));
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx384m",
                "-XX:MaxDirectMemorySize=256m",
                "-XX:+UseSerialGC",
                "-XX:+ExitOnOutOfMemoryError",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Duser.home=" + home,
                "-Drocketmq.home.dir=" + home,
                "-Drocketmq.log.root=" + home.resolve("rocketmq-log")));
    command.addAll(List.of("-jar", parts.serverJar.toString(), "--config=" + config));
    return new Program(
        name,
        command,
        Map.of(),
        directory.resolve(name + ".log"),
        URI.create("http://127.0.0.1:" + port + "/ready"));
  }

  private String temporality() {
    return cumulative
        ? "temporality: cumulative"
        : SCRAPE_SECONDS.stream()
            .map(Installation::scraper)
            .collect(Collectors.joining(", ", "scrapers: [", "]"));
  }

  private static String scraper(int seconds) {
    return "prometheus-" + seconds + "s";
  }

  private String index() {
    if (elasticsearch == null) {
      return """
        index:
          type: none
      """;
    }
    return """
      index:
        type: elasticsearch
        elasticsearch:
          urls: [%s]
          layout: ozhera
          index-prefix: %s
    """
        .formatted(elasticsearch.url(), INDEX_PREFIX);
  }

  private Program prometheus(int seconds, int port) throws IOException {
    String name = scraper(seconds);
    Path home = Files.createDirectories(directory.resolve(name));
    Path config = home.resolve("prometheus.yml");
    Files.writeString(
        config,
        """
        global:
          scrape_interval: %1$ds
          scrape_timeout: 10s
        scrape_configs:
          - job_name: trace-etl
            metrics_path: /metrics
            static_configs:
              - targets: [%2$s]
        %3$s\
        """
            .formatted(
                seconds,
                String.join(
                    ", ",
                    serverPorts.stream().map(target -> "\"127.0.0.1:" + target + "\"").toList()),
                scrapeOptions(name)));
    return new Program(
        name,
        List.of(
            parts.prometheus.toString(),
            "--config.file=" + config,
            "--storage.tsdb.path=" + home.resolve("data"),
            "--web.listen-address=127.0.0.1:" + port),
        Map.of(),
        directory.resolve(name + ".log"),
        prometheusUris.getLast().resolve("/-/ready"));
  }

  /** A cumulative series is one, whichever server shows it. */
  private String scrapeOptions(String name) {
    if (!cumulative) {
      return """
          params:
            scraper: [%s]
      """
          .formatted(name);
    }
    return """
        metric_relabel_configs:
          - source_labels: [__name__]
            regex: %s_.*
            target_label: instance
            replacement: ""
    """
        .formatted(ENV);
  }

  /** Starts all, in the order that they need, and makes the topics. */
  void start(HttpClient http) throws IOException, InterruptedException {
    if (elasticsearch != null) {
      elasticsearch.program().start();
    }
    rocketMq.start(QUEUES);
    rocketMq.makeTopic(TOPIC, QUEUES);
    if (elasticsearch != null) {
      elasticsearch.program().awaitReady(http, START_LIMIT);
    }
    for (Program server : servers) {
      server.start();
    }
    for (Program one : prometheus) {
      one.start();
    }
    for (Program program : all()) {
      program.awaitReady(http, START_LIMIT);
    }
  }

  private List<Program> all() {
    List<Program> all = new ArrayList<>(List.of(rocketMq.nameServer(), rocketMq.broker()));
    if (elasticsearch != null) {
      all.add(elasticsearch.program());
    }
    all.addAll(servers);
    all.addAll(prometheus);
    return all;
  }

  String nameServer() {
    return rocketMq.address();
  }

  Program server(int i) {
    return servers.get(i);
  }

  /** What Prometheus calls a server. */
  String instance(int i) {
    return "127.0.0.1:" + serverPorts.get(i);
  }

  URI page(int i) {
    return URI.create("http://" + instance(i) + "/metrics");
  }

  List<URI> prometheusUris() {
    return prometheusUris;
  }

  /** Null if no documents are written. */
  URI elasticsearchUri() {
    return elasticsearch == null ? null : elasticsearch.url();
  }

  @Override
  public void close() {
    Program.kill(all());
  }
}
