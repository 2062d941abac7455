package org.traceetl.agent.source.otlp;

import static org.traceetl.agent.source.otlp.ProtobufCursor.LENGTH_DELIMITED;
import static org.traceetl.agent.source.otlp.ProtobufCursor.littleEndian;
import static org.traceetl.agent.source.otlp.ProtobufCursor.tagOf;

import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.KeySet;
import org.traceetl.agent.flow.SpanView;

/**
 * Reads attributes of the most common form: a key, then a string or a small integer, at most 127
 * bytes. In this form every tag and every length is one byte:
 *
 * <pre>
 * 4a length 0a length key 12 length 0a length text
 * 4a length 0a length key 12 length 18 integer
 * </pre>
 *
 * <p>Of an attribute that is not wanted, only the bytes up to the value's length are read.
 */
final class PlainAttributes {
  private static final int ATTRIBUTE = tagOf(9, LENGTH_DELIMITED);
  private static final int KEY = tagOf(1, LENGTH_DELIMITED);
  private static final int VALUE = tagOf(2, LENGTH_DELIMITED);

  // Constants, so that they can be labels.
  private static final byte STRING = 1 << 3 | 2;
  private static final byte BOOLEAN = 2 << 3;
  private static final byte INTEGER = 3 << 3;
  private static final byte REAL = 4 << 3 | 1;

  /** The first four bytes: two tags, and the highest bits of two lengths. */
  private static final long HEAD_MASK = 0x80ff_80ffL;

  private static final long HEAD = ATTRIBUTE | KEY << 16;
  private static final int HEAD_BYTES = 4;

  /** Tag and length of the value, tag and length of the string or first byte of a number. */
  private static final int LEAST_VALUE_BYTES = 4;

  /** Most bytes of text for each byte of an attribute: a byte that is not UTF-8 is replaced. */
  private static final int MAX_TEXT_PER_BYTE = 3;

  private static final long HIGH_BITS = 0x8080_8080_8080_8080L;

  private PlainAttributes() {}

  /**
   * Reads consecutive attributes into the view.
   *
   * @param at position of a field of the span
   * @param wanted the wanted keys; null for all
   * @param additional keys of other attributes to read if {@code first}; null for none
   * @param first whether the span may be read again: then only an attribute whose value is one
   *     well-formed field is skipped, and it counts in {@code most}
   * @param most attributes that the view may have
   * @return position of the first field that is no attribute of this form
   */
  static int read(
      byte[] bytes,
      int at,
      int end,
      SpanView view,
      KeySet wanted,
      KeySet additional,
      boolean first,
      int most) {
    Attributes into = view.attributes;
    int limit = most;
    int last = end - HEAD_BYTES - LEAST_VALUE_BYTES;
    while (at <= last && into.size() < limit) {
      long head = littleEndian(bytes, at);
      int key = at + HEAD_BYTES;
      int next = at + 2 + ((int) head >> 8 & 0x7f);
      int keyLength = (int) head >>> 24;
      int value = key + keyLength;
      if ((head & HEAD_MASK) != HEAD
          || next > end
          || value > next - LEAST_VALUE_BYTES
          || bytes[value] != VALUE
          || bytes[value + 1] != next - value - 2) {
        break;
      }
      if (wanted != null && !wanted.contains(bytes, key, keyLength)) {
        if (first) {
          if (!isPlain(bytes, value, next)
              || additional != null
                  && additional.contains(bytes, key, keyLength)
                  && !add(bytes, key, value, next, view.additional)) {
            break;
          }
          view.textNotWanted += MAX_TEXT_PER_BYTE * (next - at - 2);
          limit--;
        }
        view.attributesNotWanted++;
      } else if (!add(bytes, key, value, next, into)) {
        break;
      }
      at = next;
    }
    return at;
  }

  /** Returns whether the value of an attribute that is not wanted is one well-formed field. */
  private static boolean isPlain(byte[] bytes, int value, int end) {
    int content = value + 3;
    return switch (bytes[value + 2]) {
      case STRING -> bytes[content] == end - content - 1;
      case BOOLEAN, INTEGER ->
          bytes[end - 1] >= 0 && (end - content == 1 || end - content == 2 && bytes[content] < 0);
      case REAL -> end - content == Long.BYTES;
      default -> false;
    };
  }

  /** Adds an attribute, unless its value has another form or a byte is not ASCII. */
  private static boolean add(byte[] bytes, int key, int value, int end, Attributes into) {
    int type = bytes[value + 2];
    int text = value + LEAST_VALUE_BYTES;
    byte[] array = bytes;
    int length = end - text;
    if (type == STRING) {
      // One check covers key, text and the bytes between, which are below 128 as well.
      if (bytes[value + 3] != length || !isAscii(bytes, key, end)) {
        return false;
      }
    } else {
      int number = bytes[value + 3];
      // -1 if the number has a second byte, else 0: a branch would often be mispredicted.
      int second = number >> 31;
      if (type != INTEGER || text - second != end || !isAscii(bytes, key, value + 3)) {
        return false;
      }
      number = number & 0x7f | (bytes[end - 1] & second) << 7;
      // The second byte continues in another one.
      if (number < 0) {
        return false;
      }
      array = SmallIntegers.TEXT;
      text = SmallIntegers.offset(number);
      length = SmallIntegers.length(number);
    }
    into.add(bytes, key, value - key, array, text, length);
    return true;
  }

  /**
   * Returns whether the bytes are below 128, like the four bytes of the head before them. Most
   * attributes have at most 40 bytes, which are tested without branches.
   */
  private static boolean isAscii(byte[] bytes, int from, int to) {
    int least = from - HEAD_BYTES;
    long all =
        littleEndian(bytes, Math.max(to - 8, least))
            | littleEndian(bytes, Math.max(to - 16, least))
            | littleEndian(bytes, Math.max(to - 24, least))
            | littleEndian(bytes, Math.max(to - 32, least))
            | littleEndian(bytes, Math.max(to - 40, least));
    for (int at = to - 40; at > from; at -= Long.BYTES) {
      all |= littleEndian(bytes, Math.max(at - Long.BYTES, least));
    }
    return (all & HIGH_BITS) == 0;
  }
}
