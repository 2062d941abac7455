package org.traceetl.server.canary;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** Reads the counters of this run from Prometheus. */
final class PrometheusReader {
  private static final List<String> LABELS =
      List.of("span_name", "span_kind", "status_code", "trace_etl_queue");

  private final HttpReader http;
  private final SpanNames names;
  private final URI query;

  /**
   * @param url of Prometheus, also with a path before {@code /api/v1}
   */
  PrometheusReader(HttpReader http, SpanNames names, URI url, String metric) {
    this.http = http;
    this.names = names;
    String expression = metric + "{span_name=~\"" + names.prefix() + ".*\"}";
    query =
        URI.create(
            url.toString().replaceFirst("/$", "")
                + "/api/v1/query?query="
                + URLEncoder.encode(expression, UTF_8));
  }

  /**
   * Returns the spans of this run by path and series. While a queue moves, Prometheus may have a
   * series of two servers; the higher value counts.
   */
  Map<String, Map<String, Long>> counts() throws IOException, InterruptedException {
    JsonNode answer = http.json(query);
    Map<String, Map<String, Long>> counts = new HashMap<>();
    for (JsonNode sample : answer.path("data").path("result")) {
      JsonNode metric = sample.path("metric");
      String path = names.path("span_name=\"" + metric.path("span_name").asString("") + "\"");
      if (path != null) {
        String series =
            LABELS.stream()
                .map(label -> metric.path(label).asString(""))
                .collect(Collectors.joining("\n"));
        long value = (long) Double.parseDouble(sample.path("value").path(1).asString("0"));
        counts.computeIfAbsent(path, any -> new HashMap<>()).merge(series, value, Math::max);
      }
    }
    return counts;
  }
}
