package org.traceetl.server.ozhera;

import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.traceetl.server.features.index.Documents;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.TraceDocument.Reason;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A document as OzHera's pages read it, with text fields only; it must match {@code
 * ozhera-mappings.json}. It lacks what has no field there: the span's ID, and its name if that
 * differs from the URL.
 */
final class OzheraDocument {
  static final String TRACE_ID = "traceId";
  static final String APPLICATION = "serviceName";
  static final String URL = "url";
  static final String ERROR_TYPE = "errorType";

  /** Returns the end of the span, milliseconds since 1970. */
  static final String TIMESTAMP = "timestamp";

  private static final String DOMAIN = "domain";
  private static final String TYPE = "type";
  private static final String HOST = "host";
  private static final String DATA_SOURCE = "dataSource";
  private static final String ERROR_CODE = "errorCode";
  private static final String SERVER_ENV = "serverEnv";
  private static final String DURATION = "duration";

  /** Adds the tags from the span's attributes. */
  private static final List<String> SAID =
      List.of(TYPE, HOST, URL, DATA_SOURCE, ERROR_CODE, SERVER_ENV);

  private static final String FAILED = "error";
  private static final String SLOW = "timeout";

  private static final Pattern ID = Pattern.compile("[0-9a-f]{32}-([0-9a-f]{16})");

  // Kinds and statuses of OTLP.
  private static final int INTERNAL = 1;
  private static final int SERVER = 2;
  private static final int CLIENT = 3;
  private static final int PRODUCER = 4;
  private static final int CONSUMER = 5;
  private static final int ERROR = 2;

  private static final double MICROS_PER_MILLI = 1_000.0;

  private OzheraDocument() {}

  /** Returns whether OzHera would have made a document of the span. */
  static boolean isOne(TraceDocument document) {
    return document.reason() != Reason.EXEMPLAR && document.attributes().containsKey(TYPE);
  }

  /** Returns the end of the span, milliseconds since 1970, with both parts cut as in OzHera. */
  static long endMillis(TraceDocument document) {
    return NANOSECONDS.toMillis(Documents.startUnixNanos(document))
        + MICROSECONDS.toMillis(micros(document));
  }

  private static long micros(TraceDocument document) {
    return NANOSECONDS.toMicros(Math.max(0, document.durationNanos()));
  }

  /** Returns a name as in OzHera's documents and metrics. */
  static String serviceName(String application) {
    return Documents.wellFormed(application).replace('-', '_');
  }

  static String errorType(Reason reason) {
    return switch (reason) {
      case ERROR -> FAILED;
      case SLOW -> SLOW;
      case EXEMPLAR -> "";
    };
  }

  static ObjectNode toJson(TraceDocument document, String domain) {
    Map<String, String> attributes = document.attributes();
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put(DOMAIN, domain);
    json.put(APPLICATION, serviceName(document.application()));
    json.put(TRACE_ID, document.traceId());
    json.put(TIMESTAMP, Long.toString(endMillis(document)));
    json.put(DURATION, Double.toString(micros(document) / MICROS_PER_MILLI));
    json.put(ERROR_TYPE, errorType(document.reason()));
    for (String field : SAID) {
      String value = attributes.get(field);
      // An invalid address is not a valid text either.
      if (value != null || !field.equals(HOST)) {
        json.put(field, value == null ? "" : Documents.wellFormed(value));
      }
    }
    return json;
  }

  /**
   * Returns the span's ID from a document's name; null if this program did not write it, for
   * example a document of OzHera's.
   */
  static String spanId(String id) {
    Matcher matcher = ID.matcher(id);
    return matcher.matches() ? matcher.group(1) : null;
  }

  static long endMillis(JsonNode json) {
    return json.path(TIMESTAMP).asLong();
  }

  /**
   * Restores a span as far as possible: the operation is the URL, and hyphens of the application
   * are lost.
   */
  static TraceDocument fromJson(JsonNode json, String spanId) {
    long micros = Math.round(json.path(DURATION).asDouble() * MICROS_PER_MILLI);
    boolean failed = json.path(ERROR_TYPE).asString().equals(FAILED);
    Map<String, String> attributes = new LinkedHashMap<>();
    for (String field : SAID) {
      String value = json.path(field).asString("");
      if (!value.isEmpty() && !field.equals(URL)) {
        attributes.put(field, value);
      }
    }
    return new TraceDocument(
        json.path(TRACE_ID).asString(),
        spanId,
        json.path(APPLICATION).asString(),
        json.path(URL).asString(),
        kind(json.path(TYPE).asString()),
        failed ? ERROR : 0,
        "",
        Math.max(0, MILLISECONDS.toNanos(endMillis(json)) - MICROSECONDS.toNanos(micros)),
        MICROSECONDS.toNanos(micros),
        failed ? Reason.ERROR : Reason.SLOW,
        attributes);
  }

  private static int kind(String type) {
    return switch (type) {
      case "http", "dubbo_provider", "grpc_server" -> SERVER;
      case "rocketmq_producer" -> PRODUCER;
      case "rocketmq_consumer" -> CONSUMER;
      case "customize_method" -> INTERNAL;
      default -> CLIENT;
    };
  }
}
