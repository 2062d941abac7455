package org.traceetl.server.window;

import java.util.Map;

/**
 * A span in the index: slow, failed, or the exemplar of its series.
 *
 * @param traceId 32 lower-case hex digits
 * @param spanId 16 lower-case hex digits; with the trace ID it identifies the document, so that a
 *     repeat overwrites it
 * @param kind as in OTLP, 0 to 5
 * @param status as in OTLP, 0 to 2
 * @param attributes the configured attributes that the span or its resource has
 */
public record TraceDocument(
    String traceId,
    String spanId,
    String application,
    String operation,
    int kind,
    int status,
    String statusMessage,
    long startUnixNanos,
    long durationNanos,
    Reason reason,
    Map<String, String> attributes) {

  /** Why it is kept. An error that is also slow counts as an error. */
  public enum Reason {
    ERROR,
    SLOW,
    EXEMPLAR;

    private final String label = name().toLowerCase(java.util.Locale.ROOT);

    /** Returns the name in labels, documents and queries, in lower case. */
    public String label() {
      return label;
    }
  }
}
