package org.traceetl.agent.pipeline;

import io.prometheus.client.Counter;
import org.traceetl.agent.telemetry.MetricSet;

/** Metrics of the pipeline. */
public final class PipelineMetrics extends MetricSet {
  final Counter payloads =
      counter(
          "payloads_total",
          "Payloads that sources offered to the pipeline, by the pipeline's answer.",
          "source",
          "admission");

  final Counter payloadBytes =
      counter("payload_bytes_total", "Bytes of accepted payloads.", "source");

  final Counter payloadsMalformed =
      counter(
          "payloads_malformed_total",
          "Accepted payloads that could not be decoded, or only in part.",
          "source");

  final Counter spansReceived =
      counter("spans_received_total", "Spans decoded from payloads.", "source");

  final Counter spansAccepted =
      counter("spans_accepted_total", "Spans written to the spool.", "source");

  final Counter spansRejected =
      counter(
          "spans_rejected_total",
          "Spans refused because they are malformed or too large, by reason.",
          "source",
          "reason");

  final Counter spansFiltered =
      counter(
          "spans_filtered_total",
          "Spans left out by configured rules, by reason.",
          "source",
          "reason");

  final Counter spansMeasured =
      counter(
          "spans_measured_total",
          "Accepted spans of which a filter keeps only the count and the duration.",
          "source");

  final Counter spansGrouped =
      counter(
          "spans_grouped_total",
          "Accepted spans sent in groups with only the attributes that servers demand.",
          "source");

  final Counter samplesSent =
      counter(
          "samples_sent_total",
          "Whole copies of spans in groups by demand, which are sent for estimates and not counted.");

  final Counter samplesLeftOut =
      counter(
          "samples_left_out_total",
          "Whole copies of spans in groups by demand that were left out because their batch or frame"
              + " has no room.");

  final Counter halfEdgesAccepted =
      counter("half_edges_accepted_total", "Half-edges written to the spool.");

  final Counter spansFailed =
      counter(
          "spans_failed_total",
          "Spans that could not be batched or written to the spool; their senders retry.",
          "source");

  final Counter framesRefused =
      counter(
          "frames_refused_total",
          "Frames not written to the spool because a batch is inconsistent; their senders retry.");

  final Counter spanChanges =
      counter(
          "span_changes_total",
          "Parts of spans and resources that filters removed, cut or redacted.",
          "source",
          "change");

  final Counter eventsAccepted =
      counter(
          "span_events_accepted_total", "Configured events of accepted spans, sent to be counted.");

  final Counter eventsLeftOut =
      counter(
          "span_events_left_out_total",
          "Configured events that were left out because their span had too many events or too"
              + " much text.");

  final Counter batchesClosed =
      counter("batches_closed_total", "Batches of spans closed, by cause.", "cause");
}
