package org.traceetl.proto;

import java.util.Arrays;

/**
 * Builds one {@code SpanBatch} message at a time from slices of bytes, without an object per span.
 *
 * <p>Use: {@link #begin}, then for each span {@link #startSpan}, {@link #attribute} …, {@link
 * #endSpan}, then {@link #finish}, which leaves the message in {@link #buffer()}. Spans of which
 * only count and duration matter start with {@link #startGroupedSpan} instead. Strings are given as
 * dictionary indexes from {@link #intern}. Reusable: {@code begin} starts anew, with the arrays of
 * the last batch, which have grown to the largest batch so far and are bounded by {@link Limits};
 * at its own cost it allocates nothing more. A message that this writer finishes is one that {@link
 * SpanBatchReader} accepts: arguments out of range are refused here with an {@code
 * IllegalArgumentException}, batches that outgrow {@link Limits} with an {@code
 * IllegalStateException}. Not thread-safe: one owner.
 */
public final class SpanBatchWriter {
  private static final int NONE = -1;

  /**
   * Bytes of a message that are neither dictionary nor resource nor spans nor groups, at most:
   * field headers, list headers, the batch's name, numbers, the end.
   */
  private static final int FRAME_BYTES = 128;

  /** Bytes of a span, or of a group's head, without its attributes, at most. */
  private static final int SPAN_FRAME_BYTES = 96;

  /** Bytes of a dictionary index as a varint, at most: {@code 2 * 262,143} has 19 bits. */
  private static final int INDEX_BYTES = 3;

  private final BatchDictionary dictionary = new BatchDictionary();
  private byte[] message = new byte[1024];

  private int application = NONE;
  private final int[] resource = new int[2 * Limits.MAX_ATTRIBUTES];
  private int resourceLength;

  /** Encoded spans; those ended stand before {@link #spansEnd}, the one started after it. */
  private byte[] spans = new byte[1024];

  private int spansEnd;
  private int spanCount;
  private long baseUnixNanos;

  private final SpanGroups groups = new SpanGroups();

  private boolean inSpan;

  /** Whether the span started goes into a group. */
  private boolean grouped;

  private int spanEnd;
  private long groupedNanos;
  private long samplingThreshold;
  private int statusMessage;
  private final int[] attributes = new int[2 * Limits.MAX_ATTRIBUTES];
  private int attributesLength;
  private int[] events = new int[64];
  private int eventNumbers;

  /** Where the number of attributes of the last event stands in {@link #events}. */
  private int lastEvent;

  /** Of the span started. */
  private int spanEvents;

  /** Of all spans. */
  private int eventCount;

  /** Starts a batch; the dictionary is empty. Forgets an unfinished one. */
  public void begin() {
    dictionary.clear();
    application = NONE;
    resourceLength = 0;
    spansEnd = 0;
    spanCount = 0;
    groups.clear();
    inSpan = false;
    eventCount = 0;
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
    return dictionary.intern(bytes, offset, kept(bytes, offset, length));
  }

  /** How much of a string is kept. */
  private static int kept(byte[] bytes, int offset, int length) {
    if (length <= Limits.MAX_STRING_BYTES) {
      return length;
    }
    int kept = Limits.MAX_STRING_BYTES;
    while (kept > Limits.MAX_STRING_BYTES - 3 && (bytes[offset + kept] & 0xc0) == 0x80) {
      kept--;
    }
    return kept;
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
    check(name, kind, status, durationNanos, samplingThreshold);
    if (spanCount == 0) {
      baseUnixNanos = startUnixNanos;
    }

    spans = Compact.grown(spans, spansEnd, SPAN_FRAME_BYTES);
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
    at = Compact.putVarint(out, at, (long) name << 1);
    out[at++] = Compact.field(1, Compact.BYTE);
    out[at++] = (byte) kind;
    out[at++] = Compact.field(1, Compact.BYTE);
    out[at++] = (byte) status;
    out[at++] = Compact.field(1, Compact.I64);
    // May wrap around; the reader's addition wraps back.
    at = Compact.putVarint(out, at, Compact.zigZag(startUnixNanos - baseUnixNanos));
    out[at++] = Compact.field(1, Compact.I64);
    at = Compact.putVarint(out, at, Compact.zigZag(durationNanos));
    started(at, samplingThreshold);
    grouped = false;
  }

  /**
   * Starts a span that only counts: it has no identity and no place in time, and at its end goes
   * into the group of those that are like it in all but the duration. Attributes follow as with
   * {@link #startSpan}; a status message is left out. One started before and not ended is
   * forgotten.
   *
   * @param name dictionary index
   * @param kind as in OTLP, 0 to 5
   * @param status as in OTLP, 0 to 2
   * @param durationNanos at least 0
   * @param samplingThreshold 0 when the span stands for itself alone, else below 2^56
   * @throws IllegalStateException when the batch has {@link Limits#MAX_SPANS} spans
   */
  public void startGroupedSpan(
      int name, int kind, int status, long durationNanos, long samplingThreshold) {
    check(name, kind, status, durationNanos, samplingThreshold);
    // Beyond the spans, where it is not kept.
    spans = Compact.grown(spans, spansEnd, SPAN_FRAME_BYTES);
    byte[] out = spans;
    int at = spansEnd;
    out[at++] = Compact.field(Compact.GROUP_NAME, Compact.I32);
    at = Compact.putVarint(out, at, (long) name << 1);
    out[at++] = Compact.field(1, Compact.BYTE);
    out[at++] = (byte) kind;
    out[at++] = Compact.field(1, Compact.BYTE);
    out[at++] = (byte) status;
    started(at, samplingThreshold);
    groupedNanos = durationNanos;
    grouped = true;
  }

  private void check(int name, int kind, int status, long durationNanos, long threshold) {
    if (spanCount() == Limits.MAX_SPANS) {
      throw new IllegalStateException(
          "the batch has " + spanCount() + " spans, the most it may have; finish it first");
    }
    checkRange("kind", kind, Compact.MAX_KIND);
    checkRange("status", status, Compact.MAX_STATUS);
    checkRange("durationNanos", durationNanos, Long.MAX_VALUE);
    checkRange("samplingThreshold", threshold, Compact.THRESHOLD_END - 1);
    checkedIndex(name);
  }

  private void started(int end, long threshold) {
    spanEnd = end;
    samplingThreshold = threshold;
    statusMessage = NONE;
    attributesLength = 0;
    eventNumbers = 0;
    spanEvents = 0;
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

  /**
   * Adds an attribute to the span started, as the other method does, from strings that {@link
   * #intern} would be given. Cheapest when the attribute at the same place of the span before has
   * the same key or value.
   *
   * @throws IllegalStateException as {@link #intern}
   */
  public void attribute(
      byte[] key, int keyOffset, int keyLength, byte[] value, int valueOffset, int valueLength) {
    int at = attributesLength;
    if (at < attributes.length) {
      // What stands there is of the span before, or of an earlier batch: no more than a guess.
      attributes[at] =
          dictionary.intern(key, keyOffset, kept(key, keyOffset, keyLength), attributes[at]);
      attributes[at + 1] =
          dictionary.intern(
              value, valueOffset, kept(value, valueOffset, valueLength), attributes[at + 1]);
      attributesLength = at + 2;
    }
  }

  /**
   * Adds an event that is to be counted to the span started; attributes of it follow.
   *
   * @param name dictionary index
   * @return false if there is no room for it: the span has {@link Limits#MAX_SPAN_EVENTS} or {@link
   *     Limits#MAX_EVENT_NUMBERS}, or the batch {@link Limits#MAX_EVENTS}
   */
  public boolean event(int name) {
    if (spanEvents == Limits.MAX_SPAN_EVENTS
        || !hasEventRoom()
        || eventCount + spanEvents >= Limits.MAX_EVENTS) {
      return false;
    }
    events[eventNumbers] = checkedIndex(name);
    lastEvent = eventNumbers + 1;
    events[lastEvent] = 0;
    eventNumbers += 2;
    spanEvents++;
    return true;
  }

  /**
   * Adds an attribute to the event added last; left out where the span has no room for it.
   *
   * @param key dictionary index
   * @param value dictionary index
   */
  public void eventAttribute(int key, int value) {
    if (hasEventRoom()) {
      events[eventNumbers] = checkedIndex(key);
      events[eventNumbers + 1] = checkedIndex(value);
      eventNumbers += 2;
      events[lastEvent]++;
    }
  }

  private boolean hasEventRoom() {
    if (eventNumbers == events.length && eventNumbers < Limits.MAX_EVENT_NUMBERS) {
      events = Arrays.copyOf(events, 2 * eventNumbers);
    }
    return eventNumbers < events.length;
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
    spans =
        Compact.grown(
            spans, spanEnd, SPAN_FRAME_BYTES + INDEX_BYTES * (attributesLength + eventNumbers));
    byte[] out = spans;
    int at = spanEnd;
    // After the fields written so far a span and a group's head go on alike: attributes, threshold
    // and then the message or the durations. What is left out is passed.
    int delta = 1;
    if (attributesLength != 0) {
      out[at++] = Compact.field(delta, Compact.LIST);
      at = putIndexes(out, at, attributes, attributesLength);
      delta = 0;
    }
    delta++;
    if (samplingThreshold != 0) {
      out[at++] = Compact.field(delta, Compact.I64);
      at = Compact.putVarint(out, at, Compact.zigZag(samplingThreshold));
      delta = 0;
    }
    delta++;
    if (grouped) {
      endGrouped(at, delta);
      return;
    }
    if (statusMessage != NONE) {
      out[at++] = Compact.field(delta, Compact.I32);
      at = Compact.putVarint(out, at, (long) statusMessage << 1);
      delta = 0;
    }
    delta++;
    if (eventNumbers != 0) {
      out[at++] = Compact.field(delta, Compact.LIST);
      at = putIndexes(out, at, events, eventNumbers);
    }
    out[at++] = Compact.STOP;
    inSpan = false;
    if (at > Limits.MAX_MESSAGE_BYTES) {
      throw new IllegalStateException(
          "the spans have " + at + " bytes, more than " + Limits.MAX_MESSAGE_BYTES);
    }
    spansEnd = at;
    spanCount++;
    eventCount += spanEvents;
  }

  /**
   * @param delta from the field before to that of the durations
   */
  private void endGrouped(int end, int delta) {
    byte[] out = spans;
    int at = end;
    out[at++] = Compact.field(delta, Compact.LIST);
    int head = at - spansEnd;
    if (eventNumbers != 0) {
      out[at++] = Compact.field(1, Compact.LIST);
      at = putIndexes(out, at, events, eventNumbers);
    }
    inSpan = false;
    groups.add(out, spansEnd, at - spansEnd, head, groupedNanos);
    eventCount += spanEvents;
  }

  /** Spans ended in the batch so far, those in groups among them. */
  public int spanCount() {
    return spanCount + groups.spans();
  }

  /** Events in the batch so far, those of every span in a group among them. */
  public int eventCount() {
    return eventCount;
  }

  /** Groups in the batch so far. */
  public int groupCount() {
    return groups.size();
  }

  /** Spans in the batch's groups so far. */
  public int groupedSpanCount() {
    return groups.spans();
  }

  /**
   * Upper bound of the bytes that {@link #finish} would make of what is in the batch now; a span
   * not ended is not in it. A span in a group counts with the longest duration, 10 bytes: about
   * what it takes here until then. Costs nothing: ask after every span.
   */
  public int sizeBytes() {
    return FRAME_BYTES
        + dictionary.bytes()
        + INDEX_BYTES * resourceLength
        + spansEnd
        + groups.sizeBytes();
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
    message = Compact.grown(message, 0, sizeBytes());
    byte[] out = message;
    int at = 0;
    out[at++] = Compact.field(Compact.VERSION, Compact.I32);
    boolean hasGroups = groups.size() > 0;
    int version = hasGroups ? Compact.FORMAT_VERSION_WITH_GROUPS : Compact.FORMAT_VERSION;
    at = Compact.putVarint(out, at, (long) version << 1);
    out[at++] = Compact.field(1, Compact.BINARY);
    out[at++] = Compact.AGENT_BYTES;
    at = putLong(out, at, agentHigh);
    at = putLong(out, at, agentLow);
    out[at++] = Compact.field(1, Compact.I64);
    at = Compact.putVarint(out, at, Compact.zigZag(epoch));
    out[at++] = Compact.field(1, Compact.I64);
    at = Compact.putVarint(out, at, Compact.zigZag(sequence));
    out[at++] = Compact.field(1, Compact.I32);
    at = Compact.putVarint(out, at, (long) spanCount() << 1);
    out[at++] = Compact.field(1, Compact.LIST);
    at = Compact.putListHeader(out, at, Compact.BINARY, dictionary.size());
    at = dictionary.copyTo(out, at);
    out[at++] = Compact.field(1, Compact.I32);
    at = Compact.putVarint(out, at, (long) application << 1);
    // Written even if empty, so that a reader who has seen fields 1 to 9 knows that nothing follows
    // the spans.
    out[at++] = Compact.field(1, Compact.LIST);
    at = putIndexes(out, at, resource, resourceLength);
    out[at++] = Compact.field(1, Compact.I64);
    at = Compact.putVarint(out, at, Compact.zigZag(spanCount == 0 ? 0 : baseUnixNanos));
    out[at++] = Compact.field(1, Compact.LIST);
    at = Compact.putListHeader(out, at, Compact.STRUCT, spanCount);
    System.arraycopy(spans, 0, out, at, spansEnd);
    at += spansEnd;
    if (hasGroups) {
      out[at++] = Compact.field(1, Compact.LIST);
      at = Compact.putListHeader(out, at, Compact.STRUCT, groups.size());
      at = groups.writeTo(out, at);
    }
    out[at++] = Compact.STOP;
    if (at > Limits.MAX_MESSAGE_BYTES) {
      throw new IllegalStateException(
          "the message has " + at + " bytes, more than " + Limits.MAX_MESSAGE_BYTES);
    }
    return at;
  }

  /**
   * Holds the message after {@link #finish}, until the next. Ask for it after {@code finish}, which
   * may take a larger array.
   */
  public byte[] buffer() {
    return message;
  }

  /** Bytes of the arrays it holds: they grow with the largest batch and never shrink. */
  public long heldBytes() {
    return message.length
        + spans.length
        + 4L * (resource.length + attributes.length + events.length)
        + dictionary.heldBytes()
        + groups.heldBytes();
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

  private static int putIndexes(byte[] out, int at, int[] indexes, int length) {
    int end = Compact.putListHeader(out, at, Compact.I32, length);
    for (int i = 0; i < length; i++) {
      end = Compact.putIndex(out, end, indexes[i]);
    }
    return end;
  }
}
