package org.traceetl.server.telemetry;

import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.Counter;
import java.util.EnumMap;
import java.util.Map;
import org.traceetl.proto.Rejection;
import org.traceetl.server.component.Timer;
import org.traceetl.server.consume.PipelineListener;
import org.traceetl.server.series.Cardinality;
import org.traceetl.server.window.QueueId;

/** Counts and times what the pipeline tells, per batch and per window. */
final class PipelineTelemetry implements PipelineListener {
  private final CardinalityReports cardinalities;
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

  PipelineTelemetry(
      ServerTelemetry telemetry, CardinalityReports cardinalities, CollectorRegistry registry) {
    this.cardinalities = cardinalities;
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
        telemetry.timer(
            "trace_etl_swap_seconds", "How long a window's swap kept its queue from recording.");
    seal =
        telemetry.timer(
            "trace_etl_seal_seconds", "Time to copy a window out of its double buffer.");
    append = telemetry.timer("trace_etl_append_seconds", "Time until the journal had a window.");
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
        telemetry.timer(
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
    snapshot = telemetry.timer("trace_etl_snapshot_seconds", "Time to write a queue's state.");
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
  }

  @Override
  public void accepted(int bytes) {
    receivedBytes.inc(bytes);
    accepted.inc();
  }

  @Override
  public void duplicate(int bytes) {
    receivedBytes.inc(bytes);
    duplicate.inc();
  }

  @Override
  public void agentsEvicted(QueueId queue, long agents) {
    agentsEvicted.labels(queue.toString()).inc(agents);
  }

  @Override
  public void rejected(int bytes, Rejection reason) {
    receivedBytes.inc(bytes);
    rejected.get(reason).inc();
  }

  @Override
  public void events(int recorded, int overflowed, int filtered) {
    eventsRecorded.inc(recorded);
    eventsOverflowed.inc(overflowed);
    eventsFiltered.inc(filtered);
  }

  @Override
  public void namesUnmatched(int names) {
    namesUnmatched.inc(names);
  }

  @Override
  public void swapped(QueueId queue, long pauseNanos) {
    swap.recordNanos(pauseNanos);
  }

  @Override
  public void swapDeferred(QueueId queue) {
    swapsDeferred.inc();
  }

  @Override
  public void displaced(QueueId queue, int series) {
    displaced.inc(series);
  }

  @Override
  public void crowded(QueueId queue, Cardinality cardinality) {
    cardinalities.report(queue, cardinality);
  }

  @Override
  public void sealed(QueueId queue, long nanos) {
    seal.recordNanos(nanos);
  }

  @Override
  public void appended(QueueId queue, long nanos) {
    append.recordNanos(nanos);
  }

  @Override
  public void appendFailed(QueueId queue) {
    appendFailures.inc();
  }

  @Override
  public void taken(QueueId queue, long nanos) {
    // From 0 on: a counter that is first seen at 1 has not increased.
    replaced.labels(queue.toString());
    agentsEvicted.labels(queue.toString());
    take.recordNanos(nanos);
  }

  @Override
  public void takeFailed(QueueId queue) {
    takeFailures.inc();
  }

  @Override
  public void fenced(QueueId queue) {
    fenced.inc();
  }

  @Override
  public void renewFailed(QueueId queue) {
    renewFailures.inc();
  }

  @Override
  public void snapshotWritten(QueueId queue, long nanos) {
    snapshot.recordNanos(nanos);
  }

  @Override
  public void snapshotFailed(QueueId queue) {
    snapshotFailures.inc();
  }

  @Override
  public void commitFailed(QueueId queue) {
    commitFailures.inc();
  }

  @Override
  public void skipped(QueueId queue, long messages) {
    skipped.inc(messages);
  }

  @Override
  public void replaced(QueueId queue, long messages) {
    replaced.labels(queue.toString()).inc(messages);
  }

  @Override
  public void outOfOrder(QueueId queue) {
    outOfOrder.inc();
  }

  @Override
  public void failed() {
    failures.inc();
  }

  private static Counter counter(CollectorRegistry registry, String name, String help) {
    return Counter.build("trace_etl_" + name, help).register(registry);
  }
}
