package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.assertj.core.data.Offset;
import org.traceetl.testkit.Prometheus;
import org.traceetl.testkit.Prometheus.Sample;

/** Spans of known durations, and their expected values in Prometheus. */
final class Expected {
  /** The default buckets. */
  static final double[] BOUNDS_MILLIS = {
    2, 4, 6, 8, 10, 50, 100, 200, 400, 800, 1_000, 1_400, 2_000, 5_000, 10_000, 15_000
  };

  /** The spans of one series, with durations on, between and beyond bucket bounds. */
  record Series(String name, SpanKind kind, StatusCode status, List<Long> durationsNanos) {}

  private Expected() {}

  /**
   * Returns series with all kinds, all statuses and all buckets, equal for every language and
   * protocol.
   */
  static List<Series> series() {
    List<Long> everyBucket = new ArrayList<>(List.of(0L, 1L));
    for (double bound : BOUNDS_MILLIS) {
      long nanos = Math.round(bound * 1e6);
      everyBucket.addAll(List.of(nanos, nanos + 1));
    }
    return List.of(
        new Series("GET /users/{id}", SpanKind.SERVER, StatusCode.UNSET, everyBucket),
        new Series("GET", SpanKind.CLIENT, StatusCode.OK, repeat(37, 3_500_000L)),
        new Series("GET", SpanKind.CLIENT, StatusCode.ERROR, repeat(5, 1_234_567_890L)),
        new Series("orders send", SpanKind.PRODUCER, StatusCode.UNSET, repeat(11, 999_999L)),
        new Series("orders process", SpanKind.CONSUMER, StatusCode.UNSET, repeat(11, 75_000_000L)),
        new Series("\"quoted\" \\ line\nü", SpanKind.INTERNAL, StatusCode.UNSET, repeat(3, 1L)));
  }

  private static List<Long> repeat(int times, long nanos) {
    return Collections.nCopies(times, nanos);
  }

  static int spans() {
    return series().stream().mapToInt(series -> series.durationsNanos().size()).sum();
  }

  /** Asserts that a service's series in Prometheus have exact counts, and that no others exist. */
  static void assertIn(Prometheus prometheus, String service, int rounds) throws Exception {
    String selector = "{service_name=\"" + service + "\"}";
    Map<String, Double> calls =
        byKey(prometheus.query("traces_span_metrics_calls_total" + selector));
    Map<String, Double> counts =
        byKey(prometheus.query("traces_span_metrics_duration_milliseconds_count" + selector));
    Map<String, Double> sums =
        byKey(prometheus.query("traces_span_metrics_duration_milliseconds_sum" + selector));
    Map<String, Map<Double, Double>> buckets =
        buckets(prometheus.query("traces_span_metrics_duration_milliseconds_bucket" + selector));

    Map<String, Double> expectedCalls = new TreeMap<>();
    Map<String, Map<Double, Double>> expectedBuckets = new TreeMap<>();
    for (Series series : series()) {
      String key = key(series.name, "SPAN_KIND_" + series.kind, "STATUS_CODE_" + series.status);
      expectedCalls.put(key, (double) rounds * series.durationsNanos.size());
      expectedBuckets.put(key, buckets(series, rounds));
    }
    assertThat(calls).isEqualTo(expectedCalls);
    assertThat(counts).isEqualTo(expectedCalls);
    assertThat(buckets).isEqualTo(expectedBuckets);
    for (Series series : series()) {
      String key = key(series.name, "SPAN_KIND_" + series.kind, "STATUS_CODE_" + series.status);
      double sumNanos = rounds * series.durationsNanos.stream().mapToLong(nanos -> nanos).sum();
      assertThat(sums.get(key)).as(key).isCloseTo(sumNanos / 1e6, Offset.offset(1e-6));
    }
  }

  private static Map<Double, Double> buckets(Series series, int rounds) {
    Map<Double, Double> buckets = new TreeMap<>();
    for (double bound : BOUNDS_MILLIS) {
      long within =
          series.durationsNanos.stream().filter(nanos -> nanos <= Math.round(bound * 1e6)).count();
      buckets.put(bound, (double) rounds * within);
    }
    buckets.put(Double.POSITIVE_INFINITY, (double) rounds * series.durationsNanos.size());
    return buckets;
  }

  private static Map<String, Double> byKey(List<Sample> samples) {
    Map<String, Double> values = new TreeMap<>();
    for (Sample sample : samples) {
      assertThat(values.put(key(sample.labels()), sample.value())).as("stands once").isNull();
    }
    return values;
  }

  private static Map<String, Map<Double, Double>> buckets(List<Sample> samples) {
    Map<String, Map<Double, Double>> values = new TreeMap<>();
    for (Sample sample : samples) {
      String le = sample.labels().get("le");
      double bound = le.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(le);
      values
          .computeIfAbsent(key(sample.labels()), key -> new TreeMap<>())
          .put(bound, sample.value());
    }
    return values;
  }

  private static String key(Map<String, String> labels) {
    return key(labels.get("span_name"), labels.get("span_kind"), labels.get("status_code"));
  }

  private static String key(String name, String kind, String status) {
    return kind + " " + status + " " + name;
  }
}
