package org.traceetl.agent.spool;

import io.prometheus.client.Counter;
import org.traceetl.agent.config.SpoolConfig;
import org.traceetl.agent.telemetry.MetricSet;

/** Metrics of the spool. */
public final class SpoolMetrics extends MetricSet {
  final Counter frames =
      counter(
          "spool_frames_total",
          "Frames written to the spool; a frame holds a group of payloads, or repeated requests.");

  final Counter writtenBytes =
      counter("spool_written_bytes_total", "Bytes of the frames written to the spool.");

  final Counter writeFailures =
      counter("spool_write_failures_total", "Frames that could not be written to the spool.");

  final Counter flushFailures =
      counter(
          "spool_flush_failures_total",
          "Failed flushes (fsync) of segments of the spool to the disk.");

  final Counter damagedFrames =
      counter("spool_damaged_frames_total", "Frames found damaged in the spool at the start.");

  final Counter repeatedBatches =
      counter(
          "spool_repeated_batches_total",
          "Batches found again in the spool at the start; the server discards the duplicates.");

  final Counter spansRecovered =
      counter("spans_recovered_total", "Spans of earlier runs found in the spool at the start.");

  private final Counter batchesDropped =
      counter("batches_dropped_total", "Batches dropped from the spool, by reason.", "reason");

  private final Counter spansDropped =
      counter(
          "spans_dropped_total", "Spans in batches dropped from the spool, by reason.", "reason");

  private final Counter halfEdgesDropped =
      counter(
          "half_edges_dropped_total",
          "Half-edges in batches dropped from the spool, by reason.",
          "reason");

  /** Creates the metrics with all reasons for drops, so that alerts detect the first loss. */
  public SpoolMetrics() {
    for (Settlement how : Settlement.values()) {
      if (how != Settlement.PUBLISHED) {
        drop(how, 0, 0);
        halfEdgesDropped.labels(how.label());
      }
    }
  }

  void drop(Settlement why, SpooledBatch batch) {
    drop(why, 1, batch.spans());
    halfEdgesDropped.labels(why.label()).inc(batch.halfEdges());
  }

  void drop(Settlement why, long batches, long spans) {
    batchesDropped.labels(why.label()).inc((double) batches);
    spansDropped.labels(why.label()).inc((double) spans);
  }

  /** Adds the gauges of a spool. */
  void observe(Spool spool, SpoolConfig config) {
    gauge("spool_bytes", "Bytes of the spool on disk.", spool::bytes);
    gauge("spool_limit_bytes", "Limit for the bytes of the spool on disk.", config::maxBytes);
    gauge(
        "spool_batches", "Batches in the spool that the broker has not confirmed.", spool::batches);
    gauge("spool_limit_batches", "Limit for the batches in the spool.", config::maxBatches);
    gauge("spool_spans", "Spans in the spool that the broker has not confirmed.", spool::spans);
    gauge(
        "unconfirmed_bytes",
        "Bytes of the batches in the spool that the broker has not confirmed.",
        spool::batchBytes);
    gauge(
        "spool_oldest_seconds",
        "Age of the oldest batch in the spool; 0 if the spool is empty.",
        spool::oldestSeconds);
    gauge(
        "spool_writable",
        "1 while the spool can be written; 0 after a failed write, until a retry succeeds.",
        () -> spool.isWritable() ? 1 : 0);
  }
}
