package org.traceetl.proto;

import java.util.Arrays;

/**
 * Attributes of a span of OzHera, or of its resource, as positions in the message. Keys and values
 * are two lists; if their lengths differ, there are no attributes, as in OzHera. Valid until the
 * reader reads the next message.
 */
public final class OzheraAttributes {
  /** Missing, an array, or not of the type that the key declares. */
  public static final int NO_VALUE = 0;

  public static final int TEXT = 1;
  public static final int BOOLEAN = 2;
  public static final int LONG = 3;
  public static final int DOUBLE = 4;

  // Fields of TAttributes
  private static final int KEYS = 1;
  private static final int VALUES = 2;

  // Fields of TAttributeKey
  private static final int KEY_TYPE = 1;
  private static final int KEY_TEXT = 2;

  /** Largest number of a type: an array of doubles. */
  private static final int MAX_TYPE = 8;

  // A key as OzHera writes it: header and byte of its type, header and length of its text, the
  // text's bytes, and the struct's end. The type is not negative, and the length has one byte.
  private static final int KEY_HEAD = 0x00_18_00_15;
  private static final int KEY_HEAD_MASK = 0x80_ff_81_ff;
  private static final int MIN_KEY_BYTES = Integer.BYTES + 1;

  // Headers of a value's only field
  private static final int TEXT_HEAD = TEXT << 4 | Compact.BINARY;
  private static final int TRUE_HEAD = BOOLEAN << 4 | Compact.BOOLEAN_TRUE;
  private static final int FALSE_HEAD = BOOLEAN << 4 | Compact.BOOLEAN_FALSE;
  private static final int LONG_HEAD = LONG << 4 | Compact.I64;
  private static final int DOUBLE_HEAD = DOUBLE << 4 | Compact.DOUBLE;

  /** Most bytes of a value on the fast path, without the bytes of a text. */
  private static final int FAST_VALUE_BYTES = 10;

  private final boolean expectsUsual;

  private int keyCount;
  private int valueCount;
  private long[] keys = new long[64];

  /** The declared types, or 0 for a value of another type. */
  private byte[] keyTypes = new byte[64];

  private byte[] valueTypes = new byte[64];

  /** Numbers, texts or the bits of doubles. */
  private long[] values = new long[64];

  /**
   * @param expectsUsual whether to try OzHera's own encoding first; affects only the speed
   */
  OzheraAttributes(boolean expectsUsual) {
    this.expectsUsual = expectsUsual;
  }

  /** Returns the number of attributes, at most {@link Limits#MAX_ATTRIBUTES}. */
  public int count() {
    return keyCount == valueCount ? keyCount : 0;
  }

  /** Returns the start of key {@code i} in the message. */
  public int keyOffset(int i) {
    return CompactInput.textOffset(keys[i]);
  }

  /** Returns the length of key {@code i}, bytes; 0 if it is missing. */
  public int keyLength(int i) {
    return CompactInput.textLength(keys[i]);
  }

  /** Returns the type of value {@code i}: {@link #NO_VALUE} to {@link #DOUBLE}. */
  public int type(int i) {
    int type = valueTypes[i];
    return keyTypes[i] == 0 || keyTypes[i] == type ? type : NO_VALUE;
  }

  /** Returns the start of text value {@code i} in the message. */
  public int textOffset(int i) {
    return CompactInput.textOffset(values[i]);
  }

  /** Returns the length of text value {@code i}, bytes. */
  public int textLength(int i) {
    return CompactInput.textLength(values[i]);
  }

  public long longValue(int i) {
    return values[i];
  }

  public boolean booleanValue(int i) {
    return values[i] != 0;
  }

  public double doubleValue(int i) {
    return Double.longBitsToDouble(values[i]);
  }

  void clear() {
    keyCount = 0;
    valueCount = 0;
  }

  /** Reads the {@code TAttributes} of the last field. */
  void read(CompactInput input) {
    int field = input.fieldId();
    int seen = 0;
    input.enterStruct();
    while (input.readFieldHeader()) {
      int id = input.fieldId();
      if (id != KEYS && id != VALUES) {
        input.skipField();
        continue;
      }
      seen = input.seenOnce(seen, id);
      int count = input.readListHeader(Compact.STRUCT, Limits.MAX_ATTRIBUTES, 1);
      ensure(count);
      if (id == KEYS) {
        for (int i = readUsualKeys(input, 0, count); i < count && !input.isRefused(); ) {
          readKey(input, i);
          i = readUsualKeys(input, i + 1, count);
        }
        keyCount = count;
      } else {
        for (int i = readUsualValues(input, 0, count); i < count && !input.isRefused(); ) {
          readValue(input, i);
          i = readUsualValues(input, i + 1, count);
        }
        valueCount = count;
      }
      input.fieldsAfter(id);
    }
    input.fieldsAfter(field);
  }

  private void ensure(int count) {
    if (count > values.length) {
      int capacity = Math.min(Limits.MAX_ATTRIBUTES, Math.max(count, 2 * values.length));
      keys = Arrays.copyOf(keys, capacity);
      keyTypes = Arrays.copyOf(keyTypes, capacity);
      valueTypes = Arrays.copyOf(valueTypes, capacity);
      values = Arrays.copyOf(values, capacity);
    }
  }

  /**
   * Reads keys from {@code first} on by the fast path, up to one that is not encoded as OzHera
   * does; returns its index. {@link #readKey} gives the same results.
   */
  int readUsualKeys(CompactInput input, int first, int count) {
    if (!expectsUsual) {
      return first;
    }
    byte[] in = input.bytes();
    int end = input.limit();
    int at = input.position();
    int i = first;
    while (i < count && end - at >= MIN_KEY_BYTES) {
      int head = (int) Compact.INT_LITTLE_ENDIAN.get(in, at);
      int length = head >>> 24;
      int stop = at + Integer.BYTES + length;
      if ((head & KEY_HEAD_MASK) != KEY_HEAD || stop >= end || in[stop] != Compact.STOP) {
        break;
      }
      int type = head >>> 9 & 0x3f; // Half the byte: the lowest bit of a zigzag number is its sign.
      keyTypes[i] = (byte) (type <= MAX_TYPE ? type : 0);
      keys[i] = CompactInput.text(at + Integer.BYTES, length);
      at = stop + 1;
      i++;
    }
    input.moveTo(at);
    return i;
  }

  private void readKey(CompactInput input, int i) {
    keys[i] = 0;
    keyTypes[i] = 0;
    int seen = 0;
    input.fieldsAfter(0);
    while (input.readFieldHeader()) {
      int id = input.fieldId();
      if (id != KEY_TYPE && id != KEY_TEXT) {
        input.skipField();
        continue;
      }
      seen = input.seenOnce(seen, id);
      if (id == KEY_TYPE) {
        int type = input.readI32();
        keyTypes[i] = (byte) (type > 0 && type <= MAX_TYPE ? type : 0);
      } else {
        keys[i] = input.readText();
      }
    }
  }

  /**
   * Reads values from {@code first} on by the fast path and returns the index after them. The path
   * ends at a value that OzHera would encode differently, at an unsupported type, and near the end.
   * {@link #readValue} gives the same results.
   */
  int readUsualValues(CompactInput input, int first, int count) {
    if (!expectsUsual) {
      return first;
    }
    byte[] in = input.bytes();
    int end = input.limit();
    int at = input.position();
    int i = first;
    while (i < count && end - at >= FAST_VALUE_BYTES) {
      int stop;
      switch (in[at]) {
        case TEXT_HEAD -> {
          int length = in[at + 1];
          int start = at + 2;
          if (length < 0) {
            length = length & 0x7f | in[start++] << 7;
          }
          // Negative if the length has three bytes.
          stop = length < 0 ? end : start + length;
          values[i] = CompactInput.text(start, length);
          valueTypes[i] = TEXT;
        }
        case TRUE_HEAD, FALSE_HEAD -> {
          stop = at + 1;
          values[i] = in[at] == TRUE_HEAD ? 1 : 0;
          valueTypes[i] = BOOLEAN;
        }
        case LONG_HEAD -> {
          long word = (long) Compact.LONG_LITTLE_ENDIAN.get(in, at + 1);
          int length = Compact.varintLength(word);
          stop = length > Long.BYTES ? end : at + 1 + length;
          values[i] = Compact.unZigZag(Compact.varint(word));
          valueTypes[i] = LONG;
        }
        case DOUBLE_HEAD -> {
          stop = at + 1 + Double.BYTES;
          values[i] = (long) Compact.LONG_LITTLE_ENDIAN.get(in, at + 1);
          valueTypes[i] = DOUBLE;
        }
        default -> stop = end;
      }
      if (stop >= end || in[stop] != Compact.STOP) {
        break;
      }
      at = stop + 1;
      i++;
    }
    input.moveTo(at);
    return i;
  }

  /** The field number is the type. If several fields are set, the lowest counts. */
  private void readValue(CompactInput input, int i) {
    valueTypes[i] = NO_VALUE;
    input.fieldsAfter(0);
    while (input.readFieldHeader()) {
      int id = input.fieldId();
      int read = valueTypes[i];
      if (id < TEXT || id > DOUBLE || read != NO_VALUE && read <= id) {
        input.skipField();
        continue;
      }
      values[i] =
          switch (id) {
            case TEXT -> input.readText();
            case BOOLEAN -> input.readBoolean() ? 1 : 0;
            case LONG -> input.readI64();
            default -> input.readDoubleBits();
          };
      valueTypes[i] = (byte) id;
    }
  }
}
