package org.traceetl.agent.source.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.DoubleRange;
import org.traceetl.agent.flow.KeySet;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.source.payload.RecordingSink;
import org.traceetl.agent.source.payload.RecordingSink.Recorded;
import org.traceetl.agent.source.payload.ValueText;

/** Compares the decoder with the generated classes, and tests it with damaged bytes. */
class OtlpProtobufDecoderProperties {
  private final OtlpProtobufDecoder decoder = new OtlpProtobufDecoder();

  @Property(tries = 300)
  void decodesWhatTheGeneratedClassesWrote(@ForAll("requests") ExportTraceServiceRequest request)
      throws Exception {
    RecordingSink sink = new RecordingSink();

    decoder.decode(request.toByteArray(), sink);

    assertThat(sink.rejected).isEmpty();
    assertThat(sink.spans).isEqualTo(expected(request));
  }

  /** Uses unknown keys, some known ones, and the empty one. */
  @Property(tries = 300)
  void attributesThatAreNotWantedAreLeftOutAndCounted(
      @ForAll("requests") ExportTraceServiceRequest request, @ForAll long seed) throws Exception {
    List<Recorded> all = expected(request);
    Random random = new Random(seed);
    Set<String> wanted =
        all.stream()
            .flatMap(span -> span.attributes().keySet().stream())
            .filter(key -> random.nextBoolean())
            .collect(Collectors.toCollection(HashSet::new));
    wanted.add("no.one");
    wanted.add("");
    RecordingSink sink = new RecordingSink();
    sink.wanted =
        new KeySet(wanted.stream().map(key -> key.getBytes(StandardCharsets.UTF_8)).toList());

    decoder.decode(request.toByteArray(), sink);

    assertThat(sink.spans).hasSameSizeAs(all);
    for (int i = 0; i < all.size(); i++) {
      Map<String, String> attributes = new LinkedHashMap<>(all.get(i).attributes());
      attributes.keySet().retainAll(wanted);
      assertThat(sink.spans.get(i).attributes()).isEqualTo(attributes);
      assertThat(sink.spans.get(i).resource()).isEqualTo(all.get(i).resource());
    }
    assertThat(sink.notWanted)
        .isEqualTo(
            all.stream()
                .flatMap(span -> span.attributes().keySet().stream())
                .filter(key -> !wanted.contains(key))
                .count());
  }

  @Property(tries = 300)
  void damagedPayloadsAreMalformedAtWorst(
      @ForAll("requests") ExportTraceServiceRequest request, @ForAll long seed) {
    damage(decoder, request.toByteArray(), new Random(seed));
  }

  @Property(tries = 300)
  void damagedJsonIsMalformedAtWorst(
      @ForAll("requests") ExportTraceServiceRequest request, @ForAll long seed) {
    damage(new OtlpJsonDecoder(new LongAdder()), OtlpJson.of(request), new Random(seed));
  }

  @Property(tries = 300)
  void jsonSaysWhatProtobufSays(@ForAll("requests") ExportTraceServiceRequest request)
      throws Exception {
    RecordingSink sink = new RecordingSink();

    new OtlpJsonDecoder(new LongAdder()).decode(OtlpJson.of(request), sink);

    assertThat(sink.rejected).isEmpty();
    assertThat(sink.spans).isEqualTo(expected(request));
  }

  @Property(tries = 2_000)
  void realsReadBackAsTheyWere(@ForAll double value) {
    assertThat(Double.parseDouble(real(value))).isEqualTo(value);
  }

  @Property(tries = 2_000)
  void realsAreAsShortAsJavaWritesThem(
      @ForAll @DoubleRange(min = -1e7, max = 1e7, maxIncluded = false, minIncluded = false)
          double value) {
    assertThat(real(value)).isEqualTo(Double.toString(value));
  }

  /** Changes, removes or repeats some bytes: only a malformed payload may result. */
  private static void damage(SpanDecoder decoder, byte[] whole, Random random) {
    for (int round = 0; round < 20; round++) {
      byte[] bytes = whole.clone();
      if (random.nextBoolean()) {
        bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
      }
      for (int flips = random.nextInt(8); flips > 0 && bytes.length > 0; flips--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
      RecordingSink sink = new RecordingSink();
      try {
        decoder.decode(bytes, sink);
      } catch (MalformedPayloadException e) {
        assertThat(sink.isEmpty()).isTrue();
      }
    }
  }

  private static String real(double value) {
    ValueText text = new ValueText();
    text.begin();
    text.real(value);
    return new String(text.bytes(), 0, text.position(), StandardCharsets.US_ASCII);
  }

  private static List<Recorded> expected(ExportTraceServiceRequest request) {
    List<Recorded> spans = new ArrayList<>();
    for (ResourceSpans resourceSpans : request.getResourceSpansList()) {
      Map<String, String> resource = texts(resourceSpans.getResource().getAttributesList());
      for (ScopeSpans scope : resourceSpans.getScopeSpansList()) {
        for (Span span : scope.getSpansList()) {
          spans.add(
              new Recorded(
                  resource,
                  span.getTraceId().asReadOnlyByteBuffer().getLong(0),
                  span.getTraceId().asReadOnlyByteBuffer().getLong(8),
                  span.getSpanId().asReadOnlyByteBuffer().getLong(0),
                  span.getParentSpanId().isEmpty()
                      ? 0
                      : span.getParentSpanId().asReadOnlyByteBuffer().getLong(0),
                  span.getName(),
                  span.getKindValue(),
                  span.getStatus().getCodeValue(),
                  span.getStatus().getMessage(),
                  span.getStartTimeUnixNano(),
                  Math.max(0, span.getEndTimeUnixNano() - span.getStartTimeUnixNano()),
                  0,
                  texts(span.getAttributesList())));
        }
      }
    }
    return spans;
  }

  private static Map<String, String> texts(List<KeyValue> attributes) {
    Map<String, String> texts = new LinkedHashMap<>();
    for (KeyValue attribute : attributes) {
      AnyValue value = attribute.getValue();
      texts.put(
          attribute.getKey(),
          switch (value.getValueCase()) {
            case VALUE_NOT_SET -> "";
            case STRING_VALUE -> value.getStringValue();
            default -> {
              String json = json(value);
              yield json.startsWith("\"") ? json.substring(1, json.length() - 1) : json;
            }
          });
    }
    return texts;
  }

  private static String json(AnyValue value) {
    return switch (value.getValueCase()) {
      case STRING_VALUE -> quoted(value.getStringValue());
      case BOOL_VALUE -> Boolean.toString(value.getBoolValue());
      case INT_VALUE -> Long.toString(value.getIntValue());
      case DOUBLE_VALUE -> Double.toString(value.getDoubleValue());
      case BYTES_VALUE ->
          quoted(Base64.getEncoder().encodeToString(value.getBytesValue().toByteArray()));
      case ARRAY_VALUE ->
          value.getArrayValue().getValuesList().stream()
              .map(OtlpProtobufDecoderProperties::json)
              .collect(Collectors.joining(",", "[", "]"));
      case KVLIST_VALUE ->
          value.getKvlistValue().getValuesList().stream()
              .map(member -> quoted(member.getKey()) + ":" + json(member.getValue()))
              .collect(Collectors.joining(",", "{", "}"));
      default -> "null";
    };
  }

  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    text.chars()
        .forEach(c -> {
          if (c == '"' || c == '\\') {
            quoted.append('\\').append((char) c);
          } else if (c < ' ') {
            quoted.append(String.format("\\u%04x", c));
          } else {
            quoted.append((char) c);
          }
        });
    return quoted.append('"').toString();
  }

  @Provide
  Arbitrary<ExportTraceServiceRequest> requests() {
    Arbitrary<ScopeSpans> scopes =
        spans().list().ofMaxSize(3).map(s -> ScopeSpans.newBuilder().addAllSpans(s).build());
    return Combinators.combine(attributes(), scopes.list().ofMaxSize(2))
        .as((resource, scope) ->
            ResourceSpans.newBuilder()
                .setResource(Resource.newBuilder().addAllAttributes(resource))
                .addAllScopeSpans(scope)
                .build())
        .list()
        .ofMaxSize(3)
        .map(all -> ExportTraceServiceRequest.newBuilder().addAllResourceSpans(all).build());
  }

  private static Arbitrary<Span> spans() {
    Arbitrary<Long> ids = Arbitraries.longs().filter(id -> id != 0);
    Arbitrary<Span.Builder> identity =
        Combinators.combine(ids, ids, Arbitraries.longs(), strings())
            .as((traceId, spanId, parent, name) ->
                Span.newBuilder()
                    .setTraceId(Samples.id(traceId, spanId))
                    .setSpanId(Samples.id(spanId))
                    .setParentSpanId(parent == 0 ? ByteString.EMPTY : Samples.id(parent))
                    .setName(name));
    Arbitrary<Status> statuses =
        Combinators.combine(Arbitraries.integers().between(0, 2), strings())
            .as((code, message) ->
                Status.newBuilder().setCodeValue(code).setMessage(message).build());
    return Combinators.combine(
            identity,
            Arbitraries.integers().between(0, 5),
            Arbitraries.longs().between(1, Long.MAX_VALUE),
            Arbitraries.longs().between(0, Long.MAX_VALUE),
            attributes(),
            statuses.injectNull(0.3))
        .as((span, kind, start, end, attributes, status) -> {
          span.setKindValue(kind)
              .setStartTimeUnixNano(start)
              .setEndTimeUnixNano(end)
              .addAllAttributes(attributes);
          if (status != null) {
            span.setStatus(status);
          }
          return span.build();
        });
  }

  private static Arbitrary<List<KeyValue>> attributes() {
    return Combinators.combine(strings(), values(3))
        .as(Samples::attribute)
        .list()
        .ofMaxSize(5)
        .uniqueElements(KeyValue::getKey);
  }

  private static Arbitrary<AnyValue> values(int depth) {
    Arbitrary<AnyValue> scalars =
        Arbitraries.oneOf(
            strings().map(Samples::string),
            Arbitraries.of(true, false).map(b -> AnyValue.newBuilder().setBoolValue(b).build()),
            Arbitraries.longs().map(n -> AnyValue.newBuilder().setIntValue(n).build()),
            Arbitraries.doubles()
                .between(-9e6, 9e6)
                .map(d -> AnyValue.newBuilder().setDoubleValue(d).build()),
            Arbitraries.bytes()
                .array(byte[].class)
                .ofMaxSize(10)
                .map(b -> AnyValue.newBuilder().setBytesValue(ByteString.copyFrom(b)).build()),
            Arbitraries.just(AnyValue.getDefaultInstance()));
    if (depth == 0) {
      return scalars;
    }
    Arbitrary<AnyValue> nested = Arbitraries.lazy(() -> values(depth - 1));
    Arbitrary<AnyValue> lists =
        nested
            .list()
            .ofMaxSize(3)
            .map(all -> {
              AnyValue.Builder value = AnyValue.newBuilder();
              value.getArrayValueBuilder().addAllValues(all);
              return value.build();
            });
    Arbitrary<AnyValue> maps =
        Combinators.combine(strings(), nested)
            .as(Samples::attribute)
            .list()
            .ofMaxSize(3)
            .map(all -> {
              AnyValue.Builder value = AnyValue.newBuilder();
              value.getKvlistValueBuilder().addAllValues(all);
              return value.build();
            });
    return Arbitraries.frequencyOf(
        net.jqwik.api.Tuple.of(6, scalars),
        net.jqwik.api.Tuple.of(1, lists),
        net.jqwik.api.Tuple.of(1, maps));
  }

  private static Arbitrary<String> strings() {
    return Arbitraries.strings()
        .ascii()
        .withChars('\u00e9', '\u4e2d', '"', '\\', '\n')
        .ofMaxLength(12);
  }
}
