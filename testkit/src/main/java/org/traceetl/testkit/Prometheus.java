package org.traceetl.testkit;

import java.io.IOException;
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
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A Prometheus and its query API. */
public final class Prometheus implements AutoCloseable {
  private static final JsonMapper JSON = new JsonMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final Duration START_LIMIT = Duration.ofMinutes(1);
  private static final Duration QUERY_LIMIT = Duration.ofSeconds(60);

  private final URI uri;
  private final Program program;

  /** Creates a client of a running Prometheus. */
  public Prometheus(URI uri) {
    this(uri, null);
  }

  private Prometheus(URI uri, Program program) {
    this.uri = uri;
    this.program = program;
  }

  /**
   * Returns a program that is not started.
   *
   * @param directory for its configuration and data
   * @param yaml its configuration
   */
  public static Program program(
      String executable,
      String name,
      Path directory,
      Path log,
      int port,
      String yaml,
      String... options)
      throws IOException {
    Files.createDirectories(directory);
    List<String> command = new ArrayList<>();
    command.add(executable);
    command.add("--config.file=" + Files.writeString(directory.resolve("prometheus.yml"), yaml));
    command.add("--storage.tsdb.path=" + directory.resolve("data"));
    command.add("--web.listen-address=127.0.0.1:" + port);
    command.addAll(List.of(options));
    return new Program(
        name, command, Map.of(), log, URI.create("http://127.0.0.1:" + port + "/-/ready"));
  }

  /** A series with its newest value. */
  public record Sample(Map<String, String> labels, double value) {}

  /**
   * A rule that Prometheus evaluates.
   *
   * @param error of its last evaluation; empty: none
   */
  public record Rule(String name, String expression, String error) {}

  /**
   * Starts a Prometheus with exemplar storage, and waits until it answers.
   *
   * @param directory for its configuration, data and log
   * @param target port of the server on 127.0.0.1
   */
  public static Prometheus start(Path directory, int target, Duration interval)
      throws IOException, InterruptedException {
    return start(directory, Map.of("trace-etl", target), interval, List.of(), "exemplar-storage");
  }

  /**
   * Starts a Prometheus with rules, which scrapes and evaluates every second.
   *
   * @param targets ports on 127.0.0.1, by the names of their jobs
   * @param nativeHistograms whether it prefers native histograms to classic buckets
   */
  public static Prometheus startWithRules(
      Path directory, Map<String, Integer> targets, List<Path> rules, boolean nativeHistograms)
      throws IOException, InterruptedException {
    return start(
        directory,
        targets,
        Duration.ofSeconds(1),
        rules,
        nativeHistograms ? "exemplar-storage,native-histograms" : "exemplar-storage");
  }

  private static Prometheus start(
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

  /**
   * Starts a Prometheus that receives Remote Write at {@link #writeUri}, with exemplars, native
   * histograms, and samples up to this much older than its newest one.
   */
  public static Prometheus startReceiver(Path directory, Duration outOfOrder)
      throws IOException, InterruptedException {
    return start(
        directory,
        "exemplar-storage,native-histograms",
        "storage: {tsdb: {out_of_order_time_window: %ds}}\n".formatted(outOfOrder.toSeconds()),
        "--web.enable-remote-write-receiver");
  }

  /** Starts a Prometheus with this configuration, in YAML. */
  public static Prometheus start(Path directory, String features, String yaml, String... options)
      throws IOException, InterruptedException {
    int port = new Ports().next();
    Program program =
        program(
            Programs.require("prometheus"),
            "prometheus",
            directory.toAbsolutePath(),
            directory.resolve("prometheus.log"),
            port,
            yaml,
            Stream.concat(Stream.of("--enable-feature=" + features), Stream.of(options))
                .toArray(String[]::new));
    program.start();
    program.awaitReady(HTTP, START_LIMIT);
    return new Prometheus(URI.create("http://127.0.0.1:" + port), program);
  }

  /** Returns the address for Remote Write. */
  public URI writeUri() {
    return uri.resolve("/api/v1/write");
  }

  /** Returns the current instant vector of the expression. */
  public List<Sample> query(String expression) throws IOException, InterruptedException {
    List<Sample> samples = new ArrayList<>();
    for (JsonNode series : data("/api/v1/query?query=" + encode(expression)).path("result")) {
      samples.add(new Sample(labels(series), number(series.path("value"))));
    }
    return samples;
  }

  /** Returns the labels of a series in an answer. */
  public static Map<String, String> labels(JsonNode series) {
    Map<String, String> labels = new TreeMap<>();
    series.path("metric").forEachEntry((name, value) -> labels.put(name, value.asString()));
    return labels;
  }

  /** Returns the value of a pair of time and value. */
  public static double number(JsonNode point) {
    return Double.parseDouble(point.get(1).asString().replace("+Inf", "Infinity"));
  }

  /** Returns the first value of the expression; NaN if it has none. */
  public double value(String expression) throws IOException, InterruptedException {
    List<Sample> samples = query(expression);
    return samples.isEmpty() ? Double.NaN : samples.getFirst().value;
  }

  /**
   * Returns whether the expression has a value that is a number, or a histogram.
   *
   * @param instant true: now; false: at any time in the last seconds
   */
  public boolean hasData(String expression, boolean instant)
      throws IOException, InterruptedException {
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
          || series.path("values").valueStream().anyMatch(Prometheus::isNumber)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isNumber(JsonNode timeAndValue) {
    return timeAndValue.size() == 2 && !timeAndValue.get(1).asString().equals("NaN");
  }

  /** Returns the label's values among the selected series. */
  public List<String> labelValues(String label, String selector)
      throws IOException, InterruptedException {
    List<String> values = new ArrayList<>();
    data("/api/v1/label/" + label + "/values?match%5B%5D=" + encode(selector))
        .forEach(value -> values.add(value.asString()));
    return values;
  }

  public List<Rule> rules() throws IOException, InterruptedException {
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

  /** Returns the exemplars of the last hour, each as its labels and those of its series. */
  public List<Map<String, String>> exemplars(String selector)
      throws IOException, InterruptedException {
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

  /** Returns the addresses of the current targets. */
  public Set<String> targets() throws IOException, InterruptedException {
    Set<String> targets = new TreeSet<>();
    for (JsonNode target : data("/api/v1/targets?state=active").path("activeTargets")) {
      targets.add(target.path("discoveredLabels").path("__address__").asString());
    }
    return targets;
  }

  /**
   * Writes all samples as blocks below {@code snapshots} in the directory of the data; the option
   * {@code --web.enable-admin-api} is needed.
   *
   * @return name of the directory
   */
  public String snapshot() throws IOException, InterruptedException {
    String path = "/api/v1/admin/tsdb/snapshot";
    HttpRequest.Builder request = HttpRequest.newBuilder(uri.resolve(path));
    return data(path, request.POST(HttpRequest.BodyPublishers.noBody())).path("name").asString();
  }

  /** Returns the data of an API response. */
  public JsonNode data(String path) throws IOException, InterruptedException {
    return data(path, HttpRequest.newBuilder(uri.resolve(path)));
  }

  private static JsonNode data(String path, HttpRequest.Builder builder)
      throws IOException, InterruptedException {
    HttpRequest request = builder.timeout(QUERY_LIMIT).build();
    HttpResponse<String> response = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
    JsonNode answer = JSON.readTree(response.body());
    if (!"success".equals(answer.path("status").asString(""))) {
      throw new IOException("Prometheus refuses " + path + ": " + response.body());
    }
    return answer.path("data");
  }

  /** Encodes an expression as a parameter of a path. */
  public static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  /** Ends the program, if this object started it. */
  @Override
  public void close() {
    if (program != null) {
      program.kill();
    }
  }
}
