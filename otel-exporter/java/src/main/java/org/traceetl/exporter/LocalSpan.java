package org.traceetl.exporter;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceId;
import io.opentelemetry.api.trace.TraceState;

/**
 * A span of this process. Its IDs are numbers; texts are formatted when they are requested, which
 * most spans are not.
 */
abstract class LocalSpan implements Span {
  static final int SAMPLED = 1;
  static final int RANDOM = 2;

  final long traceIdHigh;
  final long traceIdLow;
  final long spanId;
  final byte flags;
  final TraceState traceState;

  /** Contexts are immutable, so threads may create it twice. */
  private SpanContext context;

  LocalSpan(long traceIdHigh, long traceIdLow, long spanId, int flags, TraceState traceState) {
    this.traceIdHigh = traceIdHigh;
    this.traceIdLow = traceIdLow;
    this.spanId = spanId;
    this.flags = (byte) flags;
    this.traceState = traceState;
  }

  @Override
  public final SpanContext getSpanContext() {
    SpanContext made = context;
    if (made == null) {
      made =
          SpanContext.create(
              TraceId.fromLongs(traceIdHigh, traceIdLow),
              SpanId.fromLong(spanId),
              TraceFlags.fromByte(flags),
              traceState);
      context = made;
    }
    return made;
  }

  final boolean isSampled() {
    return (flags & SAMPLED) != 0;
  }
}
