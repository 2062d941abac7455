package org.traceetl.perf.systest.chaos;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongFunction;
import org.traceetl.testkit.Prometheus;
import tools.jackson.databind.JsonNode;

/** The counts in Prometheus, read by its query API. */
final class PrometheusAnswers {
  private static final String LABELS =
      "service_name, span_name, span_kind, status_code, " + SentSpan.INTERVAL;
  private static final String CALLS = "traces_span_metrics_calls_total";
  private static final String DURATION = "traces_span_metrics_duration_milliseconds";

  /** The label {@code job} of scraped series. */
  static final String SCRAPED = "trace-etl";

  /** The label {@code job} of pushed series. */
  static final String PUSHED = "pushed";

  /** Of scraped series. */
  private static final String SELECTOR = "{job=\"" + SCRAPED + "\"}";

  private final Prometheus prometheus;

  PrometheusAnswers(URI prometheus) {
    this.prometheus = new Prometheus(prometheus);
  }

  /**
   * @param ended if rules ended series: a period that all series are in
   */
  Map<SeriesKey, Double> calls(Optional<Duration> ended) throws IOException, InterruptedException {
    return sums(CALLS, ended);
  }

  /**
   * @param ended as in {@link #calls}
   */
  Map<SeriesKey, Double> durationCounts(Optional<Duration> ended)
      throws IOException, InterruptedException {
    return sums(DURATION + "_count", ended);
  }

  /**
   * @param ended as in {@link #calls}
   */
  Map<SeriesKey, Double> durationSumsMillis(Optional<Duration> ended)
      throws IOException, InterruptedException {
    return sums(DURATION + "_sum", ended);
  }

  /** Sums up series, which may have further labels, and of one application may have ended. */
  private Map<SeriesKey, Double> sums(String name, Optional<Duration> ended)
      throws IOException, InterruptedException {
    String series =
        ended.isEmpty()
            ? name + SELECTOR
            : name
                + SELECTOR
                + " or last_over_time("
                + name
                + "{job=\""
                + SCRAPED
                + "\", service_name=\""
                + ChangingRulesFile.APPLICATION
                + "\"}"
                + range(ended.get())
                + ")";
    return query("sum by (" + LABELS + ") (" + series + ")");
  }

  /** Returns the requests between services, and those of users. */
  Map<Calls.Edge, Calls.Count> edges() throws IOException, InterruptedException {
    Map<Calls.Edge, Calls.Count> edges = new TreeMap<>();
    addEdges("request_total", requests -> new Calls.Count(requests, 0), edges);
    addEdges("request_failed_total", failed -> new Calls.Count(0, failed), edges);
    return edges;
  }

  /**
   * Returns the calls that no client's span was found for, by server.
   *
   * @param reason {@code moved}, or empty for those without a reason
   */
  Map<String, Long> unpairedServers(String reason) throws IOException, InterruptedException {
    Map<String, Long> unpaired = new TreeMap<>();
    String selector = "{job=\"" + SCRAPED + "\", server!=\"\", reason=\"" + reason + "\"}";
    String expression =
        "sum by (server) (traces_service_graph_unpaired_spans_total" + selector + ")";
    for (Prometheus.Sample sample : prometheus.query(expression)) {
      unpaired.put(sample.labels().get("server"), Math.round(sample.value()));
    }
    return unpaired;
  }

  private void addEdges(
      String name, LongFunction<Calls.Count> count, Map<Calls.Edge, Calls.Count> to)
      throws IOException, InterruptedException {
    String expression = "sum by (client, server) (traces_service_graph_" + name + SELECTOR + ")";
    for (Prometheus.Sample sample : prometheus.query(expression)) {
      to.merge(
          new Calls.Edge(sample.labels().get("client"), sample.labels().get("server")),
          count.apply(Math.round(sample.value())),
          Calls.Count::plus);
    }
  }

  /** Returns how often each counter decreased; series without a decrease are omitted. */
  Map<SeriesKey, Double> resets(Duration run) throws IOException, InterruptedException {
    String range = SELECTOR + range(run);
    Map<SeriesKey, Double> resets = new TreeMap<>();
    for (String name : new String[] {CALLS, DURATION + "_count", DURATION + "_sum"}) {
      query("sum by (" + LABELS + ") (resets(" + name + range + ")) > 0")
          .forEach((series, count) -> resets.merge(series, count, Math::max));
    }
    return resets;
  }

  /** Returns the number of series that more than one queue has counted. */
  int onSeveralQueues() throws IOException, InterruptedException {
    String queues = "sum by (" + LABELS + ", trace_etl_queue) (" + CALLS + SELECTOR + ")";
    return query("count by (" + LABELS + ") (" + queues + ") > 1").size();
  }

  /** Returns all pushed samples. One request has the series of one interval. */
  Map<SeriesKey, PushedSeries> pushed(Duration run) throws IOException, InterruptedException {
    Map<SeriesKey, PushedSeries> pushed = new TreeMap<>();
    String selector = CALLS + "{job=\"" + PUSHED + "\"}";
    for (String interval : prometheus.labelValues(SentSpan.INTERVAL, selector)) {
      String ofInterval =
          CALLS + "{job=\"" + PUSHED + "\", " + SentSpan.INTERVAL + "=\"" + interval + "\"}";
      for (JsonNode series :
          prometheus
              .data("/api/v1/query?query=" + Prometheus.encode(ofInterval + range(run)))
              .path("result")) {
        NavigableMap<Long, Double> samples = new TreeMap<>();
        for (JsonNode sample : series.path("values")) {
          samples.put(Math.round(sample.get(0).asDouble() * 1e3), Prometheus.number(sample));
        }
        pushed
            .computeIfAbsent(SeriesKey.of(Prometheus.labels(series)), _ -> new PushedSeries())
            .add(samples);
      }
    }
    return pushed;
  }

  private static String range(Duration run) {
    return "[" + (run.toSeconds() + 60) + "s]";
  }

  private Map<SeriesKey, Double> query(String expression) throws IOException, InterruptedException {
    Map<SeriesKey, Double> values = new TreeMap<>();
    for (Prometheus.Sample sample : prometheus.query(expression)) {
      values.put(SeriesKey.of(sample.labels()), sample.value());
    }
    return values;
  }
}
