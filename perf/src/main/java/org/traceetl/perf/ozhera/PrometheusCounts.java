package org.traceetl.perf.ozhera;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What a Prometheus has of OzHera's metrics, asked as OzHera's dashboards ask. */
final class PrometheusCounts {
  private static final JsonMapper JSON = new JsonMapper();
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  /** What dashboards sum deltas over. */
  static final int STEP_SECONDS = 30;

  private final URI prometheus;
  private final HttpClient http;
  private final Temporality temporality;

  PrometheusCounts(URI prometheus, HttpClient http, Temporality temporality) {
    this.temporality = temporality;
    this.prometheus = prometheus;
    this.http = http;
  }

  /** Names of metrics that begin so. Creation times, a series to older versions, are no metrics. */
  List<String> names(String prefix) throws IOException, InterruptedException {
    List<String> names = new ArrayList<>();
    for (JsonNode name : data("/api/v1/label/__name__/values")) {
      if (name.asString().startsWith(prefix) && !name.asString().endsWith("_created")) {
        names.add(name.asString());
      }
    }
    return names;
  }

  /** All that was ever added to each series of a metric, whichever server has shown it. */
  Map<Sample, Double> totals(String name, Duration since) throws IOException, InterruptedException {
    String expression = temporality.totals(name, since);
    Map<Sample, Double> totals = new HashMap<>();
    for (JsonNode series : data("/api/v1/query?query=" + encode(expression)).path("result")) {
      totals.put(Sample.of(name, labels(series)), number(series.path("value")));
    }
    return totals;
  }

  /** The value of an expression for each set of labels. */
  Map<Map<String, String>, Double> instant(String expression)
      throws IOException, InterruptedException {
    Map<Map<String, String>, Double> values = new HashMap<>();
    for (JsonNode series : data("/api/v1/query?query=" + encode(expression)).path("result")) {
      values.put(labels(series), number(series.path("value")));
    }
    return values;
  }

  /**
   * What a dashboard's chart shows at each of its points, added up: each point is of the {@value
   * #STEP_SECONDS} seconds before it, and the next point so much later.
   *
   * @param firstSeconds of the first point, seconds since 1970
   */
  Map<Map<String, String>, Double> chart(String expression, long firstSeconds, long lastSeconds)
      throws IOException, InterruptedException {
    String path =
        "/api/v1/query_range?query="
            + encode(expression)
            + "&start="
            + firstSeconds
            + "&end="
            + lastSeconds
            + "&step="
            + STEP_SECONDS;
    Map<Map<String, String>, Double> sums = new HashMap<>();
    for (JsonNode series : data(path).path("result")) {
      double sum = 0;
      for (JsonNode point : series.path("values")) {
        sum += number(point);
      }
      sums.put(labels(series), sum);
    }
    return sums;
  }

  /** When it last scraped each server, by its address, seconds since 1970. */
  Map<String, Double> lastScrapes() throws IOException, InterruptedException {
    Map<String, Double> times = new TreeMap<>();
    instant("timestamp(up)").forEach((labels, time) -> times.put(labels.get("instance"), time));
    return times;
  }

  /** The newest scrape of a server that succeeded by then, seconds since 1970; NaN for none. */
  double lastSuccess(String instance, double bySeconds) throws IOException, InterruptedException {
    double newest = Double.NaN;
    String path = "/api/v1/query?query=" + encode("up{instance=\"" + instance + "\"}[1h]");
    for (JsonNode series : data(path).path("result")) {
      for (JsonNode point : series.path("values")) {
        double time = point.get(0).asDouble();
        if (time <= bySeconds && number(point) == 1 && !(time <= newest)) {
          newest = time;
        }
      }
    }
    return newest;
  }

  /** Scrapes that did not succeed. */
  long failedScrapes() throws IOException, InterruptedException {
    double failed = 0;
    for (double one : instant("count_over_time(up[1h]) - sum_over_time(up[1h])").values()) {
      failed += one;
    }
    return Math.round(failed);
  }

  private static Map<String, String> labels(JsonNode series) {
    Map<String, String> labels = new TreeMap<>();
    for (Map.Entry<String, JsonNode> label : series.path("metric").properties()) {
      if (!label.getKey().equals("__name__")) {
        labels.put(label.getKey(), label.getValue().asString());
      }
    }
    return labels;
  }

  private static double number(JsonNode point) {
    return Double.parseDouble(point.get(1).asString().replace("+Inf", "Infinity"));
  }

  private JsonNode data(String path) throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(prometheus.resolve(path)).timeout(TIMEOUT).build();
    HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
    JsonNode answer = JSON.readTree(response.body());
    if (!"success".equals(answer.path("status").asString(""))) {
      throw new IOException("Prometheus refuses " + path + ": " + response.body());
    }
    return answer.path("data");
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, UTF_8);
  }
}
