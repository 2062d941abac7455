package org.traceetl.agent.telemetry;

import io.prometheus.client.Collector;
import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.Counter;
import io.prometheus.client.CounterMetricFamily;
import io.prometheus.client.GaugeMetricFamily;
import io.prometheus.client.Histogram;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleSupplier;

/**
 * The agent's own metrics, one set per agent in a JVM. The books balance. For each source, spans
 * received = accepted + filtered by reason + rejected by reason + failed. Over all sources,
 * accepted + recovered = published + in the spool + dropped by reason.
 */
public final class AgentMetrics {
  public final CollectorRegistry registry = new CollectorRegistry();

  public final Counter payloads =
      counter(
          "payloads_total",
          "Payloads that sources offered to the pipeline, by the pipeline's answer.",
          "source",
          "admission");

  public final Counter payloadBytes =
      counter("payload_bytes_total", "Bytes of accepted payloads.", "source");

  public final Counter payloadsMalformed =
      counter(
          "payloads_malformed_total",
          "Accepted payloads that could not be decoded, or only in part.",
          "source");

  public final Counter spansReceived =
      counter("spans_received_total", "Spans decoded from payloads.", "source");

  public final Counter spansAccepted =
      counter("spans_accepted_total", "Spans written to the spool.", "source");

  public final Counter spansRejected =
      counter(
          "spans_rejected_total",
          "Spans refused because they are malformed or too large, by reason.",
          "source",
          "reason");

  public final Counter spansFiltered =
      counter(
          "spans_filtered_total",
          "Spans left out by configured rules, by reason.",
          "source",
          "reason");

  public final Counter spansMeasured =
      counter(
          "spans_measured_total",
          "Accepted spans of which a filter keeps only the count and the duration.",
          "source");

  public final Counter spanChanges =
      counter(
          "span_changes_total",
          "Parts of spans and resources that filters removed, cut or redacted.",
          "source",
          "change");

  public final Counter eventsAccepted =
      counter(
          "span_events_accepted_total", "Configured events of accepted spans, sent to be counted.");

  public final Counter eventsLeftOut =
      counter(
          "span_events_left_out_total",
          "Configured events that were left out because their span had too many events or too"
              + " much text.");

  public final Counter batchesClosed =
      counter("batches_closed_total", "Batches closed, by cause.", "cause");

  public final Counter batchesPublished =
      counter("batches_published_total", "Batches confirmed by the broker.");

  public final Counter spansPublished =
      counter("spans_published_total", "Spans in batches confirmed by the broker.");

  public final Counter bytesPublished =
      counter("bytes_published_total", "Bytes of the batches confirmed by the broker.");

  public final Counter sendFailures =
      counter(
          "send_failures_total", "Failed attempts to send a batch, by kind of failure.", "kind");

  public final Counter spansFailed =
      counter(
          "spans_failed_total",
          "Spans that could not be batched or written to the spool; their senders retry.",
          "source");

  public final Counter spansRecovered =
      counter("spans_recovered_total", "Spans of earlier runs found in the spool at the start.");

  public final Counter batchesDropped =
      counter("batches_dropped_total", "Batches dropped from the spool, by reason.", "reason");

  public final Counter spansDropped =
      counter(
          "spans_dropped_total", "Spans in batches dropped from the spool, by reason.", "reason");

  public final Counter spoolFrames =
      counter(
          "spool_frames_total", "Frames written to the spool; a frame holds a group of payloads.");

  public final Counter spoolWriteFailures =
      counter("spool_write_failures_total", "Frames that could not be written to the spool.");

  public final Counter spoolFlushFailures =
      counter(
          "spool_flush_failures_total",
          "Failed flushes (fsync) of segments of the spool to the disk.");

  public final Counter spoolDamagedFrames =
      counter("spool_damaged_frames_total", "Frames found damaged in the spool at the start.");

  public final Counter reloads =
      counter(
          "reloads_total",
          "Changed files that the agent re-read while running, by outcome.",
          "what",
          "outcome");

  public final Histogram sendSeconds =
      Histogram.build()
          .name("trace_etl_agent_send_seconds")
          .help("Time from sending a batch to the broker's confirmation.")
          .buckets(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
          .register(registry);

  private Counter counter(String name, String help, String... labels) {
    return Counter.build()
        .name("trace_etl_agent_" + name)
        .help(help)
        .labelNames(labels)
        .register(registry);
  }

  /** Adds a gauge that is read at each scrape; the name gets the prefix. */
  public void gauge(String name, String help, DoubleSupplier value) {
    registry.register(
        new Collector() {
          @Override
          public List<MetricFamilySamples> collect() {
            return List.of(
                new GaugeMetricFamily("trace_etl_agent_" + name, help, value.getAsDouble()));
          }
        });
  }

  /** Adds a gauge for each value of a label, read at each scrape. */
  public void gauge(String name, String help, String label, Map<String, DoubleSupplier> values) {
    registry.register(
        new Collector() {
          @Override
          public List<MetricFamilySamples> collect() {
            GaugeMetricFamily family =
                new GaugeMetricFamily("trace_etl_agent_" + name, help, List.of(label));
            values.forEach((key, value) -> family.addMetric(List.of(key), value.getAsDouble()));
            return List.of(family);
          }
        });
  }

  /**
   * Adds a counter whose value is read at each scrape; the name gets the prefix and {@code _total}.
   *
   * @param label the only label, or empty
   * @param values values by the label's values; without a label, one value under any key
   */
  public void counter(String name, String help, String label, Map<String, DoubleSupplier> values) {
    List<String> labels = label.isEmpty() ? List.of() : List.of(label);
    registry.register(
        new Collector() {
          @Override
          public List<MetricFamilySamples> collect() {
            CounterMetricFamily family =
                new CounterMetricFamily("trace_etl_agent_" + name, help, labels);
            values.forEach((key, value) ->
                family.addMetric(labels.isEmpty() ? List.of() : List.of(key), value.getAsDouble()));
            return List.of(family);
          }
        });
  }
}
