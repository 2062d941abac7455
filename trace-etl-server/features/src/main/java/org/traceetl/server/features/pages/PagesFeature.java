package org.traceetl.server.features.pages;

import jakarta.servlet.http.HttpServlet;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.traceetl.common.Clocks;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Format;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.expose.Page;
import org.traceetl.server.expose.PageMetrics;
import org.traceetl.server.http.Access;
import org.traceetl.server.http.Feature;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.rocketmq.Endpoint;
import org.traceetl.server.telemetry.ServerTelemetry;

/**
 * The pages of all series and the server's own metrics.
 *
 * @param pages families of spans
 * @param edges families of edges, which follow those of spans; null for none. They follow windows
 *     of edge queues, which are not those of {@link #followers}
 * @param telemetry its families end each page
 * @param nanoClock time source of requests
 */
public record PagesFeature(
    SpanPages pages, SpanPages edges, ServerTelemetry telemetry, LongSupplier nanoClock)
    implements Feature {
  private static final byte[] OPENMETRICS_END = "# EOF\n".getBytes(StandardCharsets.US_ASCII);

  /** Prometheus gives up after 10 s by default. */
  static final Duration MAX_WAIT = Duration.ofSeconds(9);

  /** Of a page of visible series: each is collected for its request alone. */
  private static final long MAX_VISIBLE_BYTES = Runtime.getRuntime().maxMemory() / 64;

  /**
   * Creates the feature.
   *
   * @throws IllegalArgumentException if only one of spans and edges has formats with UTF-8 names
   */
  public PagesFeature {
    if (edges != null && edges.hasUtf8Names() != pages.hasUtf8Names()) {
      throw new IllegalArgumentException(
          "UTF-8 names of edges = " + edges.hasUtf8Names() + ": must be as those of spans");
    }
  }

  /**
   * Returns the feature with the given names of metrics.
   *
   * @param edges null for pages without edges
   */
  public static PagesFeature of(
      Naming spans, Naming edges, ServerTelemetry telemetry, Clocks clocks) {
    LongConsumer renderedNanos =
        telemetry.timer(
                "trace_etl_page_render_seconds", "Time to render the changed pages after a window.")
            ::recordNanos;
    if (edges == null) {
      var pages = new SpanPages(spans, clocks, renderedNanos);
      return new PagesFeature(pages, null, telemetry, clocks.nanoClock());
    }
    long maxPlainBytes = SpanPages.maxPlainBytes(spans) / 2; // of each
    return new PagesFeature(
        new SpanPages(spans, clocks, renderedNanos, maxPlainBytes),
        new SpanPages(edges, clocks, renderedNanos, maxPlainBytes),
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
      page = series(encoding, shard, deadlineNanos).with(ownFamilies(encoding.format(), shard));
    } while (!page.current());
    return page;
  }

  /**
   * Returns a shard of the page with the series of visible applications only, and without the
   * server's own metrics. It reads all lines of the page in text, which is then kept up to date.
   *
   * @throws TimeoutException if it is not rendered in time
   * @throws IllegalStateException if it can no longer be rendered, or the visible series are too
   *     large for the heap
   */
  Page visible(Encoding encoding, Shard shard, Access access)
      throws TimeoutException, InterruptedException {
    long deadlineNanos = nanoClock.getAsLong() + MAX_WAIT.toNanos();
    Encoding plain = Encoding.of(encoding.format(), false);
    var visible = new ByteArrayOutputStream();
    boolean isCurrent;
    do {
      visible.reset();
      Page ofSpans = pages.page(plain, shard, leftUntil(deadlineNanos));
      isCurrent = copy(ofSpans, new VisibleSeries(access, false, visible, MAX_VISIBLE_BYTES));
      if (edges != null) {
        Page ofEdges = edges.page(plain, shard, leftUntil(deadlineNanos));
        isCurrent =
            copy(ofEdges, new VisibleSeries(access, true, visible, MAX_VISIBLE_BYTES))
                && ofSpans.current();
      }
    } while (!isCurrent);
    if (encoding.format().isOpenMetrics()) {
      visible.writeBytes(OPENMETRICS_END);
    }
    return Page.of(encoding, visible.toByteArray());
  }

  /** Returns whether the page was still current afterwards. */
  private static boolean copy(Page page, OutputStream to) {
    try {
      page.writeTo(to);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return page.current();
  }

  private Page series(Encoding encoding, Shard shard, long deadlineNanos)
      throws TimeoutException, InterruptedException {
    Page ofSpans = pages.page(encoding, shard, leftUntil(deadlineNanos));
    return edges == null
        ? ofSpans
        : ofSpans.followedBy(edges.page(encoding, shard, leftUntil(deadlineNanos)));
  }

  private Duration leftUntil(long deadlineNanos) {
    return Duration.ofNanos(deadlineNanos - nanoClock.getAsLong());
  }

  private byte[] ownFamilies(Format format, Shard shard) {
    if (shard.isFirst()) {
      return telemetry.families(format);
    }
    return format.isOpenMetrics() ? OPENMETRICS_END : new byte[0];
  }

  private Stream<SpanPages> all() {
    return Stream.concat(Stream.of(pages), Stream.ofNullable(edges));
  }

  private double sum(ToLongFunction<SpanPages.Totals> count) {
    return all().map(SpanPages::totals).mapToLong(count).sum();
  }

  @Override
  public void metrics(MetricRegistry registry) {
    registry.gauge(
        "trace_etl_page_series", "Series on the page.", () -> sum(SpanPages.Totals::series));
    PageMetrics.hiddenQueues(registry, () -> sum(SpanPages.Totals::hidden));
    registry.counter(
        "trace_etl_lease_expiries_total",
        "Times that a queue was removed from the page because its lease had expired.",
        () -> sum(SpanPages.Totals::expiries));
    registry.gauge(
        "trace_etl_page_bytes",
        "Size of all series on each page that is kept up to date.",
        "encoding",
        () ->
            all()
                .flatMap(one -> one.pageBytes().entrySet().stream())
                .collect(
                    Collectors.toMap(e -> e.getKey().label(), Map.Entry::getValue, Long::sum)));
    PageMetrics.foldedWindows(
        registry, () -> pages.totals().windows(), () -> sum(SpanPages.Totals::unknownRows));
  }

  @Override
  public List<WindowFollower> followers() {
    return List.of(pages);
  }

  @Override
  public List<WindowFollower> edgeFollowers() {
    return edges == null ? List.of() : List.of(edges);
  }

  @Override
  public Map<String, HttpServlet> servlets() {
    return Map.of("/metrics", new MetricsServlet(this));
  }

  @Override
  public void start(Endpoint here) {
    all().forEach(SpanPages::start);
  }

  @Override
  public boolean healthy() {
    return all().allMatch(SpanPages::alive);
  }

  @Override
  public void close() {
    all().forEach(SpanPages::close);
  }
}
