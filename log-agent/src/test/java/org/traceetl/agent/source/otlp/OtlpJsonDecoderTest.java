package org.traceetl.agent.source.otlp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.ArrayValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.common.v1.KeyValueList;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.WantedEvents;
import org.traceetl.agent.source.payload.RecordingSink;
import org.traceetl.agent.source.payload.RecordingSink.Recorded;

class OtlpJsonDecoderTest {
  private static final String SPAN =
      """
      {"traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"EEE19B7EC3C1B174",
       "parentSpanId":"","name":"I'm a server span","kind":2,"flags":1,
       "startTimeUnixNano":"1544712660000000000","endTimeUnixNano":1544712661000000000,
       "traceState":null,"status":{"code":"STATUS_CODE_ERROR","message":"no"},
       "attributes":[{"key":"my.span.attr","value":{"stringValue":"some value"}},
         {"key":"n","value":{"intValue":"-12"}},{"key":"m","value":{"intValue":7}},
         {"key":"nan","value":{"doubleValue":"NaN"}}]}
      """;

  private final OtlpJsonDecoder decoder = new OtlpJsonDecoder(new LongAdder());
  private final RecordingSink sink = new RecordingSink();

  @Test
  void spanIsReadWhole() throws Exception {
    decode(request(SPAN));

    assertThat(sink.spans)
        .containsExactly(
            new Recorded(
                Map.of("service.name", "my.service"),
                0x5B8EFFF798038103L,
                0xD269B633813FC60CL,
                0xEEE19B7EC3C1B174L,
                0,
                "I'm a server span",
                2,
                2,
                "no",
                1544712660000000000L,
                1_000_000_000,
                0,
                Map.of("my.span.attr", "some value", "n", "-12", "m", "7", "nan", "NaN")));
  }

  /** The flags and fields that the agent does not know are not counted. */
  @Test
  void sizeIsThatOfTheSpanAsProtobuf() throws Exception {
    decode(request(SPAN + "," + SPAN.replace("my.span.attr", "my.span.attribute")));

    Span span =
        Span.newBuilder()
            .setTraceId(Samples.id(0x5B8EFFF798038103L, 0xD269B633813FC60CL))
            .setSpanId(Samples.id(0xEEE19B7EC3C1B174L))
            .setName("I'm a server span")
            .setKindValue(2)
            .setStartTimeUnixNano(1544712660000000000L)
            .setEndTimeUnixNano(1544712661000000000L)
            .setStatus(Status.newBuilder().setCodeValue(2).setMessage("no"))
            .addAttributes(Samples.attribute("my.span.attr", "some value"))
            .addAttributes(Samples.attribute("n", AnyValue.newBuilder().setIntValue(-12).build()))
            .addAttributes(Samples.attribute("m", AnyValue.newBuilder().setIntValue(7).build()))
            .addAttributes(
                Samples.attribute("nan", AnyValue.newBuilder().setDoubleValue(Double.NaN).build()))
            .build();
    // An empty parent has its tag and length.
    long size = span.getSerializedSize() + 2;
    assertThat(sink.sizes).containsExactly(size, size + "ibute".length());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 100, 127, 128, 16_383, 16_384, 100_000})
  void lengthsInASpanAreShort(int length) throws Exception {
    String text = "v".repeat(length);
    decode(
        request(
            """
            {"traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"EEE19B7EC3C1B174",
             "startTimeUnixNano":"1544712660000000000","events":[{"name":"%1$s"}],
             "attributes":[{"key":"k","value":{"arrayValue":{"values":[{"stringValue":"%1$s"},
               {"kvlistValue":{"values":[{"key":"in","value":{"boolValue":true}}]}}]}}}]}
            """
                .formatted(text)));

    KeyValue in = Samples.attribute("in", AnyValue.newBuilder().setBoolValue(true).build());
    ArrayValue values =
        ArrayValue.newBuilder()
            .addValues(Samples.string(text))
            .addValues(
                AnyValue.newBuilder().setKvlistValue(KeyValueList.newBuilder().addValues(in)))
            .build();
    Span span =
        Span.newBuilder()
            .setTraceId(Samples.id(0x5B8EFFF798038103L, 0xD269B633813FC60CL))
            .setSpanId(Samples.id(0xEEE19B7EC3C1B174L))
            .setStartTimeUnixNano(1544712660000000000L)
            .addEvents(Span.Event.newBuilder().setName(text))
            .addAttributes(
                Samples.attribute("k", AnyValue.newBuilder().setArrayValue(values).build()))
            .build();
    assertThat(sink.sizes).containsExactly((long) span.getSerializedSize());
    String array = "[\"" + text + "\",{\"in\":true}]";
    assertThat(sink.spans.getFirst().attributes())
        .isEqualTo(length < 65_536 ? Map.of("k", array) : Map.of());
  }

  @Test
  void eventsAreRead() throws Exception {
    sink.wantedEvents = WantedEvents.of(List.of("exception"), List.of("exception.type"));
    String events =
        """
        "events":[{"timeUnixNano":"1","name":"other"},{"timeUnixNano":"1","name":"exception",
          "attributes":[{"key":"exception.message","value":{"stringValue":"m"}},
            {"key":"exception.type","value":{"stringValue":"KeyError"}}],
          "droppedAttributesCount":1}],
        """;
    decode(request(SPAN.replaceFirst("\"name\"", events + "\"name\"")));

    assertThat(sink.events)
        .containsExactly(List.of(Map.entry("exception", Map.of("exception.type", "KeyError"))));
  }

  @ParameterizedTest
  @ValueSource(strings = {"5B8E", "5B8EFFF798038103D269B633813FC60", "zz", ""})
  void badIdsCostTheirSpanAlone(String id) throws Exception {
    decode(request(SPAN.replace("5B8EFFF798038103D269B633813FC60C", id) + "," + SPAN));

    assertThat(sink.rejected).containsExactly("invalid_trace_id");
    assertThat(sink.spans).hasSize(1);
  }

  @Test
  void emptyRequestHasNoSpans() throws Exception {
    decode("{}");

    assertThat(sink.isEmpty()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{} {}",
        "{\"resourceSpans\":{}}",
        "{\"resourceSpans\":[1]}",
        "{\"resourceSpans\":[null]}",
        "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"name\":1}]}]}]}",
        "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"kind\":1.5}]}]}]}",
        "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"kind\":\"x\"}]}]}]}",
        "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"startTimeUnixNano\":\"99999999999999999999\"}]}]}]}",
        "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"value\":{\"bytesValue\":\"%\"}}]}}]}",
        "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"value\":{\"boolValue\":\"true\"}}]}}]}",
      })
  void whatIsNotOtlpJsonIsMalformed(String json) {
    assertThatThrownBy(() -> decode(json))
        .isInstanceOf(MalformedPayloadException.class)
        .hasMessageNotContaining("resourceSpans");
    assertThat(sink.isEmpty()).isTrue();
  }

  @Test
  void truncationAtAnyByteEmitsNothing() {
    byte[] whole = request(SPAN).getBytes(StandardCharsets.UTF_8);
    for (int length = 0; length < whole.length - 1; length++) {
      byte[] part = Arrays.copyOf(whole, length);
      assertThatThrownBy(() -> decoder.decode(part, sink))
          .isInstanceOf(MalformedPayloadException.class);
    }
    assertThat(sink.isEmpty()).isTrue();
  }

  @Test
  void nestingIsBounded() {
    assertThatThrownBy(() -> decode("{\"x\":" + "[".repeat(100_000)))
        .isInstanceOf(MalformedPayloadException.class);
  }

  private static String request(String spans) {
    return """
    {"resourceSpans":[{"resource":{"attributes":[{"key":"service.name",
     "value":{"stringValue":"my.service"}}]},"scopeSpans":[{"scope":{"name":"my.library"},
     "spans":[%s]}]}]}\
    """
        .formatted(spans);
  }

  private void decode(String json) throws MalformedPayloadException {
    decoder.decode(json.getBytes(StandardCharsets.UTF_8), sink);
  }
}
