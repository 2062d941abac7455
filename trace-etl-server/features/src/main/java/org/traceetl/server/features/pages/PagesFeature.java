package org.traceetl.server.features.pages;

import jakarta.servlet.http.HttpServlet;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.traceetl.common.Clocks;
import org.traceetl.server.component.Background;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.expose.PageMetrics;
import org.traceetl.server.http.Feature;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.telemetry.ServerTelemetry;

/**
 * The pages of all series and the server's own metrics.
 *
 * @param telemetry its families end each page
 * @param nanoClock time source of requests
 */
public record PagesFeature(SpanPages pages, ServerTelemetry telemetry, LongSupplier nanoClock)
    implements Feature {
  /** Returns the feature with the given names of metrics. */
  public static PagesFeature of(Naming naming, ServerTelemetry telemetry, Clocks clocks) {
    return new PagesFeature(
        new SpanPages(
            naming,
            clocks,
            telemetry.timer(
                    "trace_etl_page_render_seconds",
                    "Time to render the changed pages after a window.")
                ::recordNanos),
        telemetry,
        clocks.nanoClock());
  }

  @Override
  public void metrics(MetricRegistry registry) {
    registry.gauge("trace_etl_page_series", "Series on the page.", () -> pages.totals().series());
    PageMetrics.hiddenQueues(registry, () -> pages.totals().hidden());
    registry.counter(
        "trace_etl_lease_expiries_total",
        "Times that a queue was removed from the page because its lease had expired.",
        () -> pages.totals().expiries());
    registry.gauge(
        "trace_etl_page_bytes",
        "Size of the span families on each page that is kept up to date.",
        "encoding",
        () ->
            pages.pageBytes().entrySet().stream()
                .collect(Collectors.toMap(e -> e.getKey().label(), Map.Entry::getValue)));
    PageMetrics.foldedWindows(
        registry, () -> pages.totals().windows(), () -> pages.totals().unknownRows());
  }

  @Override
  public List<WindowFollower> followers() {
    return List.of(pages);
  }

  @Override
  public Map<String, HttpServlet> servlets() {
    return Map.of("/metrics", new MetricsServlet(pages, telemetry, nanoClock));
  }

  @Override
  public Background background() {
    return pages;
  }
}
