package org.traceetl.standalone;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A real Prometheus that scrapes one server, with its query API. */
final class PrometheusServer implements AutoCloseable {
  private static final JsonMapper JSON = new JsonMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static boolean told;

  private final Process process;
  private final int port;

  private PrometheusServer(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  /** A series with its newest value. */
  record Sample(Map<String, String> labels, double value) {}

  /**
   * A rule that it evaluates.
   *
   * @param error of its last evaluation; empty: none
   */
  record Rule(String name, String expression, String error) {}

  /**
   * Starts one with exemplar storage, and waits until it answers.
   *
   * @param directory for its configuration, data and log
   * @param target port of the server on 127.0.0.1
   */
  static PrometheusServer start(Path directory, int target, Duration interval)
      throws IOException, InterruptedException {
    return start(directory, Map.of("trace-etl", target), interval, List.of(), "exemplar-storage");
  }

  /**
   * The same with rules, scraping and evaluating every second.
   *
   * @param targets ports on 127.0.0.1, by the names of their jobs
   * @param nativeHistograms whether it takes these, and no classic buckets where there are both
   */
  static PrometheusServer startWithRules(
      Path directory, Map<String, Integer> targets, List<Path> rules, boolean nativeHistograms)
      throws IOException, InterruptedException {
    return start(
        directory,
        targets,
        Duration.ofSeconds(1),
        rules,
        nativeHistograms ? "exemplar-storage,native-histograms" : "exemplar-storage");
  }

  private static PrometheusServer start(
      Path directory,
      Map<String, Integer> targets,
      Duration interval,
      List<Path> rules,
      String features)
      throws IOException, InterruptedException {
    StringBuilder jobs = new StringBuilder();
    targets.forEach((job, port) ->
        jobs.append(
            """
              - job_name: %s
                honor_labels: true
                static_configs:
                  - targets: ["127.0.0.1:%d"]
                metric_relabel_configs:
                  - source_labels: [__name__]
                    regex: traces_.*
                    target_label: instance
                    replacement: ""
            """
                .formatted(job, port)));
    return start(
        directory,
        features,
        """
        global:
          scrape_interval: %1$ds
          scrape_timeout: %1$ds
          evaluation_interval: %1$ds
        rule_files: [%2$s]
        scrape_configs:
        %3$s\
        """
            .formatted(
                interval.toSeconds(),
                rules.stream()
                    .map(rule -> "'" + rule.toAbsolutePath().normalize() + "'")
                    .collect(Collectors.joining(", ")),
                jobs));
  }

  /** One with a configuration of its own, in YAML. */
  static PrometheusServer start(Path directory, String features, String yaml)
      throws IOException, InterruptedException {
    tell();
    Files.createDirectories(directory);
    Path config = Files.writeString(directory.resolve("prometheus.yml"), yaml);
    int port = freePort();
    Process process =
        new ProcessBuilder(
                RealTools.prometheus(),
                "--config.file=" + config,
                "--storage.tsdb.path=" + directory.resolve("data"),
                "--web.listen-address=127.0.0.1:" + port,
                "--enable-feature=" + features)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("prometheus.log").toFile())
            .start();
    PrometheusServer server = new PrometheusServer(process, port);
    Awaitility.await("Prometheus, log in " + directory)
        .atMost(Duration.ofMinutes(1))
        .ignoreExceptions()
        .until(() -> server.get("/-/ready").statusCode() == 200);
    return server;
  }

  private static synchronized void tell() throws IOException, InterruptedException {
    if (!told) {
      String version =
          RealTools.run(List.of(RealTools.prometheus(), "--version"), new byte[0]).output();
      System.out.println("Real component: " + version.lines().findFirst().orElseThrow());
      told = true;
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** The instant vector that the expression has now. */
  List<Sample> query(String expression) throws IOException, InterruptedException {
    List<Sample> samples = new ArrayList<>();
    for (JsonNode series : data("/api/v1/query?query=" + encode(expression)).path("result")) {
      Map<String, String> labels = new TreeMap<>();
      for (Map.Entry<String, JsonNode> label : series.path("metric").properties()) {
        labels.put(label.getKey(), label.getValue().asString());
      }
      samples.add(new Sample(labels, Double.parseDouble(series.path("value").get(1).asString())));
    }
    return samples;
  }

  /** The one value of the expression; NaN if it has none. */
  double value(String expression) throws IOException, InterruptedException {
    List<Sample> samples = query(expression);
    return samples.isEmpty() ? Double.NaN : samples.getFirst().value;
  }

  /**
   * Whether the expression has a value that is a number, or a histogram.
   *
   * @param instant now; else at any of the last seconds
   */
  boolean hasData(String expression, boolean instant) throws IOException, InterruptedException {
    long now = Instant.now().getEpochSecond();
    String path =
        instant
            ? "/api/v1/query?query=" + encode(expression)
            : "/api/v1/query_range?step=1&start=%d&end=%d&query=%s"
                .formatted(now - 15, now, encode(expression));
    for (JsonNode series : data(path).path("result")) {
      if (series.has("histogram")
          || series.has("histograms")
          || isNumber(series.path("value"))
          || series.path("values").valueStream().anyMatch(PrometheusServer::isNumber)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isNumber(JsonNode timeAndValue) {
    return timeAndValue.size() == 2 && !timeAndValue.get(1).asString().equals("NaN");
  }

  /** Values that the label has among the series of the selector. */
  List<String> labelValues(String label, String selector) throws IOException, InterruptedException {
    List<String> values = new ArrayList<>();
    data("/api/v1/label/" + label + "/values?match%5B%5D=" + encode(selector))
        .forEach(value -> values.add(value.asString()));
    return values;
  }

  List<Rule> rules() throws IOException, InterruptedException {
    List<Rule> rules = new ArrayList<>();
    for (JsonNode group : data("/api/v1/rules").path("groups")) {
      for (JsonNode rule : group.path("rules")) {
        rules.add(
            new Rule(
                rule.path("name").asString(),
                rule.path("query").asString(),
                rule.path("lastError").asString("")));
      }
    }
    return rules;
  }

  /** Exemplars of the last hour: each one's labels, with those of its series. */
  List<Map<String, String>> exemplars(String selector) throws IOException, InterruptedException {
    Instant now = Instant.now();
    JsonNode data =
        data(
            "/api/v1/query_exemplars?query="
                + encode(selector)
                + "&start="
                + now.minusSeconds(3600).getEpochSecond()
                + "&end="
                + now.plusSeconds(60).getEpochSecond());
    List<Map<String, String>> found = new ArrayList<>();
    for (JsonNode series : data) {
      for (JsonNode exemplar : series.path("exemplars")) {
        Map<String, String> labels = new TreeMap<>();
        series.path("seriesLabels").forEachEntry((k, v) -> labels.put(k, v.asString()));
        exemplar.path("labels").forEachEntry((k, v) -> labels.put(k, v.asString()));
        found.add(labels);
      }
    }
    return found;
  }

  /** Addresses of the targets that it scrapes now. */
  Set<String> targets() throws IOException, InterruptedException {
    Set<String> targets = new TreeSet<>();
    for (JsonNode target : data("/api/v1/targets?state=active").path("activeTargets")) {
      targets.add(target.path("discoveredLabels").path("__address__").asString());
    }
    return targets;
  }

  private JsonNode data(String path) throws IOException, InterruptedException {
    HttpResponse<String> response = get(path);
    JsonNode answer = JSON.readTree(response.body());
    if (!"success".equals(answer.path("status").asString())) {
      throw new IOException(path + ": " + response.body());
    }
    return answer.path("data");
  }

  private HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return HTTP.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .timeout(Duration.ofSeconds(20))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(10, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
