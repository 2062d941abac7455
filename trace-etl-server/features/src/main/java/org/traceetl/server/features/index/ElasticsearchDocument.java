package org.traceetl.server.features.index;

import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.traceetl.server.window.TraceDocument;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The JSON form of a document in Elasticsearch, which must match the index template. */
final class ElasticsearchDocument {
  static final String START = "@timestamp";
  static final String TRACE_ID = "trace_id";
  static final String SPAN_ID = "span_id";
  static final String APPLICATION = "application";
  static final String OPERATION = "operation";
  static final String REASON = "reason";
  private static final String KIND = "kind";
  private static final String STATUS = "status";
  private static final String STATUS_MESSAGE = "status_message";
  private static final String DURATION = "duration_nanos";
  private static final String ATTRIBUTES = "attributes";

  private static final long NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

  /** Always nine digits, so that each position in the order of results has one text form. */
  private static final DateTimeFormatter TIMESTAMP =
      new DateTimeFormatterBuilder().appendInstant(9).toFormatter();

  private ElasticsearchDocument() {}

  static ObjectNode toJson(TraceDocument document) {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put(START, timestamp(Documents.startUnixNanos(document)));
    json.put(TRACE_ID, document.traceId());
    json.put(SPAN_ID, document.spanId());
    json.put(APPLICATION, Documents.wellFormed(document.application()));
    json.put(OPERATION, Documents.wellFormed(document.operation()));
    json.put(KIND, document.kind());
    json.put(STATUS, document.status());
    json.put(STATUS_MESSAGE, Documents.wellFormed(document.statusMessage()));
    json.put(DURATION, document.durationNanos());
    json.put(REASON, document.reason().label());
    ObjectNode attributes = json.putObject(ATTRIBUTES);
    document
        .attributes()
        .forEach(
            (key, value) -> attributes.put(Documents.wellFormed(key), Documents.wellFormed(value)));
    return json;
  }

  static TraceDocument fromJson(JsonNode json) {
    Map<String, String> attributes = new LinkedHashMap<>();
    json.path(ATTRIBUTES)
        .properties()
        .forEach(entry -> attributes.put(entry.getKey(), entry.getValue().asString()));
    return new TraceDocument(
        json.path(TRACE_ID).asString(),
        json.path(SPAN_ID).asString(),
        json.path(APPLICATION).asString(),
        json.path(OPERATION).asString(),
        json.path(KIND).asInt(),
        json.path(STATUS).asInt(),
        json.path(STATUS_MESSAGE).asString(),
        unixNanos(json.path(START).asString()),
        json.path(DURATION).asLong(),
        Documents.reason(json.path(REASON).asString()),
        attributes);
  }

  /** Formats a time as in documents and queries, to the nanosecond. */
  static String timestamp(long unixNanos) {
    return TIMESTAMP.format(
        Instant.ofEpochSecond(unixNanos / NANOS_PER_SECOND, unixNanos % NANOS_PER_SECOND));
  }

  private static long unixNanos(String timestamp) {
    Instant instant = Instant.parse(timestamp);
    return instant.getEpochSecond() * NANOS_PER_SECOND + instant.getNano();
  }
}
