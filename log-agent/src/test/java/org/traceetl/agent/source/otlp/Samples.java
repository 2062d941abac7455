package org.traceetl.agent.source.otlp;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.nio.ByteBuffer;

/** Creates requests with the generated classes. */
public final class Samples {
  static final long START = 1_700_000_000_000_000_000L;

  private Samples() {}

  static ByteString id(long... words) {
    ByteBuffer bytes = ByteBuffer.allocate(words.length * Long.BYTES);
    for (long word : words) {
      bytes.putLong(word);
    }
    return ByteString.copyFrom(bytes.array());
  }

  static KeyValue attribute(String key, AnyValue value) {
    return KeyValue.newBuilder().setKey(key).setValue(value).build();
  }

  static KeyValue attribute(String key, String value) {
    return attribute(key, string(value));
  }

  static AnyValue string(String value) {
    return AnyValue.newBuilder().setStringValue(value).build();
  }

  /** Returns a complete span. */
  static Span.Builder span(long number) {
    return Span.newBuilder()
        .setTraceId(id(0x0102030405060708L, number))
        .setSpanId(id(number))
        .setParentSpanId(id(7))
        .setName("GET /users")
        .setKind(Span.SpanKind.SPAN_KIND_SERVER)
        .setStartTimeUnixNano(START)
        .setEndTimeUnixNano(START + 1_500_000)
        .addAttributes(attribute("http.request.method", "GET"))
        .setStatus(
            Status.newBuilder().setCode(Status.StatusCode.STATUS_CODE_ERROR).setMessage("no"));
  }

  static ExportTraceServiceRequest request(Span.Builder... spans) {
    ScopeSpans.Builder scope = ScopeSpans.newBuilder();
    for (Span.Builder span : spans) {
      scope.addSpans(span);
    }
    return ExportTraceServiceRequest.newBuilder()
        .addResourceSpans(
            ResourceSpans.newBuilder()
                .setResource(
                    Resource.newBuilder().addAttributes(attribute("service.name", "checkout")))
                .addScopeSpans(scope))
        .build();
  }

  /** Returns an application's typical request: attributes of each type, an event, a link. */
  public static ExportTraceServiceRequest realistic(int spans) {
    Span.Builder[] builders = new Span.Builder[spans];
    for (int i = 0; i < spans; i++) {
      builders[i] =
          span(i + 1)
              .setTraceState("vendor=x,ot=th:c")
              .addAttributes(attribute("http.route", "/users/{id}"))
              .addAttributes(attribute("url.path", "/users/" + i))
              .addAttributes(attribute("server.address", "checkout.example.org"))
              .addAttributes(
                  attribute(
                      "http.response.status_code", AnyValue.newBuilder().setIntValue(200).build()))
              .addAttributes(attribute("cached", AnyValue.newBuilder().setBoolValue(true).build()))
              .addAttributes(
                  attribute("ratio", AnyValue.newBuilder().setDoubleValue(0.25 * i).build()))
              .addEvents(Span.Event.newBuilder().setName("exception").setTimeUnixNano(START))
              .addLinks(Span.Link.newBuilder().setTraceId(id(1, 2)).setSpanId(id(3)));
    }
    return request(builders);
  }

  /** Returns the same request, whose spans have not failed. */
  public static ExportTraceServiceRequest successful(int spans) {
    ExportTraceServiceRequest.Builder request = realistic(spans).toBuilder();
    request
        .getResourceSpansBuilder(0)
        .getScopeSpansBuilder(0)
        .getSpansBuilderList()
        .forEach(Span.Builder::clearStatus);
    return request.build();
  }
}
