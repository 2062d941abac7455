package org.traceetl.proto;

import java.util.Objects;

/**
 * A cursor over one {@code SpanBatch} message. It reads in place: no object per span, no {@code
 * String}; arrays are kept from message to message.
 *
 * <p>Use: {@link #wrap}; if it answers {@link Rejection#NONE}, {@link #next} until false; then
 * {@link #rejection} tells whether the batch ended well. A batch refused midway must not count, so
 * callers collect before they record. Unknown fields are skipped. No content of a message makes it
 * throw, nor allocate more than {@link Limits} and the message's own length justify.
 *
 * <p>Every index it gives out is inside the dictionary. The bytes of the dictionary are not checked
 * to be UTF-8: they are compared as bytes, and who renders one replaces what is malformed.
 *
 * <p>Not thread-safe: one owner, who leaves the message's bytes alone while reading.
 */
public final class SpanBatchReader {
  private static final int NONE = -1;

  /** Deepest nesting of unknown fields that is skipped. */
  private static final int MAX_DEPTH = 16;

  /** Fewest bytes of a span: its required fields, one byte for each number. */
  private static final int MIN_SPAN_BYTES = 37;

  /** Most bytes of fields 1 to 6 and a list header as the fast path takes them, with some spare. */
  private static final int FAST_HEAD_BYTES = 80;

  /** Most bytes of what follows the attributes as the fast path takes it, with some spare. */
  private static final int FAST_TAIL_BYTES = 32;

  /** Most bytes of a dictionary index: {@code 2 * 262,143} has 19 bits. */
  private static final int INDEX_BYTES = 3;

  private static final long CONTINUATION_BITS = 0x8080_8080_8080_8080L;

  private static final int BATCH_REQUIRED =
      1 << Compact.VERSION
          | 1 << Compact.AGENT
          | 1 << Compact.EPOCH
          | 1 << Compact.SEQUENCE
          | 1 << Compact.SPAN_COUNT
          | 1 << Compact.DICTIONARY
          | 1 << Compact.APPLICATION
          | 1 << Compact.BASE_UNIX_NANOS;

  /** Having seen these, nothing after the spans can matter. */
  private static final int BATCH_HEAD = BATCH_REQUIRED | 1 << Compact.RESOURCE;

  private static final int SPAN_REQUIRED =
      1 << Compact.IDS
          | 1 << Compact.NAME
          | 1 << Compact.KIND
          | 1 << Compact.STATUS
          | 1 << Compact.START_DELTA_NANOS
          | 1 << Compact.DURATION_NANOS;

  private byte[] buffer = new byte[0];
  private int pos;
  private int limit;
  private Rejection rejection = Rejection.NONE;

  /** The last field read of the struct being read: its ID and its type. */
  private int fieldId;

  private int fieldType;

  private int seenBatchFields;
  private long agentHigh;
  private long agentLow;
  private long epoch;
  private long sequence;
  private int spanCount;
  private int[] dictionaryOffsets = new int[256];
  private int[] dictionaryLengths = new int[256];
  private int dictionarySize;
  private int application = NONE;
  private final int[] resource = new int[2 * Limits.MAX_ATTRIBUTES];
  private int resourceAttributeCount;
  private long baseUnixNanos;

  /** Spans not read yet. */
  private int spansLeft;

  /** Whether the fields after the spans, if any, have been read. */
  private boolean tailRead;

  private long traceIdHigh;
  private long traceIdLow;
  private long spanId;
  private long parentSpanId;
  private int name;
  private int kind;
  private int status;
  private long startUnixNanos;
  private long durationNanos;
  private long samplingThreshold;
  private int statusMessage;
  private final int[] attributes = new int[2 * Limits.MAX_ATTRIBUTES];
  private int attributeCount;

  /**
   * Reads everything up to the spans.
   *
   * @return {@link Rejection#NONE}, or why the message is refused
   * @throws IndexOutOfBoundsException if {@code [offset, offset + length)} is not inside the array
   */
  public Rejection wrap(byte[] buffer, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, buffer.length);
    this.buffer = buffer;
    pos = offset;
    limit = offset + length;
    rejection = Rejection.NONE;
    seenBatchFields = 0;
    agentHigh = 0;
    agentLow = 0;
    epoch = 0;
    sequence = 0;
    spanCount = 0;
    dictionarySize = 0;
    application = NONE;
    resourceAttributeCount = 0;
    baseUnixNanos = 0;
    spansLeft = 0;
    tailRead = false;
    attributeCount = 0;
    if (length > Limits.MAX_MESSAGE_BYTES) {
      return refuse(Rejection.TOO_LARGE);
    }
    readHead();
    return rejection;
  }

  /** Moves to the next span. False at the end and when the batch is refused: {@link #rejection}. */
  public boolean next() {
    if (spansLeft == 0) {
      attributeCount = 0;
      if (!tailRead && rejection == Rejection.NONE) {
        fieldId = Compact.SPANS;
        readTail();
      }
      return false;
    }
    spansLeft--;
    return readExpectedSpan() || readAnySpan();
  }

  /** Why the batch was refused; {@link Rejection#NONE} while nothing is wrong with it. */
  public Rejection rejection() {
    return rejection;
  }

  /** The array given to {@link #wrap}. */
  public byte[] buffer() {
    return buffer;
  }

  // The batch

  public long agentHigh() {
    return agentHigh;
  }

  public long agentLow() {
    return agentLow;
  }

  public long epoch() {
    return epoch;
  }

  /** At least 0. */
  public long sequence() {
    return sequence;
  }

  /**
   * Spans that the batch declares, 0 to {@link Limits#MAX_SPANS}; 0 when it was refused before that
   * field was read. When {@link #next} has answered false with no rejection it equals the spans
   * read.
   */
  public int spanCount() {
    return spanCount;
  }

  /** Entries of the dictionary. */
  public int dictionarySize() {
    return dictionarySize;
  }

  /** Where entry {@code index} starts in {@link #buffer}. */
  public int dictionaryOffset(int index) {
    return dictionaryOffsets[index];
  }

  /** Length of entry {@code index}, bytes. */
  public int dictionaryLength(int index) {
    return dictionaryLengths[index];
  }

  /** Dictionary index of the application; -1 when the batch was refused before it was read. */
  public int application() {
    return application;
  }

  public int resourceAttributeCount() {
    return resourceAttributeCount;
  }

  /** Dictionary index of the key of resource attribute {@code i}. */
  public int resourceAttributeKey(int i) {
    return resource[2 * i];
  }

  /** Dictionary index of the value of resource attribute {@code i}. */
  public int resourceAttributeValue(int i) {
    return resource[2 * i + 1];
  }

  // The span at the cursor

  public long traceIdHigh() {
    return traceIdHigh;
  }

  public long traceIdLow() {
    return traceIdLow;
  }

  public long spanId() {
    return spanId;
  }

  /** 0 for a root span. */
  public long parentSpanId() {
    return parentSpanId;
  }

  /** Dictionary index. */
  public int name() {
    return name;
  }

  /** As in OTLP, 0 to 5. */
  public int kind() {
    return kind;
  }

  /** As in OTLP, 0 to 2. */
  public int status() {
    return status;
  }

  public long startUnixNanos() {
    return startUnixNanos;
  }

  /** At least 0. */
  public long durationNanos() {
    return durationNanos;
  }

  /** 0 when the span stands for itself alone; below 2^56. */
  public long samplingThreshold() {
    return samplingThreshold;
  }

  /** Dictionary index of the status message, or -1. */
  public int statusMessage() {
    return statusMessage;
  }

  public int attributeCount() {
    return attributeCount;
  }

  /**
   * Keys and values of the span's attributes as dictionary indexes: key i at {@code 2 * i}, value i
   * at {@code 2 * i + 1}, for i below {@link #attributeCount}. Valid until {@link #next}.
   */
  public int[] attributes() {
    return attributes;
  }

  // The batch's fields. Once a rejection is set, reads answer 0 and callers leave.

  private void readHead() {
    fieldId = 0;
    while (readFieldHeader()) {
      if (fieldId != Compact.SPANS) {
        readBatchField();
        continue;
      }
      int count = readListHeader(Compact.STRUCT, Limits.MAX_SPANS, MIN_SPAN_BYTES);
      int spansStart = pos;
      if ((seenBatchFields & BATCH_HEAD) != BATCH_HEAD) {
        // Fields may follow that callers want before the spans: read them first, then come back.
        skipElements(Compact.STRUCT, count, 0);
        fieldId = Compact.SPANS;
        readTail();
      }
      if ((seenBatchFields & BATCH_REQUIRED) != BATCH_REQUIRED) {
        refuse(Rejection.MISSING_FIELD);
      } else if (count != spanCount) {
        refuse(Rejection.BAD_LENGTH);
      }
      if (rejection == Rejection.NONE) {
        pos = spansStart;
        spansLeft = count;
      }
      return;
    }
    refuse(Rejection.MISSING_FIELD);
  }

  /** Reads what stands after the spans. */
  private void readTail() {
    while (readFieldHeader()) {
      if (fieldId == Compact.SPANS) {
        refuse(Rejection.MALFORMED);
      } else {
        readBatchField();
      }
    }
    if (pos != limit) {
      refuse(Rejection.MALFORMED);
    }
    tailRead = true;
  }

  private void readBatchField() {
    int id = fieldId;
    if (id < Compact.VERSION || id > Compact.SPANS) {
      skip(fieldType, 0);
      fieldId = id;
      return;
    }
    seenBatchFields = seenOnce(seenBatchFields, id);
    if (rejection != Rejection.NONE) {
      return;
    }
    switch (id) {
      case Compact.VERSION -> {
        if (readI32() != Compact.FORMAT_VERSION) {
          refuse(Rejection.UNSUPPORTED_VERSION);
        }
      }
      case Compact.AGENT -> {
        if (readBinary(Compact.AGENT_BYTES) != Compact.AGENT_BYTES) {
          refuse(Rejection.BAD_VALUE);
        } else {
          agentHigh = longAt(pos - Compact.AGENT_BYTES);
          agentLow = longAt(pos - Long.BYTES);
        }
      }
      case Compact.EPOCH -> epoch = readI64();
      case Compact.SEQUENCE -> sequence = readI64(Long.MAX_VALUE);
      case Compact.SPAN_COUNT -> {
        int count = readI32();
        if (count < 0 || count > Limits.MAX_SPANS) {
          refuse(Rejection.BAD_LENGTH);
        } else {
          spanCount = count;
        }
      }
      case Compact.DICTIONARY -> readDictionary();
      case Compact.APPLICATION -> {
        int index = readIndex();
        application = rejection == Rejection.NONE ? index : NONE;
      }
      case Compact.RESOURCE -> resourceAttributeCount = readAttributes(resource);
      default -> baseUnixNanos = readI64();
    }
  }

  private void readDictionary() {
    int count = readListHeader(Compact.BINARY, Limits.MAX_DICTIONARY_ENTRIES, 1);
    if (count > dictionaryOffsets.length) {
      int capacity = Integer.highestOneBit(count - 1) << 1;
      dictionaryOffsets = new int[capacity];
      dictionaryLengths = new int[capacity];
    }
    byte[] in = buffer;
    int at = pos;
    for (int i = 0; i < count; i++) {
      int length;
      if (at < limit && in[at] >= 0) {
        length = in[at++];
      } else {
        pos = at;
        length = readVarint32();
        at = pos;
      }
      if (length < 0 || length > Limits.MAX_STRING_BYTES || length > limit - at) {
        refuse(Rejection.BAD_LENGTH);
      }
      if (rejection != Rejection.NONE) {
        return;
      }
      dictionaryOffsets[i] = at;
      dictionaryLengths[i] = length;
      at += length;
    }
    pos = at;
    dictionarySize = count;
  }

  // Spans

  /**
   * Reads the span at {@link #pos} as the writers write it: fields in order, numbers no longer than
   * usual, its bytes not the last of the message. False, with nothing moved, for every other one,
   * good or bad. A false here is not a rejection.
   */
  private boolean readExpectedSpan() {
    byte[] in = buffer;
    int end = limit;
    int size = dictionarySize;
    int at = pos;
    if (end - at < FAST_HEAD_BYTES || in[at] != (1 << 4 | Compact.BINARY)) {
      return false;
    }
    long high = longAt(in, at + 2);
    long low = longAt(in, at + 10);
    long span = longAt(in, at + 18);
    long parent = 0;
    int idsLength = in[at + 1];
    if (idsLength == Compact.CHILD_IDS_BYTES) {
      parent = longAt(in, at + 26);
    } else if (idsLength != Compact.ROOT_IDS_BYTES) {
      return false;
    }
    at += 2 + idsLength;

    if (in[at] != (1 << 4 | Compact.I32)) {
      return false;
    }
    int nameVarint = in[at + 1];
    at += 2;
    if (nameVarint < 0) {
      nameVarint = nameVarint & 0x7f | in[at++] << 7;
      if (nameVarint < 0) {
        nameVarint = nameVarint & 0x3fff | in[at++] << 14;
      }
    }
    int nameIndex = indexOf(nameVarint);
    if (Integer.compareUnsigned(nameIndex, size) >= 0) {
      return false;
    }

    if (in[at] != (1 << 4 | Compact.BYTE) || in[at + 2] != (1 << 4 | Compact.BYTE)) {
      return false;
    }
    int kindValue = in[at + 1];
    int statusValue = in[at + 3];
    if (Integer.compareUnsigned(kindValue, Compact.MAX_KIND) > 0
        || Integer.compareUnsigned(statusValue, Compact.MAX_STATUS) > 0) {
      return false;
    }
    at += 4;

    if (in[at] != (1 << 4 | Compact.I64)) {
      return false;
    }
    long word = (long) Compact.LONG_LITTLE_ENDIAN.get(in, at + 1);
    int length = varintLength(word);
    long startDelta = Compact.unZigZag(varint(word));
    at += 1 + length;
    if (length > Long.BYTES || in[at] != (1 << 4 | Compact.I64)) {
      return false;
    }
    word = (long) Compact.LONG_LITTLE_ENDIAN.get(in, at + 1);
    length = varintLength(word);
    long duration = Compact.unZigZag(varint(word));
    at += 1 + length;
    if (length > Long.BYTES || duration < 0) {
      return false;
    }

    int field = Compact.DURATION_NANOS;
    int header = in[at++];
    int count = 0;
    if (header == (1 << 4 | Compact.LIST)) {
      int listHeader = in[at++];
      if ((listHeader & 0x0f) != Compact.I32) {
        return false;
      }
      count = listHeader >>> 4 & 0x0f;
      if (count == Compact.LONG_LIST) {
        count = in[at++];
        if (count < 0) {
          count = count & 0x7f | in[at++] << 7;
        }
      }
      if (count < 0
          || (count & 1) != 0
          || count > attributes.length
          || end - at < INDEX_BYTES * count + FAST_TAIL_BYTES) {
        return false;
      }
      int[] out = attributes;
      for (int i = 0; i < count; i++) {
        int varint = in[at++];
        if (varint < 0) {
          varint = varint & 0x7f | in[at++] << 7;
          if (varint < 0) {
            varint = varint & 0x3fff | in[at++] << 14;
          }
        }
        int index = indexOf(varint);
        if (Integer.compareUnsigned(index, size) >= 0) {
          return false;
        }
        out[i] = index;
      }
      field = Compact.ATTRIBUTES;
      header = in[at++];
    } else if (end - at < FAST_TAIL_BYTES) {
      return false;
    }

    long threshold = 0;
    int message = NONE;
    if (header != Compact.STOP) {
      if (header == Compact.field(Compact.SAMPLING_THRESHOLD - field, Compact.I64)) {
        word = (long) Compact.LONG_LITTLE_ENDIAN.get(in, at);
        length = varintLength(word);
        threshold = Compact.unZigZag(varint(word));
        at += length;
        // Eight bytes of varint hold 55 bits and a sign: below the threshold's end.
        if (length > Long.BYTES || threshold < 0) {
          return false;
        }
        field = Compact.SAMPLING_THRESHOLD;
        header = in[at++];
      }
      if (header == Compact.field(Compact.STATUS_MESSAGE - field, Compact.I32)) {
        int varint = in[at++];
        if (varint < 0) {
          varint = varint & 0x7f | in[at++] << 7;
          if (varint < 0) {
            varint = varint & 0x3fff | in[at++] << 14;
          }
        }
        message = indexOf(varint);
        if (Integer.compareUnsigned(message, size) >= 0) {
          return false;
        }
        header = in[at++];
      }
      if (header != Compact.STOP) {
        return false;
      }
    }

    pos = at;
    traceIdHigh = high;
    traceIdLow = low;
    spanId = span;
    parentSpanId = parent;
    name = nameIndex;
    kind = kindValue;
    status = statusValue;
    startUnixNanos = baseUnixNanos + startDelta;
    durationNanos = duration;
    attributeCount = count >> 1;
    samplingThreshold = threshold;
    statusMessage = message;
    return true;
  }

  /** Reads the span at {@link #pos}, whatever it looks like; false if the batch is refused. */
  private boolean readAnySpan() {
    attributeCount = 0;
    samplingThreshold = 0;
    statusMessage = NONE;
    int seen = 0;
    fieldId = 0;
    while (readFieldHeader()) {
      int id = fieldId;
      if (id < Compact.IDS || id > Compact.STATUS_MESSAGE) {
        skip(fieldType, 0);
        fieldId = id;
        continue;
      }
      seen = seenOnce(seen, id);
      switch (id) {
        case Compact.IDS -> readIds();
        case Compact.NAME -> name = readIndex();
        case Compact.KIND -> kind = readByte(Compact.MAX_KIND);
        case Compact.STATUS -> status = readByte(Compact.MAX_STATUS);
        case Compact.START_DELTA_NANOS -> startUnixNanos = baseUnixNanos + readI64();
        case Compact.DURATION_NANOS -> durationNanos = readI64(Long.MAX_VALUE);
        case Compact.ATTRIBUTES -> attributeCount = readAttributes(attributes);
        case Compact.SAMPLING_THRESHOLD -> samplingThreshold = readI64(Compact.THRESHOLD_END - 1);
        default -> statusMessage = readIndex();
      }
    }
    if ((seen & SPAN_REQUIRED) != SPAN_REQUIRED) {
      refuse(Rejection.MISSING_FIELD);
    }
    return rejection == Rejection.NONE;
  }

  private void readIds() {
    int length = readBinary(Compact.CHILD_IDS_BYTES);
    if (length != Compact.ROOT_IDS_BYTES && length != Compact.CHILD_IDS_BYTES) {
      refuse(Rejection.BAD_VALUE);
      return;
    }
    int start = pos - length;
    traceIdHigh = longAt(start);
    traceIdLow = longAt(start + 8);
    spanId = longAt(start + 16);
    parentSpanId = length == Compact.CHILD_IDS_BYTES ? longAt(start + 24) : 0;
  }

  /** Reads keys and values; answers the number of pairs. */
  private int readAttributes(int[] out) {
    int count = readListHeader(Compact.I32, out.length, 1);
    if ((count & 1) != 0) {
      refuse(Rejection.BAD_LENGTH);
      return 0;
    }
    fieldType = Compact.I32;
    for (int i = 0; i < count; i++) {
      out[i] = readIndex();
      if (rejection != Rejection.NONE) {
        return 0;
      }
    }
    return count >> 1;
  }

  // Values of the field last read by readFieldHeader, checked to be of the type declared

  private int readI32() {
    expect(Compact.I32);
    return Compact.unZigZag(readVarint32());
  }

  private long readI64() {
    expect(Compact.I64);
    return Compact.unZigZag(readVarint64());
  }

  private long readI64(long max) {
    long value = readI64();
    if (value < 0 || value > max) {
      refuse(Rejection.BAD_VALUE);
    }
    return value;
  }

  private int readByte(int max) {
    expect(Compact.BYTE);
    int value = take();
    if (value > max) {
      refuse(Rejection.BAD_VALUE);
    }
    return value;
  }

  private int readIndex() {
    int index = readI32();
    if (rejection == Rejection.NONE && Integer.compareUnsigned(index, dictionarySize) >= 0) {
      refuse(Rejection.BAD_INDEX);
    }
    return index;
  }

  /** Moves past a byte string and answers its length; one longer than {@code max} is refused. */
  private int readBinary(int max) {
    expect(Compact.BINARY);
    int length = readVarint32();
    if (length < 0 || length > limit - pos) {
      refuse(Rejection.BAD_LENGTH);
      return 0;
    }
    if (length > max) {
      refuse(Rejection.BAD_VALUE);
      return 0;
    }
    pos += length;
    return length;
  }

  /** Reads a list's header; answers its count, or 0 after a rejection. */
  private int readListHeader(int elementType, int max, int minElementBytes) {
    expect(Compact.LIST);
    int header = take();
    int count = header >>> 4;
    if (count == Compact.LONG_LIST) {
      count = readVarint32();
    }
    if (rejection == Rejection.NONE && (header & 0x0f) != elementType) {
      refuse(Rejection.MALFORMED);
    }
    if (count < 0 || count > max || (long) count * minElementBytes > limit - pos) {
      refuse(Rejection.BAD_LENGTH);
    }
    return rejection == Rejection.NONE ? count : 0;
  }

  // Compact protocol

  /** Reads the header of a struct's next field; false at the struct's end or after a rejection. */
  private boolean readFieldHeader() {
    int header = take();
    if (header == Compact.STOP) {
      return false;
    }
    int delta = header >>> 4;
    int id = delta == 0 ? Compact.unZigZag(readVarint32()) : fieldId + delta;
    if (id != (short) id) {
      refuse(Rejection.MALFORMED);
    }
    fieldId = id;
    fieldType = header & 0x0f;
    return rejection == Rejection.NONE;
  }

  private void expect(int type) {
    if (fieldType != type) {
      refuse(Rejection.MALFORMED);
    }
  }

  /** {@code seen} with the field's bit; a field that stands twice is refused. */
  private int seenOnce(int seen, int id) {
    if ((seen & 1 << id) != 0) {
      refuse(Rejection.MALFORMED);
    }
    return seen | 1 << id;
  }

  private void skip(int type, int depth) {
    if (depth > MAX_DEPTH) {
      refuse(Rejection.MALFORMED);
      return;
    }
    switch (type) {
      case Compact.BOOLEAN_TRUE, Compact.BOOLEAN_FALSE -> {}
      case Compact.BYTE -> skipBytes(1);
      case Compact.I16, Compact.I32 -> readVarint32();
      case Compact.I64 -> readVarint64();
      case Compact.DOUBLE -> skipBytes(Double.BYTES);
      case Compact.UUID -> skipBytes(16);
      case Compact.BINARY -> {
        int length = readVarint32();
        if (length < 0) {
          refuse(Rejection.BAD_LENGTH);
        }
        skipBytes(length);
      }
      case Compact.LIST, Compact.SET -> {
        int header = take();
        int count = header >>> 4;
        if (count == Compact.LONG_LIST) {
          count = readVarint32();
        }
        skipElements(header & 0x0f, count, depth + 1);
      }
      case Compact.MAP -> {
        int count = readVarint32();
        if (count != 0) {
          int types = take();
          if (checkedCount(count)) {
            for (int i = 0; i < count && rejection == Rejection.NONE; i++) {
              skipElement(types >>> 4, depth + 1);
              skipElement(types & 0x0f, depth + 1);
            }
          }
        }
      }
      case Compact.STRUCT -> {
        fieldId = 0;
        while (readFieldHeader()) {
          int id = fieldId;
          skip(fieldType, depth + 1);
          fieldId = id;
        }
      }
      default -> refuse(Rejection.MALFORMED);
    }
  }

  private void skipElements(int type, int count, int depth) {
    if (checkedCount(count)) {
      for (int i = 0; i < count && rejection == Rejection.NONE; i++) {
        skipElement(type, depth);
      }
    }
  }

  /** An element of a list, set or map; a boolean has a byte there. */
  private void skipElement(int type, int depth) {
    boolean isBoolean = type == Compact.BOOLEAN_TRUE || type == Compact.BOOLEAN_FALSE;
    skip(isBoolean ? Compact.BYTE : type, depth);
  }

  /** Every element has a byte at least. */
  private boolean checkedCount(int count) {
    if (count < 0 || count > limit - pos) {
      refuse(Rejection.BAD_LENGTH);
    }
    return rejection == Rejection.NONE;
  }

  private void skipBytes(int count) {
    if (count > limit - pos) {
      refuse(Rejection.TRUNCATED);
    } else if (rejection == Rejection.NONE) {
      pos += count;
    }
  }

  /** The next byte, 0 to 255; 0 after a rejection. */
  private int take() {
    if (pos == limit) {
      refuse(Rejection.TRUNCATED);
      return 0;
    }
    return buffer[pos++] & 0xff;
  }

  private int readVarint32() {
    int value = 0;
    for (int shift = 0; ; shift += 7) {
      int b = take();
      if (shift == 28 && b > 0x0f) {
        refuse(Rejection.MALFORMED);
        return 0;
      }
      value |= (b & 0x7f) << shift;
      if (b < 0x80) {
        return value;
      }
    }
  }

  private long readVarint64() {
    long value = 0;
    for (int shift = 0; ; shift += 7) {
      int b = take();
      if (shift == 63 && b > 0x01) {
        refuse(Rejection.MALFORMED);
        return 0;
      }
      value |= (b & 0x7fL) << shift;
      if (b < 0x80) {
        return value;
      }
    }
  }

  /** Refuses the batch; the first reason stays. Nothing more is read: the message ends here. */
  private Rejection refuse(Rejection reason) {
    if (rejection == Rejection.NONE) {
      rejection = reason;
      spansLeft = 0;
    }
    pos = limit;
    return rejection;
  }

  private long longAt(int at) {
    return longAt(buffer, at);
  }

  private static long longAt(byte[] in, int at) {
    return (long) Compact.LONG_BIG_ENDIAN.get(in, at);
  }

  // The fast path's numbers

  /** A zigzag number as an index: a negative one, being odd, comes out beyond every dictionary. */
  private static int indexOf(int zigZag) {
    return Integer.rotateRight(zigZag, 1);
  }

  /** Length of the varint in the lowest bytes of {@code word}; 9 if it is longer than 8. */
  private static int varintLength(long word) {
    return (Long.numberOfTrailingZeros(~word & CONTINUATION_BITS) >>> 3) + 1;
  }

  /** Value of the varint of 1 to 8 bytes in the lowest bytes of {@code word}. */
  private static long varint(long word) {
    long stops = ~word & CONTINUATION_BITS;
    // Keeps all up to the lowest stop bit; then closes the gap at every byte, pair and four.
    long groups = word & (stops ^ (stops - 1)) & ~CONTINUATION_BITS;
    groups = groups & 0x007f_007f_007f_007fL | (groups & 0x7f00_7f00_7f00_7f00L) >>> 1;
    groups = groups & 0x0000_3fff_0000_3fffL | (groups & 0x3fff_0000_3fff_0000L) >>> 2;
    return groups & 0x0fff_ffffL | (groups & 0x0fff_ffff_0000_0000L) >>> 4;
  }
}
