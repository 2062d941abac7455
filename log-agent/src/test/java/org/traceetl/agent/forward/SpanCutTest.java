package org.traceetl.agent.forward;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import com.google.protobuf.UnknownFieldSet.Field;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.source.otlp.OtlpProtobufDecoder;
import org.traceetl.agent.source.otlp.RandomRequests;

/** Compares with the generated classes, and damages requests that a decoder still accepts. */
final class SpanCutTest {
  private static final Field UNKNOWN =
      Field.newBuilder()
          .addVarint(-1)
          .addFixed32(7)
          .addFixed64(8)
          .addLengthDelimited(ByteString.copyFromUtf8("unknown"))
          .build();

  @Property(tries = 300)
  void whatIsLeftIsTheRequestWithoutTheOtherSpans(@ForAll long seed) throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    ExportTraceServiceRequest.Builder all = ExportTraceServiceRequest.newBuilder();
    ExportTraceServiceRequest.Builder left = ExportTraceServiceRequest.newBuilder();
    BitSet kept = new BitSet();
    int span = 0;
    for (int i = random.nextInt(4); i > 0; i--) {
      ResourceSpans.Builder resource =
          ResourceSpans.newBuilder()
              .setSchemaUrl("x".repeat(random.nextInt(200)))
              .setUnknownFields(unknown(random));
      resource.getResourceBuilder().setDroppedAttributesCount(i).setUnknownFields(unknown(random));
      ResourceSpans.Builder ofLeft = resource.clone();
      for (int j = random.nextInt(4); j > 0; j--) {
        ScopeSpans.Builder scope =
            ScopeSpans.newBuilder().setSchemaUrl("scope").setUnknownFields(unknown(random));
        ScopeSpans.Builder scopeOfLeft = scope.clone();
        for (int k = random.nextInt(5); k > 0; k--) {
          // Lengths of the messages around them have one to three bytes.
          Span each =
              Span.newBuilder()
                  .setName(span + "x".repeat(random.nextInt(2) * random.nextInt(20_000)))
                  .build();
          scope.addSpans(each);
          if (random.nextInt(3) == 0) {
            kept.set(span);
            scopeOfLeft.addSpans(each);
          }
          span++;
        }
        resource.addScopeSpans(scope);
        if (scopeOfLeft.getSpansCount() > 0) {
          ofLeft.addScopeSpans(scopeOfLeft);
        }
      }
      all.addResourceSpans(resource);
      if (ofLeft.getScopeSpansCount() > 0) {
        left.addResourceSpans(ofLeft);
      }
    }
    UnknownFieldSet unknown = unknown(random);
    byte[] request = all.setUnknownFields(unknown).build().toByteArray();
    byte[] array = Arrays.copyOf(request, request.length + 3);
    int length = SpanCut.cut(array, request.length, kept);

    assertThat(Arrays.copyOf(array, length))
        .isEqualTo(left.setUnknownFields(unknown).build().toByteArray());
  }

  private static UnknownFieldSet unknown(SplittableRandom random) {
    return random.nextInt(3) == 0
        ? UnknownFieldSet.newBuilder().addField(100_000, UNKNOWN).build()
        : UnknownFieldSet.getDefaultInstance();
  }

  @Test
  void lengthsLongerThanNeededAreAccepted() throws Exception {
    // A request, resource, scope and span, each with a length of ten bytes.
    byte[] request =
        wrapped(1, wrapped(2, wrapped(2, new byte[] {42, 1, 'a'}), new byte[] {18, 0}));
    BitSet kept = new BitSet();
    kept.set(0);
    int length = SpanCut.cut(request, request.length, kept);

    ExportTraceServiceRequest left =
        ExportTraceServiceRequest.parseFrom(Arrays.copyOf(request, length));
    assertThat(left.getResourceSpans(0).getScopeSpans(0).getSpansList())
        .extracting(Span::getName)
        .containsExactly("a");
  }

  private static byte[] wrapped(int field, byte[]... content) {
    int length = Arrays.stream(content).mapToInt(each -> each.length).sum();
    byte[] all = new byte[11 + length];
    all[0] = (byte) (field << 3 | 2);
    all[1] = (byte) (length | 0x80);
    Arrays.fill(all, 2, 10, (byte) 0x80);
    int at = 11;
    for (byte[] each : content) {
      System.arraycopy(each, 0, all, at, each.length);
      at += each.length;
    }
    return all;
  }

  @Property(tries = 1_000)
  void damagedRequestsLoseExactlyTheOtherSpans(@ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    byte[] request = new RandomRequests(seed).next();
    for (int i = random.nextInt(4); i > 0; i--) {
      request[random.nextInt(request.length)] = (byte) random.nextInt();
    }
    List<String> all;
    try {
      all = spans(request, request.length);
    } catch (MalformedPayloadException e) {
      return;
    }
    BitSet kept = new BitSet();
    List<String> left = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      if (random.nextBoolean()) {
        kept.set(i);
        left.add(all.get(i));
      }
    }
    int length = SpanCut.cut(request, request.length, kept);

    assertThat(length).isLessThanOrEqualTo(request.length);
    try {
      assertThat(spans(request, length)).isEqualTo(left);
    } catch (MalformedPayloadException e) {
      throw new AssertionError(e);
    }
  }

  /** Returns the spans, also the rejected ones, in their order. */
  private static List<String> spans(byte[] request, int length) throws MalformedPayloadException {
    List<String> spans = new ArrayList<>();
    new OtlpProtobufDecoder()
        .decode(
            request,
            length,
            new SpanSink() {
              @Override
              public void resource(Attributes attributes) {}

              @Override
              public boolean span(SpanView span) {
                return spans.add(
                    span.traceIdLow + " " + span.spanId + " " + span.sizeBytes + " " + span.kind);
              }

              @Override
              public void rejected(String reason) {
                spans.add(reason);
              }
            });
    return spans;
  }
}
