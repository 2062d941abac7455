package org.traceetl.agent.source.ring;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.sun.management.ThreadMXBean;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.otlp.OtlpWriter;
import org.traceetl.agent.otlp.OtlpWriter.LeftOut;
import org.traceetl.agent.otlp.SpanEncoder;
import org.traceetl.agent.otlp.Written;
import org.traceetl.proto.ring.RingGolden;
import org.traceetl.proto.ring.RingLayout;
import org.traceetl.proto.ring.RingRecords;
import org.traceetl.proto.ring.RingSpan;

/** Compares what is encoded with messages of the generated classes. */
final class RingSpanEncoderTest {
  @TempDir private Path directory;

  @Test
  void everythingThatARingHoldsIsEncoded() throws Exception {
    TestRing ring = new TestRing(directory, RingGolden.SPANS);

    Written written = Written.of(ring.encoder(), ring.payload());

    ScopeSpans.Builder spans = ScopeSpans.newBuilder();
    RingGolden.SPANS.forEach(span -> spans.addSpans(expected(span)));
    assertThat(written.requests)
        .containsExactly(
            ExportTraceServiceRequest.newBuilder()
                .addResourceSpans(
                    ResourceSpans.newBuilder()
                        .setResource(
                            Resource.newBuilder()
                                .addAllAttributes(values(RingGolden.ordered("a", "b", "n", 7L))))
                        .addScopeSpans(spans))
                .build());
    assertThat(written.spans).containsExactly(RingGolden.SPANS.size());
    assertThat(written.leftOut).isEmpty();
    assertThat(ring.encoder().spans(ring.payload(), ring.payload().length))
        .isEqualTo(RingGolden.SPANS.size());
  }

  @Test
  void spansThatDoNotCountAreLeftOutAndCounted() throws Exception {
    RingSpan good = RingSpan.numbered(1);
    RingSpan noId = new RingSpan(1, 2, 0, 0, 1, 1, 2, 0, 0, -1, "op", "", Map.of(), List.of());
    TestRing ring = new TestRing(directory, List.of(good, noId, good));

    Written written = Written.of(ring.encoder(), ring.payload());

    assertThat(written.spans).containsExactly(2);
    assertThat(written.leftOut).containsExactly(LeftOut.MALFORMED);
    assertThat(ring.encoder().spans(ring.payload(), ring.payload().length)).isEqualTo(3);
  }

  @Test
  void bytesForWhichThereIsNoRoomAreNotCopied() throws Exception {
    Map<String, Object> attributes = Map.of("b", new RingSpan.Base64("QUJD".repeat(5_000)));
    List<RingSpan> spans = Collections.nCopies(20, withAttributes(attributes));
    TestRing ring = new TestRing(directory, spans);
    SpanEncoder encoder = ring.encoder();
    byte[] payload = ring.payload();
    // Once before, so that classes are loaded.
    assertThat(Written.of(encoder, payload).spans).containsExactly(20);

    Written written = new Written();
    OtlpWriter writer = almostFull(written);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    encoder.encode(payload, payload.length, writer);
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;

    assertThat(written.leftOut).hasSize(20).containsOnly(LeftOut.TOO_LARGE);
    assertThat(allocated).isLessThan(20 * 20_000 / 4);
  }

  @Test
  void aSpanIsNotReadFurtherOnceItIsTooLarge() throws Exception {
    String text = "x".repeat(15_000);
    TestRing ring = new TestRing(directory, List.of(withAttributes(Map.of("a", text))));
    byte[] payload = ring.payload();
    RingRecords records = new RingRecords();
    assertThat(records.wrap(payload, payload.length)).isTrue();
    assertThat(records.next()).isTrue();
    // It declares attributes that are missing.
    payload[records.bodyOffset() + RingLayout.ATTRIBUTES_OFFSET] = 100;

    assertThat(Written.of(ring.encoder(), payload).leftOut).containsExactly(LeftOut.MALFORMED);
    Written written = new Written();
    ring.encoder().encode(payload, payload.length, almostFull(written));
    assertThat(written.leftOut).containsExactly(LeftOut.TOO_LARGE);
  }

  /** Returns a writer with room for 10,000 bytes of its payload. */
  private static OtlpWriter almostFull(Written written) {
    OtlpWriter writer = new OtlpWriter(written);
    writer.payload(0);
    writer.span(1, 2, 3, 0);
    int length = OtlpWriter.USUAL_BYTES - 10_000;
    writer.name(new byte[length], 0, length);
    writer.endSpan();
    return writer;
  }

  private static RingSpan withAttributes(Map<String, Object> attributes) {
    return new RingSpan(1, 2, 3, 0, 1, 1, 2, 0, 0, -1, "op", "", attributes, List.of());
  }

  private static Span expected(RingSpan span) {
    Span.Builder expected =
        Span.newBuilder()
            .setTraceId(id(span.traceIdHigh(), span.traceIdLow()))
            .setSpanId(id(span.spanId()))
            .setName(span.name())
            .setKindValue(span.kind())
            .setStartTimeUnixNano(span.startUnixNanos())
            .setEndTimeUnixNano(span.startUnixNanos() + span.durationNanos())
            .addAllAttributes(values(span.attributes()))
            .setStatus(
                Status.newBuilder().setCodeValue(span.status()).setMessage(span.statusMessage()));
    if (span.parentSpanId() != 0) {
      expected.setParentSpanId(id(span.parentSpanId()));
    }
    if (span.randomness() >= 0) {
      expected.setTraceState("ot=th:c;rv:6e6d1a75b4f3e1");
    }
    span.events()
        .forEach(event ->
            expected.addEvents(
                Span.Event.newBuilder()
                    .setTimeUnixNano(span.startUnixNanos() + event.offsetNanos())
                    .setName(event.name())
                    .addAllAttributes(values(event.attributes()))));
    span.links()
        .forEach(link ->
            expected.addLinks(
                Span.Link.newBuilder()
                    .setTraceId(id(link.traceIdHigh(), link.traceIdLow()))
                    .setSpanId(id(link.spanId()))));
    return expected.build();
  }

  private static List<KeyValue> values(Map<String, Object> attributes) {
    List<KeyValue> values = new ArrayList<>();
    attributes.forEach((key, value) -> {
      AnyValue.Builder any = AnyValue.newBuilder();
      switch (value) {
        case String text -> any.setStringValue(text);
        case Long integer -> any.setIntValue(integer);
        case Boolean bool -> any.setBoolValue(bool);
        case Double real -> any.setDoubleValue(real);
        case RingSpan.Base64 bytes ->
            any.setBytesValue(ByteString.copyFrom(Base64.getDecoder().decode(bytes.text())));
        case RingSpan.Json array -> any.setStringValue(array.text());
        default -> throw new IllegalArgumentException(key);
      }
      values.add(KeyValue.newBuilder().setKey(key).setValue(any).build());
    });
    return values;
  }

  private static ByteString id(long... words) {
    ByteBuffer bytes = ByteBuffer.allocate(words.length * Long.BYTES);
    for (long word : words) {
      bytes.putLong(word);
    }
    return ByteString.copyFrom(bytes.array());
  }
}
