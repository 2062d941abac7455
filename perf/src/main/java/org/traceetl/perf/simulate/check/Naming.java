package org.traceetl.perf.simulate.check;

/**
 * The names of span metrics.
 *
 * @param calls counter of spans
 * @param durations histogram of durations in milliseconds
 * @param sizes counter of the spans' bytes, if servers keep sizes
 * @param variances counter of the variances of the calls of sampled spans
 */
public record Naming(String calls, String durations, String sizes, String variances) {
  /** The names of profile {@code otel}. */
  public static final Naming OTEL =
      new Naming(
          "traces_span_metrics_calls_total",
          "traces_span_metrics_duration_milliseconds",
          "traces_span_metrics_size_total",
          "traces_span_metrics_calls_variance_total");

  /** Returns the name of the histogram of durations in seconds, which rules may choose. */
  String seconds() {
    return durations.replace("_milliseconds", "_seconds");
  }
}
