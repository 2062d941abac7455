package org.traceetl.perf.systest.chaos;

/**
 * A span as it is sent.
 *
 * @param traceId 32 lower-case hex digits
 * @param spanId 16 lower-case hex digits
 * @param parentSpanId 16 lower-case hex digits; empty for none
 * @param kind as in OTLP, 1 to 5
 * @param status as in OTLP, 0 to 2
 * @param interval the interval in which the span was created; an attribute that distinguishes
 *     series
 */
record SentSpan(
    String traceId,
    String spanId,
    String parentSpanId,
    String service,
    String name,
    int kind,
    int status,
    String interval,
    long startUnixNanos,
    long durationNanos) {
  /** Creates a span without a parent. */
  SentSpan(
      String traceId,
      String spanId,
      String service,
      String name,
      int kind,
      int status,
      String interval,
      long startUnixNanos,
      long durationNanos) {
    this(traceId, spanId, "", service, name, kind, status, interval, startUnixNanos, durationNanos);
  }

  /** The duration from which a span is slow: the server's default. */
  static final long SLOW_NANOS = 1_000_000_000L;

  static final int ERROR = 2;

  /** The attribute's key, and the label of series. */
  static final String INTERVAL = "interval";

  /** The key of an attribute that rules add as a dimension, and its label. */
  static final String REGION = "region";

  /** Values of {@link #REGION}; the last one is that of spans without it. */
  private static final String[] REGIONS = {"ap", "eu", "us", ""};

  private static final String[] KINDS = {
    "UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"
  };
  private static final String[] STATUSES = {"UNSET", "OK", "ERROR"};

  /** Returns the span as the child of another one. */
  SentSpan answering(SentSpan parent) {
    return new SentSpan(
        parent.traceId,
        spanId,
        parent.spanId,
        service,
        name,
        kind,
        status,
        interval,
        startUnixNanos,
        durationNanos);
  }

  SeriesKey series() {
    return new SeriesKey(
        service, name, "SPAN_KIND_" + kindName(), "STATUS_CODE_" + statusName(), interval);
  }

  /** Returns the value of {@link #REGION}; empty if the span lacks it. */
  String region() {
    return REGIONS[spanId.charAt(0) % REGIONS.length];
  }

  String kindName() {
    return KINDS[kind];
  }

  String statusName() {
    return STATUSES[status];
  }

  /** Returns whether the index must contain the span. */
  boolean isKept() {
    return status == ERROR || durationNanos >= SLOW_NANOS;
  }

  /** Returns the document's name in the index. */
  String documentId() {
    return traceId + "-" + spanId;
  }
}
