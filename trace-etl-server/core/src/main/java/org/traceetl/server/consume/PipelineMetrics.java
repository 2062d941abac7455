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
        counter(registry, "received_bytes_total", "Bytes of batches received, however they ended.");
    accepted = counter(registry, "batches_accepted_total", "Batches that count.");
    duplicate =
        counter(registry, "batches_duplicate_total", "Batches received before and not counted.");
    Counter byReason =
        Counter.build("trace_etl_batches_rejected_total", "Batches refused as malformed.")
            .labelNames("reason")
            .register(registry);
    for (Rejection reason : Rejection.values()) {
      if (reason != Rejection.NONE) {
        rejected.put(reason, byReason.labels(reason.label()));
      }
    }
    Counter events =
        Counter.build("trace_etl_span_events_total", "Events of spans, by what became of them.")
            .labelNames("outcome")
            .register(registry);
    eventsRecorded = events.labels("recorded");
    eventsOverflowed = events.labels("overflowed");
    eventsFiltered = events.labels("filtered");
    namesUnmatched =
        counter(
            registry,
            "names_unmatched_total",
            "Span names that no pattern was tried on, their batch having too many.");
    swap =
        metrics.timer(
            "trace_etl_swap_seconds", "How long a window's swap kept its queue from recording.");
    seal =
        metrics.timer("trace_etl_seal_seconds", "Time to copy a window out of its double buffer.");
    append = metrics.timer("trace_etl_append_seconds", "Time until the journal had a window.");
    swapsDeferred =
        counter(
            registry,
            "swaps_deferred_total",
            "Windows that grew on because the one before was still with the journal.");
    displaced =
        counter(
            registry,
            "series_displaced_total",
            "Series that gave their place to one with more spans, their application or the process"
                + " being at a limit.");
    appendFailures =
        counter(
            registry, "append_failures_total", "Windows that the journal did not take at once.");
    take =
        metrics.timer(
            "trace_etl_take_seconds", "Time to take a queue over: to read its state and claim it.");
    takeFailures =
        counter(registry, "take_failures_total", "Takes of a queue that failed; tried again.");
    fenced =
        counter(
            registry,
            "queues_fenced_total",
            "Queues that another owner claimed; what was not kept here counts there.");
    renewFailures =
        counter(
            registry, "lease_renewal_failures_total", "Leases not renewed at once; tried again.");
    snapshot = metrics.timer("trace_etl_snapshot_seconds", "Time to write a queue's state.");
    snapshotFailures =
        counter(registry, "snapshot_failures_total", "Snapshots that failed; tried again.");
    commitFailures =
        counter(registry, "commit_failures_total", "Offsets not committed; the next one makes up.");
    skipped =
        counter(
            registry, "messages_skipped_total", "Messages that the broker dropped before a read.");
    replaced =
        Counter.build(
                "trace_etl_messages_replaced_total",
                "Messages that were read and that the broker no longer has at their offsets.")
            .labelNames("queue")
            .register(registry);
    agentsEvicted =
        Counter.build(
                "trace_etl_agents_evicted_total",
                "Agents forgotten for lack of memory although they sent batches within 26 h.")
            .labelNames("queue")
            .register(registry);
    outOfOrder =
        counter(registry, "messages_out_of_order_total", "Messages pulled again to be in order.");
    failures =
        counter(registry, "worker_failures_total", "Failures that a worker survived; see the log.");
    metrics.collector(() -> {
      var family =
          new GaugeMetricFamily(
              "trace_etl_cardinality_culprit",
              "Different values of the dimension that has most, of applications at a limit of series.",
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
