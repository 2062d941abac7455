package org.traceetl.agent.source.otlp;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.ArrayValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.common.v1.KeyValueList;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Requests with values of all types, long texts, many and duplicate attributes, fields in any
 * order, events, and some spans that are truncated or damaged.
 */
public final class RandomRequests {
  /** Keys of attributes; the third is not UTF-8, and its repaired form contains U+FFFD. */
  private static final List<ByteString> KEYS =
      List.of(
          ByteString.copyFromUtf8("k1"),
          ByteString.copyFromUtf8("k2"),
          ByteString.copyFrom(new byte[] {'k', (byte) 0xff}),
          ByteString.copyFromUtf8("k3"),
          ByteString.copyFromUtf8("user.id"),
          ByteString.copyFromUtf8("caf\u00e9"),
          ByteString.copyFromUtf8("http.url"));

  private static final int SPANS = 15;
  private static final int MANY = 140;

  private final Random random;
  private final List<ByteString> keys = new ArrayList<>(KEYS);

  public RandomRequests(long seed) {
    this(seed, List.of());
  }

  /**
   * @param moreKeys of attributes, in addition to a few that are always used
   */
  public RandomRequests(long seed, List<byte[]> moreKeys) {
    random = new Random(seed);
    moreKeys.forEach(key -> keys.add(ByteString.copyFrom(key)));
  }

  /** Returns the bytes of a request of three resources with 15 spans each. */
  public byte[] next() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (String application : List.of("x", "y", "z")) {
      ByteArrayOutputStream encoded = new ByteArrayOutputStream();
      for (int i = 0; i < SPANS; i++) {
        field(encoded, 2, damaged(span()));
      }
      Resource resource =
          Resource.newBuilder().addAttributes(attribute("service.name", text(application))).build();
      ByteArrayOutputStream ofResource = new ByteArrayOutputStream();
      write(ofResource, ResourceSpans.newBuilder().setResource(resource).build().toByteArray());
      field(ofResource, 2, encoded.toByteArray());
      field(out, 1, ofResource.toByteArray());
    }
    return out.toByteArray();
  }

  private byte[] damaged(byte[] span) {
    int way = random.nextInt(12);
    if (way == 0) {
      return Arrays.copyOf(span, random.nextInt(span.length));
    }
    if (way == 1) {
      span[random.nextInt(span.length)] ^= (byte) (1 << random.nextInt(8));
    }
    return span;
  }

  /** Writes fields as messages of their own, whose concatenation is one message. */
  private byte[] span() {
    long start = 1_795_255_028_000_000_000L;
    List<byte[]> fields = new ArrayList<>();
    byte[] traceId = new byte[16];
    random.nextBytes(traceId);
    add(fields, Span.newBuilder().setTraceId(ByteString.copyFrom(traceId)));
    add(fields, Span.newBuilder().setSpanId(ByteString.copyFrom(traceId, 0, 8)));
    if (random.nextInt(4) == 0) {
      add(fields, Span.newBuilder().setTraceState("ot=th:" + random.nextInt(9)));
    }
    add(fields, Span.newBuilder().setName(List.of("a", "a1", "ab12").get(random.nextInt(3))));
    add(fields, Span.newBuilder().setKindValue(random.nextInt(7)));
    if (random.nextInt(3) > 0) {
      add(fields, Span.newBuilder().setParentSpanId(ByteString.copyFrom(traceId, 8, 8)));
    }
    add(fields, Span.newBuilder().setStartTimeUnixNano(start));
    add(fields, Span.newBuilder().setEndTimeUnixNano(start + random.nextInt(2_200_000)));
    int attributes = random.nextInt(12) == 0 ? random.nextInt(MANY) : random.nextInt(7);
    for (int i = 0; i < attributes; i++) {
      fields.add(attribute());
    }
    for (int events = random.nextInt(8); events > 5; events--) {
      add(
          fields,
          Span.newBuilder()
              .addEvents(
                  Span.Event.newBuilder()
                      .setName(random.nextBoolean() ? "exception" : "other")
                      .addAttributes(attribute("exception.type", value()))));
    }
    for (int links = random.nextInt(8); links > 5; links--) {
      random.nextBytes(traceId);
      add(
          fields,
          Span.newBuilder()
              .addLinks(
                  Span.Link.newBuilder()
                      .setTraceId(ByteString.copyFrom(traceId))
                      .setSpanId(ByteString.copyFrom(traceId, 0, 8))));
    }
    Status.Builder status = Status.newBuilder().setCodeValue(random.nextInt(20) == 0 ? 2 : 0);
    if (random.nextInt(10) == 0) {
      status.setMessage("no stock 12");
    }
    add(fields, Span.newBuilder().setStatus(status));
    if (random.nextInt(3) == 0) {
      Collections.shuffle(fields, random);
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    fields.forEach(field -> write(out, field));
    return out.toByteArray();
  }

  private static void add(List<byte[]> fields, Span.Builder field) {
    fields.add(field.build().toByteArray());
  }

  /** Writes an attribute by hand, because generated classes refuse keys that are not UTF-8. */
  private byte[] attribute() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream attribute = new ByteArrayOutputStream();
    byte[] value = value().toByteArray();
    if (random.nextInt(20) == 0) {
      field(attribute, 2, value);
      value = value().toByteArray();
    }
    field(attribute, 1, keys.get(random.nextInt(keys.size())).toByteArray());
    field(attribute, 2, value);
    field(out, 9, attribute.toByteArray());
    return out.toByteArray();
  }

  private static KeyValue attribute(String key, AnyValue value) {
    return KeyValue.newBuilder().setKey(key).setValue(value).build();
  }

  private static AnyValue text(String text) {
    return AnyValue.newBuilder().setStringValue(text).build();
  }

  private AnyValue value() {
    AnyValue.Builder value = AnyValue.newBuilder();
    return switch (random.nextInt(16)) {
      case 0 -> value.setIntValue(random.nextInt(20_000)).build();
      case 1 -> value.setIntValue(-random.nextInt(3)).build();
      case 2 -> value.setBoolValue(random.nextBoolean()).build();
      case 3 -> value.setDoubleValue(random.nextInt(100) / 4.0).build();
      case 4 -> value.setBytesValue(ByteString.copyFrom(new byte[random.nextInt(40)])).build();
      case 5 -> list(random.nextInt(12));
      case 6 ->
          value
              .setKvlistValue(KeyValueList.newBuilder().addValues(attribute("\u0001", text("\n"))))
              .build();
      case 7 -> text("x".repeat(random.nextInt(400)));
      case 8 ->
          random.nextInt(30) == 0
              ? text("x".repeat(60_000 + random.nextInt(10_000)))
              : value.setBytesValue(ByteString.copyFromUtf8("y".repeat(200))).build();
      case 9 -> value.build();
      case 10 -> text("caf\u00e9");
      case 11 -> text(random.nextBoolean() ? "receive" : "http://user@v1:80/x");
      default -> text("v" + random.nextInt(3));
    };
  }

  private AnyValue list(int depth) {
    return depth == 0
        ? text("deep")
        : AnyValue.newBuilder()
            .setArrayValue(ArrayValue.newBuilder().addValues(list(depth - 1)))
            .build();
  }

  private static void field(ByteArrayOutputStream out, int number, byte[] content) {
    out.write(number << 3 | 2);
    int length = content.length;
    while (length > 127) {
      out.write(length & 0x7f | 0x80);
      length >>>= 7;
    }
    out.write(length);
    write(out, content);
  }

  private static void write(ByteArrayOutputStream out, byte[] bytes) {
    try {
      out.write(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
