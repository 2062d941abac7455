package org.traceetl.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.config.IndexConfig;
import org.traceetl.server.config.ServerConfig;
import org.traceetl.server.consume.Aggregation;
import org.traceetl.server.consume.QueueStatus;
import org.traceetl.server.consume.SpanPipeline;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.expose.SpanPages;
import org.traceetl.server.index.IndexFollower;
import org.traceetl.server.index.IndexTelemetry;
import org.traceetl.server.index.TraceIndex;
import org.traceetl.server.journal.QueueJournals;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.telemetry.ServerTelemetry;
import org.traceetl.server.web.Service;

/**
 * All parts of one server, constructed and joined here; started against the flow of spans, drained
 * with it.
 */
final class Pipeline implements Service {
  private static final Logger log = LoggerFactory.getLogger(Pipeline.class);
  private static final double MILLIS_PER_SECOND = 1_000;

  private final ServerTelemetry telemetry;
  private final SpanPages pages;
  private final TraceIndex index;

  /** Null where there is no index: its documents are then not even counted as dropped. */
  private final IndexFollower indexFollower;

  private final QueueJournals journals;
  private final SpanPipeline spans;

  /**
   * @throws IllegalArgumentException if parts of the configuration do not fit together
   * @throws UncheckedIOException if the trace index cannot be opened
   */
  Pipeline(ServerConfig config, Clock clock) {
    telemetry = new ServerTelemetry(Version.text(), config.window().idle());
    Naming naming = new Naming(config.metrics(), config.series(), config.histogram());
    pages =
        new SpanPages(
            naming,
            System::nanoTime,
            telemetry.timer(
                    "trace_etl_page_render_seconds",
                    "Time to render the pages anew after a window.")
                ::recordNanos);
    index = open(config.index());
    indexFollower =
        config.index().type() == IndexConfig.Type.NONE
            ? null
            : new IndexFollower(index, config.index(), clock);
    Aggregation aggregation =
        new Aggregation(config.series(), config.histogram(), config.documents(), config.window());
    journals = journals(config, aggregation, clock);
    List<WindowFollower> followers = new ArrayList<>(List.of(pages, telemetry.books()));
    if (indexFollower != null) {
      followers.add(indexFollower);
    }
    spans =
        new SpanPipeline(
            config.rocketmq(),
            config.journal(),
            config.window(),
            aggregation,
            journals,
            followers,
            clock,
            telemetry.pipeline());
    observeQueues();
    observePages();
    if (indexFollower != null) {
      observeIndex();
    }
  }

  @Override
  public SpanPages pages() {
    return pages;
  }

  @Override
  public ServerTelemetry telemetry() {
    return telemetry;
  }

  @Override
  public TraceIndex index() {
    return index;
  }

  @Override
  public boolean alive() {
    return pages.running() && spans.alive();
  }

  @Override
  public Map<String, String> missing() {
    return spans.missing();
  }

  @Override
  public void start() {
    pages.start();
    if (indexFollower != null) {
      indexFollower.start();
    }
    spans.start();
  }

  @Override
  public void drain(Duration within) {
    long deadlineNanos = System.nanoTime() + within.toNanos();
    spans.drain(within);
    try {
      if (indexFollower != null && !indexFollower.drain(left(deadlineNanos))) {
        log.warn("Some documents are not in the trace index after {}.", within);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    spans.close();
    journals.close();
    pages.close();
    if (indexFollower != null) {
      indexFollower.close();
    }
    index.close();
  }

  private static Duration left(long deadlineNanos) {
    return Duration.ofNanos(Math.max(0, deadlineNanos - System.nanoTime()));
  }

  private static QueueJournals journals(ServerConfig config, Aggregation aggregation, Clock clock) {
    throw new UnsupportedOperationException("to be joined with the protocol");
  }

  private static TraceIndex open(IndexConfig config) {
    try {
      return TraceIndex.open(config);
    } catch (IOException e) {
      throw new UncheckedIOException("The trace index cannot be opened: " + e.getMessage(), e);
    }
  }

  private void observeQueues() {
    queueGauge("lag_messages", "Messages of a queue not read yet.", QueueStatus::lag);
    queueGauge("series", "Live series of a queue.", QueueStatus::series);
    queueGauge(
        "symbols", "Different strings that a queue's series are made of.", QueueStatus::symbols);
    queueGauge("agents", "Agents of a queue whose batches are remembered.", QueueStatus::agents);
    telemetry.gauge(
        "trace_etl_series_left",
        "Series that may still be made in this process.",
        spans::seriesLeft);
    telemetry.gauge(
        "trace_etl_ready",
        "1 if every queue that RocketMQ gave to this server is read, else 0.",
        () -> spans.missing().isEmpty() ? 1 : 0);
    telemetry.gauge(
        "trace_etl_missing_queues",
        "Queues given to this server that it does not read yet; /ready says why.",
        () -> spans.missing().size());
  }

  private void queueGauge(String what, String help, Function<QueueStatus, Number> value) {
    telemetry.gauge(
        "trace_etl_queue_" + what,
        help,
        "queue",
        () ->
            spans.queues().stream()
                .collect(
                    Collectors.toMap(
                        status -> status.queue().toString(), value, (first, second) -> second)));
  }

  private void observePages() {
    telemetry.gauge("trace_etl_page_series", "Series on the page.", () -> pages.totals().series());
    telemetry.gauge(
        "trace_etl_hidden_queues",
        "Queues whose series are not on the page: a former owner may show them, or the lease has"
            + " run out.",
        () -> pages.totals().hidden());
    telemetry.counter(
        "trace_etl_lease_expiries_total",
        "Times that a queue left the page because its lease had run out.",
        () -> pages.totals().expiries());
    telemetry.gauge(
        "trace_etl_page_bytes",
        "Size of the span families on each page that is kept up to date.",
        "encoding",
        () ->
            pages.pageBytes().entrySet().stream()
                .collect(Collectors.toMap(e -> e.getKey().label(), Map.Entry::getValue)));
    telemetry.counter(
        "trace_etl_windows_folded_total",
        "Windows whose counts are on the page.",
        () -> pages.totals().windows());
    telemetry.counter(
        "trace_etl_fold_unknown_rows_total",
        "Rows of windows that belonged to no series: 0 unless something is broken.",
        () -> pages.totals().unknownRows());
  }

  private void observeIndex() {
    telemetry.counter(
        "trace_etl_documents_written_total",
        "Documents that the trace index has kept.",
        () -> indexFollower.telemetry().written());
    telemetry.counter(
        "trace_etl_documents_dropped_total",
        "Documents lost to the trace index.",
        "reason",
        () -> indexFollower.telemetry().dropped());
    telemetry.counter(
        "trace_etl_documents_retried_total",
        "Documents written again after a write that failed.",
        () -> indexFollower.telemetry().retried());
    indexGauge(
        "documents_queued",
        "Documents that wait for the trace index.",
        IndexTelemetry::queuedDocuments);
    indexGauge(
        "documents_queued_bytes", "Their size on the heap, roughly.", IndexTelemetry::queuedBytes);
    indexGauge(
        "index_last_error_timestamp_seconds",
        "When the trace index last failed; 0 for never.",
        status -> status.lastErrorMillis() / MILLIS_PER_SECOND);
    telemetry.gauge(
        "trace_etl_index_healthy",
        "1 if the last contact with the trace index went well, else 0.",
        () -> index.healthy() ? 1 : 0);
  }

  private void indexGauge(String what, String help, Function<IndexTelemetry, Number> value) {
    telemetry.gauge(
        "trace_etl_" + what, help, () -> value.apply(indexFollower.telemetry()).doubleValue());
  }
}
