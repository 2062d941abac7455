package org.traceetl.perf.bench.load;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.InstrumentationScope;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.nio.ByteBuffer;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpanBatchReader;

/**
 * Converts a batch into the protobuf {@code ExportTraceServiceRequest} that an OpenTelemetry SDK
 * would send. Steps that read OTLP and steps that read batches can so process equal spans. Numbers
 * are OTLP integers, as instrumentations send them.
 */
public final class OtlpExport {
  private static final int ID_BYTES = 8;

  private final SpanBatchReader reader = new SpanBatchReader();

  /**
   * Encodes the spans of a batch.
   *
   * @throws IllegalArgumentException if the bytes are not a valid batch
   */
  public byte[] of(byte[] batch) {
    Rejection rejection = reader.wrap(batch, 0, batch.length);
    ScopeSpans.Builder scope =
        ScopeSpans.newBuilder()
            .setScope(
                InstrumentationScope.newBuilder()
                    .setName("io.opentelemetry.tomcat-10.0")
                    .setVersion("2.20.0-alpha"));
    while (rejection == Rejection.NONE && reader.next()) {
      scope.addSpans(span());
    }
    rejection = rejection == Rejection.NONE ? reader.rejection() : rejection;
    if (rejection != Rejection.NONE) {
      throw new IllegalArgumentException("not a batch: " + rejection.label());
    }
    Resource.Builder resource = Resource.newBuilder();
    for (int i = 0; i < reader.resourceAttributeCount(); i++) {
      resource.addAttributes(
          attribute(reader.resourceAttributeKey(i), reader.resourceAttributeValue(i)));
    }
    return request(resource, scope);
  }

  /** Returns the request of one resource's spans. */
  public static byte[] request(Resource.Builder resource, ScopeSpans.Builder spans) {
    return ExportTraceServiceRequest.newBuilder()
        .addResourceSpans(ResourceSpans.newBuilder().setResource(resource).addScopeSpans(spans))
        .build()
        .toByteArray();
  }

  /** Returns an attribute with a text. */
  public static KeyValue attribute(String key, String value) {
    return KeyValue.newBuilder()
        .setKey(key)
        .setValue(AnyValue.newBuilder().setStringValue(value))
        .build();
  }

  private Span span() {
    Span.Builder span =
        Span.newBuilder()
            .setTraceId(id(reader.traceIdHigh(), reader.traceIdLow()))
            .setSpanId(id(reader.spanId()))
            .setName(text(reader.name()))
            .setKindValue(reader.kind())
            .setStartTimeUnixNano(reader.startUnixNanos())
            .setEndTimeUnixNano(reader.startUnixNanos() + reader.durationNanos())
            .setStatus(Status.newBuilder().setCodeValue(reader.status()));
    if (reader.parentSpanId() != 0) {
      span.setParentSpanId(id(reader.parentSpanId()));
    }
    int[] attributes = reader.attributes();
    for (int i = 0; i < reader.attributeCount() * 2; i += 2) {
      span.addAttributes(attribute(attributes[i], attributes[i + 1]));
    }
    return span.build();
  }

  private KeyValue attribute(int key, int value) {
    String text = text(value);
    AnyValue.Builder any = AnyValue.newBuilder();
    if (!text.isEmpty() && text.chars().allMatch(Character::isDigit)) {
      any.setIntValue(Long.parseLong(text));
    } else {
      any.setStringValue(text);
    }
    return KeyValue.newBuilder().setKey(text(key)).setValue(any).build();
  }

  private String text(int entry) {
    return new String(
        reader.buffer(), reader.dictionaryOffset(entry), reader.dictionaryLength(entry), UTF_8);
  }

  public static ByteString id(long... parts) {
    ByteBuffer bytes = ByteBuffer.allocate(parts.length * ID_BYTES);
    for (long part : parts) {
      bytes.putLong(part);
    }
    return ByteString.copyFrom(bytes.flip());
  }
}
