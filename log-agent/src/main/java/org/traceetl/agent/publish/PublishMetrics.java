package org.traceetl.agent.publish;

import io.prometheus.client.Counter;
import io.prometheus.client.Histogram;
import org.traceetl.agent.spool.SpooledBatch;
import org.traceetl.agent.telemetry.MetricSet;

/** Metrics of the publisher. */
public final class PublishMetrics extends MetricSet {
  private final Counter batchesPublished =
      counter("batches_published_total", "Batches confirmed by the broker.");

  private final Counter spansPublished =
      counter("spans_published_total", "Spans in batches confirmed by the broker.");

  private final Counter halfEdgesPublished =
      counter("half_edges_published_total", "Half-edges in batches confirmed by the broker.");

  private final Counter bytesPublished =
      counter("bytes_published_total", "Bytes of the batches confirmed by the broker.");

  final Counter bundlesPublished =
      counter(
          "bundles_published_total", "Messages confirmed by the broker that had several batches.");

  final Counter heartbeatsPublished =
      counter("heartbeats_published_total", "Heartbeats confirmed by the broker.");

  final Counter sendFailures =
      counter(
          "send_failures_total",
          "Failed attempts to send a batch or bundle, by kind of failure.",
          "kind");

  private final Histogram sendSeconds =
      histogram(
          "send_seconds",
          "Time from sending a batch to the broker's confirmation.",
          0.001,
          0.002,
          0.005,
          0.01,
          0.02,
          0.05,
          0.1,
          0.2,
          0.5,
          1,
          2,
          5);

  /** Counts a batch that the broker has confirmed. */
  void published(SpooledBatch batch, long nanos) {
    sendSeconds.observe(nanos / 1e9);
    batchesPublished.inc();
    spansPublished.inc(batch.spans());
    halfEdgesPublished.inc(batch.halfEdges());
    bytesPublished.inc(batch.length());
  }
}
