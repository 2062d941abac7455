package org.traceetl.proto;

import java.util.Arrays;

/**
 * The groups of the current batch: measured spans that differ only in their duration. A group is
 * found by the wire bytes of its other fields, which are written once. Each further span costs its
 * duration. Clearing costs what the last batch used, not the size of the arrays.
 */
final class SpanGroups {
  /** Most bytes of a group in addition to its fields: the list's header and the end. */
  private static final int GROUP_FRAME_BYTES = 6;

  /** Most bytes of a duration as a varint. */
  private static final int DURATION_BYTES = 10;

  /** No group, or no span. */
  static final int NONE = -1;

  /** By group: its fields without the durations. */
  private final BatchDictionary fields = new BatchDictionary();

  // By group

  /** Number of field bytes before the durations. */
  private int[] heads = new int[16];

  private int[] sizes = new int[16];
  private int[] firsts = new int[16];
  private int[] lasts = new int[16];

  // By span, in order of arrival
  private long[] durationsNanos = new long[64];

  /** The next span of the same group, or {@link #NONE}. */
  private int[] nexts = new int[64];

  private int spans;

  /** The last group: spans often come in runs of one group. */
  private int guess;

  /** Returns the bytes of the arrays, which never shrink. */
  long heldBytes() {
    return fields.heldBytes() + 16L * sizes.length + 12L * durationsNanos.length;
  }

  void clear() {
    fields.clear();
    spans = 0;
    guess = 0;
  }

  /**
   * Adds a span.
   *
   * @param encoded the fields of its group in {@code [offset, offset + length)}, with only the
   *     header of the durations
   * @param head number of these bytes up to and including that header
   * @throws IllegalStateException if the fields of all groups exceed {@link
   *     Limits#MAX_MESSAGE_BYTES}; the span is left out
   */
  void add(byte[] encoded, int offset, int length, int head, long durationNanos) {
    int known = fields.size();
    int group = fields.intern(encoded, offset, length, guess);
    if (group == known) {
      open(group, head);
    }
    add(group, durationNanos);
  }

  /** Adds a span to a group. */
  void add(int group, long durationNanos) {
    guess = group;
    if (spans == durationsNanos.length) {
      durationsNanos = Arrays.copyOf(durationsNanos, 2 * spans);
      nexts = Arrays.copyOf(nexts, 2 * spans);
    }
    int span = spans++;
    durationsNanos[span] = durationNanos;
    nexts[span] = NONE;
    if (sizes[group] == 0) {
      firsts[group] = span;
    } else {
      nexts[lasts[group]] = span;
    }
    lasts[group] = span;
    sizes[group]++;
  }

  /** Returns the group with these fields, or {@link #NONE}. */
  int find(byte[] encoded, int offset, int length) {
    return fields.find(encoded, offset, length, guess);
  }

  private void open(int group, int head) {
    if (group == sizes.length) {
      heads = Arrays.copyOf(heads, 2 * group);
      sizes = Arrays.copyOf(sizes, 2 * group);
      firsts = Arrays.copyOf(firsts, 2 * group);
      lasts = Arrays.copyOf(lasts, 2 * group);
    }
    heads[group] = head;
    sizes[group] = 0;
  }

  int size() {
    return fields.size();
  }

  int spans() {
    return spans;
  }

  /** Returns an upper bound of the bytes that {@link #writeTo} writes. */
  int sizeBytes() {
    return fields.bytes() + GROUP_FRAME_BYTES * fields.size() + DURATION_BYTES * spans;
  }

  /** Writes the elements of the list of groups; returns their end. */
  int writeTo(byte[] out, int at) {
    int end = at;
    for (int group = 0; group < fields.size(); group++) {
      end = fields.copyTo(group, 0, heads[group], out, end);
      end = Compact.putListHeader(out, end, Compact.I64, sizes[group]);
      for (int span = firsts[group]; span != NONE; span = nexts[span]) {
        end = Compact.putVarint(out, end, Compact.zigZag(durationsNanos[span]));
      }
      end = fields.copyTo(group, heads[group], fields.length(group), out, end);
      out[end++] = Compact.STOP;
    }
    return end;
  }
}
