package org.traceetl.server.ozhera.delta.http;

import jakarta.servlet.http.HttpServlet;
import java.util.List;
import java.util.Map;
import org.traceetl.server.component.Background;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.expose.PageMetrics;
import org.traceetl.server.http.Feature;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.ozhera.delta.DeltaPages;
import org.traceetl.server.telemetry.ServerTelemetry;

/**
 * Answers scrapers with the windows that they have not received; the server's own metrics have a
 * path of their own.
 */
public record DeltaFeature(DeltaPages pages, ServerTelemetry telemetry) implements Feature {
  @Override
  public void metrics(MetricRegistry registry) {
    PageMetrics.hiddenQueues(registry, () -> pages.totals().hidden());
    PageMetrics.foldedWindows(
        registry, () -> pages.totals().windows(), () -> pages.totals().unknownRows());
    registry.gauge(
        "trace_etl_delta_scrapers",
        "Scrapers that receive windows.",
        () -> pages.totals().missedMessages().size());
    registry.gauge(
        "trace_etl_delta_doubted_scrapers",
        "Scrapers whose requests came from alternating addresses in the last 10 minutes:"
            + " several scrapers that share a name each receive only a part.",
        () -> pages.totals().doubted());
    registry.counter(
        "trace_etl_delta_scrapers_forgotten_total",
        "Scrapers forgotten, the longest silent first, because too many series were stored"
            + " for scrapers.",
        () -> pages.totals().forgottenForRoom());
    registry.counter(
        "trace_etl_delta_answers_total",
        "Answers to scrapers that were written to the end.",
        () -> pages.totals().delivered());
    registry.counter(
        "trace_etl_delta_answers_failed_total",
        "Answers to scrapers that were not written to the end; the next answers contain"
            + " their counts.",
        () -> pages.totals().failed());
    registry.counter(
        "trace_etl_delta_bytes_total",
        "Bytes of the answers that were written to the end, before compression.",
        () -> pages.totals().bytes());
    registry.counter(
        "trace_etl_delta_missed_messages_total",
        "Messages of spans whose counts a scraper has missed for good, by scraper.",
        "scraper",
        () -> pages.totals().missedMessages());
    registry.counter(
        "trace_etl_delta_place_failures_total",
        "Failed broker calls that load or store scrapers' positions; each is repeated.",
        pages::placeFailures);
    registry.gauge(
        "trace_etl_delta_label_sets",
        "Distinct label sets that an answer may contain.",
        () -> pages.totals().labelSets());
    registry.gauge(
        "trace_etl_delta_pending_series",
        "Series stored for scrapers that have not received them, counted once in each"
            + " stored sum.",
        () -> pages.totals().pendingSeries());
  }

  @Override
  public List<WindowFollower> followers() {
    return List.of(pages);
  }

  @Override
  public Map<String, HttpServlet> servlets() {
    return Map.of("/metrics", new DeltaServlet(pages), "/jvm", new JvmServlet(telemetry));
  }

  @Override
  public Background background() {
    return pages;
  }
}
