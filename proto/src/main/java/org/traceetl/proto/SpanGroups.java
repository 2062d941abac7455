package org.traceetl.proto;

import java.util.Arrays;

/**
 * The groups of the current batch: measured spans that differ only in their duration. A group is
 * found by the wire bytes of its other fields, which are written once. Each further span costs its
 * duration. Clearing costs what the last batch used, not the size of the arrays.
 */
final class SpanGroups {
  /** Most bytes of a group in addition to its fields: the list's header, pairs and the end. */
  private static final int GROUP_FRAME_BYTES = 13;

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

  /** Sum of the bytes of its spans. */
  private long[] bytes = new long[16];

  /** {@link SpanBatchReader#groupPairs}. */
  private long[] pairs = new long[16];

  private int[] firsts = new int[16];
  private int[] lasts = new int[16];

  // By span, in order of arrival
  private long[] durationsNanos = new long[64];

  /** The next span of the same group, or {@link #NONE}. */
  private int[] nexts = new int[64];

  private int spans;

  private final SpansOfTraces ofTraces = new SpansOfTraces();

  /** The last group: spans often come in runs of one group. */
  private int guess;

  // Of the group that is compared with a span: the position in its fields, the attributes' numbers
  // that follow.
  private int compared;
  private int at;
  private int numbersLeft;

  /** Returns the bytes of the arrays, which never shrink. */
  long heldBytes() {
    return fields.heldBytes()
        + 32L * sizes.length
        + ofTraces.heldBytes()
        + 12L * durationsNanos.length;
  }

  void clear() {
    fields.clear();
    spans = 0;
    guess = 0;
    ofTraces.nextBatch();
  }

  /**
   * Adds a span.
   *
   * @param encoded the fields of its group in {@code [offset, offset + length)}, with only the
   *     header of the durations
   * @param head number of these bytes up to and including that header
   * @param spanBytes its size, 0 if unknown
   * @throws IllegalStateException if the fields of all groups exceed {@link
   *     Limits#MAX_MESSAGE_BYTES}; the span is left out
   */
  void add(byte[] encoded, int offset, int length, int head, long durationNanos, long spanBytes) {
    int known = fields.size();
    int group = fields.intern(encoded, offset, length, guess);
    if (group == known) {
      open(group, head);
    }
    add(group, durationNanos, spanBytes);
  }

  /** Adds a span to a group. */
  void add(int group, long durationNanos, long spanBytes) {
    guess = group;
    bytes[group] += spanBytes;
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

  /** Sets the trace of the span that was added last. */
  void trace(long traceIdHigh, long traceIdLow) {
    pairs[guess] += 2L * ofTraces.add(guess, traceIdHigh, traceIdLow);
  }

  /** Returns the group of the span that was added last. */
  int last() {
    return guess;
  }

  /**
   * Starts to compare a group with a span, without its encoded fields.
   *
   * @param group any number at least 0
   * @param strings of the batch
   * @return whether name, kind and status are equal
   */
  boolean startsAs(
      int group,
      BatchDictionary strings,
      byte[] name,
      int offset,
      int length,
      int kind,
      int status) {
    if (group >= fields.size()) {
      return false;
    }
    compared = group;
    byte[] in = fields.encoded();
    at = fields.start(group) + 1;
    int index = nextIndex(in);
    int end = at;
    if (in[end + 1] != kind || in[end + 3] != status || !strings.is(index, name, offset, length)) {
      return false;
    }
    at = end + 4;
    numbersLeft = in[at] == Compact.field(1, Compact.LIST) ? numbers(in) : 0;
    return true;
  }

  /** Reads the header of the attributes' list. */
  private int numbers(byte[] in) {
    int count = (in[at + 1] & 0xff) >>> 4;
    at += 2;
    return count < Compact.LONG_LIST ? count : (int) nextVarint(in);
  }

  /** Returns whether the next attribute of the compared group is equal. */
  boolean continuesAs(
      BatchDictionary strings,
      byte[] key,
      int keyOffset,
      int keyLength,
      byte[] value,
      int valueOffset,
      int valueLength) {
    if (numbersLeft == 0) {
      return false;
    }
    numbersLeft -= 2;
    byte[] in = fields.encoded();
    int keyIndex = nextIndex(in);
    int valueIndex = nextIndex(in);
    return strings.is(keyIndex, key, keyOffset, keyLength)
        && strings.is(valueIndex, value, valueOffset, valueLength);
  }

  /** Returns whether the compared group has no more attributes, this threshold and no events. */
  boolean endsAs(long samplingThreshold) {
    int group = compared;
    int start = fields.start(group);
    // The header of the durations is one byte.
    int durations = start + heads[group] - 1;
    if (numbersLeft != 0 || heads[group] != fields.length(group)) {
      return false;
    }
    if (at == durations) {
      return samplingThreshold == 0;
    }
    at++;
    return nextVarint(fields.encoded()) == Compact.zigZag(samplingThreshold);
  }

  /** Adds a span to the compared group. */
  void addCompared(long durationNanos, long spanBytes) {
    add(compared, durationNanos, spanBytes);
  }

  private int nextIndex(byte[] in) {
    int zigZag = in[at++];
    if (zigZag < 0) {
      zigZag = zigZag & 0x7f | in[at++] << 7;
      if (zigZag < 0) {
        zigZag = zigZag & 0x3fff | in[at++] << 14;
      }
    }
    return zigZag >>> 1;
  }

  private long nextVarint(byte[] in) {
    long value = 0;
    int shift = 0;
    byte next;
    do {
      next = in[at++];
      value |= (next & 0x7fL) << shift;
      shift += 7;
    } while (next < 0);
    return value;
  }

  private void open(int group, int head) {
    if (group == sizes.length) {
      heads = Arrays.copyOf(heads, 2 * group);
      sizes = Arrays.copyOf(sizes, 2 * group);
      bytes = Arrays.copyOf(bytes, 2 * group);
      pairs = Arrays.copyOf(pairs, 2 * group);
      firsts = Arrays.copyOf(firsts, 2 * group);
      lasts = Arrays.copyOf(lasts, 2 * group);
    }
    heads[group] = head;
    sizes[group] = 0;
    bytes[group] = 0;
    pairs[group] = 0;
  }

  int size() {
    return fields.size();
  }

  int spans() {
    return spans;
  }

  /** Returns the sum of the sizes of a group's spans. */
  long bytes(int group) {
    return bytes[group];
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
      if (pairs[group] > 0) {
        boolean hasEvents = heads[group] < fields.length(group);
        int last = hasEvents ? Compact.GROUP_EVENTS : Compact.GROUP_DURATIONS_NANOS;
        out[end++] = Compact.field(Compact.GROUP_PAIRS - last, Compact.I64);
        end = Compact.putVarint(out, end, Compact.zigZag(pairs[group]));
      }
      out[end++] = Compact.STOP;
    }
    return end;
  }
}
