package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class RoundTripTest {
  private final SpanBatchWriter writer = new SpanBatchWriter();
  private final SpanBatchReader reader = new SpanBatchReader();

  @Test
  void whatIsWrittenIsRead() {
    writer.begin();
    writer.application(intern("checkout"));
    writer.resourceAttribute(intern("service.name"), intern("checkout"));
    writer.startSpan(1, 2, 3, 4, intern("GET /"), 2, 1, 1_000_000_000_000L, 5_000_000L, 0);
    for (int i = 0; i < 12; i++) {
      writer.attribute(intern("key" + i), intern("value" + i));
    }
    writer.endSpan();
    writer.startSpan(1, 2, -5, 0, intern("POST /"), 3, 2, 999_999_000_000L, 7, 1L << 55);
    writer.statusMessage(intern("boom"));
    writer.endSpan();
    int bound = writer.sizeBytes();
    int length = writer.finish(10, 11, 12, 13);
    assertThat(length).isLessThanOrEqualTo(bound);

    assertThat(reader.wrap(writer.buffer(), 0, length)).isEqualTo(Rejection.NONE);
    assertThat(reader.agentHigh()).isEqualTo(10);
    assertThat(reader.agentLow()).isEqualTo(11);
    assertThat(reader.epoch()).isEqualTo(12);
    assertThat(reader.sequence()).isEqualTo(13);
    assertThat(reader.spanCount()).isEqualTo(2);
    assertThat(string(reader.application())).isEqualTo("checkout");
    assertThat(reader.resourceAttributeCount()).isEqualTo(1);
    assertThat(string(reader.resourceAttributeKey(0))).isEqualTo("service.name");

    assertThat(reader.next()).isTrue();
    assertThat(reader.traceIdHigh()).isEqualTo(1);
    assertThat(reader.traceIdLow()).isEqualTo(2);
    assertThat(reader.spanId()).isEqualTo(3);
    assertThat(reader.parentSpanId()).isEqualTo(4);
    assertThat(string(reader.name())).isEqualTo("GET /");
    assertThat(reader.kind()).isEqualTo(2);
    assertThat(reader.status()).isEqualTo(1);
    assertThat(reader.startUnixNanos()).isEqualTo(1_000_000_000_000L);
    assertThat(reader.durationNanos()).isEqualTo(5_000_000L);
    assertThat(reader.statusMessage()).isEqualTo(-1);
    assertThat(reader.attributeCount()).isEqualTo(12);
    for (int i = 0; i < 12; i++) {
      assertThat(string(reader.attributes()[2 * i])).isEqualTo("key" + i);
      assertThat(string(reader.attributes()[2 * i + 1])).isEqualTo("value" + i);
    }

    assertThat(reader.next()).isTrue();
    assertThat(reader.spanId()).isEqualTo(-5);
    assertThat(reader.parentSpanId()).isZero();
    assertThat(reader.startUnixNanos()).isEqualTo(999_999_000_000L);
    assertThat(reader.samplingThreshold()).isEqualTo(1L << 55);
    assertThat(string(reader.statusMessage())).isEqualTo("boom");
    assertThat(reader.attributeCount()).isZero();

    assertThat(reader.next()).isFalse();
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
  }

  @Test
  void hexIsReadAndWritten() {
    byte[] hex = "0123456789abcdefFEDCBA9876543210".getBytes(UTF_8);
    assertThat(TraceId.isHex(hex, 0)).isTrue();
    assertThat(SpanId.parseHex(hex, 0)).isEqualTo(0x0123456789abcdefL);
    assertThat(SpanId.parseHex(hex, 16)).isEqualTo(0xfedcba9876543210L);
    assertThat(TraceId.toHex(0x0123456789abcdefL, 0xfedcba9876543210L))
        .isEqualTo("0123456789abcdeffedcba9876543210");
    for (int c = 0; c < 256; c++) {
      byte[] one = "0000000000000000".getBytes(UTF_8);
      for (int at = 0; at < one.length; at++) {
        one[at] = (byte) c;
        assertThat(SpanId.isHex(one, 0)).isEqualTo(c < 128 && Character.digit(c, 16) >= 0);
        one[at] = '0';
      }
    }
  }

  private int intern(String string) {
    byte[] bytes = string.getBytes(UTF_8);
    return writer.intern(bytes, 0, bytes.length);
  }

  private String string(int index) {
    return new String(
        reader.buffer(), reader.dictionaryOffset(index), reader.dictionaryLength(index), UTF_8);
  }
}
