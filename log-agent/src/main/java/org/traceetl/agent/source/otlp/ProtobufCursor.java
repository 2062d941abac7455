package org.traceetl.agent.source.otlp;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * A position in protobuf bytes. Every read takes the end of the enclosing message and never crosses
 * it.
 *
 * <p>Errors set a flag and do not throw. A read that fails sets {@link #broken}, moves to the given
 * end and returns 0. So loops of the form {@code while (position < end)} end, and the caller checks
 * {@code broken} once. Not thread-safe.
 */
final class ProtobufCursor {
  static final int VARINT = 0;
  static final int FIXED64 = 1;
  static final int LENGTH_DELIMITED = 2;
  static final int FIXED32 = 5;

  private static final VarHandle LITTLE_ENDIAN =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle BIG_ENDIAN =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final int MAX_VARINT_BYTES = 10;
  private static final int AHEAD_BYTES = 4096;
  private static final int CACHE_LINE_BYTES = 64;

  byte[] bytes = new byte[0];
  int position;
  boolean broken;
  // Up to here, bytes were loaded into the processor's cache.
  private int loaded;
  // Keeps the loads from being removed.
  int seen;

  /** Returns a field's tag as {@link #tag} returns it. */
  static int tagOf(int field, int wireType) {
    return field << 3 | wireType;
  }

  void reset(byte[] newBytes) {
    bytes = newBytes;
    position = 0;
    broken = false;
    loaded = 0;
  }

  /**
   * Loads the next bytes into the processor's cache. A walk from field to field would wait for
   * memory at each one, because its place depends on the length of the one before.
   */
  void loadAhead(int end) {
    if (loaded - position < AHEAD_BYTES && loaded < end) {
      int from = Math.max(loaded, position);
      int to = Math.min(end, position + 2 * AHEAD_BYTES);
      int all = 0;
      for (int at = from; at < to; at += CACHE_LINE_BYTES) {
        all |= bytes[at];
      }
      seen = all;
      loaded = to;
    }
  }

  /** Reads the next field's number and wire type. */
  int tag(int end) {
    long tag = varint(end);
    if (tag >>> 3 == 0 || tag >>> 32 != 0) {
      fail(end);
      return 0;
    }
    return (int) tag;
  }

  /** Reads a varint of at most 10 bytes. */
  long varint(int end) {
    int at = position;
    if (at < end && bytes[at] >= 0) {
      position = at + 1;
      return bytes[at];
    }
    long value = 0;
    int stop = Math.min(end, at + MAX_VARINT_BYTES);
    for (int shift = 0; at < stop; shift += 7) {
      byte b = bytes[at++];
      value |= (b & 0x7FL) << shift;
      if (b >= 0) {
        position = at;
        return value;
      }
    }
    fail(end);
    return 0;
  }

  /** Reads a length and returns the end of the bytes it covers, at most {@code end}. */
  int enter(int end) {
    long length = varint(end);
    if (length < 0 || length > end - position) {
      fail(end);
      return end;
    }
    return position + (int) length;
  }

  long fixed64(int end) {
    if (end - position < Long.BYTES) {
      fail(end);
      return 0;
    }
    long value = littleEndian(bytes, position);
    position += Long.BYTES;
    return value;
  }

  /** Returns eight bytes at {@code offset}, least significant first. */
  static long littleEndian(byte[] bytes, int offset) {
    return (long) LITTLE_ENDIAN.get(bytes, offset);
  }

  /** Returns whether a field with this tag and length begins at {@code offset}. */
  boolean isField(int offset, int tag, int length) {
    return bytes[offset] == tag && bytes[offset + 1] == length;
  }

  /** Returns eight bytes at {@code offset}, most significant first; the position does not move. */
  long bigEndian(int offset) {
    return (long) BIG_ENDIAN.get(bytes, offset);
  }

  /** Skips the value of a field; a group is an error. */
  void skip(int tag, int end) {
    switch (tag & 7) {
      case VARINT -> varint(end);
      case FIXED64 -> advance(Long.BYTES, end);
      case LENGTH_DELIMITED -> position = enter(end);
      case FIXED32 -> advance(Integer.BYTES, end);
      default -> fail(end);
    }
  }

  private void advance(int count, int end) {
    if (end - position < count) {
      fail(end);
    } else {
      position += count;
    }
  }

  private void fail(int end) {
    broken = true;
    position = end;
  }
}
