package org.traceetl.exporter;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceState;
import org.traceetl.exporter.ring.Hex;

/** The trace that a new span belongs to, and its parent. Lives until the span is created. */
final class Parent {
  long traceIdHigh;
  long traceIdLow;

  /** 0: the span is a root. */
  final long spanId;

  final int flags;
  final boolean remote;
  final TraceState traceState;

  /** The parent, if it records and is a span of this exporter; else null. */
  final RecordingSpan recording;

  Parent(Span span) {
    if (span instanceof LocalSpan) {
      LocalSpan local = (LocalSpan) span;
      traceIdHigh = local.traceIdHigh;
      traceIdLow = local.traceIdLow;
      spanId = local.spanId;
      flags = local.flags;
      remote = false;
      traceState = local.traceState;
      recording = span instanceof RecordingSpan ? (RecordingSpan) span : null;
      return;
    }
    recording = null;
    SpanContext context = span.getSpanContext();
    traceState = context.getTraceState();
    if (context.isValid()) {
      traceIdHigh = Hex.parse(context.getTraceId(), 0);
      traceIdLow = Hex.parse(context.getTraceId(), Hex.DIGITS_OF_LONG);
      spanId = Hex.parse(context.getSpanId(), 0);
      flags = context.getTraceFlags().asByte();
      remote = context.isRemote();
    } else {
      spanId = 0;
      flags = 0;
      remote = false;
    }
  }

  boolean exists() {
    return spanId != 0;
  }

  boolean isSampled() {
    return (flags & LocalSpan.SAMPLED) != 0;
  }
}
