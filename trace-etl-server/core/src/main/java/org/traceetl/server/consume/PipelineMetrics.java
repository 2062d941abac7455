package org.traceetl.server.consume;

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
 * The metrics of the way of the spans: what happens per batch and per window, never per span.
 * Called by the threads that do it; quick and thread-safe. A subclass that overrides a method sees
 * what happens in place of the metric.
 */
public class PipelineMetrics {
  private final CardinalityReports cardinality = new CardinalityReports();
  private final Counter receivedBytes;
  private final Counter accepted;
  private final Counter duplicate;
  private final Map<Rejection, Counter.Child> rejected = new EnumMap<>(Rejection.class);
  private final Counter.Child eventsRecorded;
  private final Counter.Child eventsOverflowed;
  private final Counter.Child eventsFiltered;
  private final Counter namesUnmatched;
  private final Timer swap;
  private final Timer seal;
  private final Timer append;
  private final Counter swapsDeferred;
  private final Counter displaced;
  private final Counter appendFailures;
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

  /** Metrics that no scrape shows. */
  public PipelineMetrics() {
    this(new MetricRegistry());
  }

  /** Registers all of them. */
  public PipelineMetrics(MetricRegistry metrics) {
    CollectorRegistry registry = metrics.collectors();
    receivedBytes =
        counter(
            registry,
            "received_bytes_total",
            "Bytes of all batches received: accepted, duplicate and rejected.");
    accepted = counter(registry, "batches_accepted_total", "Batches accepted and counted.");
    duplicate =
        counter(
            registry,
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
    namesUnmatched =
        counter(
            registry,
            "names_unmatched_total",
            "Span names to which no pattern was applied because their batch had too many names.");
    swap =
        metrics.timer(
            "trace_etl_swap_seconds",
            "Time for which the swap of a window paused recording in its queue.");
    seal =
        metrics.timer("trace_etl_seal_seconds", "Time to copy a window out of its double buffer.");
    append =
        metrics.timer("trace_etl_append_seconds", "Time until the journal confirmed a window.");
    swapsDeferred =
        counter(
            registry,
            "swaps_deferred_total",
            "Due windows that continued to grow because the previous window was not in the journal yet.");
    displaced =
        counter(
            registry,
            "series_displaced_total",
            "Series replaced by a series with more spans because their application or the process was at a limit.");
    appendFailures =
        counter(
            registry,
            "append_failures_total",
            "Failed attempts to append a window to the journal; each is retried.");
    take =
        metrics.timer(
            "trace_etl_take_seconds", "Time to take over a queue: to read its state and claim it.");
    takeFailures =
        counter(
            registry,
            "take_failures_total",
            "Failed attempts to take over a queue; each is retried.");
    fenced =
        counter(
            registry,
            "queues_fenced_total",
            "Queues lost to the claim of another owner, which counts what this server had not written to the journal.");
    renewFailures =
        counter(
            registry,
            "lease_renewal_failures_total",
            "Failed attempts to renew a lease; each is retried.");
    snapshot = metrics.timer("trace_etl_snapshot_seconds", "Time to write a snapshot of a queue.");
    snapshotFailures =
        counter(
            registry,
            "snapshot_failures_total",
            "Failed attempts to write a snapshot; each is retried.");
    commitFailures =
        counter(
            registry,
            "commit_failures_total",
            "Failed attempts to commit an offset; the next window's commit includes it.");
    skipped =
        counter(
            registry,
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
                "Agents that sent batches within 26 h and whose batch names were evicted for lack of memory.")
            .labelNames("queue")
            .register(registry);
    outOfOrder =
        counter(
            registry,
            "messages_out_of_order_total",
            "Messages that came out of order and were pulled again.");
    failures =
        counter(
            registry,
            "worker_failures_total",
            "Unexpected failures after which a worker continued; see the log.");
    metrics.collector(() -> {
      var family =
          new GaugeMetricFamily(
              "trace_etl_cardinality_culprit",
              "Distinct values of the dimension with the most values, for each application at a series limit.",
              List.of("application", "dimension"));
      cardinality.culprits().forEach((labels, values) -> family.addMetric(labels, values));
      return family;
    });
  }

  /** The applications near or at a limit of series; to be given the windows as well. */
  public CardinalityReports cardinality() {
    return cardinality;
  }

  /** A batch that counts. */
  public void accepted(int bytes) {
    receivedBytes.inc(bytes);
    accepted.inc();
  }

  /** A batch that was seen before. */
  public void duplicate(int bytes) {
    receivedBytes.inc(bytes);
    duplicate.inc();
  }

  /**
   * So many agents of a queue were forgotten to make room for others: a repeat from them counts.
   */
  public void agentsEvicted(QueueId queue, long agents) {
    agentsEvicted.labels(queue.toString()).inc(agents);
  }

  /** A batch that was refused. */
  public void rejected(int bytes, Rejection reason) {
    receivedBytes.inc(bytes);
    rejected.get(reason).inc();
  }

  /** Events of a batch's spans: counted in series of their own, in overflow series, left out. */
  public void events(int recorded, int overflowed, int filtered) {
    eventsRecorded.inc(recorded);
    eventsOverflowed.inc(overflowed);
    eventsFiltered.inc(filtered);
  }

  /** Patterns were not tried on so many names of a batch: it had too many. */
  public void namesUnmatched(int names) {
    namesUnmatched.inc(names);
  }

  /** A window was swapped out: for so long the queue's worker recorded nothing. */
  public void swapped(QueueId queue, long pauseNanos) {
    swap.recordNanos(pauseNanos);
  }

  /** A window was due, but its predecessor is still with the journal: it goes on growing. */
  public void swapDeferred(QueueId queue) {
    swapsDeferred.inc();
  }

  /** So many series gave their place to keys with more spans. */
  public void displaced(QueueId queue, int series) {
    displaced.inc(series);
  }

  /** An application is near or at a limit. */
  public void crowded(QueueId queue, Cardinality cardinality) {
    this.cardinality.report(queue, cardinality);
  }

  /** A window was copied out of its double buffer. */
  public void sealed(QueueId queue, long nanos) {
    seal.recordNanos(nanos);
  }

  /** The journal has a window. */
  public void appended(QueueId queue, long nanos) {
    append.recordNanos(nanos);
  }

  /** The journal did not take a window; it is tried again. */
  public void appendFailed(QueueId queue) {
    appendFailures.inc();
  }

  /** A queue was taken over: its state was read, and it was claimed. */
  public void taken(QueueId queue, long nanos) {
    // From 0 on: a counter that is first seen at 1 has not increased.
    replaced.labels(queue.toString());
    agentsEvicted.labels(queue.toString());
    take.recordNanos(nanos);
  }

  /** A queue could not be taken over; it is tried again. */
  public void takeFailed(QueueId queue) {
    takeFailures.inc();
  }

  /** Another owner has claimed a queue: what was not kept is dropped here. */
  public void fenced(QueueId queue) {
    fenced.inc();
  }

  /** It was not found out whether a queue is still this process's; it is tried again. */
  public void renewFailed(QueueId queue) {
    renewFailures.inc();
  }

  /** A queue's state was written down. */
  public void snapshotWritten(QueueId queue, long nanos) {
    snapshot.recordNanos(nanos);
  }

  /** A queue's state was not written down; it is tried again. */
  public void snapshotFailed(QueueId queue) {
    snapshotFailures.inc();
  }

  /** An offset was not committed; the next window's commit makes up for it. */
  public void commitFailed(QueueId queue) {
    commitFailures.inc();
  }

  /** The broker no longer has these messages: they were never read. */
  public void skipped(QueueId queue, long messages) {
    skipped.inc(messages);
  }

  /**
   * The broker no longer has these messages, which were read: it lost them, or the topic was made
   * again. What it has at their offsets is read.
   */
  public void replaced(QueueId queue, long messages) {
    replaced.labels(queue.toString()).inc(messages);
  }

  /** Messages came out of order; they are pulled again. */
  public void outOfOrder(QueueId queue) {
    outOfOrder.inc();
  }

  /** Something failed that should not; the worker went on. */
  public void failed() {
    failures.inc();
  }

  /** A worker ended the windows of all its queues: for so long it recorded nothing. */
  public void paused(long nanos) {
    // Only tests and measurements look at it.
  }

  private static Counter counter(CollectorRegistry registry, String name, String help) {
    return Counter.build("trace_etl_" + name, help).register(registry);
  }
}
