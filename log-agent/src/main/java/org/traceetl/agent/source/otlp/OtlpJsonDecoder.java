package org.traceetl.agent.source.otlp;

import static java.util.Map.entry;

import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.OtlpFormat;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.flow.SpanSink;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.json.JsonFactory;

/**
 * Decodes OTLP/JSON by converting it to OTLP/protobuf, so that one decoder defines what a span is.
 * Browsers and experiments send JSON, so the cost of the copy is acceptable.
 *
 * <p>Unknown fields are skipped. If an ID is not hexadecimal, its span is rejected; if a value has
 * the wrong type, the payload is malformed.
 */
public final class OtlpJsonDecoder implements SpanDecoder {
  /** Sufficient for the deepest values that the protobuf decoder accepts. */
  private static final int MAX_NESTING = 64;

  private static final int MAX_KEPT_BYTES = 1024 * 1024;
  private static final int MAX_INTEGER_DIGITS = 20;

  private static final JsonFactory JSON =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder().maxNestingDepth(MAX_NESTING).build())
          .build();

  private enum Type {
    STRING,
    HEX,
    BASE64,
    BOOL,
    INTEGER,
    FIXED64,
    DOUBLE,
    KIND,
    STATUS,
    MESSAGE
  }

  private record Field(int number, Type type, boolean repeated, Message message) {
    static Field of(int number, Type type) {
      return new Field(number, type, false, null);
    }

    static Field one(int number, Message message) {
      return new Field(number, Type.MESSAGE, false, message);
    }

    static Field many(int number, Message message) {
      return new Field(number, Type.MESSAGE, true, message);
    }
  }

  /** The fields that the protobuf decoder reads, by their JSON names. */
  private enum Message {
    REQUEST,
    RESOURCE_SPANS,
    RESOURCE,
    SCOPE_SPANS,
    SPAN,
    EVENT,
    LINK,
    STATUS,
    KEY_VALUE,
    ANY_VALUE,
    ARRAY_VALUE,
    KEY_VALUE_LIST;

    // A switch instead of a constructor argument because values contain values.
    private Map<String, Field> describe() {
      return switch (this) {
        case REQUEST -> Map.of("resourceSpans", Field.many(1, RESOURCE_SPANS));
        case RESOURCE_SPANS ->
            Map.of("resource", Field.one(1, RESOURCE), "scopeSpans", Field.many(2, SCOPE_SPANS));
        case RESOURCE -> Map.of("attributes", Field.many(1, KEY_VALUE));
        case SCOPE_SPANS -> Map.of("spans", Field.many(2, SPAN));
        case SPAN ->
            Map.ofEntries(
                entry("traceId", Field.of(1, Type.HEX)),
                entry("spanId", Field.of(2, Type.HEX)),
                entry("traceState", Field.of(3, Type.STRING)),
                entry("parentSpanId", Field.of(4, Type.HEX)),
                entry("name", Field.of(5, Type.STRING)),
                entry("kind", Field.of(6, Type.KIND)),
                entry("startTimeUnixNano", Field.of(7, Type.FIXED64)),
                entry("endTimeUnixNano", Field.of(8, Type.FIXED64)),
                entry("attributes", Field.many(9, KEY_VALUE)),
                entry("events", Field.many(11, EVENT)),
                entry("links", Field.many(13, LINK)),
                entry("status", Field.one(15, STATUS)));
        case EVENT ->
            Map.of("name", Field.of(2, Type.STRING), "attributes", Field.many(3, KEY_VALUE));
        case LINK -> Map.of("traceId", Field.of(1, Type.HEX), "spanId", Field.of(2, Type.HEX));
        case STATUS ->
            Map.of("message", Field.of(2, Type.STRING), "code", Field.of(3, Type.STATUS));
        case KEY_VALUE -> Map.of("key", Field.of(1, Type.STRING), "value", Field.one(2, ANY_VALUE));
        case ANY_VALUE ->
            Map.of(
                "stringValue", Field.of(1, Type.STRING),
                "boolValue", Field.of(2, Type.BOOL),
                "intValue", Field.of(3, Type.INTEGER),
                "doubleValue", Field.of(4, Type.DOUBLE),
                "arrayValue", Field.one(5, ARRAY_VALUE),
                "kvlistValue", Field.one(6, KEY_VALUE_LIST),
                "bytesValue", Field.of(7, Type.BASE64));
        case ARRAY_VALUE -> Map.of("values", Field.many(1, ANY_VALUE));
        case KEY_VALUE_LIST -> Map.of("values", Field.many(1, KEY_VALUE));
      };
    }

    /** Returns whether the length of its length counts in the size of a span. */
    private boolean countsInSpan() {
      return switch (this) {
        case REQUEST, RESOURCE_SPANS, RESOURCE, SCOPE_SPANS, SPAN -> false;
        case EVENT, LINK, STATUS, KEY_VALUE, ANY_VALUE, ARRAY_VALUE, KEY_VALUE_LIST -> true;
      };
    }

    Field field(String name) {
      return Descriptions.ALL.get(this).get(name);
    }
  }

  private static final class Descriptions {
    static final Map<Message, Map<String, Field>> ALL =
        Arrays.stream(Message.values())
            .collect(Collectors.toUnmodifiableMap(Function.identity(), Message::describe));
  }

  // The specification requires numbers; senders that use protobuf's own JSON mapping write names.
  private static final Map<String, Integer> KINDS =
      Map.of(
          "SPAN_KIND_UNSPECIFIED", 0,
          "SPAN_KIND_INTERNAL", 1,
          "SPAN_KIND_SERVER", 2,
          "SPAN_KIND_CLIENT", 3,
          "SPAN_KIND_PRODUCER", 4,
          "SPAN_KIND_CONSUMER", 5);
  private static final Map<String, Integer> STATUSES =
      Map.of("STATUS_CODE_UNSET", 0, "STATUS_CODE_OK", 1, "STATUS_CODE_ERROR", 2);

  private final OtlpProtobufDecoder protobufDecoder;
  private ProtobufBuffer protobuf = new ProtobufBuffer(16 * 1024);

  /** Creates a decoder with metrics of its own. */
  public OtlpJsonDecoder() {
    this(new LongAdder());
  }

  OtlpJsonDecoder(LongAdder attributesLeftOut) {
    protobufDecoder = new OtlpProtobufDecoder(attributesLeftOut);
  }

  @Override
  public OtlpFormat otlpFormat() {
    return OtlpFormat.JSON;
  }

  @Override
  public void decode(byte[] payload, int length, SpanSink sink) throws MalformedPayloadException {
    protobuf.clear();
    try (JsonParser json = JSON.createParser(ObjectReadContext.empty(), payload, 0, length)) {
      if (json.nextToken() != JsonToken.START_OBJECT) {
        throw new MalformedPayloadException("not an OTLP trace request: it is not a JSON object");
      }
      message(json, Message.REQUEST);
      if (json.nextToken() != null) {
        throw new MalformedPayloadException("the OTLP trace request is followed by more text");
      }
    } catch (JacksonException e) {
      // The exception's message quotes the payload, so only the location is reported.
      TokenStreamLocation place = e.getLocation();
      throw new MalformedPayloadException(
          place == null
              ? "JSON exceeds the parser's limits, such as " + MAX_NESTING + " levels of nesting"
              : "invalid JSON near byte " + place.getByteOffset());
    }
    try {
      protobufDecoder.decode(protobuf.bytes(), protobuf.length(), sink);
    } finally {
      if (protobuf.length() > MAX_KEPT_BYTES) {
        protobuf = new ProtobufBuffer(16 * 1024);
      }
    }
  }

  private void message(JsonParser json, Message message) throws MalformedPayloadException {
    while (json.nextToken() == JsonToken.PROPERTY_NAME) {
      Field field = message.field(json.currentName());
      JsonToken token = json.nextToken();
      if (field == null) {
        json.skipChildren();
      } else if (token == JsonToken.VALUE_NULL) {
        continue;
      } else if (field.repeated) {
        expect(token == JsonToken.START_ARRAY, json);
        while (json.nextToken() != JsonToken.END_ARRAY) {
          value(json, field);
        }
      } else {
        value(json, field);
      }
    }
  }

  private void value(JsonParser json, Field field) throws MalformedPayloadException {
    switch (field.type) {
      case MESSAGE -> {
        expect(json.currentToken() == JsonToken.START_OBJECT, json);
        int mark = protobuf.open(field.number);
        message(json, field.message);
        if (field.message.countsInSpan()) {
          protobuf.closeShort(mark);
        } else {
          protobuf.close(mark);
        }
      }
      case STRING -> protobuf.string(field.number, string(json));
      case HEX -> protobuf.bytes(field.number, hex(string(json)));
      case BASE64 -> protobuf.bytes(field.number, base64(json));
      case BOOL -> {
        expect(json.currentToken().isBoolean(), json);
        protobuf.varint(field.number, json.getBooleanValue() ? 1 : 0);
      }
      case INTEGER -> protobuf.varint(field.number, integer(json));
      case FIXED64 -> protobuf.fixed64(field.number, integer(json));
      case DOUBLE -> protobuf.fixed64(field.number, Double.doubleToRawLongBits(real(json)));
      case KIND -> protobuf.varint(field.number, enumeration(json, KINDS));
      case STATUS -> protobuf.varint(field.number, enumeration(json, STATUSES));
    }
  }

  private static String string(JsonParser json) throws MalformedPayloadException {
    expect(json.currentToken() == JsonToken.VALUE_STRING, json);
    return json.getString();
  }

  /**
   * Returns an ID's bytes; for invalid digits, a wrong length, which the protobuf decoder rejects.
   */
  private static byte[] hex(String digits) {
    try {
      return HexFormat.of().parseHex(digits);
    } catch (IllegalArgumentException e) {
      return new byte[1];
    }
  }

  private static byte[] base64(JsonParser json) throws MalformedPayloadException {
    try {
      return Base64.getDecoder().decode(string(json));
    } catch (IllegalArgumentException e) {
      throw wrongType(json);
    }
  }

  /** Reads a 64-bit integer, signed or unsigned, from a number or a string. */
  private static long integer(JsonParser json) throws MalformedPayloadException {
    JsonToken token = json.currentToken();
    expect(token == JsonToken.VALUE_STRING || token == JsonToken.VALUE_NUMBER_INT, json);
    String digits = json.getString();
    expect(digits.length() <= MAX_INTEGER_DIGITS, json);
    try {
      return digits.startsWith("-") ? Long.parseLong(digits) : Long.parseUnsignedLong(digits);
    } catch (NumberFormatException e) {
      throw wrongType(json);
    }
  }

  private static double real(JsonParser json) throws MalformedPayloadException {
    JsonToken token = json.currentToken();
    expect(token == JsonToken.VALUE_STRING || token.isNumeric(), json);
    try {
      return Double.parseDouble(json.getString());
    } catch (NumberFormatException e) {
      throw wrongType(json);
    }
  }

  private static long enumeration(JsonParser json, Map<String, Integer> names)
      throws MalformedPayloadException {
    if (json.currentToken() == JsonToken.VALUE_STRING) {
      Integer number = names.get(json.getString());
      if (number != null) {
        return number;
      }
    }
    return integer(json);
  }

  private static void expect(boolean condition, JsonParser json) throws MalformedPayloadException {
    if (!condition) {
      throw wrongType(json);
    }
  }

  private static MalformedPayloadException wrongType(JsonParser json) {
    return new MalformedPayloadException(
        "a field of the OTLP trace request has the wrong type near byte "
            + json.currentTokenLocation().getByteOffset());
  }
}
