package org.traceetl.agent.source.otlp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.traceetl.agent.source.otlp.Samples.START;
import static org.traceetl.agent.source.otlp.Samples.attribute;
import static org.traceetl.agent.source.otlp.Samples.id;
import static org.traceetl.agent.source.otlp.Samples.request;
import static org.traceetl.agent.source.otlp.Samples.span;
import static org.traceetl.agent.source.otlp.Samples.string;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.ArrayValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.common.v1.KeyValueList;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.lang.management.ManagementFactory;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.SpanEvents;
import org.traceetl.agent.flow.SpanLinks;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.flow.WantedEvents;
import org.traceetl.agent.source.payload.CountingSink;
import org.traceetl.agent.source.payload.RecordingSink;
import org.traceetl.agent.source.payload.RecordingSink.Recorded;

class OtlpProtobufDecoderTest {
  private final OtlpProtobufDecoder decoder = new OtlpProtobufDecoder();
  private final RecordingSink sink = new RecordingSink();

  @Test
  void spanIsReadWhole() throws Exception {
    decode(request(span(9).setTraceState("a=b,ot=th:8")));

    assertThat(sink.rejected).isEmpty();
    assertThat(sink.spans)
        .containsExactly(
            new Recorded(
                Map.of("service.name", "checkout"),
                0x0102030405060708L,
                9,
                9,
                7,
                "GET /users",
                2,
                2,
                "no",
                START,
                1_500_000,
                0x80_0000_0000_0000L,
                Map.of("http.request.method", "GET")));
  }

  @Test
  void sizeIsThatOfTheMessage() throws Exception {
    Span.Builder full = span(1).addEvents(Span.Event.newBuilder().setName("not wanted"));
    full.addLinks(Span.Link.newBuilder().setSpanId(id(8)));
    Span.Builder unknown = span(2).setUnknownFields(unknownField());
    Span.Builder large = span(3).addAttributes(attribute("k", "v".repeat(100_000)));
    decode(request(full, unknown, large));

    assertThat(sink.sizes)
        .containsExactly(
            (long) full.build().getSerializedSize(),
            (long) unknown.build().getSerializedSize(),
            (long) large.build().getSerializedSize());
  }

  private static UnknownFieldSet unknownField() {
    ByteString content = ByteString.copyFromUtf8("of a later release");
    return UnknownFieldSet.newBuilder()
        .addField(1_000, UnknownFieldSet.Field.newBuilder().addLengthDelimited(content).build())
        .build();
  }

  @Test
  void emptyPayloadHasNoSpans() throws Exception {
    decoder.decode(new byte[0], sink);

    assertThat(sink.isEmpty()).isTrue();
  }

  @Test
  void resourceMayComeAfterItsSpans() throws Exception {
    ByteString resource =
        ResourceSpans.newBuilder()
            .setResource(Resource.newBuilder().addAttributes(attribute("service.name", "late")))
            .build()
            .toByteString();
    ByteString spans =
        ResourceSpans.newBuilder()
            .addScopeSpans(ScopeSpans.newBuilder().addSpans(span(1)))
            .build()
            .toByteString();
    ProtobufBuffer request = new ProtobufBuffer(64).bytes(1, spans.concat(resource).toByteArray());

    decoder.decode(request.toByteArray(), sink);

    assertThat(sink.spans)
        .singleElement()
        .extracting(Recorded::resource)
        .isEqualTo(Map.of("service.name", "late"));
  }

  @Test
  void valuesOfTheResourceStayWhileItsSpansReuseTheText() throws Exception {
    AnyValue port = AnyValue.newBuilder().setIntValue(8080).build();
    ExportTraceServiceRequest.Builder request =
        request(
            span(1).addAttributes(attribute("n", AnyValue.newBuilder().setIntValue(1).build())),
            span(2).addAttributes(attribute("n", AnyValue.newBuilder().setIntValue(2).build())))
            .toBuilder();
    request.getResourceSpansBuilder(0).getResourceBuilder().addAttributes(attribute("port", port));
    Attributes[] resource = new Attributes[1];

    decoder.decode(
        request.build().toByteArray(),
        new SpanSink() {
          @Override
          public void resource(Attributes attributes) {
            resource[0] = attributes;
          }

          @Override
          public boolean span(SpanView span) {
            sink.resource(resource[0]);
            return sink.span(span);
          }

          @Override
          public void rejected(String reason) {}
        });

    assertThat(sink.spans)
        .extracting(s -> s.resource().get("port"))
        .containsExactly("8080", "8080");
    assertThat(sink.spans).extracting(s -> s.attributes().get("n")).containsExactly("1", "2");
  }

  @Test
  void badSpansAreRejectedByReasonAndTheOthersGoOn() throws Exception {
    decode(
        request(
            span(1).setTraceId(ByteString.copyFrom(new byte[15])),
            span(2).setTraceId(id(0, 0)),
            span(3).clearTraceId(),
            span(4).setSpanId(id(1, 2)),
            span(5).setSpanId(id(0)),
            span(6).setParentSpanId(ByteString.copyFrom(new byte[4])),
            span(7).clearStartTimeUnixNano(),
            span(8).setEndTimeUnixNano(Long.MIN_VALUE),
            span(9)));

    assertThat(sink.rejected)
        .containsExactly(
            "invalid_trace_id",
            "invalid_trace_id",
            "invalid_trace_id",
            "invalid_span_id",
            "invalid_span_id",
            "invalid_parent_span_id",
            "invalid_start_time",
            "invalid_end_time");
    assertThat(sink.spans).extracting(Recorded::spanId).containsExactly(9L);
  }

  @Test
  void damageInsideASpanCostsThatSpanAlone() throws Exception {
    // Field 5, the name, claims 100 bytes, but the span ends after it.
    byte[] broken = {5 << 3 | 2, 100};
    decodeSpans(span(1).build().toByteArray(), broken, span(2).build().toByteArray());

    assertThat(sink.rejected).containsExactly("malformed_span");
    assertThat(sink.spans).extracting(Recorded::spanId).containsExactly(1L, 2L);
  }

  @Test
  void rootSpansHaveNoParent() throws Exception {
    decode(request(span(1).clearParentSpanId(), span(2).setParentSpanId(id(0))));

    assertThat(sink.spans).extracting(Recorded::parentSpanId).containsExactly(0L, 0L);
  }

  @Test
  void linksOfConsumersAreRead() throws Exception {
    Span.Builder consumer = span(1).setKind(Span.SpanKind.SPAN_KIND_CONSUMER);
    for (long link : new long[] {5, 6, 5}) {
      consumer.addLinks(Span.Link.newBuilder().setTraceId(id(4, link)).setSpanId(id(link)));
    }
    consumer.addLinks(Span.Link.newBuilder().setTraceId(id(4, 7)));
    consumer.addLinks(Span.Link.newBuilder().setTraceId(id(4)).setSpanId(id(7)));
    Span.Builder server = span(2).addAllLinks(consumer.getLinksList());
    Span.Builder busy = span(3).setKind(Span.SpanKind.SPAN_KIND_CONSUMER);
    for (long link = 1; link < 2 * SpanLinks.MAX; link++) {
      busy.addLinks(Span.Link.newBuilder().setTraceId(id(4, link)).setSpanId(id(link)));
    }

    decode(request(consumer, server, busy));

    assertThat(sink.links.get(0))
        .containsExactly(
            "00000000000000040000000000000005 0000000000000005",
            "00000000000000040000000000000006 0000000000000006");
    assertThat(sink.links.get(1)).isEmpty();
    assertThat(sink.links.get(2)).hasSize(SpanLinks.MAX);
  }

  @Test
  void linksMayPrecedeTheKind() throws Exception {
    ByteString links =
        Span.newBuilder()
            .addLinks(Span.Link.newBuilder().setTraceId(id(4, 5)).setSpanId(id(5)))
            .build()
            .toByteString();
    Span.Builder consumer = span(1).setKind(Span.SpanKind.SPAN_KIND_CONSUMER);
    decodeSpans(
        links.concat(consumer.build().toByteString()).toByteArray(),
        links.concat(span(2).build().toByteString()).toByteArray());

    assertThat(sink.links.get(0)).hasSize(1);
    assertThat(sink.links.get(1)).isEmpty();
  }

  @Test
  void endBeforeStartIsNoDuration() throws Exception {
    decode(request(span(1).setEndTimeUnixNano(START - 1), span(2).clearEndTimeUnixNano()));

    assertThat(sink.spans).extracting(Recorded::durationNanos).containsExactly(0L, 0L);
  }

  @Test
  void unknownKindAndStatusAreUnspecified() throws Exception {
    Span.Builder odd = span(1).setKindValue(6);
    odd.getStatusBuilder().setCodeValue(-1);

    decode(request(odd));

    assertThat(sink.spans).extracting(Recorded::kind).containsExactly(0);
    assertThat(sink.spans).extracting(Recorded::status).containsExactly(0);
  }

  @Test
  void unknownFieldsArePassedOver() throws Exception {
    UnknownFieldSet unknown =
        UnknownFieldSet.newBuilder()
            .addField(
                100,
                UnknownFieldSet.Field.newBuilder()
                    .addVarint(-1)
                    .addFixed32(1)
                    .addFixed64(2)
                    .addLengthDelimited(ByteString.copyFromUtf8("x"))
                    .build())
            .build();
    ExportTraceServiceRequest.Builder request =
        request(span(1).setUnknownFields(unknown)).toBuilder().setUnknownFields(unknown);
    request.getResourceSpansBuilder(0).setUnknownFields(unknown);

    decode(request.build());

    assertThat(sink.spans).hasSize(1);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "groups, 0b0c",
    "a field with the number 0, 0000",
    "a varint of more than ten bytes, 08808080808080808080808000",
    // The inner length fits the payload but exceeds the ResourceSpans around it.
    "a length beyond the enclosing message, 0a021203000000",
    "a negative length, 0affffffffffffffffff01"
  })
  void brokenFramingIsMalformed(String what, String payload) {
    assertThat(what).isNotEmpty();
    assertThatThrownBy(() -> decoder.decode(HexFormat.of().parseHex(payload), sink))
        .isInstanceOf(MalformedPayloadException.class);
    assertThat(sink.isEmpty()).isTrue();
  }

  @Test
  void truncationAtAnyByteEmitsNothingPartial() throws Exception {
    byte[] whole = Samples.realistic(3).toByteArray();
    for (int length = 1; length < whole.length; length++) {
      RecordingSink none = new RecordingSink();
      byte[] part = Arrays.copyOf(whole, length);
      assertThatThrownBy(() -> decoder.decode(part, none))
          .isInstanceOf(MalformedPayloadException.class);
      assertThat(none.isEmpty()).isTrue();
    }
  }

  @Test
  void valuesBecomeTextAsForUntypedProtocols() throws Exception {
    AnyValue list =
        AnyValue.newBuilder()
            .setArrayValue(
                ArrayValue.newBuilder()
                    .addValues(string("a\"\\\n\u00e9"))
                    .addValues(AnyValue.newBuilder().setIntValue(-5))
                    .addValues(AnyValue.newBuilder().setDoubleValue(Double.NaN))
                    .addValues(AnyValue.newBuilder().setBoolValue(false))
                    .addValues(AnyValue.getDefaultInstance())
                    .addValues(AnyValue.newBuilder().setBytesValue(ByteString.copyFromUtf8("ab"))))
            .build();
    AnyValue map =
        AnyValue.newBuilder()
            .setKvlistValue(
                KeyValueList.newBuilder()
                    .addValues(attribute("k", list))
                    .addValues(attribute("e", AnyValue.getDefaultInstance())))
            .build();
    decode(
        request(
            span(1)
                .clearAttributes()
                .addAttributes(attribute("true", AnyValue.newBuilder().setBoolValue(true).build()))
                .addAttributes(
                    attribute("min", AnyValue.newBuilder().setIntValue(Long.MIN_VALUE).build()))
                .addAttributes(attribute("real", AnyValue.newBuilder().setDoubleValue(0.1).build()))
                .addAttributes(
                    attribute(
                        "bytes",
                        AnyValue.newBuilder()
                            .setBytesValue(ByteString.copyFromUtf8("abcd"))
                            .build()))
                .addAttributes(attribute("none", AnyValue.getDefaultInstance()))
                .addAttributes(attribute("list", list))
                .addAttributes(attribute("map", map))));

    String json = "[\"a\\\"\\\\\\u000a\u00e9\",-5,\"NaN\",false,null,\"YWI=\"]";
    assertThat(sink.spans.getFirst().attributes())
        .containsEntry("true", "true")
        .containsEntry("min", "-9223372036854775808")
        .containsEntry("real", "0.1")
        .containsEntry("bytes", "YWJjZA==")
        .containsEntry("none", "")
        .containsEntry("list", json)
        .containsEntry("map", "{\"k\":" + json + ",\"e\":null}");
  }

  @Test
  void theLastOfSeveralKeysCounts() throws Exception {
    UnknownFieldSet.Field key =
        UnknownFieldSet.Field.newBuilder()
            .addLengthDelimited(ByteString.copyFromUtf8("last"))
            .build();
    KeyValue twice =
        attribute("first", AnyValue.newBuilder().setIntValue(1).build()).toBuilder()
            .setUnknownFields(
                UnknownFieldSet.newBuilder().addField(KeyValue.KEY_FIELD_NUMBER, key).build())
            .build();
    AnyValue map =
        AnyValue.newBuilder().setKvlistValue(KeyValueList.newBuilder().addValues(twice)).build();
    decode(
        request(
            span(1).clearAttributes().addAttributes(twice).addAttributes(attribute("map", map))));

    assertThat(sink.spans.getFirst().attributes())
        .containsExactlyInAnyOrderEntriesOf(Map.of("last", "1", "map", "{\"last\":1}"));
  }

  @Test
  void valuesNestedTooDeepAreLeftOutAndCounted() throws Exception {
    decode(
        request(
            span(1)
                .clearAttributes()
                .addAttributes(attribute("deep", nested(OtlpProtobufDecoder.MAX_VALUE_DEPTH)))
                .addAttributes(attribute("deeper", nested(OtlpProtobufDecoder.MAX_VALUE_DEPTH + 1)))
                .addAttributes(attribute("after", "x"))));

    assertThat(sink.spans.getFirst().attributes())
        .containsOnly(Map.entry("deep", "[[[[[[[[]]]]]]]]"), Map.entry("after", "x"));
    assertThat(decoder.droppedAttributes()).isEqualTo(1);
  }

  @Test
  void attributesAboveTheBoundAreLeftOutAndCounted() throws Exception {
    Span.Builder wide = span(1).clearAttributes();
    for (int i = 0; i < OtlpProtobufDecoder.MAX_ATTRIBUTES + 3; i++) {
      wide.addAttributes(attribute("key" + i, "value"));
    }

    decode(request(wide));

    assertThat(sink.spans.getFirst().attributes()).hasSize(OtlpProtobufDecoder.MAX_ATTRIBUTES);
    assertThat(decoder.droppedAttributes()).isEqualTo(3);
  }

  @Test
  void textOfListsIsBounded() throws Exception {
    ArrayValue.Builder list = ArrayValue.newBuilder();
    for (int i = 0; i < 40_000; i++) {
      list.addValues(AnyValue.getDefaultInstance());
    }
    decode(
        request(
            span(1)
                .addAttributes(
                    attribute("long", AnyValue.newBuilder().setArrayValue(list).build()))));

    assertThat(sink.spans.getFirst().attributes()).doesNotContainKey("long");
    assertThat(decoder.droppedAttributes()).isEqualTo(1);
  }

  @Test
  void textThatIsNotUtf8IsRepaired() throws Exception {
    byte[] bad = {'a', (byte) 0xFF, 'b'};
    byte[] attribute =
        new ProtobufBuffer(64)
            .bytes(1, bad)
            .bytes(2, new ProtobufBuffer(16).bytes(1, bad).toByteArray())
            .toByteArray();
    byte[] span =
        new ProtobufBuffer(256)
            .bytes(1, id(1, 2).toByteArray())
            .bytes(2, id(3).toByteArray())
            .bytes(5, bad)
            .fixed64(7, START)
            .bytes(9, attribute)
            .toByteArray();
    decodeSpans(span);

    assertThat(sink.spans.getFirst().name()).isEqualTo("a\uFFFDb");
    assertThat(sink.spans.getFirst().attributes()).containsEntry("a\uFFFDb", "a\uFFFDb");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ot=th:8|80000000000000",
        "ot=th:0|0",
        "ot=th:fffffffffffffe|fffffffffffffe",
        "a=b, ot=rv:1;th:c ,c=d|c0000000000000",
        "ot=p:8;th:1|10000000000000",
        "ot=th:|0",
        "ot=th:C|0",
        "ot=th:123456789abcdef|0",
        "xot=th:8|0",
        "ot=xth:8|0",
        "ot=|0",
        "th:8|0",
      })
  void samplingThresholdIsReadFromTheTracestate(String tracestate, String threshold)
      throws Exception {
    decode(request(span(1).setTraceState(tracestate)));

    assertThat(sink.spans.getFirst().samplingThreshold()).isEqualTo(Long.parseLong(threshold, 16));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ot=rv:00000000000001|1",
        "a=b, ot=th:8;rv:fffffffffffffe ,c=d|fffffffffffffe",
        "ot=rv:fffffffffffffe;th:0;rv:1|fffffffffffffe",
        "ot=rv:1|-1",
        "ot=rv:0000000000000A|-1",
        "ot=rv:000000000000001|-1",
        "ot=th:8|-1",
        "rv:00000000000001|-1",
      })
  void randomnessIsReadFromTheTracestate(String tracestate, String randomness) throws Exception {
    decode(request(span(1).setTraceState(tracestate), span(2)));

    assertThat(sink.randomness).containsExactly(Long.parseLong(randomness, 16), -1L);
  }

  @Test
  void eventsAreReadByNameWithTheAttributesThatAreWanted() throws Exception {
    sink.wantedEvents = WantedEvents.of(List.of("exception"), List.of("exception.type", "n"));
    Span.Event exception =
        Span.Event.newBuilder()
            .setTimeUnixNano(START)
            .addAttributes(attribute("exception.stacktrace", "at a\nat b"))
            .addAttributes(attribute("exception.type", "java.io.IOException"))
            .addAttributes(attribute("n", AnyValue.newBuilder().setIntValue(3).build()))
            .setName("exception")
            .build();
    // Protobuf allows the name after the attributes.
    ByteString late =
        exception.toBuilder()
            .clearName()
            .build()
            .toByteString()
            .concat(ByteString.copyFrom(new byte[] {2 << 3 | 2, 9}))
            .concat(ByteString.copyFromUtf8("exception"));
    decode(
        request(
            span(1)
                .addEvents(exception)
                .addEvents(Span.Event.newBuilder().setName("other"))
                .addEvents(Span.Event.parseFrom(late))
                .addEvents(Span.Event.newBuilder().setName("exception")),
            span(2),
            span(3).addEvents(Span.Event.newBuilder())));

    var read = Map.entry("exception", Map.of("exception.type", "java.io.IOException", "n", "3"));
    assertThat(sink.events)
        .containsExactly(
            List.of(read, read, Map.entry("exception", Map.of())), List.of(), List.of());
  }

  @Test
  void eventsAreNotLookedAtWhereNoneIsWanted() throws Exception {
    decode(request(span(1).addEvents(Span.Event.newBuilder().setName("exception"))));

    assertThat(sink.events).containsExactly(List.of());
    assertThat(sink.rejected).isEmpty();
  }

  @Test
  void damageInsideAnEventCostsItsSpan() throws Exception {
    sink.wantedEvents = WantedEvents.of(List.of(WantedEvents.ANY), List.of());
    // Field 2 of the event, the name, claims 100 bytes.
    byte[] broken =
        span(1)
            .build()
            .toByteString()
            .concat(ByteString.copyFrom(new byte[] {11 << 3 | 2, 2, 2 << 3 | 2, 100}))
            .toByteArray();
    decodeSpans(broken, span(2).build().toByteArray());

    assertThat(sink.rejected).containsExactly("malformed_span");
    assertThat(sink.spans).extracting(Recorded::spanId).containsExactly(2L);
  }

  @Test
  void eventsBeyondTheLimitAreLeftOutAndCounted() throws Exception {
    sink.wantedEvents = WantedEvents.of(List.of(WantedEvents.ANY), List.of("k"));
    Span.Builder many = span(1);
    for (int i = 0; i < SpanEvents.MAX + 7; i++) {
      many.addEvents(
          Span.Event.newBuilder()
              .setName("e" + i)
              .addAttributes(attribute("k", "v"))
              .addAttributes(attribute("k", "w")));
    }
    decode(request(many, span(2).addEvents(Span.Event.newBuilder().setName("last"))));

    assertThat(sink.events.getFirst()).hasSize(SpanEvents.MAX);
    assertThat(sink.eventsLeftOut).isEqualTo(7);
    assertThat(sink.events.getLast()).containsExactly(Map.entry("last", Map.of()));
  }

  @Test
  void payloadsAreLetGoWhetherTheyCouldBeReadOrNot() {
    byte[] whole = Samples.realistic(3).toByteArray();
    OtlpProtobufDecoder decoder = new OtlpProtobufDecoder();
    for (int length : List.of(whole.length, whole.length - 1)) {
      WeakReference<byte[]> payload = decoded(decoder, whole, length);
      await()
          .until(() -> {
            System.gc();
            return payload.get() == null;
          });
    }
    Reference.reachabilityFence(decoder);
  }

  private static WeakReference<byte[]> decoded(
      OtlpProtobufDecoder decoder, byte[] bytes, int length) {
    byte[] payload = Arrays.copyOf(bytes, length);
    try {
      decoder.decode(payload, new RecordingSink());
      assertThat(length).isEqualTo(bytes.length);
    } catch (MalformedPayloadException e) {
      assertThat(length).isLessThan(bytes.length);
    }
    return new WeakReference<>(payload);
  }

  @Test
  void decodingAllocatesNothingPerSpan() throws Exception {
    byte[] payload = Samples.realistic(512).toByteArray();
    CountingSink counting = new CountingSink();
    for (int i = 0; i < 200; i++) {
      decoder.decode(payload, counting);
    }
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    int rounds = 100;
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < rounds; i++) {
      decoder.decode(payload, counting);
    }
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;

    assertThat(counting.spans).isEqualTo(300L * 512);
    assertThat(counting.events).isEqualTo(300L * 512);
    // The measurement may allocate a few hundred bytes; one byte a span would be 51,200.
    assertThat(allocated).isLessThan(2_048);
  }

  private static AnyValue nested(int depth) {
    AnyValue value = AnyValue.newBuilder().setArrayValue(ArrayValue.getDefaultInstance()).build();
    for (int i = 1; i < depth; i++) {
      value = AnyValue.newBuilder().setArrayValue(ArrayValue.newBuilder().addValues(value)).build();
    }
    return value;
  }

  /** Decodes a request of these spans, which may be malformed. */
  private void decodeSpans(byte[]... encoded) throws MalformedPayloadException {
    ProtobufBuffer spans = new ProtobufBuffer(64);
    for (byte[] span : encoded) {
      spans.bytes(2, span);
    }
    byte[] resourceSpans = new ProtobufBuffer(64).bytes(2, spans.toByteArray()).toByteArray();
    decoder.decode(new ProtobufBuffer(64).bytes(1, resourceSpans).toByteArray(), sink);
  }

  private void decode(ExportTraceServiceRequest request) throws MalformedPayloadException {
    decoder.decode(request.toByteArray(), sink);
  }
}
