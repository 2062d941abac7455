package org.traceetl.server.features.push;

import java.nio.charset.StandardCharsets;

/** Reads the fields of a message of Protocol Buffers that a receiver sent: it may be anything. */
final class ProtobufFields {
  static final int VARINT = 0;
  static final int BYTES = 2;

  private static final int TYPE_BITS = 3;
  private static final int FIXED_64 = 1;
  private static final int FIXED_32 = 5;

  private final byte[] body;
  private final int end;
  private int at;

  // Of the current field.
  private int field;
  private int type;
  private long value;

  /** Number of its bytes, which end at the position. */
  private int length;

  /**
   * @param body may be cut off
   */
  ProtobufFields(byte[] body) {
    this(body, 0, body.length);
  }

  private ProtobufFields(byte[] body, int from, int end) {
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

  /** Returns whether the current field has a number and a type. */
  boolean is(int number, int ofType) {
    return field == number && type == ofType;
  }

  /** Returns the current field, of type {@link #VARINT}. */
  long value() {
    return value;
  }

  /** Returns the current field, of type {@link #BYTES}, as text. */
  String text() {
    return new String(body, at - length, length, StandardCharsets.UTF_8);
  }

  /** Returns the current field, of type {@link #BYTES}, as a message. */
  ProtobufFields message() {
    return new ProtobufFields(body, at - length, at);
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
