package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import org.traceetl.proto.thrift.ozhera.TAttributeKey;
import org.traceetl.proto.thrift.ozhera.TAttributeType;
import org.traceetl.proto.thrift.ozhera.TAttributes;
import org.traceetl.proto.thrift.ozhera.TEvent;
import org.traceetl.proto.thrift.ozhera.TExtra;
import org.traceetl.proto.thrift.ozhera.TInstrumentationLibraryInfo;
import org.traceetl.proto.thrift.ozhera.TKind;
import org.traceetl.proto.thrift.ozhera.TLink;
import org.traceetl.proto.thrift.ozhera.TResource;
import org.traceetl.proto.thrift.ozhera.TSpanContext;
import org.traceetl.proto.thrift.ozhera.TSpanData;
import org.traceetl.proto.thrift.ozhera.TStatus;
import org.traceetl.proto.thrift.ozhera.TTraceState;
import org.traceetl.proto.thrift.ozhera.TValue;

/** Spans of OzHera for tests, with the expected values. */
final class OzheraSpans {
  private OzheraSpans() {}

  /**
   * What the reader gives of a span.
   *
   * @param attributes keys and values; null where there is no value
   */
  record Read(
      long traceIdHigh,
      long traceIdLow,
      long spanId,
      String name,
      int kind,
      int status,
      long startUnixNanos,
      long endUnixNanos,
      List<Attribute> attributes,
      List<Attribute> resource,
      String ip,
      String hostname,
      String serviceName) {}

  record Attribute(String key, Object value) {}

  /** Reads a message that must be a good one. */
  static Read read(byte[] message, OzheraSpanReader reader) {
    // Stands inside a larger array, as a message of a receive buffer may.
    byte[] buffer = new byte[message.length + 7];
    Arrays.fill(buffer, (byte) 0xff);
    System.arraycopy(message, 0, buffer, 3, message.length);
    Rejection rejection = reader.read(buffer, 3, message.length);
    if (rejection != Rejection.NONE) {
      throw new AssertionError(rejection);
    }
    return new Read(
        reader.traceIdHigh(),
        reader.traceIdLow(),
        reader.spanId(),
        text(buffer, reader.nameOffset(), reader.nameLength()),
        reader.kind(),
        reader.status(),
        reader.startUnixNanos(),
        reader.endUnixNanos(),
        attributes(buffer, reader.attributes()),
        attributes(buffer, reader.resourceAttributes()),
        text(buffer, reader.ipOffset(), reader.ipLength()),
        text(buffer, reader.hostnameOffset(), reader.hostnameLength()),
        text(buffer, reader.serviceNameOffset(), reader.serviceNameLength()));
  }

  private static List<Attribute> attributes(byte[] buffer, OzheraAttributes attributes) {
    List<Attribute> read = new ArrayList<>();
    for (int i = 0; i < attributes.count(); i++) {
      Object value =
          switch (attributes.type(i)) {
            case OzheraAttributes.TEXT ->
                text(buffer, attributes.textOffset(i), attributes.textLength(i));
            case OzheraAttributes.BOOLEAN -> attributes.booleanValue(i);
            case OzheraAttributes.LONG -> attributes.longValue(i);
            case OzheraAttributes.DOUBLE -> attributes.doubleValue(i);
            default -> null;
          };
      read.add(
          new Attribute(text(buffer, attributes.keyOffset(i), attributes.keyLength(i)), value));
    }
    return read;
  }

  private static String text(byte[] buffer, int offset, int length) {
    return new String(buffer, offset, length, UTF_8);
  }

  /** The expected values of a span. */
  static Read expected(TSpanData span) {
    TExtra extra = span.isSetExtra() ? span.getExtra() : new TExtra();
    boolean isTraceId = span.isSetTraceId() && span.getTraceId().matches("[0-9a-fA-F]{32}");
    boolean isSpanId = span.isSetSpanId() && span.getSpanId().matches("[0-9a-fA-F]{16}");
    return new Read(
        isTraceId ? Long.parseUnsignedLong(span.getTraceId().substring(0, 16), 16) : 0,
        isTraceId ? Long.parseUnsignedLong(span.getTraceId().substring(16), 16) : 0,
        isSpanId ? Long.parseUnsignedLong(span.getSpanId(), 16) : 0,
        text(span.getName()),
        span.isSetKind() ? span.getKind().getValue() : 0,
        !span.isSetStatus() || span.getStatus() == TStatus.UNSET
            ? 0
            : span.getStatus() == TStatus.OK ? 1 : 2,
        span.getStartEpochNanos(),
        span.getEndEpochNanos(),
        expected(span.getAttributes()),
        span.isSetResouce() ? expected(span.getResouce().getAttributes()) : List.of(),
        text(extra.getIp()),
        text(extra.getHostname()),
        text(extra.getServiceName()));
  }

  private static List<Attribute> expected(TAttributes attributes) {
    List<Attribute> expected = new ArrayList<>();
    if (attributes != null && attributes.getKeysSize() == attributes.getValuesSize()) {
      for (int i = 0; i < attributes.getKeysSize(); i++) {
        TAttributeKey key = attributes.getKeys().get(i);
        expected.add(
            new Attribute(
                text(key.getValue()), value(attributes.getValues().get(i), key.getType())));
      }
    }
    return expected;
  }

  private static Object value(TValue value, TAttributeType type) {
    Object set = null;
    TAttributeType itsType = null;
    if (value.isSetStringValue()) {
      set = text(value.getStringValue());
      itsType = TAttributeType.STRING;
    } else if (value.isSetBoolValue()) {
      set = value.isBoolValue();
      itsType = TAttributeType.BOOLEAN;
    } else if (value.isSetLongValue()) {
      set = value.getLongValue();
      itsType = TAttributeType.LONG;
    } else if (value.isSetDoubleValue()) {
      set = value.getDoubleValue();
      itsType = TAttributeType.DOUBLE;
    }
    return type == null || type == itsType ? set : null;
  }

  /** As it comes out of UTF-8. */
  private static String text(String text) {
    return text == null ? "" : new String(text.getBytes(UTF_8), UTF_8);
  }

  /** Any span, also with everything missing. */
  static Arbitrary<TSpanData> any() {
    Arbitrary<Long> nanos =
        Combinators.combine(Arbitraries.longs(), Arbitraries.integers().between(0, 63))
            .as((value, shift) -> value >> shift);
    return Combinators.combine(
            ids(32).injectNull(0.1),
            ids(16).injectNull(0.1),
            Arbitraries.strings().ofMaxLength(200).injectNull(0.1),
            Arbitraries.of(TKind.class).injectNull(0.1),
            Arbitraries.of(TStatus.class).injectNull(0.1),
            nanos.tuple2(),
            attributes().tuple2(),
            extra().injectNull(0.1))
        .as((traceId, spanId, name, kind, status, startAndEnd, attributes, extra) -> {
          TSpanData span = new TSpanData();
          span.setTraceId(traceId);
          span.setSpanId(spanId);
          span.setName(name);
          span.setKind(kind);
          span.setStatus(status);
          span.setStartEpochNanos(startAndEnd.get1());
          span.setEndEpochNanos(startAndEnd.get2());
          span.setAttributes(attributes.get1());
          span.setResouce(new TResource().setAttributes(attributes.get2()));
          span.setExtra(extra);
          return span;
        });
  }

  private static Arbitrary<String> ids(int length) {
    return Arbitraries.oneOf(
        Arbitraries.strings().withChars("0123456789abcdefABCDEF").ofLength(length),
        Arbitraries.strings().ofMaxLength(40),
        Arbitraries.strings().withChars("0123456789abcdefg").ofLength(length));
  }

  private static Arbitrary<TExtra> extra() {
    Arbitrary<String> texts = Arbitraries.strings().ofMaxLength(40).injectNull(0.2);
    return Combinators.combine(texts, texts, texts)
        .as((ip, hostname, serviceName) ->
            new TExtra().setIp(ip).setHostname(hostname).setServiceName(serviceName));
  }

  private static Arbitrary<TAttributes> attributes() {
    Arbitrary<TAttributeKey> keys =
        Combinators.combine(
                Arbitraries.strings().ofMaxLength(60).injectNull(0.1),
                Arbitraries.of(TAttributeType.class).injectNull(0.1))
            .as((text, type) -> new TAttributeKey().setValue(text).setType(type));
    Arbitrary<Integer> sizes = Arbitraries.integers().between(0, 80);
    return Combinators.combine(sizes, sizes, Arbitraries.integers().between(0, 9))
        .flatAs((size, other, odd) ->
            Combinators.combine(
                    keys.list().ofSize(size).injectNull(0.05),
                    value().list().ofSize(odd == 0 ? other : size).injectNull(0.05))
                .as((k, v) -> matched(new TAttributes().setKeys(k).setValues(v))))
        .injectNull(0.1);
  }

  /** Mostly values of the types that the keys say. */
  private static TAttributes matched(TAttributes attributes) {
    if (attributes.isSetKeys() && attributes.isSetValues()) {
      for (int i = 0; i < Math.min(attributes.getKeysSize(), attributes.getValuesSize()); i++) {
        TValue value = attributes.getValues().get(i);
        if (i % 8 != 0 && value.isSetStringValue()) {
          attributes.getKeys().get(i).setType(TAttributeType.STRING);
        } else if (i % 8 != 0 && value.isSetLongValue()) {
          attributes.getKeys().get(i).setType(TAttributeType.LONG);
        }
      }
    }
    return attributes;
  }

  private static Arbitrary<TValue> value() {
    return Arbitraries.oneOf(
        Arbitraries.strings().ofMaxLength(300).map(text -> new TValue().setStringValue(text)),
        Arbitraries.of(true, false).map(value -> new TValue().setBoolValue(value)),
        Arbitraries.longs().map(value -> new TValue().setLongValue(value)),
        Arbitraries.doubles().map(value -> new TValue().setDoubleValue(value)),
        Arbitraries.of(
            new TValue(),
            new TValue().setStringArrayValue(List.of("a", "")),
            new TValue().setBoolArrayValue(List.of(true, false)),
            new TValue().setLongArrayValue(List.of()),
            new TValue().setDoubleArrayValue(List.of(1.5)),
            new TValue().setLongValue(5).setDoubleValue(0.5)));
  }

  /** One span that has everything the format has. */
  static TSpanData fixed() {
    TSpanData span = new TSpanData();
    span.setTraceId("0af7651916cd43dd8448eb211c80319c");
    span.setSpanId("b7ad6b7169203331");
    span.setSampled(true);
    span.setTraceState(new TTraceState().setEntries(Map.of("ot", "th:8")));
    span.setParentSpanContext(
        new TSpanContext()
            .setTraceId("0af7651916cd43dd8448eb211c80319c")
            .setSpanId("00f067aa0ba902b7")
            .setTraceFlags((byte) 1)
            .setRemote(true));
    span.setResouce(
        new TResource()
            .setAttributes(
                attributes(
                    "service.name", "shop", "service.env", "staging", "service.env.id", 17L)));
    span.setInstrumentationLibraryInfo(
        new TInstrumentationLibraryInfo().setName("netty").setVersion("4.1"));
    span.setName("GET /cart");
    span.setKind(TKind.SERVER);
    span.setStartEpochNanos(1_795_000_000_000_000_000L);
    span.setAttributes(
        attributes(
            "http.method",
            "GET",
            "http.status_code",
            500L,
            "error",
            true,
            "cached",
            false,
            "load",
            -0.25,
            "comment",
            "naïve café",
            "offset",
            Long.MIN_VALUE));
    span.setEvents(
        List.of(
            new TEvent()
                .setName("exception")
                .setEpochNanos(1_795_000_000_000_000_001L)
                .setAttributes(attributes("exception.message", "boom"))
                .setTotalAttributeCount(1)));
    span.setLinks(
        List.of(new TLink().setSpanContext(new TSpanContext().setSpanId("00f067aa0ba902b7"))));
    span.setStatus(TStatus.ERROR);
    span.setEndEpochNanos(1_795_000_000_012_345_678L);
    span.setEnded(true);
    span.setTotalRecordedEvents(1);
    span.setTotalRecordedLinks(1);
    span.setTotalAttributeCount(7);
    span.setExtra(
        new TExtra().setIp("10.20.30.40").setHostname("shop-1").setServiceName("shop-web"));
    return span;
  }

  /** Keys and values in turns. */
  static TAttributes attributes(Object... keysAndValues) {
    TAttributes attributes =
        new TAttributes().setKeys(new ArrayList<>()).setValues(new ArrayList<>());
    for (int i = 0; i < keysAndValues.length; i += 2) {
      TAttributeKey key = new TAttributeKey().setValue((String) keysAndValues[i]);
      TValue value = new TValue();
      switch (keysAndValues[i + 1]) {
        case String text -> {
          key.setType(TAttributeType.STRING);
          value.setStringValue(text);
        }
        case Long number -> {
          key.setType(TAttributeType.LONG);
          value.setLongValue(number);
        }
        case Boolean flag -> {
          key.setType(TAttributeType.BOOLEAN);
          value.setBoolValue(flag);
        }
        case Double number -> {
          key.setType(TAttributeType.DOUBLE);
          value.setDoubleValue(number);
        }
        default -> throw new IllegalArgumentException("" + keysAndValues[i + 1]);
      }
      attributes.addToKeys(key);
      attributes.addToValues(value);
    }
    return attributes;
  }
}
