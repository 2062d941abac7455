package org.traceetl.proto;

import java.util.Arrays;

/**
 * Attributes of a span of OzHera, or of its resource, where they stand in the message. Keys and
 * values are two lists there; where they differ in length the attributes are none, as those of a
 * span are to OzHera. Valid until the reader reads the next message.
 */
public final class OzheraAttributes {
  /** Nothing is there, an array, or what is not of the type that the key says. */
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

  /** Highest number of a type: an array of doubles. */
  private static final int MAX_TYPE = 8;

  private int keyCount;
  private int valueCount;
  private long[] keys = new long[64];

  /** As the key says, or 0 where it does not. */
  private byte[] keyTypes = new byte[64];

  private byte[] valueTypes = new byte[64];

  /** Numbers, texts or the bits of doubles. */
  private long[] values = new long[64];

  OzheraAttributes() {}

  /** At most {@link Limits#MAX_ATTRIBUTES}. */
  public int count() {
    return keyCount == valueCount ? keyCount : 0;
  }

  /** Where key {@code i} begins in the message. */
  public int keyOffset(int i) {
    return CompactInput.textOffset(keys[i]);
  }

  /** Length of key {@code i}, bytes; 0 without one. */
  public int keyLength(int i) {
    return CompactInput.textLength(keys[i]);
  }

  /** What value {@code i} is: {@link #NO_VALUE} to {@link #DOUBLE}. */
  public int type(int i) {
    int type = valueTypes[i];
    return keyTypes[i] == 0 || keyTypes[i] == type ? type : NO_VALUE;
  }

  /** Where value {@code i}, a text, begins in the message. */
  public int textOffset(int i) {
    return CompactInput.textOffset(values[i]);
  }

  /** Length of value {@code i}, a text, bytes. */
  public int textLength(int i) {
    return CompactInput.textLength(values[i]);
  }

  /** Value {@code i}, a long. */
  public long longValue(int i) {
    return values[i];
  }

  /** Value {@code i}, a boolean. */
  public boolean booleanValue(int i) {
    return values[i] != 0;
  }

  /** Value {@code i}, a double. */
  public double doubleValue(int i) {
    return Double.longBitsToDouble(values[i]);
  }

  void clear() {
    keyCount = 0;
    valueCount = 0;
  }

  /** Reads the {@code TAttributes} that the field last read is. */
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
        for (int i = 0; i < count && !input.isRefused(); i++) {
          readKey(input, i);
        }
        keyCount = count;
      } else {
        for (int i = 0; i < count && !input.isRefused(); i++) {
          readValue(input, i);
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

  /** The field's number is the type's. Of several that are set the lowest counts. */
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
