package org.traceetl.proto;

/**
 * Reads values of Thrift's compact protocol from a range of an array that it does not trust. The
 * first error sets {@link #rejection} and moves the input to its end. Later reads return 0, and
 * callers check the rejection at any time.
 */
final class CompactInput {
  /** Deepest nesting of unknown fields that are skipped. */
  private static final int MAX_DEPTH = 16;

  private byte[] bytes = new byte[0];
  private int pos;
  private int limit;
  private Rejection rejection = Rejection.NONE;
  private int fieldId;
  private int fieldType;

  /** Starts at {@code bytes[offset]}; the caller has checked the range. */
  void wrap(byte[] bytes, int offset, int length) {
    this.bytes = bytes;
    pos = offset;
    limit = offset + length;
    rejection = Rejection.NONE;
  }

  byte[] bytes() {
    return bytes;
  }

  int position() {
    return pos;
  }

  /** Continues at {@code position}, which must not exceed the {@link #limit}. */
  void moveTo(int position) {
    pos = position;
  }

  int limit() {
    return limit;
  }

  Rejection rejection() {
    return rejection;
  }

  boolean isRefused() {
    return rejection != Rejection.NONE;
  }

  /** Refuses the input; only the first reason is kept. */
  void refuse(Rejection reason) {
    if (rejection == Rejection.NONE) {
      rejection = reason;
    }
    pos = limit;
  }

  /** Returns the ID of the last field whose header was read. */
  int fieldId() {
    return fieldId;
  }

  /** Starts a struct, or continues one after the field {@code id}. */
  void fieldsAfter(int id) {
    fieldId = id;
  }

  /** Reads the next field's header; returns false at the struct's end or after a rejection. */
  boolean readFieldHeader() {
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
    return !isRefused();
  }

  private void expect(int type) {
    if (fieldType != type) {
      refuse(Rejection.MALFORMED);
    }
  }

  /** Returns {@code seen} with the field's bit; refuses a repeated field. */
  int seenOnce(int seen, int id) {
    if ((seen & 1 << id) != 0) {
      refuse(Rejection.MALFORMED);
    }
    return seen | 1 << id;
  }

  /**
   * Skips the last field, whatever its type. Keeps {@link #fieldId}, which the next header needs.
   */
  void skipField() {
    int id = fieldId;
    skip(fieldType, 0);
    fieldId = id;
  }

  /** Skips a list of structs whose header has been read. */
  void skipStructs(int count) {
    int id = fieldId;
    skipElements(Compact.STRUCT, count, 0);
    fieldId = id;
  }

  /** Skips the elements of a list of numbers of 32 bits whose header has been read. */
  void skipNumbers(int count) {
    skipElements(Compact.I32, count, 0);
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
          if (checked(count, types >>> 4) && checked(count, types & 0x0f)) {
            for (int i = 0; i < count && !isRefused(); i++) {
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
    if (checked(count, type)) {
      for (int i = 0; i < count && !isRefused(); i++) {
        skipElement(type, depth);
      }
    }
  }

  /** Skips an element of a list, set or map, where a boolean takes a byte. */
  private void skipElement(int type, int depth) {
    boolean isBoolean = type == Compact.BOOLEAN_TRUE || type == Compact.BOOLEAN_FALSE;
    skip(isBoolean ? Compact.BYTE : type, depth);
  }

  /** Returns whether the input can contain this many elements: each has at least one byte. */
  private boolean checked(int count, int type) {
    if (count < 0 || count > limit - pos) {
      refuse(Rejection.BAD_LENGTH);
    } else if (type < Compact.BOOLEAN_TRUE || type > Compact.UUID) {
      refuse(Rejection.MALFORMED);
    }
    return !isRefused();
  }

  private void skipBytes(int count) {
    if (count > limit - pos) {
      refuse(Rejection.TRUNCATED);
    } else if (!isRefused()) {
      pos += count;
    }
  }

  /** Returns the next byte, 0 to 255; 0 after a rejection. */
  private int take() {
    if (pos == limit) {
      refuse(Rejection.TRUNCATED);
      return 0;
    }
    return bytes[pos++] & 0xff;
  }

  int readVarint32() {
    if (pos < limit && bytes[pos] >= 0) {
      return bytes[pos++];
    }
    int value = 0;
    for (int shift = 0; ; shift += 7) {
      int b = take();
      if (shift == 28 && b > 0x0f) {
        refuse(Rejection.MALFORMED);
        return 0;
      }
      value |= (b & 0x7f) << shift;
      if (b < 0x80) {
        return isRefused() ? 0 : value;
      }
    }
  }

  long readVarint64() {
    if (limit - pos > Long.BYTES) {
      long word = (long) Compact.LONG_LITTLE_ENDIAN.get(bytes, pos);
      int length = Compact.varintLength(word);
      if (length <= Long.BYTES) {
        pos += length;
        return Compact.varint(word);
      }
      byte ninth = bytes[pos + Long.BYTES]; // Nanoseconds since 1970 have nine bytes.
      if (ninth >= 0) {
        pos += length;
        return Compact.varint(word) | (long) ninth << 7 * Long.BYTES;
      }
    }
    long value = 0;
    for (int shift = 0; ; shift += 7) {
      int b = take();
      if (shift == 63 && b > 0x01) {
        refuse(Rejection.MALFORMED);
        return 0;
      }
      value |= (b & 0x7fL) << shift;
      if (b < 0x80) {
        return isRefused() ? 0 : value;
      }
    }
  }

  /** Reads elements of a list that must be at least 0 into {@code out[0, count)}. */
  void readDurations(long[] out, int count) {
    byte[] in = bytes;
    int end = limit;
    int at = pos;
    for (int i = 0; i < count; i++) {
      long zigZag;
      long word = end - at < Long.BYTES ? -1 : (long) Compact.LONG_LITTLE_ENDIAN.get(in, at);
      int length = Compact.varintLength(word);
      if (length <= Long.BYTES) {
        zigZag = Compact.varint(word);
        at += length;
      } else {
        pos = at;
        zigZag = readVarint64();
        if (isRefused()) {
          return;
        }
        at = pos;
      }
      out[i] = Compact.unZigZag(zigZag);
      if (out[i] < 0) {
        refuse(Rejection.BAD_VALUE);
        return;
      }
    }
    pos = at;
  }

  // Values of the last field, whose type is checked

  int readI32() {
    expect(Compact.I32);
    return Compact.unZigZag(readVarint32());
  }

  long readI64() {
    expect(Compact.I64);
    return Compact.unZigZag(readVarint64());
  }

  /** Reads a number that must be 0 to {@code max}. */
  long readI64(long max) {
    long value = readI64();
    if (value < 0 || value > max) {
      refuse(Rejection.BAD_VALUE);
      return 0;
    }
    return value;
  }

  /** Reads a number that must be 0 to {@code max}. */
  int readByte(int max) {
    expect(Compact.BYTE);
    int value = take();
    if (value > max) {
      refuse(Rejection.BAD_VALUE);
    }
    return value;
  }

  boolean readBoolean() {
    boolean value = fieldType == Compact.BOOLEAN_TRUE;
    if (!value) {
      expect(Compact.BOOLEAN_FALSE);
    }
    return value;
  }

  /** Reads a double and returns its bits. */
  long readDoubleBits() {
    expect(Compact.DOUBLE);
    int start = pos;
    skipBytes(Double.BYTES);
    return isRefused() ? 0 : (long) Compact.LONG_LITTLE_ENDIAN.get(bytes, start);
  }

  /** Starts a nested struct; {@link #fieldsAfter} returns to the enclosing one. */
  void enterStruct() {
    expect(Compact.STRUCT);
    fieldsAfter(0);
  }

  /** Skips a byte string and returns its length; refuses one longer than {@code max}. */
  int readBinary(int max) {
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

  /**
   * Skips a text and returns its place: offset above length. A text longer than {@link
   * Limits#MAX_STRING_BYTES} is cut.
   */
  long readText() {
    int length = readBinary(Limits.MAX_MESSAGE_BYTES);
    return text(pos - length, Math.min(length, Limits.MAX_STRING_BYTES));
  }

  /** Returns a text of this length, not negative, at this offset. */
  static long text(int offset, int length) {
    return (long) offset << Integer.SIZE | length;
  }

  /** Returns the start of a text. */
  static int textOffset(long text) {
    return (int) (text >>> Integer.SIZE);
  }

  /** Returns the length of a text, bytes. */
  static int textLength(long text) {
    return (int) text;
  }

  /** Reads a list header; returns the count, or 0 after a rejection. */
  int readListHeader(int elementType, int max, int minElementBytes) {
    expect(Compact.LIST);
    int header = take();
    int count = header >>> 4;
    if (count == Compact.LONG_LIST) {
      count = readVarint32();
    }
    if (!isRefused() && (header & 0x0f) != elementType) {
      refuse(Rejection.MALFORMED);
    }
    if (count < 0 || count > max || (long) count * minElementBytes > limit - pos) {
      refuse(Rejection.BAD_LENGTH);
    }
    return isRefused() ? 0 : count;
  }
}
