package org.traceetl.standalone;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;

/**
 * A request of OTLP in Protobuf whose spans have different, known sizes. Each span is a server's.
 */
final class SizedSpans {
  static final String SERVICE = "sized";
  static final int COUNT = 200;

  private static final int TEXT = 2;
  private static final int NUMBER_OF_8_BYTES = 1;
  private static final int TRACE_ID_BYTES = 16;
  private static final int SPAN_ID_BYTES = 8;
  private static final byte SERVER = 2;

  private final byte[] request;
  private long bytes;

  SizedSpans() {
    ByteArrayOutputStream scope = new ByteArrayOutputStream();
    for (int number = 1; number <= COUNT; number++) {
      byte[] span = span(number);
      bytes += span.length;
      text(scope, 2, span);
    }
    ByteArrayOutputStream resource = new ByteArrayOutputStream();
    text(resource, 1, attribute("service.name", SERVICE));
    ByteArrayOutputStream resourceSpans = new ByteArrayOutputStream();
    text(resourceSpans, 1, resource.toByteArray());
    text(resourceSpans, 2, scope.toByteArray());
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    text(all, 1, resourceSpans.toByteArray());
    request = all.toByteArray();
  }

  byte[] request() {
    return request.clone();
  }

  /** Returns the sum of the spans' bytes, each without its tag and length. */
  long bytes() {
    return bytes;
  }

  private static byte[] span(int number) {
    long endNanos = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());
    ByteArrayOutputStream span = new ByteArrayOutputStream();
    text(span, 1, ByteBuffer.allocate(TRACE_ID_BYTES).putLong(8, number).array());
    text(span, 2, ByteBuffer.allocate(SPAN_ID_BYTES).putLong(number).array());
    text(span, 5, ("GET /" + number % 2).getBytes(UTF_8));
    span.write(6 << 3);
    span.write(SERVER);
    fixed64(span, 7, endNanos - TimeUnit.MILLISECONDS.toNanos(5));
    fixed64(span, 8, endNanos);
    text(span, 9, attribute("db.query.text", "x".repeat(number)));
    return span.toByteArray();
  }

  private static byte[] attribute(String key, String value) {
    ByteArrayOutputStream any = new ByteArrayOutputStream();
    text(any, 1, value.getBytes(UTF_8));
    ByteArrayOutputStream attribute = new ByteArrayOutputStream();
    text(attribute, 1, key.getBytes(UTF_8));
    text(attribute, 2, any.toByteArray());
    return attribute.toByteArray();
  }

  private static void text(ByteArrayOutputStream to, int field, byte[] content) {
    to.write(field << 3 | TEXT);
    int rest = content.length;
    while (rest > 0x7f) {
      to.write(rest | 0x80);
      rest >>>= 7;
    }
    to.write(rest);
    to.writeBytes(content);
  }

  private static void fixed64(ByteArrayOutputStream to, int field, long value) {
    to.write(field << 3 | NUMBER_OF_8_BYTES);
    to.writeBytes(
        ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array());
  }
}
