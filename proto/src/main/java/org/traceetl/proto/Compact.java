package org.traceetl.proto;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** What writer and reader share of Thrift's compact protocol and of {@code span_batch.thrift}. */
final class Compact {
  // Types as they stand in field and list headers.
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

  /** A list of more elements than 14 says so in its header and gives the count as a varint. */
  static final int LONG_LIST = 15;

  // Fields of SpanBatch.
  static final int VERSION = 1;
  static final int AGENT = 2;
  static final int EPOCH = 3;
  static final int SEQUENCE = 4;
  static final int SPAN_COUNT = 5;
  static final int DICTIONARY = 6;
  static final int APPLICATION = 7;
  static final int RESOURCE = 8;
  static final int BASE_UNIX_NANOS = 9;
  static final int SPANS = 10;

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

  static final int FORMAT_VERSION = 1;
  static final int AGENT_BYTES = 16;

  /** Length of a span's IDs without and with a parent. */
  static final int ROOT_IDS_BYTES = 24;

  static final int CHILD_IDS_BYTES = 32;

  static final int MAX_KIND = 5;
  static final int MAX_STATUS = 2;

  /** Sampling thresholds stay below. */
  static final long THRESHOLD_END = 1L << 56;

  /** IDs on the wire. */
  static final VarHandle LONG_BIG_ENDIAN =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  /** Eight bytes at once, the first one lowest. */
  static final VarHandle LONG_LITTLE_ENDIAN =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private Compact() {}

  /** Header of a field whose ID is {@code delta}, 1 to 15, above that of the field before. */
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
}
