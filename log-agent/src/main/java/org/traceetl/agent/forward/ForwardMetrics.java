package org.traceetl.agent.forward;

import io.prometheus.client.Counter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.DoubleSupplier;
import java.util.function.ToDoubleFunction;
import org.traceetl.agent.telemetry.MetricSet;

/**
 * Metrics of forwarding. For each endpoint, accepted requests = forwarded + dropped by reason +
 * those in memory and in the buffer. For each source that is not OTLP, spans of confirmed payloads
 * = those of {@link SpanOutcome} + those in memory; encoded ones are in requests. With tail
 * keeping, accepted requests are also left out or waiting, and each span of a request that was
 * decided on has an outcome of {@link Kept}.
 */
final class ForwardMetrics extends MetricSet implements ForwardBuffer.Drops {
  /** Why a request was not forwarded. */
  enum Drop {
    /** The disk did not take requests as fast as they arrived. */
    QUEUE_FULL,
    /** The buffer could not be written. */
    DISK_FAILED,
    /** The buffer was at its limit, and this was one of the oldest requests. */
    BUFFER_FULL,
    /** What the buffer has of the request is incomplete or does not match its checksum. */
    DAMAGED,
    /** The endpoint answered with a status that a repeat does not change. */
    REFUSED;

    private final String label = name().toLowerCase(Locale.ROOT);
  }

  /** What became of a span that did not arrive as OTLP. */
  enum SpanOutcome {
    /** It is in a request in the buffer. */
    STORED,
    /** As {@link Drop#QUEUE_FULL}. */
    QUEUE_FULL,
    /** As {@link Drop#DISK_FAILED}. */
    DISK_FAILED,
    /** The source's bytes are no valid span. Most are counted as rejected, too. */
    MALFORMED,
    /** It, or the spans of its payload together, are larger than allowed. */
    TOO_LARGE;

    private final String label = name().toLowerCase(Locale.ROOT);
  }

  /** What tail keeping decided on a span. */
  enum Kept {
    /** It is slow. */
    SLOW,
    /** It is failed, and not slow. */
    FAILED,
    /** Another span of its trace is slow or failed. */
    TRACE,
    /** Its trace is in the ratio, and nothing above. */
    RATIO,
    /** It is forwarded only because its request is in JSON and another span of it is kept. */
    REQUEST,
    /** It is not forwarded. */
    LEFT_OUT,
    /** The agent rejected it as invalid, so it has no trace; it is not forwarded. */
    MALFORMED;

    private final String label = name().toLowerCase(Locale.ROOT);
  }

  private static final String ENDPOINT = "endpoint";
  private static final String OUTCOME = "outcome";

  /** Sources whose spans are encoded. */
  private static final List<String> ENCODED_SOURCES = List.of("ring", "file");

  private final Counter requests =
      counter("forward_requests_total", "Trace requests that the endpoint accepted.", ENDPOINT);
  private final Counter bytes =
      counter(
          "forward_bytes_total",
          "Bytes, before compression, of the trace requests that the endpoint accepted.",
          ENDPOINT);
  private final Counter retries =
      counter(
          "forward_retries_total",
          "Failed attempts to forward a trace request, which the agent repeats.",
          ENDPOINT);
  private final Counter encodedSpans =
      counter(
          "forward_encoded_spans_total",
          "Spans of rings and trace logs that were stored as trace requests to forward, or dropped,"
              + " by outcome.",
          "source",
          OUTCOME);
  private final Counter keptSpans =
      counter(
          "forward_keep_spans_total",
          "Spans that tail keeping has decided on, by outcome.",
          OUTCOME);
  private final LongAdder leftOut =
      adder(
          "forward_keep_left_out_total",
          "Trace requests that tail keeping did not forward, because no span of them is kept.");
  private final LongAdder decidedEarly =
      adder(
          "forward_keep_early_total",
          "Trace requests that were decided on before their wait was over, because half of the"
              + " buffer was full.");
  private final LongAdder notMarked =
      adder(
          "forward_keep_unmarked_total",
          "Slow and failed spans whose trace was not marked, because too many were; other spans of"
              + " it may be left out.");
  private final Counter rejectedSpans =
      counter(
          "forward_rejected_spans_total",
          "Spans that the endpoint reported as rejected from requests that it accepted.",
          ENDPOINT);
  private final Counter dropped =
      counter(
          "forward_dropped_total",
          "Trace requests that were not forwarded to the endpoint, by reason.",
          ENDPOINT,
          "reason");
  private final List<String> endpoints;

  /** Creates the metrics with all labels, so that alerts detect the first loss. */
  ForwardMetrics(List<String> endpoints) {
    this.endpoints = List.copyOf(endpoints);
    for (String endpoint : endpoints) {
      requests.labels(endpoint);
      bytes.labels(endpoint);
      retries.labels(endpoint);
      rejectedSpans.labels(endpoint);
      for (Drop reason : Drop.values()) {
        dropped.labels(endpoint, reason.label);
      }
    }
    for (String source : ENCODED_SOURCES) {
      for (SpanOutcome outcome : SpanOutcome.values()) {
        encodedSpans.labels(source, outcome.label);
      }
    }
    for (Kept outcome : Kept.values()) {
      keptSpans.labels(outcome.label);
    }
  }

  /** Adds the gauges of tail keeping. */
  void observeKeeping(DoubleSupplier waitingBytes, DoubleSupplier markedTraces) {
    gauge(
        "forward_keep_waiting_bytes",
        "Bytes of trace requests on disk that tail keeping has not decided on yet.",
        waitingBytes);
    gauge(
        "forward_keep_marked_traces",
        "Traces in memory of which a span is slow or failed.",
        markedTraces);
  }

  /** Adds the gauges of the endpoints. */
  void observe(ToDoubleFunction<String> backlogBytes, ToDoubleFunction<String> oldestSeconds) {
    gauge(
        "forward_backlog_bytes",
        "Bytes of the buffer on disk that the endpoint has not accepted yet.",
        ENDPOINT,
        byEndpoint(backlogBytes));
    gauge(
        "forward_oldest_seconds",
        "Age of the oldest trace request that the endpoint has not accepted yet; 0 if it has"
            + " accepted all.",
        ENDPOINT,
        byEndpoint(oldestSeconds));
  }

  private Map<String, DoubleSupplier> byEndpoint(ToDoubleFunction<String> value) {
    Map<String, DoubleSupplier> values = new LinkedHashMap<>();
    for (String endpoint : endpoints) {
      values.put(endpoint, () -> value.applyAsDouble(endpoint));
    }
    return values;
  }

  void forwarded(String endpoint, long length, long rejected) {
    requests.labels(endpoint).inc();
    bytes.labels(endpoint).inc((double) length);
    rejectedSpans.labels(endpoint).inc((double) rejected);
  }

  void retried(String endpoint) {
    retries.labels(endpoint).inc();
  }

  @Override
  public void dropped(String endpoint, Drop reason, long count) {
    dropped.labels(endpoint, reason.label).inc((double) count);
  }

  /** Counts requests that reached no endpoint. */
  void droppedForAll(Drop reason, long count) {
    endpoints.forEach(endpoint -> dropped(endpoint, reason, count));
  }

  void kept(Kept outcome, int spans) {
    keptSpans.labels(outcome.label).inc(spans);
  }

  void leftOut() {
    leftOut.increment();
  }

  void decidedEarly() {
    decidedEarly.increment();
  }

  void notMarked() {
    notMarked.increment();
  }

  double kept(Kept outcome) {
    return keptSpans.labels(outcome.label).get();
  }

  /** Returns the requests that were not forwarded, decided on early, and the spans not marked. */
  long[] keeping() {
    return new long[] {leftOut.sum(), decidedEarly.sum(), notMarked.sum()};
  }

  void encoded(String source, SpanOutcome outcome, int spans) {
    encodedSpans.labels(source, outcome.label).inc(spans);
  }

  double encoded(String source, SpanOutcome outcome) {
    return encodedSpans.labels(source, outcome.label).get();
  }

  double dropped(String endpoint, Drop reason) {
    return dropped.labels(endpoint, reason.label).get();
  }

  double forwarded(String endpoint) {
    return requests.labels(endpoint).get();
  }

  double retries(String endpoint) {
    return retries.labels(endpoint).get();
  }

  double rejectedSpans(String endpoint) {
    return rejectedSpans.labels(endpoint).get();
  }
}
