package org.traceetl.proto;

import java.util.Arrays;

/**
 * The groups of the batch being written: spans that are alike in all but their duration. A group is
 * found by the bytes that its fields before the durations have on the wire, which are written once;
 * from then on a span costs its duration. Starting anew costs what the last batch used, not what
 * the arrays hold.
 */
final class SpanGroups {
  /** Bytes of a group beyond its head at most: the list's header and the end. */
  private static final int GROUP_FRAME_BYTES = 6;

  /** Bytes of a duration as a varint, at most. */
  private static final int DURATION_BYTES = 10;

  private static final int NONE = -1;

  private final BatchDictionary heads = new BatchDictionary();

  // By group
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
    return heads.heldBytes() + 12L * sizes.length + 12L * durationsNanos.length;
  }

  void clear() {
    heads.clear();
    spans = 0;
    guess = 0;
  }

  /**
   * Adds a span.
   *
   * @param head holds the encoded fields of its group in {@code [offset, offset + length)}, up to
   *     and with the header of the durations' field
   * @throws IllegalStateException when the heads of all groups outgrow {@link
   *     Limits#MAX_MESSAGE_BYTES}; the span is left out then
   */
  void add(byte[] head, int offset, int length, long durationNanos) {
    int known = heads.size();
    int group = heads.intern(head, offset, length, guess);
    guess = group;
    if (spans == durationsNanos.length) {
      durationsNanos = Arrays.copyOf(durationsNanos, 2 * spans);
      nexts = Arrays.copyOf(nexts, 2 * spans);
    }
    int span = spans++;
    durationsNanos[span] = durationNanos;
    nexts[span] = NONE;
    if (group == known) {
      open(group, span);
    } else {
      nexts[lasts[group]] = span;
    }
    lasts[group] = span;
    sizes[group]++;
  }

  private void open(int group, int span) {
    if (group == sizes.length) {
      sizes = Arrays.copyOf(sizes, 2 * group);
      firsts = Arrays.copyOf(firsts, 2 * group);
      lasts = Arrays.copyOf(lasts, 2 * group);
    }
    firsts[group] = span;
    sizes[group] = 0;
  }

  /** Groups so far. */
  int size() {
    return heads.size();
  }

  /** Spans in all groups. */
  int spans() {
    return spans;
  }

  /** Upper bound of the bytes that {@link #writeTo} writes. */
  int sizeBytes() {
    return heads.bytes() + GROUP_FRAME_BYTES * heads.size() + DURATION_BYTES * spans;
  }

  /** Writes the elements of the list of groups; answers where they end. */
  int writeTo(byte[] out, int at) {
    int end = at;
    for (int group = 0; group < heads.size(); group++) {
      end = heads.copyTo(group, out, end);
      end = Compact.putListHeader(out, end, Compact.I64, sizes[group]);
      for (int span = firsts[group]; span != NONE; span = nexts[span]) {
        end = Compact.putVarint(out, end, Compact.zigZag(durationsNanos[span]));
      }
      out[end++] = Compact.STOP;
    }
    return end;
  }
}
