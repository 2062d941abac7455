package org.traceetl.perf.systest.chaos;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.traceetl.testkit.Prometheus;

/** The counts in Prometheus, read by its query API. */
final class PrometheusAnswers {
  private static final String LABELS =
      "service_name, span_name, span_kind, status_code, " + SentSpan.INTERVAL;
  private static final String CALLS = "traces_span_metrics_calls_total";
  private static final String DURATION = "traces_span_metrics_duration_milliseconds";

  private final Prometheus prometheus;

  PrometheusAnswers(URI prometheus) {
    this.prometheus = new Prometheus(prometheus);
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

  /** Returns how often each counter decreased; series without a decrease are omitted. */
  Map<SeriesKey, Double> resets(Duration run) throws IOException, InterruptedException {
    String range = "[" + (run.toSeconds() + 60) + "s]";
    Map<SeriesKey, Double> resets = new TreeMap<>();
    for (String name : new String[] {CALLS, DURATION + "_count", DURATION + "_sum"}) {
      query("sum by (" + LABELS + ") (resets(" + name + range + ")) > 0")
          .forEach((series, count) -> resets.merge(series, count, Math::max));
    }
    return resets;
  }

  /** Returns the number of series that more than one queue has counted. */
  int onSeveralQueues() throws IOException, InterruptedException {
    return query("count by (" + LABELS + ") (" + CALLS + ") > 1").size();
  }

  private Map<SeriesKey, Double> query(String expression) throws IOException, InterruptedException {
    Map<SeriesKey, Double> values = new TreeMap<>();
    for (Prometheus.Sample sample : prometheus.query(expression)) {
      values.put(SeriesKey.of(sample.labels()), sample.value());
    }
    return values;
  }
}
