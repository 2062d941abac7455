package org.traceetl.perf.systest.chaos;

import java.io.IOException;
import java.io.Reader;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.traceetl.perf.systest.IndexedDocuments;
import org.traceetl.perf.systest.Installation;
import org.traceetl.testkit.Elasticsearch;
import org.traceetl.testkit.Network;
import org.traceetl.testkit.PageSample;
import org.traceetl.testkit.Program;
import org.traceetl.testkit.RocketMqPrograms;

/** An installation of agents, brokers, servers, an index and a Prometheus. */
final class ChaosInstallation extends Installation {
  static final int QUEUES = 8;
  static final int AGENTS = 3;
  static final int SERVERS = 3;

  /** Replicas of the replicated broker, if the installation has one. */
  static final int REPLICAS = 3;

  /** Broker processes of a replicated installation: the replicas, and a broker without replicas. */
  static final int BROKERS = REPLICAS + 1;

  /** How far the clock of each agent is ahead, if clocks are wrong. */
  private static final List<Duration> AHEAD =
      List.of(Duration.ofMinutes(7), Duration.ofMinutes(-4), Duration.ofSeconds(75));

  /**
   * Seconds per second by which the clock of each agent is too fast. An agent reads the clock at
   * its starts only, to date what the run before left, so in an hour panes may differ by 0.7 s.
   */
  private static final List<Double> DRIFTS = List.of(2e-4, -1e-4, 1e-4);

  static final String DATA_STREAM = "chaos";

  /**
   * The broker drops a client that sends no heartbeat for this duration; clients send every 30 s.
   */
  static final Duration SESSION = Duration.ofSeconds(40);

  static final Duration LEASE = Duration.ofSeconds(5);

  /** Longer than an agent is away in any fault. */
  static final Duration SILENCE = Duration.ofSeconds(45);

  /** How long half-edges wait. Spans of a stopped agent are minutes late. */
  static final Duration EDGES_WAIT = Duration.ofMinutes(3);

  /** Until agents have a list of queues for half-edges, also while servers start. */
  static final Duration EDGES_LIMIT = Duration.ofMinutes(4);

  /** Further lines of a server's configuration. */
  private static final String EDGES =
      """
        edges:
          enabled: true
          max-wait: %dm
      """
          .formatted(EDGES_WAIT.toMinutes());

  /** A flush that takes longer is not confirmed; shorter than the agents' send timeout. */
  private static final int FLUSH_MILLIS = 2_000;

  private static final int SPOOL_DISK_MEBIBYTES = 64;
  private static final int SPOOL_BYTES = 48 << 20;
  private static final int BROKER_DISK_MEBIBYTES = 2 << 10;

  private final SpoolDisk spoolDisk;
  private final LoopDisk slowDisk;
  private final LoopDisk brokerDisk;
  private final WallClocks clocks;
  private final boolean forced;
  private final ChangingRoutingFile routingFile;
  private final ChangingRulesFile rulesFile;
  private final boolean replicated;
  private final boolean graph;

  /** Queues of half-edges on each broker. */
  private int edgeQueues = 3;

  private final Network network;
  private final RocketMqPrograms rocketMq;
  private final Elasticsearch elasticsearch;
  private final Program prometheus;
  private final List<Program> agents = new ArrayList<>();
  private final List<Integer> otlpPorts = new ArrayList<>();
  private final List<Integer> grpcPorts = new ArrayList<>();
  private final List<Integer> agentTelemetryPorts = new ArrayList<>();
  private final URI prometheusUri;

  /** How brokers and agents store what they confirm. */
  enum Safety {
    ONE_BROKER,
    /** Two brokers: one replicated with the shipped settings, one alone that forces. */
    REPLICATED,
    /** The same brokers with RocketMQ's defaults; agents force by their default. */
    REPLICATED_BY_DEFAULTS
  }

  /**
   * @param window length of the servers' windows and panes
   * @param brokerConf the directory of the shipped settings of replicas and controllers
   * @param graph whether servers count the service graph
   * @param wrongClocks whether the clocks of agents are wrong and drift, and those of agents and
   *     servers can be stepped, if the library for it is installed
   */
  ChaosInstallation(
      Path directory,
      Parts parts,
      Duration window,
      Path brokerConf,
      Safety safety,
      boolean graph,
      boolean wrongClocks)
      throws IOException, InterruptedException {
    super(directory, parts);
    this.replicated = safety != Safety.ONE_BROKER;
    this.graph = graph;
    this.forced = safety != Safety.REPLICATED_BY_DEFAULTS;
    clocks = wrongClocks ? WallClocks.find(directory.resolve("clocks")) : null;
    routingFile = new ChangingRoutingFile(directory.resolve("routing.yaml"));
    rulesFile = new ChangingRulesFile(directory.resolve("rules.yaml"));
    spoolDisk = SpoolDisk.mount(spoolMountPoint(1), SPOOL_DISK_MEBIBYTES);
    slowDisk = LoopDisk.mount(spoolMountPoint(AGENTS), SPOOL_DISK_MEBIBYTES);
    brokerDisk =
        replicated
            ? LoopDisk.mount(directory.resolve("broker").resolve("store"), BROKER_DISK_MEBIBYTES)
            : null;
    network = replicated ? Network.open(RocketMqPrograms.Replication.hosts(REPLICAS)) : null;
    rocketMq =
        replicated
            ? new RocketMqPrograms(
                directory,
                ports,
                List.of("-Xmx256m", "-XX:MaxDirectMemorySize=512m", "-XX:+UseSerialGC"),
                brokerSettings(),
                new RocketMqPrograms.Replication(
                    REPLICAS,
                    forced
                        ? Map.of("flushDiskType", "SYNC_FLUSH", "syncFlushTimeout", FLUSH_MILLIS)
                        : Map.of(),
                    forced
                        ? settings(brokerConf.resolve("broker-replicated.conf"))
                        : Map.of("enableControllerMode", true),
                    settings(brokerConf.resolve("controller.conf")),
                    network))
            : new RocketMqPrograms(directory, ports, BROKER_OPTIONS, brokerSettings());
    elasticsearch = new Elasticsearch(parts.elasticsearch(), directory, ports);
    for (int i = 1; i <= AGENTS; i++) {
      otlpPorts.add(ports.next());
      grpcPorts.add(ports.next());
      agentTelemetryPorts.add(ports.next());
      agents.add(agent(i));
    }
    int prometheusPort = ports.next();
    prometheusUri = local(prometheusPort);
    for (int i = 1; i <= SERVERS; i++) {
      serverPorts.add(ports.next());
      addServer(
          "-Xmx320m -XX:MaxDirectMemorySize=256m",
          serverConfiguration(
                  "127.0.0.1",
                  serverPorts.getLast(),
                  rocketMq.address(),
                  elasticsearch.url(),
                  window)
              + push(prometheusUri)
              + rules(rulesFile.path())
              + (graph ? EDGES : ""),
          clock("server-" + i, Duration.ZERO, 0));
    }
    // Without the label instance, a series keeps its identity on every server. Pushed samples may
    // be hours behind the newest scrape.
    prometheus =
        prometheus(
            "prometheus",
            prometheusPort,
            1,
            1,
            """
                metric_relabel_configs:
                  - source_labels: [__name__]
                    regex: traces_span_metrics_.*|traces_service_graph_(request|request_failed|unpaired_spans)_total
                    action: keep
                  - regex: instance
                    action: labeldrop
            storage:
              tsdb:
                out_of_order_time_window: 6h
            """,
            "--web.enable-remote-write-receiver");
  }

  private static Map<String, String> settings(Path file) throws IOException {
    Properties settings = new Properties();
    try (Reader reader = Files.newBufferedReader(file)) {
      settings.load(reader);
    }
    Map<String, String> map = new TreeMap<>();
    settings.stringPropertyNames().forEach(key -> map.put(key, settings.getProperty(key)));
    return map;
  }

  /** Settings of a broker, in addition to its addresses and directories. */
  static Map<String, Object> brokerSettings() {
    Map<String, Object> settings = new TreeMap<>(BROKER_SETTINGS);
    settings.put("channelExpiredTimeout", SESSION.toMillis());
    // A restarted name server must learn of the broker soon.
    settings.put("registerNameServerPeriod", 10_000);
    return settings;
  }

  private Program agent(int number) throws IOException {
    int telemetryPort = agentTelemetryPorts.get(number - 1);
    String name = "agent-" + number;
    return java(
        name,
        "-Xmx512m -XX:MaxDirectMemorySize=288m",
        List.of("-cp", System.getProperty("java.class.path"), "org.traceetl.agent.LogAgent"),
        """
        state-directory: %s
        ring: {enabled: false}
        spool:
          directory: %s
          max-bytes: %d
          flush: %s
        otlp:
          host: 127.0.0.1
          grpc-port: %d
          http-port: %d
        files:
          paths: [%s]
        routing:
          file: %s
          file-poll-millis: 500
        rocketmq:
          name-server: %s
          route-refresh-millis: 2000
        telemetry:
          host: 127.0.0.1
          port: %d
        """
            .formatted(
                agentState(number - 1),
                spoolMountPoint(number).resolve("spool"),
                SPOOL_BYTES,
                // The last agent's answers wait for its disk, which may be slow.
                number == AGENTS && forced ? "commit" : "os",
                grpcPorts.get(number - 1),
                otlpPorts.get(number - 1),
                // The pattern matches all names of a rotated log.
                number == AGENTS ? traceLog() + "*" : "",
                routingFile.path(),
                rocketMq.address(),
                telemetryPort),
        clock(name, AHEAD.get(number - 1), DRIFTS.get(number - 1)),
        local(telemetryPort).resolve("/health"));
  }

  /** Returns the state directory of an agent. The last one is on the disk that loses power. */
  Path agentState(int index) {
    Path home =
        index + 1 == AGENTS ? spoolMountPoint(AGENTS) : directory.resolve("agent-" + (index + 1));
    return home.resolve("state");
  }

  private Map<String, String> clock(String name, Duration ahead, double drift) throws IOException {
    return clocks == null ? Map.of() : clocks.environment(name, ahead, drift);
  }

  /**
   * Returns a server's configuration. Every check that finds a hotspot also decides on it. A series
   * may then be on two queues of two servers, and Prometheus drops the instance: hence the label. A
   * clock step ends no series.
   *
   * @param address the address on which the server listens
   * @param nameServer {@code host:port}
   * @param window length of windows and panes
   */
  static String serverConfiguration(
      String address, int port, String nameServer, URI elasticsearch, Duration window) {
    return """
    server:
      port: %d
      address: %s
    trace-etl:
      rocketmq:
        name-server: %s
      journal:
        lease: %ds
        snapshot-interval: 20s
      window:
        length: %dms
        idle: 7d
      metrics:
        queue-label: always
      series:
        dimensions:
          - attribute: %s
      histogram:
        bounds-millis: [500, 1000]
      hotspots:
        interval: %dms
        grow-after: 1
        shrink-after: 3
        shrink-below: 0.9
        min-queue-rate: 1
        spread-random: true
      documents:
        per-series: 100000
        per-queue: 1000000
        exemplars-per-queue: 0
      index:
        type: elasticsearch
        elasticsearch:
          urls: [%s]
          data-stream: %s
          request-timeout: 10s
    """
        .formatted(
            port,
            address,
            nameServer,
            LEASE.toSeconds(),
            window.toMillis(),
            SentSpan.INTERVAL,
            2 * window.toMillis(),
            elasticsearch,
            DATA_STREAM);
  }

  /** Returns further lines of a server's configuration: it pushes its series. */
  private static String push(URI prometheus) {
    return """
      agents:
        silence: %ds
      push:
        job: %s
        endpoints:
          - url: %s
            timeout: 10s
    """
        .formatted(
            SILENCE.toSeconds(), PrometheusAnswers.PUSHED, prometheus.resolve("/api/v1/write"));
  }

  /** Returns further lines of a server's configuration: it follows a file of rules. */
  private static String rules(Path file) {
    return """
      rules:
        file: %s
        switch-after: %ds
    """
        .formatted(file, ChangingRulesFile.SWITCH_AFTER.toSeconds());
  }

  @Override
  public void start(HttpClient http) throws IOException, InterruptedException {
    elasticsearch.program().start();
    rocketMq.start(replicated ? QUEUES / 2 : QUEUES);
    rocketMq.makeDecisionsTopic();
    if (graph) {
      makeEdgeTopics();
    }
    for (Program agent : agents) {
      agent.start();
    }
    for (Program server : servers) {
      server.start();
    }
    prometheus.start();
    awaitAll(http);
  }

  /** The journal comes first: servers list a queue when both topics have it. */
  private void makeEdgeTopics() throws IOException, InterruptedException {
    rocketMq.makeTopic("trace-edge-windows", edgeQueues);
    rocketMq.makeTopic("trace-edges", edgeQueues);
  }

  /** Adds a queue of half-edges, and of their journal, on each broker. */
  void addEdgeQueue() throws IOException, InterruptedException {
    edgeQueues++;
    makeEdgeTopics();
  }

  /** Waits until all agents know the queues of half-edges. */
  void awaitEdgeQueues(HttpClient http) throws IOException, InterruptedException {
    long deadlineNanos = System.nanoTime() + EDGES_LIMIT.toNanos();
    while (edgeLists(http).contains(0.0)) {
      if (System.nanoTime() > deadlineNanos) {
        throw new IOException(
            "the servers gave the agents no queues for half-edges within "
                + EDGES_LIMIT.toMinutes()
                + " min");
      }
      Thread.sleep(500);
    }
  }

  /** Returns the epoch of the list of queues for half-edges that each agent has; 0 for none. */
  List<Double> edgeLists(HttpClient http) throws IOException, InterruptedException {
    List<Double> epochs = new ArrayList<>();
    for (Program agent : agents) {
      List<PageSample> page = PageSample.of(http, metrics(agent));
      epochs.add(PageSample.sum(page, "trace_etl_agent_edge_queues_epoch"));
    }
    return epochs;
  }

  /** Returns the mount point; if nothing is mounted, the agent creates the directory. */
  private Path spoolMountPoint(int agent) {
    return directory.resolve("agent-" + agent + "-spool");
  }

  /**
   * Returns the disk of the first agent's spool, which can be filled; null if this user may not
   * mount.
   */
  SpoolDisk spoolDisk() {
    return spoolDisk;
  }

  /** The disk of the last agent's spool; null if this user may not mount. */
  LoopDisk slowDisk() {
    return slowDisk;
  }

  /**
   * The disk of the broker without replicas; null if no broker is replicated, or this user may not
   * mount.
   */
  LoopDisk brokerDisk() {
    return brokerDisk;
  }

  /** Returns the disk of a program that can lose power. */
  LoopDisk diskOf(Program program) {
    return program == agents.getLast() ? slowDisk : brokerDisk;
  }

  /** The clocks of agents and servers; null if they cannot be stepped. */
  WallClocks clocks() {
    return clocks;
  }

  ChangingRoutingFile routingFile() {
    return routingFile;
  }

  ChangingRulesFile rulesFile() {
    return rulesFile;
  }

  boolean isReplicated() {
    return replicated;
  }

  /** Returns whether replicas can be partitioned. */
  boolean hasNetwork() {
    return network != null;
  }

  RocketMqPrograms rocketMq() {
    return rocketMq;
  }

  /** Ends all partitions. */
  void healNetwork() throws IOException, InterruptedException {
    network.heal();
  }

  List<Program> programs(FaultKind.Role role) throws InterruptedException {
    return switch (role) {
      case SERVER, RULES_FILE -> servers;
      case AGENT -> agents;
      case BROKER, BROKER_AND_CLIENTS -> List.of(rocketMq.broker());
      case MASTER -> List.of(rocketMq.master());
      case REPLICA -> rocketMq.followers();
      case REPLICATED -> {
        List<Program> masterFirst = new ArrayList<>(List.of(rocketMq.master()));
        masterFirst.addAll(rocketMq.followers());
        yield masterFirst;
      }
      case ALL_BROKERS -> rocketMq.brokers();
      case CONTROLLER -> rocketMq.controllers();
      case NAME_SERVER -> List.of(rocketMq.nameServer());
      case ELASTICSEARCH -> List.of(elasticsearch.program());
      case PROMETHEUS -> List.of(prometheus);
      case SPOOL_DISK -> List.of(agents.getFirst());
      case SLOW_DISK, TRACE_LOG -> List.of(agents.getLast());
      case BROKER_DISK -> List.of(rocketMq.broker());
      case DISK ->
          brokerDisk == null
              ? List.of(agents.getLast())
              : List.of(agents.getLast(), rocketMq.broker());
      case CLOCK -> {
        List<Program> inTurn = new ArrayList<>();
        for (int i = 0; i < SERVERS; i++) {
          if (i < AGENTS) {
            inTurn.add(agents.get(i));
          }
          inTurn.add(servers.get(i));
        }
        yield inTurn;
      }
      case ROUTING_FILE -> agents;
      case EDGE_TOPICS -> rocketMq.brokers();
    };
  }

  /** Returns the broker without replicas, one of the agents and one of the servers. */
  List<Program> brokerAndClients(int number) throws InterruptedException {
    return List.of(rocketMq.broker(), agents.get(number % AGENTS), servers.get(number % SERVERS));
  }

  @Override
  protected List<Program> all() {
    List<Program> all = new ArrayList<>(rocketMq.all());
    all.add(elasticsearch.program());
    all.addAll(agents);
    all.addAll(servers);
    all.add(prometheus);
    return all;
  }

  /** Returns the file that the last agent follows. */
  private Path traceLog() {
    return directory.resolve("logs").resolve("trace.log");
  }

  SpanLoad.Sources sources() {
    return new SpanLoad.Sources(otlpPorts, grpcPorts, traceLog(), true);
  }

  /** Returns the address of a server's or an agent's own metrics. */
  URI metrics(Program program) {
    int server = servers.indexOf(program);
    int port = server >= 0 ? serverPorts.get(server) : telemetryPort(program);
    return local(port).resolve("/metrics");
  }

  private int telemetryPort(Program agent) {
    return agentTelemetryPorts.get(agents.indexOf(agent));
  }

  /** Returns how often each slow or failed span was indexed, by trace and span ID. */
  static Map<String, Integer> documentCopies(URI elasticsearch, HttpClient http)
      throws IOException, InterruptedException {
    Map<String, Integer> copies = new HashMap<>();
    new IndexedDocuments(elasticsearch, DATA_STREAM, http)
        .forEach(
            List.of("error", "slow"),
            (index, source) ->
                copies.merge(
                    source.path("trace_id").asString() + "-" + source.path("span_id").asString(),
                    1,
                    Integer::sum));
    return copies;
  }

  URI elasticsearchUri() {
    return elasticsearch.url();
  }

  URI prometheusUri() {
    return prometheusUri;
  }

  /** Closes all parts, even if closing one of them fails. */
  @Override
  public void close() throws IOException {
    // Resources close in reverse order; null resources are skipped.
    try (clocks;
        brokerDisk;
        slowDisk;
        spoolDisk;
        network;
        rocketMq) {
      super.close();
    }
  }
}
