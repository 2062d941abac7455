package org.traceetl.agent.source.otlp;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.ByteArrayOutputStream;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** Writes requests as OTLP/JSON, with an unknown field in every object. */
final class OtlpJson {
  private static final JsonFactory JSON = new JsonFactory();

  private OtlpJson() {}

  static byte[] of(ExportTraceServiceRequest request) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), bytes)) {
      object(
          json,
          () ->
              array(
                  json,
                  "resourceSpans",
                  request.getResourceSpansList(),
                  resourceSpans -> {
                    array(
                        json,
                        "scopeSpans",
                        resourceSpans.getScopeSpansList(),
                        scope -> array(json, "spans", scope.getSpansList(), s -> span(json, s)));
                    json.writeName("resource");
                    object(
                        json,
                        () -> attributes(json, resourceSpans.getResource().getAttributesList()));
                  }));
    }
    return bytes.toByteArray();
  }

  private static void span(JsonGenerator json, Span span) {
    json.writeStringProperty("traceId", hex(span.getTraceId()));
    json.writeStringProperty("spanId", hex(span.getSpanId()));
    json.writeStringProperty("parentSpanId", hex(span.getParentSpanId()));
    json.writeStringProperty("traceState", span.getTraceState());
    json.writeStringProperty("name", span.getName());
    json.writeNumberProperty("kind", span.getKindValue());
    json.writeStringProperty("startTimeUnixNano", Long.toString(span.getStartTimeUnixNano()));
    json.writeNumberProperty("endTimeUnixNano", span.getEndTimeUnixNano());
    attributes(json, span.getAttributesList());
    array(
        json,
        "links",
        span.getLinksList(),
        link -> {
          json.writeStringProperty("spanId", hex(link.getSpanId()));
          json.writeStringProperty("traceId", hex(link.getTraceId()));
        });
    if (span.hasStatus()) {
      json.writeName("status");
      object(
          json,
          () -> {
            json.writeNumberProperty("code", span.getStatus().getCodeValue());
            json.writeStringProperty("message", span.getStatus().getMessage());
          });
    }
  }

  private static void attributes(JsonGenerator json, List<KeyValue> attributes) {
    array(json, "attributes", attributes, attribute -> keyValue(json, attribute));
  }

  private static void keyValue(JsonGenerator json, KeyValue attribute) {
    json.writeName("value");
    object(json, () -> value(json, attribute.getValue()));
    json.writeStringProperty("key", attribute.getKey());
  }

  private static void value(JsonGenerator json, AnyValue value) {
    switch (value.getValueCase()) {
      case STRING_VALUE -> json.writeStringProperty("stringValue", value.getStringValue());
      case BOOL_VALUE -> json.writeBooleanProperty("boolValue", value.getBoolValue());
      case INT_VALUE -> json.writeStringProperty("intValue", Long.toString(value.getIntValue()));
      case DOUBLE_VALUE -> json.writeNumberProperty("doubleValue", value.getDoubleValue());
      case BYTES_VALUE ->
          json.writeStringProperty(
              "bytesValue",
              Base64.getEncoder().encodeToString(value.getBytesValue().toByteArray()));
      case ARRAY_VALUE -> {
        json.writeName("arrayValue");
        object(
            json,
            () ->
                array(json, "values", value.getArrayValue().getValuesList(), v -> value(json, v)));
      }
      case KVLIST_VALUE -> {
        json.writeName("kvlistValue");
        object(
            json,
            () ->
                array(
                    json,
                    "values",
                    value.getKvlistValue().getValuesList(),
                    member -> keyValue(json, member)));
      }
      default -> json.writeNullProperty("stringValue");
    }
  }

  private static <T> void array(
      JsonGenerator json, String name, List<T> elements, Consumer<T> members) {
    json.writeArrayPropertyStart(name);
    for (T element : elements) {
      object(json, () -> members.accept(element));
    }
    json.writeEndArray();
  }

  private static void object(JsonGenerator json, Runnable members) {
    json.writeStartObject();
    json.writeArrayPropertyStart("unknown");
    json.writeStartObject();
    json.writeEndObject();
    json.writeEndArray();
    members.run();
    json.writeEndObject();
  }

  private static String hex(ByteString id) {
    return HexFormat.of().formatHex(id.toByteArray());
  }
}
