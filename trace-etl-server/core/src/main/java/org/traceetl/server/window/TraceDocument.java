package org.traceetl.server.window;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A span in the index: slow, failed, or the exemplar of its series.
 *
 * @param traceId 32 lower-case hex digits
 * @param spanId 16 lower-case hex digits; with the trace ID it identifies the document, so that a
 *     repeat overwrites it
 * @param kind as in OTLP, 0 to 5
 * @param status as in OTLP, 0 to 2
 * @param attributes the configured attributes that the span or its resource has, and {@link
 *     #REPRESENTS} if others of its series were held back
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
  /**
   * Attribute of slow and failed spans of which not all were kept: (kept + held back) / kept of
   * their series, window and pane.
   */
  public static final String REPRESENTS = "trace_etl.represents";

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

  /** Returns the document as one of those kept, of a series of which others were held back. */
  @SuppressWarnings({"unchecked", "rawtypes"}) // of an array of entries
  TraceDocument representing(int kept, int heldBack) {
    // An application's attribute of this name gives way.
    List<Map.Entry<String, String>> more = new ArrayList<>(attributes.size() + 1);
    for (Map.Entry<String, String> attribute : attributes.entrySet()) {
      if (!attribute.getKey().equals(REPRESENTS)) {
        more.add(attribute);
      }
    }
    more.add(Map.entry(REPRESENTS, Double.toString(((double) kept + heldBack) / kept)));
    return new TraceDocument(
        traceId,
        spanId,
        application,
        operation,
        kind,
        status,
        statusMessage,
        startUnixNanos,
        durationNanos,
        reason,
        Map.ofEntries(more.toArray(new Map.Entry[0])));
  }

  /** Returns how many slow or failed spans this one represents, at least 1. */
  public double represents() {
    String text = attributes.get(REPRESENTS);
    try {
      return text == null ? 1 : Math.max(1, Double.parseDouble(text));
    } catch (NumberFormatException e) {
      return 1;
    }
  }
}
