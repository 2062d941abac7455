package org.traceetl.server.expose;

import java.util.function.DoubleSupplier;
import org.traceetl.server.component.MetricRegistry;

/** Metrics that all kinds of pages have. */
public final class PageMetrics {
  private PageMetrics() {}

  /** Registers the number of queues that are not shown. */
  public static void hiddenQueues(MetricRegistry registry, DoubleSupplier hidden) {
    registry.gauge(
        "trace_etl_hidden_queues",
        "Queues whose series are not on the page because a previous owner may still show"
            + " them or the lease has expired.",
        hidden);
  }

  /** Registers the number of windows on the page. */
  public static void foldedWindows(
      MetricRegistry registry, DoubleSupplier windows, DoubleSupplier unknownRows) {
    registry.counter(
        "trace_etl_windows_folded_total", "Windows whose counts are on the page.", windows);
    registry.counter(
        "trace_etl_fold_unknown_rows_total",
        "Rows of windows without a series; always 0 unless the program has a fault.",
        unknownRows);
  }
}
