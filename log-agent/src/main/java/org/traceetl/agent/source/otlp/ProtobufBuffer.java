package org.traceetl.agent.source.otlp;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes protobuf bytes. Each opened message reserves five bytes for its length. {@link #close}
 * writes a varint of that width and moves no bytes; {@link #closeShort} writes the shortest varint
 * and moves the message. Not thread-safe.
 */
final class ProtobufBuffer {
  private static final int LENGTH_BYTES = 5;

  private byte[] bytes;
  private int position;

  ProtobufBuffer(int initialCapacity) {
    bytes = new byte[initialCapacity];
  }

  /** Returns the array with the bytes, valid until the next write. */
  byte[] bytes() {
    return bytes;
  }

  int length() {
    return position;
  }

  void clear() {
    position = 0;
  }

  byte[] toByteArray() {
    return Arrays.copyOf(bytes, position);
  }

  ProtobufBuffer varint(int field, long value) {
    reserve(2 * 10);
    rawVarint(ProtobufCursor.tagOf(field, ProtobufCursor.VARINT));
    rawVarint(value);
    return this;
  }

  ProtobufBuffer fixed64(int field, long value) {
    reserve(10 + Long.BYTES);
    rawVarint(ProtobufCursor.tagOf(field, ProtobufCursor.FIXED64));
    for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
      bytes[position++] = (byte) (value >>> shift);
    }
    return this;
  }

  ProtobufBuffer bytes(int field, byte[] value) {
    reserve(2 * 10 + value.length);
    rawVarint(ProtobufCursor.tagOf(field, ProtobufCursor.LENGTH_DELIMITED));
    rawVarint(value.length);
    System.arraycopy(value, 0, bytes, position, value.length);
    position += value.length;
    return this;
  }

  ProtobufBuffer string(int field, String value) {
    return bytes(field, value.getBytes(StandardCharsets.UTF_8));
  }

  /** Opens a message, to which all bytes written until {@link #close} belong. */
  int open(int field) {
    reserve(10 + LENGTH_BYTES);
    rawVarint(ProtobufCursor.tagOf(field, ProtobufCursor.LENGTH_DELIMITED));
    position += LENGTH_BYTES;
    return position;
  }

  /** Closes the message with this mark, which then has the bytes that senders of protobuf write. */
  void closeShort(int mark) {
    int length = position - mark;
    position = mark - LENGTH_BYTES;
    rawVarint(length);
    System.arraycopy(bytes, mark, bytes, position, length);
    position += length;
  }

  /** Closes the message with this mark. */
  void close(int mark) {
    int length = position - mark;
    for (int at = mark - LENGTH_BYTES; at < mark - 1; at++) {
      bytes[at] = (byte) (length | 0x80);
      length >>>= 7;
    }
    bytes[mark - 1] = (byte) length;
  }

  private void rawVarint(long value) {
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      bytes[position++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    bytes[position++] = (byte) rest;
  }

  private void reserve(int count) {
    if (position + count > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(position + count, 2 * bytes.length));
    }
  }
}
