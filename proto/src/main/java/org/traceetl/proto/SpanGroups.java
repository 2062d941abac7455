package org.traceetl.proto;

import java.util.Arrays;

/**
 * The groups of the batch being written: spans that are alike in all but their duration. A group is
 * found by the bytes that its other fields have on the wire, which are written once; from then on a
 * span costs its duration. Starting anew costs what the last batch used, not what the arrays hold.
 */
final class SpanGroups {
  /** Bytes of a group beyond its fields at most: the list's header and the end. */
  private static final int GROUP_FRAME_BYTES = 6;

  /** Bytes of a duration as a varint, at most. */
  private static final int DURATION_BYTES = 10;

  private static final int NONE = -1;

  /** By group: its fields but the durations. */
  private final BatchDictionary fields = new BatchDictionary();

  // By group

  /** How many of the bytes of its fields stand before the durations. */
  private int[] heads = new int[16];

  private int[] sizes = new int[16];
  private int[] firsts = new int[16];
  private int[] lasts = new int[16];

  // By span, in the order they came
  private long[] durationsNanos = new long[64];

  /** The next span of the same group, or {@link #NONE}. */
  private int[] nexts = new int[64];

  private int spans;

  /** Spans often come in runs of one group. */
  private int guess;

  /** Bytes of its arrays, which never shrink. */
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
   * @param encoded holds the fields of its group in {@code [offset, offset + length)}, but the
   *     durations: only the header of that field
   * @param head how many of these bytes are up to and with that header
   * @throws IllegalStateException when the fields of all groups outgrow {@link
   *     Limits#MAX_MESSAGE_BYTES}; the span is left out then
   */
  void add(byte[] encoded, int offset, int length, int head, long durationNanos) {
    int known = fields.size();
    int group = fields.intern(encoded, offset, length, guess);
    guess = group;
    if (spans == durationsNanos.length) {
      durationsNanos = Arrays.copyOf(durationsNanos, 2 * spans);
      nexts = Arrays.copyOf(nexts, 2 * spans);
    }
    int span = spans++;
    durationsNanos[span] = durationNanos;
    nexts[span] = NONE;
    if (group == known) {
      open(group, head, span);
    } else {
      nexts[lasts[group]] = span;
    }
    lasts[group] = span;
    sizes[group]++;
  }

  private void open(int group, int head, int span) {
    if (group == sizes.length) {
      heads = Arrays.copyOf(heads, 2 * group);
      sizes = Arrays.copyOf(sizes, 2 * group);
      firsts = Arrays.copyOf(firsts, 2 * group);
      lasts = Arrays.copyOf(lasts, 2 * group);
    }
    heads[group] = head;
    firsts[group] = span;
    sizes[group] = 0;
  }

  /** Groups so far. */
  int size() {
    return fields.size();
  }

  /** Spans in all groups. */
  int spans() {
    return spans;
  }

  /** Upper bound of the bytes that {@link #writeTo} writes. */
  int sizeBytes() {
    return fields.bytes() + GROUP_FRAME_BYTES * fields.size() + DURATION_BYTES * spans;
  }

  /** Writes the elements of the list of groups; answers where they end. */
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
