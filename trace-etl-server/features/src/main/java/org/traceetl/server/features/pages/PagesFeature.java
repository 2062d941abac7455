package org.traceetl.server.features.pages;

import jakarta.servlet.http.HttpServlet;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.traceetl.common.Clocks;
import org.traceetl.server.component.Background;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Format;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.expose.Page;
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
  private static final byte[] OPENMETRICS_END = "# EOF\n".getBytes(StandardCharsets.US_ASCII);

  /** Prometheus gives up after 10 s by default. */
  private static final Duration MAX_WAIT = Duration.ofSeconds(9);

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

  /**
   * Returns a page that may still be shown after the slow steps, with the server's own metrics.
   *
   * @throws TimeoutException if it is not rendered in time
   * @throws IllegalStateException if it can no longer be rendered
   */
  public Page page(Encoding encoding) throws TimeoutException, InterruptedException {
    return page(encoding, Shard.WHOLE);
  }

  /**
   * Returns a shard of the page. Shard 0 has the server's own metrics.
   *
   * @throws TimeoutException if it is not rendered in time
   * @throws IllegalStateException if it can no longer be rendered
   */
  Page page(Encoding encoding, Shard shard) throws TimeoutException, InterruptedException {
    long deadlineNanos = nanoClock.getAsLong() + MAX_WAIT.toNanos();
    Page page;
    do {
      Duration left = Duration.ofNanos(deadlineNanos - nanoClock.getAsLong());
      page = pages.page(encoding, shard, left).with(ownFamilies(encoding.format(), shard));
    } while (!page.current());
    return page;
  }

  private byte[] ownFamilies(Format format, Shard shard) {
    if (shard.isFirst()) {
      return telemetry.families(format);
    }
    return format.isOpenMetrics() ? OPENMETRICS_END : new byte[0];
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
    return Map.of("/metrics", new MetricsServlet(this));
  }

  @Override
  public Background background() {
    return pages;
  }
}
