package org.traceetl.agent.forward;

import java.util.BitSet;

/**
 * Cuts spans out of an {@code ExportTraceServiceRequest} in protobuf, in its array. All other bytes
 * stay as they are, except the lengths of the messages around the spans. A scope or resource of
 * which no span stays is cut out whole.
 */
final class SpanCut {
  /** Tags of the messages around spans, from the request inwards, and of the span. */
  private static final int[] NESTED = {1 << 3 | 2, 2 << 3 | 2, 2 << 3 | 2};

  private static final int VARINT = 0;
  private static final int FIXED_64 = 1;
  private static final int LENGTH_DELIMITED = 2;
  private static final int FIXED_32 = 5;

  private final byte[] bytes;
  private final BitSet kept;
  private int span;
  private int from;
  private int to;

  private SpanCut(byte[] bytes, BitSet kept) {
    this.bytes = bytes;
    this.kept = kept;
  }

  /**
   * Leaves the kept spans in {@code request[0, length)}.
   *
   * @param request one that a decoder has accepted
   * @param kept the spans to keep, by their order in the request
   * @return the new length
   */
  static int cut(byte[] request, int length, BitSet kept) {
    SpanCut cut = new SpanCut(request, kept);
    boolean _ = cut.message(length, 0);
    return cut.to;
  }

  /** Moves the fields of a message down; returns whether a span of it stays. */
  private boolean message(int end, int depth) {
    boolean hasSpan = false;
    while (from < end) {
      int start = from;
      long tag = varint();
      int lengthAt = from;
      int fieldEnd = fieldEnd(tag);
      if (tag != NESTED[depth]) {
        move(start, fieldEnd);
      } else if (depth == NESTED.length - 1) {
        if (kept.get(span++)) {
          hasSpan = true;
          move(start, fieldEnd);
        }
      } else {
        int before = to;
        move(start, from);
        int content = to;
        if (message(fieldEnd, depth + 1)) {
          hasSpan = true;
          shorten(before + lengthAt - start, content);
        } else {
          to = before;
        }
      }
      from = fieldEnd;
    }
    return hasSpan;
  }

  /** Returns the end of a field; if it has a length, moves to its content. */
  private int fieldEnd(long tag) {
    return switch ((int) tag & 7) {
      case VARINT -> {
        int at = from;
        while (bytes[at] < 0) {
          at++;
        }
        yield at + 1;
      }
      case FIXED_64 -> from + Long.BYTES;
      case LENGTH_DELIMITED -> {
        int length = (int) varint();
        yield from + length;
      }
      case FIXED_32 -> from + Integer.BYTES;
      default -> throw new IllegalArgumentException("A decoder must accept the request first");
    };
  }

  private long varint() {
    long value = 0;
    int shift = 0;
    while (bytes[from] < 0) {
      value |= (bytes[from++] & 0x7FL) << shift;
      shift += 7;
    }
    return value | (long) bytes[from++] << shift;
  }

  private void move(int start, int end) {
    System.arraycopy(bytes, start, bytes, to, end - start);
    to += end - start;
  }

  /** Writes the length of the message that was moved; it is not longer than before. */
  private void shorten(int lengthAt, int content) {
    int length = to - content;
    int at = lengthAt;
    int rest = length;
    while (rest > 0x7F) {
      bytes[at++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    bytes[at++] = (byte) rest;
    System.arraycopy(bytes, content, bytes, at, length);
    to = at + length;
  }
}
