package org.traceetl.proto;

import java.util.Arrays;

/**
 * Builds one {@code SpanBatch} message at a time from slices of bytes, without an object per span.
 *
 * <p>Use: {@link #begin}, then for each span {@link #startSpan}, {@link #attribute} …, {@link
 * #endSpan}, then {@link #finish}, which leaves the message in {@link #buffer()}. Strings are given
 * as dictionary indexes from {@link #intern}. Reusable: {@code begin} starts anew, with the arrays
 * of the last batch, which have grown to the largest batch so far and are bounded by {@link
 * Limits}; at its own cost it allocates nothing more. A message that this writer finishes is one
 * that {@link SpanBatchReader} accepts: arguments out of range are refused here with an {@code
 * IllegalArgumentException}, batches that outgrow {@link Limits} with an {@code
 * IllegalStateException}. Not thread-safe: one owner.
 */
public final class SpanBatchWriter {
  private static final int NONE = -1;
  private static final int MAX_VARINT32 = 5;

  /**
   * Bytes of a message that are neither dictionary nor resource nor spans, at most: field headers,
   * list headers, the batch's name, numbers, the end.
   */
  private static final int FRAME_BYTES = 128;

  /** Bytes of a span without its attributes, at most. */
  private static final int SPAN_FRAME_BYTES = 96;

  /** Bytes of a dictionary index as a varint, at most: {@code 2 * 262,143} has 19 bits. */
  private static final int INDEX_BYTES = 3;

  private final Dictionary dictionary = new Dictionary();
  private byte[] message = new byte[1024];

  private int application = NONE;
  private final int[] resource = new int[2 * Limits.MAX_ATTRIBUTES];
  private int resourceLength;

  /** Encoded spans; those ended stand before {@link #spansEnd}, the one started after it. */
  private byte[] spans = new byte[1024];

  private int spansEnd;
  private int spanCount;
  private long baseUnixNanos;

  private boolean inSpan;
  private int spanEnd;
  private long samplingThreshold;
  private int statusMessage;
  private final int[] attributes = new int[2 * Limits.MAX_ATTRIBUTES];
  private int attributesLength;

  /** Starts a batch; the dictionary is empty. Forgets an unfinished one. */
  public void begin() {
    dictionary.clear();
    application = NONE;
    resourceLength = 0;
    spansEnd = 0;
    spanCount = 0;
    inSpan = false;
  }

  /**
   * Index of the string in the batch's dictionary, added at its first sight. Strings over {@link
   * Limits#MAX_STRING_BYTES} are cut at a UTF-8 boundary. The bytes should be UTF-8, which is not
   * checked.
   *
   * @throws IllegalStateException when the dictionary is full: {@link
   *     Limits#MAX_DICTIONARY_ENTRIES}, or no room left in {@link Limits#MAX_MESSAGE_BYTES}
   */
  public int intern(byte[] bytes, int offset, int length) {
    int kept = length;
    if (length > Limits.MAX_STRING_BYTES) {
      kept = Limits.MAX_STRING_BYTES;
      while (kept > Limits.MAX_STRING_BYTES - 3 && (bytes[offset + kept] & 0xc0) == 0x80) {
        kept--;
      }
    }
    return dictionary.intern(bytes, offset, kept);
  }

  /** Entries of the dictionary so far, 0 to {@link Limits#MAX_DICTIONARY_ENTRIES}. */
  public int dictionarySize() {
    return dictionary.size();
  }

  /** Sets the application, a dictionary index. */
  public void application(int index) {
    application = checkedIndex(index);
  }

  /**
   * Adds an attribute of the resource; those above {@link Limits#MAX_ATTRIBUTES} are left out.
   *
   * @param key dictionary index
   * @param value dictionary index
   */
  public void resourceAttribute(int key, int value) {
    if (resourceLength < resource.length) {
      resource[resourceLength] = checkedIndex(key);
      resource[resourceLength + 1] = checkedIndex(value);
      resourceLength += 2;
    }
  }

  /**
   * Starts a span. One started before and not ended is forgotten.
   *
   * @param parentSpanId 0 for a root span
   * @param name dictionary index
   * @param kind as in OTLP, 0 to 5
   * @param status as in OTLP, 0 to 2
   * @param durationNanos at least 0
   * @param samplingThreshold 0 when the span stands for itself alone, else below 2^56
   * @throws IllegalStateException when the batch has {@link Limits#MAX_SPANS} spans
   */
  public void startSpan(
      long traceIdHigh,
      long traceIdLow,
      long spanId,
      long parentSpanId,
      int name,
      int kind,
      int status,
      long startUnixNanos,
      long durationNanos,
      long samplingThreshold) {
    if (spanCount == Limits.MAX_SPANS) {
      throw new IllegalStateException(
          "the batch has " + spanCount + " spans, the most it may have; finish it first");
    }
    checkRange("kind", kind, Compact.MAX_KIND);
    checkRange("status", status, Compact.MAX_STATUS);
    checkRange("durationNanos", durationNanos, Long.MAX_VALUE);
    checkRange("samplingThreshold", samplingThreshold, Compact.THRESHOLD_END - 1);
    checkedIndex(name);
    if (spanCount == 0) {
      baseUnixNanos = startUnixNanos;
    }

    spans = grown(spans, spansEnd, SPAN_FRAME_BYTES);
    byte[] out = spans;
    int at = spansEnd;
    boolean root = parentSpanId == 0;
    out[at++] = Compact.field(Compact.IDS, Compact.BINARY);
    out[at++] = (byte) (root ? Compact.ROOT_IDS_BYTES : Compact.CHILD_IDS_BYTES);
    at = putLong(out, at, traceIdHigh);
    at = putLong(out, at, traceIdLow);
    at = putLong(out, at, spanId);
    if (!root) {
      at = putLong(out, at, parentSpanId);
    }
    out[at++] = Compact.field(1, Compact.I32);
    at = putVarint(out, at, (long) name << 1);
    out[at++] = Compact.field(1, Compact.BYTE);
    out[at++] = (byte) kind;
    out[at++] = Compact.field(1, Compact.BYTE);
    out[at++] = (byte) status;
    out[at++] = Compact.field(1, Compact.I64);
    // May wrap around; the reader's addition wraps back.
    at = putVarint(out, at, Compact.zigZag(startUnixNanos - baseUnixNanos));
    out[at++] = Compact.field(1, Compact.I64);
    at = putVarint(out, at, Compact.zigZag(durationNanos));
    spanEnd = at;

    this.samplingThreshold = samplingThreshold;
    statusMessage = NONE;
    attributesLength = 0;
    inSpan = true;
  }

  /**
   * Adds an attribute to the span started; those above {@link Limits#MAX_ATTRIBUTES} are left out.
   *
   * @param key dictionary index
   * @param value dictionary index
   */
  public void attribute(int key, int value) {
    if (attributesLength < attributes.length) {
      attributes[attributesLength] = checkedIndex(key);
      attributes[attributesLength + 1] = checkedIndex(value);
      attributesLength += 2;
    }
  }

  /** Sets the status message of the span started, a dictionary index. */
  public void statusMessage(int index) {
    statusMessage = checkedIndex(index);
  }

  /**
   * Ends the span started.
   *
   * @throws IllegalStateException when none is started, or the batch's spans are larger than {@link
   *     Limits#MAX_MESSAGE_BYTES}; the span is left out then
   */
  public void endSpan() {
    if (!inSpan) {
      throw new IllegalStateException("no span was started");
    }
    spans = grown(spans, spanEnd, SPAN_FRAME_BYTES + INDEX_BYTES * attributesLength);
    byte[] out = spans;
    int at = spanEnd;
    int last = Compact.DURATION_NANOS;
    if (attributesLength != 0) {
      out[at++] = Compact.field(Compact.ATTRIBUTES - last, Compact.LIST);
      at = putIndexes(out, at, attributes, attributesLength);
      last = Compact.ATTRIBUTES;
    }
    if (samplingThreshold != 0) {
      out[at++] = Compact.field(Compact.SAMPLING_THRESHOLD - last, Compact.I64);
      at = putVarint(out, at, Compact.zigZag(samplingThreshold));
      last = Compact.SAMPLING_THRESHOLD;
    }
    if (statusMessage != NONE) {
      out[at++] = Compact.field(Compact.STATUS_MESSAGE - last, Compact.I32);
      at = putVarint(out, at, (long) statusMessage << 1);
    }
    out[at++] = Compact.STOP;
    inSpan = false;
    if (at > Limits.MAX_MESSAGE_BYTES) {
      throw new IllegalStateException(
          "the spans have " + at + " bytes, more than " + Limits.MAX_MESSAGE_BYTES);
    }
    spansEnd = at;
    spanCount++;
  }

  /** Spans ended in the batch so far. */
  public int spanCount() {
    return spanCount;
  }

  /**
   * Upper bound of the bytes that {@link #finish} would make of what is in the batch now; a span
   * not ended is not in it. Costs nothing: ask after every span.
   */
  public int sizeBytes() {
    return FRAME_BYTES + dictionary.bytes() + INDEX_BYTES * resourceLength + spansEnd;
  }

  /**
   * Makes the message. A span not ended is left out. May be called again, for the same spans under
   * another name.
   *
   * @param agentHigh first half of the agent's identity
   * @param agentLow second half of the agent's identity
   * @param epoch the agent's start
   * @param sequence at least 0
   * @return its length; its bytes are {@code buffer()[0, length)}
   * @throws IllegalStateException when no application is set, or the message is larger than {@link
   *     Limits#MAX_MESSAGE_BYTES}
   */
  public int finish(long agentHigh, long agentLow, long epoch, long sequence) {
    checkRange("sequence", sequence, Long.MAX_VALUE);
    if (application == NONE) {
      throw new IllegalStateException("the batch has no application");
    }
    message = grown(message, 0, sizeBytes());
    byte[] out = message;
    int at = 0;
    out[at++] = Compact.field(Compact.VERSION, Compact.I32);
    at = putVarint(out, at, Compact.FORMAT_VERSION << 1);
    out[at++] = Compact.field(1, Compact.BINARY);
    out[at++] = Compact.AGENT_BYTES;
    at = putLong(out, at, agentHigh);
    at = putLong(out, at, agentLow);
    out[at++] = Compact.field(1, Compact.I64);
    at = putVarint(out, at, Compact.zigZag(epoch));
    out[at++] = Compact.field(1, Compact.I64);
    at = putVarint(out, at, Compact.zigZag(sequence));
    out[at++] = Compact.field(1, Compact.I32);
    at = putVarint(out, at, (long) spanCount << 1);
    out[at++] = Compact.field(1, Compact.LIST);
    at = putListHeader(out, at, Compact.BINARY, dictionary.size());
    at = dictionary.copyTo(out, at);
    out[at++] = Compact.field(1, Compact.I32);
    at = putVarint(out, at, (long) application << 1);
    // Written even if empty, so that a reader who has seen fields 1 to 9 knows that nothing follows
    // the spans.
    out[at++] = Compact.field(1, Compact.LIST);
    at = putIndexes(out, at, resource, resourceLength);
    out[at++] = Compact.field(1, Compact.I64);
    at = putVarint(out, at, Compact.zigZag(spanCount == 0 ? 0 : baseUnixNanos));
    out[at++] = Compact.field(1, Compact.LIST);
    at = putListHeader(out, at, Compact.STRUCT, spanCount);
    System.arraycopy(spans, 0, out, at, spansEnd);
    at += spansEnd;
    out[at++] = Compact.STOP;
    if (at > Limits.MAX_MESSAGE_BYTES) {
      throw new IllegalStateException(
          "the message has " + at + " bytes, more than " + Limits.MAX_MESSAGE_BYTES);
    }
    return at;
  }

  /** Holds the message after {@link #finish}, until the next {@link #begin}. */
  public byte[] buffer() {
    return message;
  }

  private int checkedIndex(int index) {
    if (Integer.compareUnsigned(index, dictionary.size()) >= 0) {
      throw new IllegalArgumentException(
          "index " + index + " is outside the dictionary of " + dictionary.size() + " entries");
    }
    return index;
  }

  private static void checkRange(String name, long value, long max) {
    if (value < 0 || value > max) {
      throw new IllegalArgumentException(name + " = " + value + " is not in 0 to " + max);
    }
  }

  private static int putLong(byte[] out, int at, long value) {
    Compact.LONG_BIG_ENDIAN.set(out, at, value);
    return at + Long.BYTES;
  }

  private static int putVarint(byte[] out, int at, long value) {
    int end = at;
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      out[end++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    out[end++] = (byte) rest;
    return end;
  }

  private static int putListHeader(byte[] out, int at, int type, int count) {
    if (count < Compact.LONG_LIST) {
      out[at] = (byte) (count << 4 | type);
      return at + 1;
    }
    out[at] = (byte) (Compact.LONG_LIST << 4 | type);
    return putVarint(out, at + 1, count);
  }

  private static int putIndexes(byte[] out, int at, int[] indexes, int length) {
    int end = putListHeader(out, at, Compact.I32, length);
    for (int i = 0; i < length; i++) {
      end = putVarint(out, end, (long) indexes[i] << 1);
    }
    return end;
  }

  private static byte[] grown(byte[] array, int used, int more) {
    int needed = used + more;
    return needed <= array.length
        ? array
        : Arrays.copyOf(array, Math.max(needed, 2 * array.length));
  }

  /** The strings of the batch: encoded one after the other, and a hash table over them. */
  private static final class Dictionary {
    // Odd random-looking factor; the seed keeps collisions from being prepared.
    private static final long FACTOR = 0x9e37_79b9_7f4a_7c15L;
    private static final long SEED = new java.security.SecureRandom().nextLong();

    private byte[] encoded = new byte[1024];
    private int end;
    private int size;
    private int[] starts = new int[64];
    private int[] lengths = new int[64];
    private int[] slots = new int[64];

    /**
     * Open addressing, linear probing, at most half full; a power of two. An entry holds the upper
     * half of the string's hash and, in the lower half, its index + 1; 0 is free.
     */
    private long[] table = new long[128];

    void clear() {
      for (int i = 0; i < size; i++) {
        table[slots[i]] = 0;
      }
      size = 0;
      end = 0;
    }

    int size() {
      return size;
    }

    int bytes() {
      return end;
    }

    int copyTo(byte[] out, int at) {
      System.arraycopy(encoded, 0, out, at, end);
      return at + end;
    }

    int intern(byte[] bytes, int offset, int length) {
      long hash = hash(bytes, offset, length) & 0xffff_ffff_0000_0000L;
      int mask = table.length - 1;
      int slot = (int) (hash >>> 32) & mask;
      while (true) {
        long entry = table[slot];
        if (entry == 0) {
          return add(bytes, offset, length, hash, slot);
        }
        if ((entry & 0xffff_ffff_0000_0000L) == hash) {
          int index = (int) entry - 1;
          int start = starts[index];
          if (lengths[index] == length
              && Arrays.equals(encoded, start, start + length, bytes, offset, offset + length)) {
            return index;
          }
        }
        slot = (slot + 1) & mask;
      }
    }

    private int add(byte[] bytes, int offset, int length, long hash, int slot) {
      if (size == Limits.MAX_DICTIONARY_ENTRIES
          || end + length + MAX_VARINT32 > Limits.MAX_MESSAGE_BYTES) {
        throw new IllegalStateException(
            "the dictionary is full: " + size + " entries, " + end + " bytes; finish the batch");
      }
      if (size == starts.length) {
        starts = Arrays.copyOf(starts, 2 * size);
        lengths = Arrays.copyOf(lengths, 2 * size);
        slots = Arrays.copyOf(slots, 2 * size);
      }
      encoded = grown(encoded, end, length + MAX_VARINT32);
      int start = putVarint(encoded, end, length);
      System.arraycopy(bytes, offset, encoded, start, length);
      end = start + length;

      int index = size++;
      starts[index] = start;
      lengths[index] = length;
      slots[index] = slot;
      table[slot] = hash | (index + 1);
      if (2 * size > table.length) {
        rehash();
      }
      return index;
    }

    private void rehash() {
      long[] old = table;
      table = new long[2 * old.length];
      int mask = table.length - 1;
      for (int i = 0; i < size; i++) {
        long entry = old[slots[i]];
        int slot = (int) (entry >>> 32) & mask;
        while (table[slot] != 0) {
          slot = (slot + 1) & mask;
        }
        table[slot] = entry;
        slots[i] = slot;
      }
    }

    private static long hash(byte[] bytes, int offset, int length) {
      long hash = SEED ^ length;
      int at = offset;
      int last = offset + length - Long.BYTES;
      for (; at <= last; at += Long.BYTES) {
        hash = mix(hash ^ (long) Compact.LONG_LITTLE_ENDIAN.get(bytes, at));
      }
      if (at == last + Long.BYTES) {
        return hash;
      }
      long tail = 0;
      if (length >= Long.BYTES) {
        // The last eight bytes, some of them a second time.
        tail = (long) Compact.LONG_LITTLE_ENDIAN.get(bytes, last);
      } else {
        for (; at < offset + length; at++) {
          tail = tail << 8 | bytes[at] & 0xff;
        }
      }
      return mix(hash ^ tail);
    }

    private static long mix(long value) {
      return value * FACTOR ^ Math.unsignedMultiplyHigh(value, FACTOR);
    }
  }
}
