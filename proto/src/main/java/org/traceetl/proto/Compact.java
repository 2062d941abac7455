package org.traceetl.proto;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The common parts of writers and readers: Thrift's compact protocol, {@code span_batch.thrift} and
 * {@code edge_batch.thrift}.
 */
final class Compact {
  // Types in field and list headers.
  static final int BOOLEAN_TRUE = 1;
  static final int BOOLEAN_FALSE = 2;
  static final int BYTE = 3;
  static final int I16 = 4;
  static final int I32 = 5;
  static final int I64 = 6;
  static final int DOUBLE = 7;
  static final int BINARY = 8;
  static final int LIST = 9;
  static final int SET = 10;
  static final int MAP = 11;
  static final int STRUCT = 12;
  static final int UUID = 13;

  /** Ends a struct. */
  static final int STOP = 0;

  /** In a list header: more than 14 elements; the count follows as a varint. */
  static final int LONG_LIST = 15;

  // Fields of every batch.
  static final int VERSION = 1;
  static final int AGENT = 2;
  static final int EPOCH = 3;
  static final int SEQUENCE = 4;
  static final int COUNT = 5;
  static final int DICTIONARY = 6;

  // Fields of SpanBatch.
  static final int APPLICATION = 7;
  static final int RESOURCE = 8;
  static final int BASE_UNIX_NANOS = 9;
  static final int SPANS = 10;
  static final int GROUPS = 11;
  static final int DEMAND = 12;
  static final int GROUP_KEYS = 13;
  static final int SAMPLES = 15;
  static final int SAMPLED = 16;
  static final int SAMPLE_THRESHOLD = 17;
  static final int SIZES = 18;

  // Fields of Span.
  static final int IDS = 1;
  static final int NAME = 2;
  static final int KIND = 3;
  static final int STATUS = 4;
  static final int START_DELTA_NANOS = 5;
  static final int DURATION_NANOS = 6;
  static final int ATTRIBUTES = 7;
  static final int SAMPLING_THRESHOLD = 8;
  static final int STATUS_MESSAGE = 9;
  static final int EVENTS = 10;

  // Fields of SpanGroup.
  static final int GROUP_NAME = 1;
  static final int GROUP_KIND = 2;
  static final int GROUP_STATUS = 3;
  static final int GROUP_ATTRIBUTES = 4;
  static final int GROUP_SAMPLING_THRESHOLD = 5;
  static final int GROUP_DURATIONS_NANOS = 6;
  static final int GROUP_EVENTS = 7;
  static final int GROUP_PAIRS = 8;

  // Fields of EdgeBatch.
  static final int EDGE_GROUPS = 10;

  // Fields of EdgeGroup.
  static final int EDGE_APPLICATION = 1;
  static final int EDGE_NAMESPACE = 2;
  static final int EDGE_FAILED = 3;
  static final int EDGE_CONNECTION_TYPE = 4;
  static final int EDGE_PEER = 5;
  static final int EDGE_SAMPLING_THRESHOLD = 6;
  static final int EDGE_DIMENSIONS = 7;
  static final int EDGE_SIDE = 8;
  static final int EDGE_KEYS = 9;
  static final int EDGE_DURATIONS_NANOS = 10;
  static final int EDGE_MESSAGE_STEPS_MICROS = 11;

  static final int FORMAT_VERSION = 1;

  /** Version of a batch with groups. */
  static final int FORMAT_VERSION_WITH_GROUPS = 2;

  /** Version of a batch of half-edges. */
  static final int FORMAT_VERSION_OF_EDGES = 3;

  static final int AGENT_BYTES = 16;

  /** Length of the key and the check of a half-edge. */
  static final int EDGE_KEY_BYTES = 10;

  /** Most bytes of a dictionary index as a varint: {@code 2 * 262,143} has 19 bits. */
  static final int INDEX_BYTES = 3;

  /** Length of a span's IDs without and with a parent. */
  static final int ROOT_IDS_BYTES = 24;

  static final int CHILD_IDS_BYTES = 32;

  static final int MAX_KIND = 5;
  static final int MAX_STATUS = 2;

  /** The lowest side of a message. */
  static final int PRODUCER = 3;

  static final int MAX_SIDE = 4;
  static final int MAX_CONNECTION_TYPE = 2;
  static final int MAX_CHECK = 0xffff;

  /** Upper bound of sampling thresholds, exclusive. */
  static final long THRESHOLD_END = 1L << 56;

  /** Access to IDs on the wire. */
  static final VarHandle LONG_BIG_ENDIAN =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  /** Access to eight bytes, the lowest first. */
  static final VarHandle LONG_LITTLE_ENDIAN =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** Access to four bytes, the lowest first. */
  static final VarHandle INT_LITTLE_ENDIAN =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private static final long CONTINUATION_BITS = 0x8080_8080_8080_8080L;

  private Compact() {}

  /** Returns the header of a field whose ID is {@code delta}, 1 to 15, above the previous one. */
  static byte field(int delta, int type) {
    return (byte) (delta << 4 | type);
  }

  static long zigZag(long value) {
    return value << 1 ^ value >> 63;
  }

  static long unZigZag(long encoded) {
    return encoded >>> 1 ^ -(encoded & 1);
  }

  static int unZigZag(int encoded) {
    return encoded >>> 1 ^ -(encoded & 1);
  }

  /** Writes a varint of at most 10 bytes and returns its end. */
  static int putVarint(byte[] out, int at, long value) {
    int end = at;
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      out[end++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    out[end++] = (byte) rest;
    return end;
  }

  /**
   * Writes a dictionary index and returns its end. May write one byte after the end, which must
   * exist.
   */
  static int putIndex(byte[] out, int at, int index) {
    int value = index << 1;
    if (value >= 1 << 14) {
      return putVarint(out, at, value);
    }
    // Branch-free, because one or two bytes are not predictable.
    int more = (0x7f - value) >>> 31;
    out[at] = (byte) (value | more << 7);
    out[at + 1] = (byte) (value >>> 7);
    return at + 1 + more;
  }

  static int putListHeader(byte[] out, int at, int type, int count) {
    if (count < LONG_LIST) {
      out[at] = (byte) (count << 4 | type);
      return at + 1;
    }
    out[at] = (byte) (LONG_LIST << 4 | type);
    return putVarint(out, at + 1, count);
  }

  static int putIndexes(byte[] out, int at, int[] indexes, int length) {
    int end = putListHeader(out, at, I32, length);
    for (int i = 0; i < length; i++) {
      end = putIndex(out, end, indexes[i]);
    }
    return end;
  }

  static int putLong(byte[] out, int at, long value) {
    LONG_BIG_ENDIAN.set(out, at, value);
    return at + Long.BYTES;
  }

  static long longAt(byte[] in, int at) {
    return (long) LONG_BIG_ENDIAN.get(in, at);
  }

  /** Checks an argument that must be 0 to {@code max}. */
  static void checkRange(String name, long value, long max) {
    if (value < 0 || value > max) {
      throw new IllegalArgumentException(name + " = " + value + " is not in 0 to " + max);
    }
  }

  /** Returns the array, or a larger copy if {@code more} bytes do not fit after {@code used}. */
  static byte[] grown(byte[] array, int used, int more) {
    int needed = used + more;
    return needed <= array.length
        ? array
        : Arrays.copyOf(array, Math.max(needed, 2 * array.length));
  }

  // Numbers for the fast paths, which do not test every byte

  /** Returns a zigzag number as an index; a negative one is odd, which gives an invalid index. */
  static int indexOf(int zigZag) {
    return Integer.rotateRight(zigZag, 1);
  }

  /** Returns the length of the dictionary index in the lowest bytes of {@code word}: 1 to 3. */
  static int indexLength(long word) {
    if ((word & 0x80) == 0) {
      return 1;
    }
    return (word & 0x8000) == 0 ? 2 : 3;
  }

  /**
   * Returns the dictionary index in the lowest bytes of {@code word}; an invalid one if it is
   * negative or longer.
   */
  static int index(long word, int length) {
    int low = (int) word;
    int zigZag =
        switch (length) {
          case 1 -> low & 0x7f;
          case 2 -> low & 0x7f | low >> 1 & 0x3f80;
          // An index of four or more bytes keeps its continuation bit.
          default -> low & 0x7f | low >> 1 & 0x3f80 | (byte) (low >> 16) << 14;
        };
    return indexOf(zigZag);
  }

  /** Returns the length of the varint in the lowest bytes of {@code word}; 9 if longer than 8. */
  static int varintLength(long word) {
    return (Long.numberOfTrailingZeros(~word & CONTINUATION_BITS) >>> 3) + 1;
  }

  /**
   * Returns the varint of 1 to 8 bytes in the lowest bytes of {@code word}; of a longer one, the
   * part in 8 bytes.
   */
  static long varint(long word) {
    long stops = ~word & CONTINUATION_BITS;
    // Keeps the bytes up to the first stop bit, then closes the gaps in bytes, pairs and fours.
    long groups = word & (stops ^ (stops - 1)) & ~CONTINUATION_BITS;
    groups = (groups & 0x007f_007f_007f_007fL) | ((groups & 0x7f00_7f00_7f00_7f00L) >>> 1);
    groups = (groups & 0x0000_3fff_0000_3fffL) | ((groups & 0x3fff_0000_3fff_0000L) >>> 2);
    return (groups & 0x0fff_ffffL) | ((groups & 0x0fff_ffff_0000_0000L) >>> 4);
  }
}
