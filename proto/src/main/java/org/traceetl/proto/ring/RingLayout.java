package org.traceetl.proto.ring;

/**
 * The layout of a ring's file, as {@code docs/ring.md} describes it. Writers in other modules and
 * languages repeat these numbers; golden files check all of them.
 *
 * <p>All numbers are little-endian. Offsets and sizes are bytes. The file is the header, H bytes,
 * then the dictionary, D bytes, then the ring itself, C bytes.
 */
public final class RingLayout {
  /** First bytes of the file: ASCII {@code TETLRING} as a number. */
  public static final long MAGIC = 0x474E_4952_4C54_4554L;

  /** Version of the format. */
  public static final int VERSION = 1;

  // Offsets of the header's fields, from the file's start.

  /** 8 bytes. */
  public static final int MAGIC_OFFSET = 0;

  /** 4 bytes. */
  public static final int VERSION_OFFSET = 8;

  /** 4 bytes: H. */
  public static final int HEADER_BYTES_OFFSET = 12;

  /** 8 bytes: D. */
  public static final int DICTIONARY_BYTES_OFFSET = 16;

  /** 8 bytes: C. */
  public static final int RING_BYTES_OFFSET = 24;

  /** 8 bytes: the writer's process ID in its own view. */
  public static final int PROCESS_ID_OFFSET = 32;

  /** 8 bytes: when the writer's process started, milliseconds since 1970. */
  public static final int PROCESS_START_OFFSET = 40;

  /** 16 bytes: the host's boot ID; zeros if unknown. */
  public static final int BOOT_ID_OFFSET = 48;

  /** 4 bytes: R, the length of the resource. */
  public static final int RESOURCE_BYTES_OFFSET = 64;

  /** 4 bytes: the resource's attributes. */
  public static final int RESOURCE_ATTRIBUTES_OFFSET = 68;

  /** 8 bytes: bytes claimed since the start. Writers set it by compare-and-set. */
  public static final int TAIL_OFFSET = 128;

  /** 8 bytes: bytes of the dictionary that are valid. */
  public static final int DICTIONARY_END_OFFSET = 256;

  /** 8 bytes: spans that the writers dropped because the ring was full. */
  public static final int DROPPED_RING_FULL_OFFSET = 264;

  /** 8 bytes: spans that the writers dropped because they were too large. */
  public static final int DROPPED_TOO_LARGE_OFFSET = 272;

  /** 8 bytes: bytes consumed and cleared since the start. Only the reader sets it. */
  public static final int HEAD_OFFSET = 384;

  /** 4 bytes: 1 while the reader sleeps and must be woken, else 0. */
  public static final int ASLEEP_OFFSET = 392;

  /** Start of the resource, which is also the length of the fields before. */
  public static final int RESOURCE_OFFSET = 1_024;

  // Limits of sizes.

  /** H and D are multiples of it. */
  public static final int PAGE_BYTES = 4_096;

  /** Largest H; the smallest is a page. */
  public static final int MAX_HEADER_BYTES = 131_072;

  /** Largest D; the smallest is a page. */
  public static final int MAX_DICTIONARY_BYTES = 16 * 1024 * 1024;

  /** Smallest C, which is a power of two. */
  public static final long MIN_RING_BYTES = 64 * 1024;

  /** Largest C. */
  public static final long MAX_RING_BYTES = 1L << 30;

  /** Longest entry of the dictionary without its length; the shortest has 1 byte. */
  public static final int MAX_ENTRY_BYTES = 65_535;

  // Records.

  /** Records begin at multiples of it. */
  public static final int ALIGNMENT = 8;

  /** Header of a record: length and type, 4 bytes each. */
  public static final int RECORD_HEADER_BYTES = 8;

  /** Offset of the type in a record. */
  public static final int RECORD_TYPE_OFFSET = 4;

  /** Type of a record that fills the ring up to its end. */
  public static final int TYPE_PADDING = 1;

  /** Type of a span. */
  public static final int TYPE_SPAN = 2;

  // A span: offsets from the start of the record's body.

  /** 8 bytes. */
  public static final int TRACE_ID_HIGH_OFFSET = 0;

  /** 8 bytes. */
  public static final int TRACE_ID_LOW_OFFSET = 8;

  /** 8 bytes. */
  public static final int SPAN_ID_OFFSET = 16;

  /** 8 bytes, 0 for none. */
  public static final int PARENT_SPAN_ID_OFFSET = 24;

  /** 8 bytes: nanoseconds since 1970. */
  public static final int START_OFFSET = 32;

  /** 8 bytes: nanoseconds, at least 0. */
  public static final int DURATION_OFFSET = 40;

  /** 1 byte: 0 to 5, as in OTLP. */
  public static final int KIND_OFFSET = 48;

  /** 1 byte: 0 to 2, as in OTLP. */
  public static final int STATUS_OFFSET = 49;

  /** 1 byte: the flags below. */
  public static final int FLAGS_OFFSET = 50;

  /** 1 byte: number of links, which are the last bytes of the body. Writers write at most 128. */
  public static final int LINKS_OFFSET = 51;

  /** 4 bytes: number of attributes. */
  public static final int ATTRIBUTES_OFFSET = 52;

  /** Bytes of a span's fixed fields, before its name. */
  public static final int SPAN_FIXED_BYTES = 56;

  /** Bytes of a link: both halves of the trace ID, as in a span, and the span ID. */
  public static final int LINK_BYTES = 24;

  /** Flag: a sampling threshold follows, 8 bytes. */
  public static final int FLAG_THRESHOLD = 1;

  /** Flag: a randomness follows, 8 bytes. */
  public static final int FLAG_RANDOMNESS = 2;

  /** Flag: a status message follows the name. */
  public static final int FLAG_STATUS_MESSAGE = 4;

  /** Flag: events follow the attributes. */
  public static final int FLAG_EVENTS = 8;

  // Types of values.

  /** Value: a string follows. */
  public static final int VALUE_STRING = 0;

  /** Value: false. */
  public static final int VALUE_FALSE = 1;

  /** Value: true. */
  public static final int VALUE_TRUE = 2;

  /** Value: a zigzag varint follows. */
  public static final int VALUE_INTEGER = 3;

  /** Value: 8 bytes of a double follow. */
  public static final int VALUE_DOUBLE = 4;

  /** Value: an array or a map, as a string of JSON. */
  public static final int VALUE_JSON = 5;

  /** Value: bytes, as a string in base64. */
  public static final int VALUE_BASE64 = 6;

  private RingLayout() {}

  /**
   * Returns the length of the longest record of a ring.
   *
   * @param ringBytes C
   */
  public static int maxRecordBytes(long ringBytes) {
    return (int) Math.min(ringBytes / 4, 65_536);
  }

  /** Returns the bytes that a record of this length takes. */
  public static long takenBytes(long length) {
    return length + ALIGNMENT - 1 & -ALIGNMENT;
  }
}
