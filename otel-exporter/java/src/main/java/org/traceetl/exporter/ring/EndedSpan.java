package org.traceetl.exporter.ring;

import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import java.util.List;

/**
 * The fields of an ended span that {@link RingWriter} writes. They do not change. IDs are numbers,
 * so that no text is formatted and parsed.
 */
public interface EndedSpan {
  long traceIdHigh();

  long traceIdLow();

  long spanId();

  /** Returns the parent's span ID, or 0. */
  long parentSpanId();

  /** Returns nanoseconds since 1970. */
  long startEpochNanos();

  /** Returns nanoseconds since 1970. */
  long endEpochNanos();

  SpanKind kind();

  StatusCode statusCode();

  /** Returns the description, or null. */
  String statusDescription();

  String name();

  TraceState traceState();

  /** Returns the attributes, or null if there are none. */
  AttributeList attributeList();

  /** Returns the events, or null if there are none. */
  List<EventData> eventList();

  /** Returns the links, or null if there are none. */
  List<LinkData> linkList();
}
