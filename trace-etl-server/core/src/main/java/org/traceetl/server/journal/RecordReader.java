package org.traceetl.server.journal;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Reads what {@link RecordWriter} wrote. The bytes may be anything: whatever does not fit is a
 * {@link MalformedRecordException}, and nothing is allocated for what the bytes left cannot hold.
 * One thread at a time.
 */
final class RecordReader {
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

  /** Bytes not read yet. */
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

  /** Any 64 bits. */
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

  /** An unsigned number up to {@code max}; below 0 there is none. */
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

  /** An unsigned number that a long holds. */
  long amount(String what) throws MalformedRecordException {
    return upTo(Long.MAX_VALUE, what);
  }

  /** How many things follow, each of at least so many bytes. */
  int count(int minBytes, String what) throws MalformedRecordException {
    long count = unsigned();
    return (int) checkUpTo(count, left() / minBytes, what);
  }

  /** A text, or null. */
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

  /** A text that is there. */
  String text(String what) throws MalformedRecordException {
    String text = text();
    if (text == null) {
      throw malformed("has no " + what);
    }
    return text;
  }

  /** Numbers into {@code values[from, from + length)}, which are 0. */
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

  /** All has been read. */
  void end() throws MalformedRecordException {
    if (at != end) {
      throw malformed("goes on after its end");
    }
  }

  MalformedRecordException malformed(String why) {
    return new MalformedRecordException("record " + why + " (at byte " + (at - begin) + ")");
  }
}
