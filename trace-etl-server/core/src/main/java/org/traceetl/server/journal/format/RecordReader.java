package org.traceetl.server.journal.format;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Reads what {@link RecordWriter} wrote. The bytes may be arbitrary: malformed ones cause a {@link
 * MalformedRecordException}, and allocations are limited by the remaining bytes. For one thread at
 * a time.
 */
public final class RecordReader {
  private static final VarHandle FIXED =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private final byte[] bytes;
  private final int begin;
  private final int end;
  private final List<String> texts = new ArrayList<>();
  private int at;

  /** Reads the record in {@code bytes[offset, offset + length)}. */
  RecordReader(byte[] bytes, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    this.bytes = bytes;
    begin = offset;
    at = offset;
    end = offset + length;
  }

  /** Returns the number of unread bytes. */
  int left() {
    return end - at;
  }

  int octet() throws MalformedRecordException {
    if (at == end) {
      throw malformed("ends inside a value");
    }
    return bytes[at++] & 0xFF;
  }

  long fixed() throws MalformedRecordException {
    if (left() < Long.BYTES) {
      throw malformed("ends inside a value");
    }
    long value = (long) FIXED.get(bytes, at);
    at += Long.BYTES;
    return value;
  }

  /** Reads any 64 bits. */
  long unsigned() throws MalformedRecordException {
    long value = 0;
    for (int shift = 0; shift < Long.SIZE; shift += 7) {
      long next = octet();
      value |= (next & 0x7F) << shift;
      if (next < 0x80) {
        if (shift == 63 && next > 1) {
          break;
        }
        return value;
      }
    }
    throw malformed("has a varint of more than 64 bits");
  }

  long signed() throws MalformedRecordException {
    long zigZag = unsigned();
    return zigZag >>> 1 ^ -(zigZag & 1);
  }

  /** Reads an unsigned number up to {@code max}; none is valid if that is negative. */
  long upTo(long max, String what) throws MalformedRecordException {
    return checkUpTo(unsigned(), max, what);
  }

  private long checkUpTo(long value, long max, String what) throws MalformedRecordException {
    if (value < 0 || value > max) {
      throw malformed(
          "has " + what + " = " + Long.toUnsignedString(value) + ": must be at most " + max);
    }
    return value;
  }

  /** Reads an unsigned number that fits a long. */
  long amount(String what) throws MalformedRecordException {
    return upTo(Long.MAX_VALUE, what);
  }

  /** Reads a number of elements of at least the given size each. */
  int count(int minBytes, String what) throws MalformedRecordException {
    long count = unsigned();
    return (int) checkUpTo(count, left() / minBytes, what);
  }

  /** Reads a text, or null. */
  String text() throws MalformedRecordException {
    long kind = unsigned();
    if (kind == RecordWriter.NULL) {
      return null;
    }
    if (kind == RecordWriter.NEW) {
      int length = count(1, "bytes of a text");
      String text = new String(bytes, at, length, UTF_8);
      at += length;
      texts.add(text);
      return text;
    }
    long known = kind - RecordWriter.KNOWN;
    if (known < 0 || known >= texts.size()) {
      throw malformed("refers to text " + Long.toUnsignedString(known) + " of " + texts.size());
    }
    return texts.get((int) known);
  }

  /** Reads a text that must not be null. */
  String text(String what) throws MalformedRecordException {
    String text = text();
    if (text == null) {
      throw malformed("has no " + what);
    }
    return text;
  }

  /** Reads numbers into {@code values[from, from + length)}, which must be 0. */
  void sparse(long[] values, int from, int length, String what) throws MalformedRecordException {
    int bitmap = at;
    int bitmapBytes = RecordWriter.sparseBytes(length);
    if (left() < bitmapBytes) {
      throw malformed("ends inside " + what);
    }
    at += bitmapBytes;
    for (int i = 0; i < length; i++) {
      if ((bytes[bitmap + i / Byte.SIZE] >> i % Byte.SIZE & 1) != 0) {
        values[from + i] = amount(what);
      }
    }
  }

  /**
   * Skips bytes.
   *
   * @param bytes at most {@link #left()}
   * @return a reader of these bytes, which has no texts yet
   */
  RecordReader part(int bytes) {
    at += Objects.checkIndex(bytes, left() + 1);
    return new RecordReader(this.bytes, at - bytes, bytes);
  }

  /** Requires that all bytes were read. */
  void end() throws MalformedRecordException {
    if (at != end) {
      throw malformed("goes on after its end");
    }
  }

  MalformedRecordException malformed(String why) {
    return new MalformedRecordException("record " + why + " (at byte " + (at - begin) + ")");
  }
}
