package org.traceetl.exporter.ring;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** The layout of a ring's file, and access to it; see docs/ring.md. */
final class RingFormat {
  static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  static final VarHandle INT =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  static final byte[] MAGIC = "TETLRING".getBytes(StandardCharsets.US_ASCII);
  static final int VERSION = 1;

  static final int HEADER_BYTES = 12;
  static final int DICTIONARY_BYTES = 16;
  static final int RING_BYTES = 24;
  static final int PROCESS_ID = 32;
  static final int PROCESS_START = 40;
  static final int BOOT_ID = 48;
  static final int RESOURCE_BYTES = 64;
  static final int RESOURCE_ATTRIBUTES = 68;
  static final int TAIL = 128;
  static final int DICTIONARY_END = 256;
  static final int DROPPED_RING_FULL = 264;
  static final int DROPPED_TOO_LARGE = 272;
  static final int HEAD = 384;
  static final int ASLEEP = 392;
  static final int RESOURCE = 1024;

  static final int PAGE = 4096;
  static final int MAX_HEADER_BYTES = 131_072;

  static final int RECORD_HEADER_BYTES = 8;
  static final int MAX_RECORD_BYTES = 65_536;
  static final int TYPE_PADDING = 1;
  static final int TYPE_SPAN = 2;

  static final int MAX_ENTRY_BYTES = 65_535;

  static final String SUFFIX = ".ring";
  static final String WAKE = "wake";

  private RingFormat() {}

  /** Returns the bytes that a record of {@code length} bytes takes. */
  static int aligned(int length) {
    return length + 7 & ~7;
  }
}
