package org.traceetl.perf.systest.chaos;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.util.HexFormat;
import java.util.List;
import org.traceetl.perf.bench.load.OtlpExport;

/** An {@code ExportTraceServiceRequest} of one service's spans, as protobuf. */
final class OtlpRequest {
  private OtlpRequest() {}

  /**
   * @param spans at least one, all of one service
   */
  static byte[] of(List<SentSpan> spans) {
    ScopeSpans.Builder scope = ScopeSpans.newBuilder();
    for (SentSpan span : spans) {
      Span.Builder sent =
          Span.newBuilder()
              .setTraceId(id(span.traceId()))
              .setSpanId(id(span.spanId()))
              .setParentSpanId(id(span.parentSpanId()))
              .setName(span.name())
              .setKindValue(span.kind())
              .setStartTimeUnixNano(span.startUnixNanos())
              .setEndTimeUnixNano(span.startUnixNanos() + span.durationNanos())
              .addAttributes(OtlpExport.attribute(SentSpan.INTERVAL, span.interval()))
              .setStatus(Status.newBuilder().setCodeValue(span.status()));
      if (!span.region().isEmpty()) {
        sent.addAttributes(OtlpExport.attribute(SentSpan.REGION, span.region()));
      }
      scope.addSpans(sent);
    }
    String service = spans.getFirst().service();
    return OtlpExport.request(
        Resource.newBuilder().addAttributes(OtlpExport.attribute("service.name", service)), scope);
  }

  private static ByteString id(String hex) {
    return ByteString.copyFrom(HexFormat.of().parseHex(hex));
  }
}
