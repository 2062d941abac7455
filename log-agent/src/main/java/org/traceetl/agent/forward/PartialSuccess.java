package org.traceetl.agent.forward;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads the number of rejected spans from an {@code ExportTraceServiceResponse}. */
final class PartialSuccess {
  private static final Pattern JSON = Pattern.compile("\"rejectedSpans\"\\s*:\\s*\"?(\\d{1,18})");

  /** Field 1 of the response, a message. */
  private static final int PARTIAL_SUCCESS = 1 << 3 | 2;

  /** Field 1 of that message, a varint. */
  private static final int REJECTED_SPANS = 1 << 3;

  private PartialSuccess() {}

  /** Returns the number; 0 if the body is something else. */
  static long rejectedSpans(byte[] body, boolean isJson) {
    if (isJson) {
      Matcher number = JSON.matcher(new String(body, ISO_8859_1));
      return number.find() ? Long.parseLong(number.group(1)) : 0;
    }
    ByteBuffer in = ByteBuffer.wrap(body);
    try {
      if (in.hasRemaining() && varint(in) == PARTIAL_SUCCESS && varint(in) > 0) {
        // Writers put fields in ascending order, and leave out a number that is 0.
        return varint(in) == REJECTED_SPANS ? Math.max(0, varint(in)) : 0;
      }
    } catch (BufferUnderflowException e) {
      // Cut off, or not such a message.
    }
    return 0;
  }

  private static long varint(ByteBuffer in) {
    long value = 0;
    for (int shift = 0; shift < Long.SIZE; shift += 7) {
      byte next = in.get();
      value |= (next & 0x7FL) << shift;
      if (next >= 0) {
        break;
      }
    }
    return value;
  }
}
