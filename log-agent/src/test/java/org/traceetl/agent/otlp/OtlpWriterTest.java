package org.traceetl.agent.otlp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.otlp.OtlpWriter.LeftOut;

final class OtlpWriterTest {
  private final Written written = new Written();
  private final OtlpWriter writer = new OtlpWriter(written);

  @Test
  void lengthsOfAnySizeAreRight() {
    writer.payload(1 << 20);
    for (int length : new int[] {0, 1, 60, 126, 127, 128, 129, 16_383, 16_384, 200_000}) {
      span(length);
    }
    writer.end();

    assertThat(spans())
        .extracting(span -> span.getAttributes(0).getValue().getStringValue().length())
        .containsExactly(0, 1, 60, 126, 127, 128, 129, 16_383, 16_384, 200_000);
    assertThat(written.spans).containsExactly(10);
  }

  @Test
  void aRequestEndsAtItsUsualSizeAndTheNextOneHasTheSameResource() {
    writer.payload(1 << 20);
    writer.resource(() -> attribute("service.name", "a".getBytes(UTF_8)));
    for (int i = 0; i < 25; i++) {
      span(100_000);
    }
    writer.resource(() -> attribute("service.name", "b".getBytes(UTF_8)));
    span(1);
    writer.endPayload();
    writer.end();
    writer.end();

    assertThat(written.spans).containsExactly(11, 11, 4);
    assertThat(written.requests)
        .allMatch(request -> request.getSerializedSize() < OtlpWriter.USUAL_BYTES + 110_000);
    assertThat(written.requests.stream().map(OtlpWriterTest::applications))
        .containsExactly(List.of("a"), List.of("a"), List.of("a", "b"));
  }

  @Test
  void aSpanThatIsTooLargeCostsOnlyItself() {
    writer.payload(1 << 20);
    span(1);
    span(OtlpWriter.MOST_BYTES);
    span(2);
    span(OtlpWriter.MOST_BYTES - 1_000);
    span(OtlpWriter.MOST_BYTES - 10);
    // The resource is left out with the span that would have opened it.
    writer.resource(() -> attribute("large", new byte[OtlpWriter.MOST_BYTES]));
    span(3);
    writer.end();

    assertThat(written.leftOut)
        .containsExactly(LeftOut.TOO_LARGE, LeftOut.TOO_LARGE, LeftOut.TOO_LARGE);
    assertThat(written.spans).containsExactly(3);
    assertThat(written.requests.getFirst().getSerializedSize())
        .isLessThanOrEqualTo(OtlpWriter.MOST_BYTES);
  }

  @Test
  void aSmallPayloadCannotFillTheDisk() {
    writer.payload(10);
    for (int i = 0; i < 20; i++) {
      span(200_000);
    }
    writer.end();

    assertThat(spans()).hasSize(5);
    assertThat(written.leftOut).hasSize(15).containsOnly(LeftOut.TOO_LARGE);
  }

  @Test
  void spansThatAreLeftOutAreChargedToTheirPayload() {
    int[] runs = new int[1];
    writer.payload(10);
    writer.resource(() -> runs[0]++);
    for (int i = 0; i < 100; i++) {
      writer.span(1, 2, 3, 0);
      for (int j = 0; j < 100_000 && !writer.isFull(); j++) {
        attribute("a", new byte[1]);
      }
      writer.abandonSpan(LeftOut.MALFORMED);
    }
    span(1);
    writer.end();

    assertThat(written.requests).isEmpty();
    assertThat(written.leftOut.getLast()).isEqualTo(LeftOut.TOO_LARGE);
    // Two spans use nearly all, and the next few the rest.
    assertThat(runs[0]).isBetween(2, 10);
    // From then on no resource is written, until the next payload.
    runs[0] = 0;
    writer.resource(() -> runs[0]++);
    span(1);
    assertThat(runs[0]).isZero();
    writer.payload(10);
    span(1);
    assertThat(runs[0]).isEqualTo(1);
  }

  @Test
  void aSpanIsFullAtTheLimitOfItsPayload() {
    writer.payload(10);
    span(OtlpWriter.USUAL_BYTES - 10_000);
    writer.span(1, 2, 3, 0);
    assertThat(writer.isFull()).isFalse();
    assertThat(writer.hasRoom(5_000)).isTrue();
    assertThat(writer.hasRoom(15_000)).isFalse();
    assertThat(writer.isFull()).isTrue();
    writer.endSpan();
    span(1);
    writer.end();

    assertThat(written.spans).containsExactly(2);
    assertThat(written.leftOut).containsExactly(LeftOut.TOO_LARGE);
  }

  @Test
  void aResourceThatDoesNotFitIsWrittenOnceAndCostsOnlyItsSpans() {
    int[] runs = new int[1];
    writer.payload(1 << 20);
    writer.resource(() -> {
      runs[0]++;
      attribute("small", new byte[100_000]);
      attribute("large", new byte[OtlpWriter.MOST_BYTES]);
    });
    for (int i = 0; i < 10; i++) {
      span(1);
    }
    writer.resource(() -> attribute("service.name", "b".getBytes(UTF_8)));
    span(1);
    writer.endPayload();
    writer.end();

    assertThat(runs[0]).isEqualTo(1);
    assertThat(written.leftOut).hasSize(10).containsOnly(LeftOut.TOO_LARGE);
    assertThat(written.spans).containsExactly(1);
    assertThat(applications(written.requests.getFirst())).containsExactly("b");
  }

  @Test
  void anAbandonedSpanLeavesNothing() {
    writer.payload(100);
    writer.span(1, 2, 3, 4);
    attribute("a", new byte[] {'x'});
    writer.abandonSpan(LeftOut.MALFORMED);
    writer.span(1, 2, 3, 4);
    writer.endPayload();
    assertThat(writer.hasSpans()).isFalse();
    writer.end();
    assertThat(written.requests).isEmpty();
    span(1);
    writer.end();

    assertThat(spans()).hasSize(1);
    assertThat(written.leftOut).containsExactly(LeftOut.MALFORMED, LeftOut.MALFORMED);
  }

  @Test
  void textsThatAreNotUtf8AreRepaired() {
    writer.payload(100);
    writer.span(1, 2, 3, 0);
    writer.name(new byte[] {'a', (byte) 0xff, 'b'}, 0, 3);
    writer.endSpan();
    writer.end();

    assertThat(spans().getFirst().getName()).isEqualTo("a\ufffdb");
  }

  private void span(int valueLength) {
    writer.span(1, 2, 3, 0);
    byte[] value = new byte[valueLength];
    Arrays.fill(value, (byte) 'x');
    attribute("a", value);
    writer.endSpan();
  }

  private void attribute(String key, byte[] value) {
    writer.key(key.getBytes(UTF_8), 0, key.length());
    writer.value(value, 0, value.length);
  }

  private static List<String> applications(ExportTraceServiceRequest request) {
    return request.getResourceSpansList().stream()
        .map(each -> each.getResource().getAttributes(0).getValue().getStringValue())
        .toList();
  }

  private List<Span> spans() {
    return written.requests.stream()
        .flatMap(request -> request.getResourceSpansList().stream())
        .flatMap((ResourceSpans each) -> each.getScopeSpans(0).getSpansList().stream())
        .toList();
  }
}
