package org.traceetl.perf.systest.ozhera;

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
import org.traceetl.perf.systest.Installation;
import org.traceetl.testkit.Elasticsearch;
import org.traceetl.testkit.Program;
import org.traceetl.testkit.RocketMqPrograms;

/** The programs of an OzHera installation whose metric service is replaced. */
final class OzheraInstallation extends Installation {
  static final int QUEUES = 8;
  static final int SERVERS = 2;
  static final String TOPIC = "mone_hera_staging_trace_etl_server";
  static final String ENV = "staging";
  static final String DOMAIN = "hera";
  static final String INDEX_PREFIX = "ozhera-errors-";

  /** The scrape interval of each Prometheus, in seconds. */
  static final List<Integer> SCRAPE_SECONDS = List.of(15, 30);

  private final boolean cumulative;
  private final RocketMqPrograms rocketMq;

  /** Null if the run is without documents. */
  private final Elasticsearch elasticsearch;

  private final List<Program> prometheus = new ArrayList<>();
  private final List<URI> prometheusUris = new ArrayList<>();

  /**
   * @param documents whether an Elasticsearch runs
   * @param cumulative whether the servers' pages are cumulative, instead of deltas by scraper
   */
  OzheraInstallation(
      Path directory, Parts parts, boolean documents, Duration window, boolean cumulative)
      throws IOException, InterruptedException {
    super(directory, parts);
    this.cumulative = cumulative;
    rocketMq = new RocketMqPrograms(directory, ports, BROKER_OPTIONS, BROKER_SETTINGS);
    elasticsearch = documents ? new Elasticsearch(parts.elasticsearch(), directory, ports) : null;
    Path rules =
        Files.writeString(
            directory.resolve("ozhera-rules.yaml"), RulesYaml.text(SpanGenerator.RULES));
    for (int i = 1; i <= SERVERS; i++) {
      serverPorts.add(ports.next());
      addServer(
          "-Xmx384m -XX:MaxDirectMemorySize=256m",
          configuration(serverPorts.getLast(), window, rules),
          Map.of());
    }
    for (int seconds : SCRAPE_SECONDS) {
      int port = ports.next();
      prometheusUris.add(local(port));
      prometheus.add(prometheus(scraper(seconds), port, seconds, 10, scrapeOptions(seconds)));
    }
  }

  private String configuration(int port, Duration window, Path rules) {
    return """
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
            port, rocketMq.address(), TOPIC, ENV, rules, temporality(), window.toMillis(), index());
  }

  private String temporality() {
    return cumulative
        ? "temporality: cumulative"
        : SCRAPE_SECONDS.stream()
            .map(OzheraInstallation::scraper)
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

  /** Removes the instance of cumulative series, which then are equal on all servers. */
  private String scrapeOptions(int seconds) {
    if (!cumulative) {
      return """
          params:
            scraper: [%s]
      """
          .formatted(scraper(seconds));
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

  @Override
  public void start(HttpClient http) throws IOException, InterruptedException {
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
    awaitAll(http);
  }

  @Override
  protected List<Program> all() {
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

  /** Returns Prometheus's label of a server. */
  String instance(int i) {
    return "127.0.0.1:" + serverPorts.get(i);
  }

  URI page(int i) {
    return URI.create("http://" + instance(i) + "/metrics");
  }

  List<URI> prometheusUris() {
    return prometheusUris;
  }

  /** Returns null if the run is without documents. */
  URI elasticsearchUri() {
    return elasticsearch == null ? null : elasticsearch.url();
  }
}
