package org.traceetl.server.consume.metrics;

import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.Counter;
import io.prometheus.client.GaugeMetricFamily;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.traceetl.proto.Rejection;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.component.Timer;
import org.traceetl.server.series.Cardinality;
import org.traceetl.server.window.QueueId;

/**
 * Metrics of span processing, updated per batch and per window, never per span. The methods must be
 * fast and thread-safe. A subclass can override a method to observe an event instead of counting
 * it.
 */
public class SpanPipelineMetrics {
  private final CollectorRegistry registry;
  private final CardinalityReports cardinality = new CardinalityReports();
  private final TenantUsage tenants = new TenantUsage();
  private final Counter receivedBytes;
  private final Counter accepted;
  private final Counter duplicate;
  private final Map<Rejection, Counter.Child> rejected = new EnumMap<>(Rejection.class);
  private final Counter.Child eventsRecorded;
  private final Counter.Child eventsOverflowed;
  private final Counter.Child eventsFiltered;
  private final Counter.Child measuresRecorded;
  private final Counter.Child measuresOverflowed;
  private final Counter.Child measuresNotNumbers;
  private final Counter.Child measuresNegative;
  private final Counter.Child measuresTooLarge;
  private final Counter.Child measuresNotSent;
  private final Counter namesUnmatched;
  private final Counter dimensionsNotSent;
  private final Counter outdated;
  private final Counter documentsNotSent;
  private final Timer swap;
  private final Timer seal;
  private final Timer append;
  private final Counter panes;
  private final Counter paneRows;
  private final Counter paneSpansMerged;
  private final Counter withoutAge;
  private final Counter malformedAges;
  private final Counter.Child heartbeatsRead;
  private final Counter.Child heartbeatsIgnored;
  private final Counter swapsDeferred;
  private final Counter displaced;
  private final Counter appendFailures;
  private final Counter windowsRefused;
  private final Timer take;
  private final Counter takeFailures;
  private final Counter fenced;
  private final Counter renewFailures;
  private final Timer snapshot;
  private final Counter snapshotFailures;
  private final Counter commitFailures;
  private final Counter skipped;
  private final Counter replaced;
  private final Counter agentsEvicted;
  private final Counter outOfOrder;
  private final Counter failures;

  /** Creates metrics that are not exposed. */
  public SpanPipelineMetrics() {
    this(new MetricRegistry());
  }

  /** Creates and registers all metrics. */
  public SpanPipelineMetrics(MetricRegistry metrics) {
    registry = metrics.collectors();
    receivedBytes =
        counter(
            "received_bytes_total",
            "Bytes of all batches received: accepted, duplicate and rejected.");
    accepted = counter("batches_accepted_total", "Batches accepted and counted.");
    duplicate =
        counter(
            "batches_duplicate_total",
            "Batches not counted because they had been received before.");
    Counter byReason =
        Counter.build("trace_etl_batches_rejected_total", "Batches rejected, by reason.")
            .labelNames("reason")
            .register(registry);
    for (Rejection reason : Rejection.values()) {
      if (reason != Rejection.NONE) {
        rejected.put(reason, byReason.labels(reason.label()));
      }
    }
    Counter events =
        Counter.build("trace_etl_span_events_total", "Span events, by outcome.")
            .labelNames("outcome")
            .register(registry);
    eventsRecorded = events.labels("recorded");
    eventsOverflowed = events.labels("overflowed");
    eventsFiltered = events.labels("filtered");
    Counter measures =
        Counter.build(
                "trace_etl_measured_spans_total",
                "Values of spans in measures, by outcome; one for each measure that a span"
                    + " matches.")
            .labelNames("outcome")
            .register(registry);
    measuresRecorded = measures.labels("recorded");
    measuresOverflowed = measures.labels("overflowed");
    measuresNotNumbers = measures.labels("not_a_number");
    measuresNegative = measures.labels("negative");
    measuresTooLarge = measures.labels("too_large");
    measuresNotSent = measures.labels("not_sent");
    namesUnmatched =
        counter(
            "names_unmatched_total",
            "Span names to which no pattern was applied because their batch had too many names.");
    dimensionsNotSent =
        counter(
            "dimensions_not_sent_total",
            "Spans counted without an attribute of their series because the agent did not know that"
                + " servers need it.");
    documentsNotSent =
        counter(
            "documents_not_sent_total",
            "Slow spans counted without a document because the agent sent only their durations.");
    outdated =
        counter(
            "rules_outdated_spans_total",
            "Spans counted without a label of their rules because the agent did not know yet that"
                + " servers need the attribute.");
    swap =
        metrics.timer(
            "trace_etl_swap_seconds",
            "Time for which the swap of a window paused recording in its queue.");
    seal =
        metrics.timer("trace_etl_seal_seconds", "Time to copy a window out of its double buffer.");
    append =
        metrics.timer("trace_etl_append_seconds", "Time until the journal confirmed a window.");
    panes =
        counter(
            "window_panes_total",
            "Panes of all windows; divided by trace_etl_windows_total, the mean of a window.");
    paneRows =
        counter(
            "window_pane_rows_total",
            "Series with spans in a window, counted once in each of its panes.");
    paneSpansMerged =
        counter(
            "pane_spans_merged_total",
            "Spans counted in a later pane than their own because a window had too many panes or rows.");
    withoutAge =
        counter(
            "messages_without_age_total",
            "Messages without the ages of their batches, which count at the time when the broker"
                + " stored them.");
    malformedAges =
        counter(
            "ages_malformed_total",
            "Messages with malformed ages of their batches, which count at the time when the broker"
                + " stored them.");
    Counter heartbeats =
        Counter.build(
                "trace_etl_heartbeats_total",
                "Messages of agents that had no batches for a queue, by outcome.")
            .labelNames("outcome")
            .register(registry);
    heartbeatsRead = heartbeats.labels("read");
    heartbeatsIgnored = heartbeats.labels("ignored");
    swapsDeferred =
        counter(
            "swaps_deferred_total",
            "Due windows that continued to grow because the previous window was not in the journal"
                + " yet.");
    displaced =
        counter(
            "series_displaced_total",
            "Series replaced by a series with more spans because their application or the process"
                + " was at a limit.");
    appendFailures =
        counter(
            "append_failures_total",
            "Failed attempts to append a window to the journal; each is retried.");
    windowsRefused =
        counter(
            "windows_refused_total",
            "Windows that the journal refused because they are inconsistent: their spans are read"
                + " again, and the same window is then written.");
    take =
        metrics.timer(
            "trace_etl_take_seconds", "Time to take over a queue: to read its state and claim it.");
    takeFailures =
        counter("take_failures_total", "Failed attempts to take over a queue; each is retried.");
    fenced =
        counter(
            "queues_fenced_total",
            "Queues lost to the claim of another owner, which counts what this server had not"
                + " written to the journal.");
    renewFailures =
        counter(
            "lease_renewal_failures_total", "Failed attempts to renew a lease; each is retried.");
    snapshot = metrics.timer("trace_etl_snapshot_seconds", "Time to write a snapshot of a queue.");
    snapshotFailures =
        counter("snapshot_failures_total", "Failed attempts to write a snapshot; each is retried.");
    commitFailures =
        counter(
            "commit_failures_total",
            "Failed attempts to commit an offset; the next window's commit includes it.");
    skipped =
        counter(
            "messages_skipped_total",
            "Messages that the broker deleted before this server read them.");
    replaced =
        Counter.build(
                "trace_etl_messages_replaced_total",
                "Messages that were read and are no longer at their offsets in the broker.")
            .labelNames("queue")
            .register(registry);
    agentsEvicted =
        Counter.build(
                "trace_etl_agents_evicted_total",
                "Agents that sent batches within 26 h and whose batch names were evicted for lack"
                    + " of memory.")
            .labelNames("queue")
            .register(registry);
    outOfOrder =
        counter(
            "messages_out_of_order_total",
            "Messages that came out of order and were pulled again.");
    failures =
        counter(
            "worker_failures_total",
            "Unexpected failures after which a worker continued; see the log.");
    metrics.collector(() -> {
      var family =
          new GaugeMetricFamily(
              "trace_etl_cardinality_culprit",
              "Distinct values of the dimension with the most values, for each application at a"
                  + " series limit.",
              List.of("application", "dimension"));
      cardinality.culprits().forEach((labels, values) -> family.addMetric(labels, values));
      return family;
    });
  }

  /** Returns the reports on applications near or at a limit; they also need the windows. */
  public CardinalityReports cardinality() {
    return cardinality;
  }

  /** Returns the usage of tenants; it also needs the windows, and to be registered. */
  public TenantUsage tenants() {
    return tenants;
  }

  /** Counts an accepted batch. */
  public void accepted(int bytes) {
    receivedBytes.inc(bytes);
    accepted.inc();
  }

  /** Counts a duplicate batch. */
  public void duplicate(int bytes) {
    receivedBytes.inc(bytes);
    duplicate.inc();
  }

  /**
   * Counts agents of a queue that were evicted to make room; repeats from them will count again.
   */
  public void agentsEvicted(QueueId queue, long agents) {
    agentsEvicted.labels(queue.toString()).inc(agents);
  }

  /** Counts a rejected batch. */
  public void rejected(int bytes, Rejection reason) {
    receivedBytes.inc(bytes);
    rejected.get(reason).inc();
  }

  /** Counts the events of a batch: in their own series, in overflow series, and not counted. */
  public void events(int recorded, int overflowed, int filtered) {
    eventsRecorded.inc(recorded);
    eventsOverflowed.inc(overflowed);
    eventsFiltered.inc(filtered);
  }

  /**
   * Counts the values of a batch's spans in measures, by outcome.
   *
   * @param notSent spans of which a demand lacked an attribute that decides whether they match
   */
  public void measured(
      int recorded, int overflowed, int notNumbers, int negative, int tooLarge, int notSent) {
    measuresRecorded.inc(recorded);
    measuresOverflowed.inc(overflowed);
    measuresNotNumbers.inc(notNumbers);
    measuresNegative.inc(negative);
    measuresTooLarge.inc(tooLarge);
    measuresNotSent.inc(notSent);
  }

  /** Counts names of a batch that no pattern was tried on, because there were too many. */
  public void namesUnmatched(int names) {
    namesUnmatched.inc(names);
  }

  /**
   * Counts spans of a batch whose groups lack what this server needs.
   *
   * @param dimensions spans with a dimension that was not sent
   * @param documents slow spans
   */
  public void notSent(int dimensions, int documents) {
    dimensionsNotSent.inc(dimensions);
    documentsNotSent.inc(documents);
  }

  /** Counts spans without a label of their rules, because the agent did not know it yet. */
  public void outdated(int spans) {
    outdated.inc(spans);
  }

  /** Records how long a swap of windows paused the queue's worker. */
  public void swapped(QueueId queue, long pauseNanos) {
    swap.recordNanos(pauseNanos);
  }

  /**
   * Records the panes of a window that ends.
   *
   * @param count number of its panes; 1 if it does not keep panes, 0 without spans
   * @param rows rows of all its panes
   * @param mergedSpans spans that count in a later pane than their own
   */
  public void panes(QueueId queue, int count, long rows, long mergedSpans) {
    panes.inc(count);
    paneRows.inc(rows);
    if (mergedSpans > 0) {
      paneSpansMerged.inc(mergedSpans);
    }
  }

  /** Counts a message without ages. */
  public void withoutAge() {
    withoutAge.inc();
  }

  /** Counts a message with malformed ages. */
  public void malformedAges() {
    malformedAges.inc();
  }

  /**
   * Counts a heartbeat of an agent.
   *
   * @param isRead false if it is malformed or of a later version
   */
  public void heartbeat(boolean isRead) {
    (isRead ? heartbeatsRead : heartbeatsIgnored).inc();
  }

  /** Counts a due window that continues because its predecessor is not in the journal yet. */
  public void swapDeferred(QueueId queue) {
    swapsDeferred.inc();
  }

  /** Counts series that were replaced by keys with more spans. */
  public void displaced(QueueId queue, int series) {
    displaced.inc(series);
  }

  /** Reports an application that is near or at a limit. */
  public void crowded(QueueId queue, Cardinality cardinality) {
    this.cardinality.report(queue, cardinality);
  }

  /** Records how long a window's copy took. */
  public void sealed(QueueId queue, long nanos) {
    seal.recordNanos(nanos);
  }

  /** Records how long a window's append took. */
  public void appended(QueueId queue, long nanos) {
    append.recordNanos(nanos);
  }

  /** Counts a failed append of a window; it is retried. */
  public void appendFailed(QueueId queue) {
    appendFailures.inc();
  }

  /** Counts a window that is inconsistent. */
  public void windowRefused(QueueId queue) {
    windowsRefused.inc();
    failures.inc();
  }

  /** Records how long a take-over took: reading the queue's state, and the claim. */
  public void taken(QueueId queue, long nanos) {
    // Exposes the counter at 0: a counter that first appears at 1 shows no increase.
    replaced.labels(queue.toString());
    agentsEvicted.labels(queue.toString());
    take.recordNanos(nanos);
  }

  /** Counts a failed take-over; it is retried. */
  public void takeFailed(QueueId queue) {
    takeFailures.inc();
  }

  /** Counts a queue lost to another owner's claim; windows not kept are dropped. */
  public void fenced(QueueId queue) {
    fenced.inc();
  }

  /** Counts a renewal of unknown outcome; it is retried. */
  public void renewFailed(QueueId queue) {
    renewFailures.inc();
  }

  /** Records how long writing a snapshot took. */
  public void snapshotWritten(QueueId queue, long nanos) {
    snapshot.recordNanos(nanos);
  }

  /** Counts a failed snapshot; it is retried. */
  public void snapshotFailed(QueueId queue) {
    snapshotFailures.inc();
  }

  /** Counts a failed commit of an offset; the next window's commit replaces it. */
  public void commitFailed(QueueId queue) {
    commitFailures.inc();
  }

  /** Counts messages that the broker deleted before they were read. */
  public void skipped(QueueId queue, long messages) {
    skipped.inc(messages);
  }

  /**
   * Counts messages that were read and that the broker no longer has, because it lost them or the
   * topic was recreated. New messages at their offsets are read.
   */
  public void replaced(QueueId queue, long messages) {
    replaced.labels(queue.toString()).inc(messages);
  }

  /** Counts messages out of order; they are pulled again. */
  public void outOfOrder(QueueId queue) {
    outOfOrder.inc();
  }

  /** Counts an unexpected failure after which the worker continued. */
  public void failed() {
    failures.inc();
  }

  /** Records how long a worker recorded nothing because it ended the windows of all its queues. */
  public void paused(long nanos) {
    // Only tests and measurements use it.
  }

  private Counter counter(String name, String help) {
    return Counter.build("trace_etl_" + name, help).register(registry);
  }
}
