package org.traceetl.perf.systest.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.util.HexFormat;
import java.util.List;

/** An {@code ExportTraceServiceRequest} of one service's spans, as protobuf. */
final class OtlpRequest {
  private static final int VARINT = 0;
  private static final int FIXED64 = 1;
  private static final int BYTES = 2;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  private OtlpRequest() {}

  /**
   * @param spans at least one, all of one service
   */
  static byte[] of(List<SentSpan> spans) {
    byte[] serviceName = attribute("service.name", spans.getFirst().service());
    OtlpRequest scope = new OtlpRequest();
    for (SentSpan span : spans) {
      scope.bytes(2, encoded(span));
    }
    byte[] resourceSpans =
        new OtlpRequest()
            .bytes(1, new OtlpRequest().bytes(1, serviceName).done())
            .bytes(2, scope.done())
            .done();
    return new OtlpRequest().bytes(1, resourceSpans).done();
  }

  private static byte[] encoded(SentSpan span) {
    return new OtlpRequest()
        .bytes(1, HexFormat.of().parseHex(span.traceId()))
        .bytes(2, HexFormat.of().parseHex(span.spanId()))
        .text(5, span.name())
        .number(6, span.kind())
        .fixed(7, span.startUnixNanos())
        .fixed(8, span.startUnixNanos() + span.durationNanos())
        .bytes(9, attribute(SentSpan.INTERVAL, span.interval()))
        .bytes(15, new OtlpRequest().number(3, span.status()).done())
        .done();
  }

  private static byte[] attribute(String key, String value) {
    return new OtlpRequest().text(1, key).bytes(2, new OtlpRequest().text(1, value).done()).done();
  }

  private OtlpRequest text(int field, String text) {
    return bytes(field, text.getBytes(UTF_8));
  }

  private OtlpRequest bytes(int field, byte[] bytes) {
    varint(field << 3 | BYTES);
    varint(bytes.length);
    out.writeBytes(bytes);
    return this;
  }

  private OtlpRequest number(int field, long value) {
    varint(field << 3 | VARINT);
    varint(value);
    return this;
  }

  private OtlpRequest fixed(int field, long value) {
    varint(field << 3 | FIXED64);
    for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
      out.write((int) (value >>> shift));
    }
    return this;
  }

  private void varint(long value) {
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      out.write((int) (rest & 0x7f | 0x80));
      rest >>>= 7;
    }
    out.write((int) rest);
  }

  private byte[] done() {
    return out.toByteArray();
  }
}
