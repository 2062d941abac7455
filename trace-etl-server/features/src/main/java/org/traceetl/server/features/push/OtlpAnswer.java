package org.traceetl.server.features.push;

import java.nio.charset.StandardCharsets;

/**
 * The points that a receiver did not take, by its {@code ExportMetricsServiceResponse}.
 *
 * @param rejected number of points; 0 if the answer is not such a message
 * @param message why
 */
record OtlpAnswer(long rejected, String message) {
  private static final int PARTIAL_SUCCESS = 1;
  private static final int REJECTED_POINTS = 1;
  private static final int ERROR_MESSAGE = 2;

  private static final int TYPE_BITS = 3;
  private static final int VARINT = 0;
  private static final int FIXED_64 = 1;
  private static final int BYTES = 2;
  private static final int FIXED_32 = 5;

  /**
   * Reads an answer. A receiver may send anything.
   *
   * @param body may be cut off
   */
  static OtlpAnswer read(byte[] body) {
    Fields answer = new Fields(body, 0, body.length);
    while (answer.next()) {
      if (answer.field == PARTIAL_SUCCESS && answer.type == BYTES) {
        return read(new Fields(body, answer.at - answer.length, answer.at));
      }
    }
    return new OtlpAnswer(0, "");
  }

  private static OtlpAnswer read(Fields partial) {
    long rejected = 0;
    String message = "";
    while (partial.next()) {
      if (partial.field == REJECTED_POINTS && partial.type == VARINT) {
        rejected = Math.max(0, partial.value);
      } else if (partial.field == ERROR_MESSAGE && partial.type == BYTES) {
        message =
            new String(
                partial.body, partial.at - partial.length, partial.length, StandardCharsets.UTF_8);
      }
    }
    return new OtlpAnswer(rejected, message);
  }

  /** The fields of a message. */
  private static final class Fields {
    private final byte[] body;
    private final int end;
    private int at;

    // Of the current field.
    private int field;
    private int type;
    private long value;

    /** Number of its bytes, which end at the position. */
    private int length;

    Fields(byte[] body, int from, int end) {
      this.body = body;
      at = from;
      this.end = end;
    }

    /** Reads a field; returns false at the end, and before what is not a field. */
    boolean next() {
      if (at >= end) {
        return false;
      }
      long tag = varint();
      field = (int) (tag >>> TYPE_BITS);
      type = (int) tag & (1 << TYPE_BITS) - 1;
      switch (type) {
        case VARINT -> value = varint();
        case FIXED_64 -> skip(Long.BYTES);
        case BYTES -> skip(varint());
        case FIXED_32 -> skip(Integer.BYTES);
        default -> {
          return false;
        }
      }
      return true;
    }

    /** Skips bytes; the last ones may be cut off. */
    private void skip(long bytes) {
      length = Math.clamp(bytes, 0, end - at);
      at += length;
    }

    private long varint() {
      long result = 0;
      for (int shift = 0; shift < Long.SIZE && at < end; shift += 7) {
        byte octet = body[at++];
        result |= (octet & 0x7fL) << shift;
        if (octet >= 0) {
          break;
        }
      }
      return result;
    }
  }
}
