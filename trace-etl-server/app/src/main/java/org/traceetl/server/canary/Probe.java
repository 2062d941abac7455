package org.traceetl.server.canary;

import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.traceetl.exporter.ring.AttributeList;
import org.traceetl.exporter.ring.EndedSpan;
import org.traceetl.server.protobuf.MessageBuffer;

/**
 * A request of known spans: two ordinary ones, one that failed and one that was slow.
 *
 * @param body an ExportTraceServiceRequest of OTLP; the same bytes for each attempt
 * @param spans the same spans for a ring
 * @param documents trace IDs of the failed and of the slow span, which the index must have
 * @param fromMillis start of the earliest span
 * @param toMillis start of the latest span
 */
record Probe(byte[] body, List<Span> spans, Set<String> documents, long fromMillis, long toMillis) {
  /** Spans of a probe. */
  static final int SPANS = 4;

  private static final int TRACE_ID_BYTES = 16;
  private static final int SPAN_ID_BYTES = 8;
  private static final int SERVER_KIND = 2;
  private static final int OK = 1;
  private static final int ERROR = 2;
  private static final long ORDINARY_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  /** Above the thresholds that servers usually have. */
  private static final long SLOW_MILLIS = TimeUnit.SECONDS.toMillis(10);

  /** A span without a parent. */
  record Span(byte[] traceId, byte[] id, String name, long startMillis, long nanos, int status)
      implements EndedSpan {
    @Override
    public long traceIdHigh() {
      return ByteBuffer.wrap(traceId).getLong();
    }

    @Override
    public long traceIdLow() {
      return ByteBuffer.wrap(traceId).getLong(Long.BYTES);
    }

    @Override
    public long spanId() {
      return ByteBuffer.wrap(id).getLong();
    }

    @Override
    public long parentSpanId() {
      return 0;
    }

    @Override
    public long startEpochNanos() {
      return TimeUnit.MILLISECONDS.toNanos(startMillis);
    }

    @Override
    public long endEpochNanos() {
      return startEpochNanos() + nanos;
    }

    @Override
    public SpanKind kind() {
      return SpanKind.SERVER;
    }

    @Override
    public StatusCode statusCode() {
      return status == ERROR ? StatusCode.ERROR : StatusCode.OK;
    }

    @Override
    public String statusDescription() {
      return null;
    }

    @Override
    public TraceState traceState() {
      return TraceState.getDefault();
    }

    @Override
    public AttributeList attributeList() {
      return null;
    }

    @Override
    public List<EventData> eventList() {
      return null;
    }

    @Override
    public List<LinkData> linkList() {
      return null;
    }
  }

  /** Returns a new probe. */
  static Probe of(
      String application, SpanNames names, String path, long nowMillis, RandomGenerator random) {
    List<Span> spans =
        List.of(
            span(names.of(path, "ordinary"), nowMillis, ORDINARY_NANOS, OK, random),
            span(names.of(path, "ordinary"), nowMillis, ORDINARY_NANOS, OK, random),
            span(names.of(path, "failed"), nowMillis, ORDINARY_NANOS, ERROR, random),
            span(
                names.of(path, "slow"),
                nowMillis - SLOW_MILLIS,
                TimeUnit.MILLISECONDS.toNanos(SLOW_MILLIS),
                OK,
                random));
    HexFormat hex = HexFormat.of();
    return new Probe(
        write(application, spans),
        spans,
        Set.of(hex.formatHex(spans.get(2).traceId), hex.formatHex(spans.get(3).traceId)),
        nowMillis - SLOW_MILLIS,
        nowMillis);
  }

  private static Span span(
      String name, long startMillis, long nanos, int status, RandomGenerator random) {
    return new Span(
        id(TRACE_ID_BYTES, random), id(SPAN_ID_BYTES, random), name, startMillis, nanos, status);
  }

  private static byte[] id(int length, RandomGenerator random) {
    ByteBuffer id = ByteBuffer.allocate(length);
    while (id.hasRemaining()) {
      // An identifier of zeros is invalid.
      id.putLong(random.nextLong() | 1);
    }
    return id.array();
  }

  /** Writes the last field of each message first, as the buffer requires. */
  private static byte[] write(String application, List<Span> spans) {
    MessageBuffer out = new MessageBuffer();
    out.clear();
    for (Span span : spans.reversed()) {
      int before = out.size();
      out.integer(3, span.status);
      out.enclose(15, before);
      out.bits(8, span.endEpochNanos());
      out.bits(7, span.startEpochNanos());
      out.integer(6, SERVER_KIND);
      out.text(5, span.name);
      out.text(2, span.id, 0, span.id.length);
      out.text(1, span.traceId, 0, span.traceId.length);
      out.enclose(2, before);
    }
    out.enclose(2, 0);
    int resource = out.size();
    out.text(1, application);
    out.enclose(2, resource);
    out.text(1, "service.name");
    out.enclose(1, resource);
    out.enclose(1, resource);
    out.enclose(1, 0);
    return out.toByteArray();
  }
}
