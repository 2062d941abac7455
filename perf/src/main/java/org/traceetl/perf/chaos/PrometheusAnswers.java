package org.traceetl.perf.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What Prometheus has counted, by its query API. */
final class PrometheusAnswers {
  private static final JsonMapper JSON = new JsonMapper();
  private static final String LABELS =
      "service_name, span_name, span_kind, status_code, " + SentSpan.INTERVAL;
  private static final String CALLS = "traces_span_metrics_calls_total";
  private static final String DURATION = "traces_span_metrics_duration_milliseconds";

  private final URI prometheus;
  private final HttpClient http;

  PrometheusAnswers(URI prometheus, HttpClient http) {
    this.prometheus = prometheus;
    this.http = http;
  }

  Map<SeriesKey, Double> calls() throws IOException, InterruptedException {
    return query("sum by (" + LABELS + ") (" + CALLS + ")");
  }

  Map<SeriesKey, Double> durationCounts() throws IOException, InterruptedException {
    return query("sum by (" + LABELS + ") (" + DURATION + "_count)");
  }

  Map<SeriesKey, Double> durationSumsMillis() throws IOException, InterruptedException {
    return query("sum by (" + LABELS + ") (" + DURATION + "_sum)");
  }

  /** How often a counter went down, of series where it did. */
  Map<SeriesKey, Double> resets(Duration run) throws IOException, InterruptedException {
    String range = "[" + (run.toSeconds() + 60) + "s]";
    Map<SeriesKey, Double> resets = new TreeMap<>();
    for (String name : new String[] {CALLS, DURATION + "_count", DURATION + "_sum"}) {
      query("sum by (" + LABELS + ") (resets(" + name + range + ")) > 0")
          .forEach((series, count) -> resets.merge(series, count, Math::max));
    }
    return resets;
  }

  /** Series that more than one queue has counted spans of. */
  int onSeveralQueues() throws IOException, InterruptedException {
    return query("count by (" + LABELS + ") (" + CALLS + ") > 1").size();
  }

  private Map<SeriesKey, Double> query(String expression) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(
                prometheus.resolve("/api/v1/query?query=" + URLEncoder.encode(expression, UTF_8)))
            .timeout(Duration.ofSeconds(60))
            .build();
    HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
    JsonNode answer = JSON.readTree(response.body());
    if (!"success".equals(answer.path("status").asString(""))) {
      throw new IOException("Prometheus refuses " + expression + ": " + response.body());
    }
    Map<SeriesKey, Double> values = new TreeMap<>();
    for (JsonNode series : answer.path("data").path("result")) {
      JsonNode labels = series.path("metric");
      values.put(
          new SeriesKey(
              labels.path("service_name").asString(""),
              labels.path("span_name").asString(""),
              labels.path("span_kind").asString(""),
              labels.path("status_code").asString(""),
              labels.path(SentSpan.INTERVAL).asString("")),
          Double.parseDouble(series.path("value").get(1).asString()));
    }
    return values;
  }
}
