package org.traceetl.proto;

import java.util.Arrays;

/**
 * Builds one {@code SpanBatch} message at a time from slices of bytes, without an object per span.
 *
 * <p>Call {@link #begin}, then for each span {@link #startSpan}, {@link #attribute} …, {@link
 * #endSpan}, then {@link #finish}, which leaves the message in {@link #buffer()}. Measured spans
 * start with {@link #startGroupedSpan} instead, and whole spans of a sample with {@link
 * #startSample}. Strings are dictionary indexes from {@link #intern}.
 *
 * <p>{@code begin} reuses the arrays, which have grown to the largest batch so far and are bounded
 * by {@link Limits}. Otherwise it allocates nothing. {@link SpanBatchReader} accepts every finished
 * message: arguments out of range cause an {@code IllegalArgumentException}, a batch that exceeds
 * {@link Limits} an {@code IllegalStateException}. Not thread-safe: one owner.
 */
public final class SpanBatchWriter {
  private static final int NONE = -1;

  /**
   * Most bytes of a message in addition to dictionary, resource, spans and groups: field headers,
   * list headers, the batch's name, numbers, the end.
   */
  private static final int FRAME_BYTES = 160;

  /** Most bytes of a span, or of a group's head, without its attributes. */
  private static final int SPAN_FRAME_BYTES = 96;

  /** Most bytes of {@link Limits#MAX_SPAN_BYTES} as a varint. */
  private static final int SPAN_SIZE_BYTES = 4;

  /** Most bytes of the size of {@link Limits#MAX_SPANS} in a group as a varint. */
  private static final int GROUP_SIZE_BYTES = 6;

  private final BatchDictionary dictionary = new BatchDictionary();
  private byte[] message = new byte[1024];

  private int application = NONE;
  private final int[] resource = new int[2 * Limits.MAX_ATTRIBUTES];
  private int resourceLength;

  /** Encoded spans: ended ones before {@link #spansEnd}, the current one after it. */
  private byte[] spans = new byte[1024];

  private int spansEnd;
  private int spanCount;
  private long baseUnixNanos;

  private final SpanGroups groups = new SpanGroups();

  private long demand;
  private final int[] groupKeys = new int[Limits.MAX_ATTRIBUTES];
  private int groupKeyCount;

  private long sampleThreshold;

  /** Encoded samples. */
  private byte[] samples = new byte[0];

  private int samplesEnd;
  private int sampleCount;

  /** Events of all samples. */
  private int sampleEventCount;

  /** Indexes of spans that are members of the sample. */
  private int[] sampled = new int[16];

  private int sampledCount;

  /** Bytes of the last message that would be absent without a sample, except of strings. */
  private int sampleFieldBytes;

  private boolean keepsSizes;

  /** Sizes of the ended spans that are not in groups, if the batch keeps sizes. */
  private long[] spanSizes = new long[0];

  private boolean inSpan;

  /** Whether the current span is a sample. */
  private boolean isSample;

  /** Whether the current span is a member of the sample. */
  private boolean isSampled;

  /** Whether the current span goes into a group. */
  private boolean grouped;

  private int spanEnd;

  /** From the last field to the one after the threshold. */
  private int nextDelta;

  /** Bytes of a group's fields up to and including the header of the durations. */
  private int groupHead;

  private long groupedNanos;

  /** End of the current span's fields that {@link #startsGroup} wrote, or {@link #NONE}. */
  private int writtenEnd;

  /** Group that {@link #startsGroup} found, or {@link SpanGroups#NONE}. */
  private int foundGroup;

  /** Numbers of attributes and events that {@link #startsGroup} wrote; more are only appended. */
  private int writtenNumbers;

  private long samplingThreshold;
  private long size;
  private int statusMessage;
  private final int[] attributes = new int[2 * Limits.MAX_ATTRIBUTES];
  private int attributesLength;
  private int[] events = new int[64];
  private int eventNumbers;

  /** Position in {@link #events} of the last event's number of attributes. */
  private int lastEvent;

  /** Events of the current span. */
  private int spanEvents;

  /** Events of all spans. */
  private int eventCount;

  /** Starts a batch with an empty dictionary; discards an unfinished one. */
  public void begin() {
    dictionary.clear();
    application = NONE;
    resourceLength = 0;
    spansEnd = 0;
    spanCount = 0;
    groups.clear();
    demand = 0;
    groupKeyCount = 0;
    sampleThreshold = 0;
    samplesEnd = 0;
    sampleCount = 0;
    sampleEventCount = 0;
    sampledCount = 0;
    keepsSizes = false;
    inSpan = false;
    eventCount = 0;
  }

  /**
   * Names an array whose content does not change while it is named: a string at the same place is
   * looked for once in a batch. {@link #begin} forgets it.
   *
   * @param array null for none
   */
  public void source(byte[] array) {
    dictionary.source(array);
  }

  /**
   * Returns the string's index in the batch's dictionary; adds a new string. Strings over {@link
   * Limits#MAX_STRING_BYTES} are cut at a UTF-8 boundary. The bytes should be UTF-8, which is not
   * checked.
   *
   * @throws IllegalStateException if the dictionary has {@link Limits#MAX_DICTIONARY_ENTRIES} or
   *     would exceed {@link Limits#MAX_MESSAGE_BYTES}
   */
  public int intern(byte[] bytes, int offset, int length) {
    return dictionary.intern(bytes, offset, BatchDictionary.kept(bytes, offset, length));
  }

  /** Returns the dictionary entries so far, 0 to {@link Limits#MAX_DICTIONARY_ENTRIES}. */
  public int dictionarySize() {
    return dictionary.size();
  }

  /** Sets the application, a dictionary index. */
  public void application(int index) {
    application = dictionary.checkedIndex(index);
  }

  /**
   * Adds an attribute of the resource; those above {@link Limits#MAX_ATTRIBUTES} are left out.
   *
   * @param key dictionary index
   * @param value dictionary index
   */
  public void resourceAttribute(int key, int value) {
    if (resourceLength < resource.length) {
      resource[resourceLength] = dictionary.checkedIndex(key);
      resource[resourceLength + 1] = dictionary.checkedIndex(value);
      resourceLength += 2;
    }
  }

  /**
   * Sets the demand by which groups lack attributes; written if the batch has groups.
   *
   * @param version above 0, or 0 if groups have all attributes of their spans
   */
  public void demand(long version) {
    Compact.checkRange("version", version, Long.MAX_VALUE);
    demand = version;
  }

  /**
   * Adds the key of an attribute that groups have if their spans have it; written if the batch has
   * groups and a {@link #demand}.
   *
   * @param index dictionary index
   * @throws IllegalStateException if there are {@link Limits#MAX_ATTRIBUTES}
   */
  public void groupKey(int index) {
    if (groupKeyCount == groupKeys.length) {
      throw new IllegalStateException("the batch has " + groupKeyCount + " group keys");
    }
    groupKeys[groupKeyCount] = dictionary.checkedIndex(index);
    groupKeyCount++;
  }

  /**
   * Sets the threshold of the sample; written if the batch has samples, or spans that are members
   * of the sample, and groups and a {@link #demand}.
   *
   * @param threshold below 2^56
   */
  public void sampleThreshold(long threshold) {
    Compact.checkRange("threshold", threshold, Compact.THRESHOLD_END - 1);
    sampleThreshold = threshold;
  }

  /**
   * Lets the message contain the sizes of spans and groups. Call it before the first span.
   *
   * @throws IllegalStateException if the batch has spans
   */
  public void keepSizes() {
    if (spanCount() > 0) {
      throw new IllegalStateException("the batch has " + spanCount() + " spans without sizes");
    }
    keepsSizes = true;
  }

  /**
   * Starts a span. Discards a span that was not ended.
   *
   * @param parentSpanId 0 for a root span
   * @param name dictionary index
   * @param kind as in OTLP, 0 to 5
   * @param status as in OTLP, 0 to 2
   * @param durationNanos at least 0
   * @param samplingThreshold 0 if the span represents only itself, else below 2^56
   * @throws IllegalStateException if the batch has {@link Limits#MAX_SPANS} spans
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
    checkRoom(spanCount());
    check(name, kind, status, durationNanos, samplingThreshold);
    startWhole(
        traceIdHigh,
        traceIdLow,
        spanId,
        parentSpanId,
        name,
        kind,
        status,
        startUnixNanos,
        durationNanos,
        samplingThreshold);
    isSample = false;
  }

  /**
   * Starts a sample: a whole copy of a span that is in a group. It is written if the batch has
   * groups and a {@link #demand}, and is not counted. Attributes follow as with {@link #startSpan}.
   * Discards a span that was not ended.
   *
   * @param parentSpanId 0 for a root span
   * @param name dictionary index
   * @param kind as in OTLP, 0 to 5
   * @param status as in OTLP, 0 to 2
   * @param durationNanos at least 0
   * @param samplingThreshold the greater of the span's and the sample's
   * @throws IllegalStateException if the batch has {@link Limits#MAX_SPANS} samples
   */
  public void startSample(
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
    checkRoom(sampleCount);
    check(name, kind, status, durationNanos, samplingThreshold);
    startWhole(
        traceIdHigh,
        traceIdLow,
        spanId,
        parentSpanId,
        name,
        kind,
        status,
        startUnixNanos,
        durationNanos,
        samplingThreshold);
    isSample = true;
  }

  private void startWhole(
      long traceIdHigh,
      long traceIdLow,
      long spanId,
      long parentSpanId,
      int name,
      int kind,
      int status,
      long startUnixNanos,
      long durationNanos,
      long threshold) {
    if (spanCount == 0 && sampleCount == 0) {
      baseUnixNanos = startUnixNanos;
    }
    spans = Compact.grown(spans, spansEnd, SPAN_FRAME_BYTES);
    byte[] out = spans;
    int at = spansEnd;
    boolean root = parentSpanId == 0;
    out[at++] = Compact.field(Compact.IDS, Compact.BINARY);
    out[at++] = (byte) (root ? Compact.ROOT_IDS_BYTES : Compact.CHILD_IDS_BYTES);
    at = Compact.putLong(out, at, traceIdHigh);
    at = Compact.putLong(out, at, traceIdLow);
    at = Compact.putLong(out, at, spanId);
    if (!root) {
      at = Compact.putLong(out, at, parentSpanId);
    }
    out[at++] = Compact.field(1, Compact.I32);
    at = Compact.putVarint(out, at, (long) name << 1);
    out[at++] = Compact.field(1, Compact.BYTE);
    out[at++] = (byte) kind;
    out[at++] = Compact.field(1, Compact.BYTE);
    out[at++] = (byte) status;
    out[at++] = Compact.field(1, Compact.I64);
    // May overflow; the reader's addition reverses it.
    at = Compact.putVarint(out, at, Compact.zigZag(startUnixNanos - baseUnixNanos));
    out[at++] = Compact.field(1, Compact.I64);
    at = Compact.putVarint(out, at, Compact.zigZag(durationNanos));
    started(at, threshold);
    grouped = false;
  }

  /**
   * Starts a measured span, without identity and start. At its end it joins the group of spans that
   * differ only in their duration. Attributes follow as with {@link #startSpan}; a status message
   * is left out. Discards a span that was not ended.
   *
   * @param name dictionary index
   * @param kind as in OTLP, 0 to 5
   * @param status as in OTLP, 0 to 2
   * @param durationNanos at least 0
   * @param samplingThreshold 0 if the span represents only itself, else below 2^56
   * @throws IllegalStateException if the batch has {@link Limits#MAX_SPANS} spans
   */
  public void startGroupedSpan(
      int name, int kind, int status, long durationNanos, long samplingThreshold) {
    checkRoom(spanCount());
    check(name, kind, status, durationNanos, samplingThreshold);
    // Scratch space after the spans.
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
    isSample = false;
  }

  private static void checkRoom(int count) {
    if (count == Limits.MAX_SPANS) {
      throw new IllegalStateException(
          "the batch has " + count + " spans, the most it may have; finish it first");
    }
  }

  private void check(int name, int kind, int status, long durationNanos, long threshold) {
    Compact.checkRange("kind", kind, Compact.MAX_KIND);
    Compact.checkRange("status", status, Compact.MAX_STATUS);
    Compact.checkRange("durationNanos", durationNanos, Long.MAX_VALUE);
    Compact.checkRange("samplingThreshold", threshold, Compact.THRESHOLD_END - 1);
    dictionary.checkedIndex(name);
  }

  private void started(int end, long threshold) {
    spanEnd = end;
    samplingThreshold = threshold;
    size = 0;
    statusMessage = NONE;
    attributesLength = 0;
    eventNumbers = 0;
    spanEvents = 0;
    writtenEnd = NONE;
    isSampled = false;
    inSpan = true;
  }

  /**
   * Adds an attribute to the current span; those above {@link Limits#MAX_ATTRIBUTES} are left out.
   *
   * @param key dictionary index
   * @param value dictionary index
   */
  public void attribute(int key, int value) {
    if (attributesLength < attributes.length) {
      attributes[attributesLength] = dictionary.checkedIndex(key);
      attributes[attributesLength + 1] = dictionary.checkedIndex(value);
      attributesLength += 2;
    }
  }

  /**
   * Adds an attribute, from strings instead of indexes. Fastest if the attribute at the same place
   * of the last span has the same key or value.
   *
   * @throws IllegalStateException as {@link #intern}
   */
  public void attribute(
      byte[] key, int keyOffset, int keyLength, byte[] value, int valueOffset, int valueLength) {
    int at = attributesLength;
    if (at < attributes.length) {
      // The old index is of the last span or an earlier batch: only a guess.
      attributes[at] =
          dictionary.intern(
              key, keyOffset, BatchDictionary.kept(key, keyOffset, keyLength), attributes[at]);
      attributes[at + 1] =
          dictionary.intern(
              value,
              valueOffset,
              BatchDictionary.kept(value, valueOffset, valueLength),
              attributes[at + 1]);
      attributesLength = at + 2;
    }
  }

  /**
   * Adds an event to count to the current span; its attributes follow.
   *
   * @param name dictionary index
   * @return false if there is no room: the span has {@link Limits#MAX_SPAN_EVENTS} or {@link
   *     Limits#MAX_EVENT_NUMBERS}, or the batch {@link Limits#MAX_EVENTS}
   */
  public boolean event(int name) {
    if (spanEvents == Limits.MAX_SPAN_EVENTS
        || !hasEventRoom()
        || (isSample ? sampleEventCount : eventCount) + spanEvents >= Limits.MAX_EVENTS) {
      return false;
    }
    events[eventNumbers] = dictionary.checkedIndex(name);
    lastEvent = eventNumbers + 1;
    events[lastEvent] = 0;
    eventNumbers += 2;
    spanEvents++;
    return true;
  }

  /**
   * Adds an attribute to the last event; left out if the span has no room.
   *
   * @param key dictionary index
   * @param value dictionary index
   */
  public void eventAttribute(int key, int value) {
    if (hasEventRoom()) {
      events[eventNumbers] = dictionary.checkedIndex(key);
      events[eventNumbers + 1] = dictionary.checkedIndex(value);
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

  /** Sets the status message of the current span, a dictionary index. */
  public void statusMessage(int index) {
    statusMessage = dictionary.checkedIndex(index);
  }

  /**
   * Sets the size of the current span, which is otherwise unknown. It has no effect on a sample,
   * and in a batch that does not {@linkplain #keepSizes keep sizes}.
   *
   * @param bytes of the span as the agent received it, at least 0; 0 if unknown. More than {@link
   *     Limits#MAX_SPAN_BYTES} count as these
   */
  public void size(long bytes) {
    Compact.checkRange("bytes", bytes, Long.MAX_VALUE);
    size = Math.min(bytes, Limits.MAX_SPAN_BYTES);
  }

  /**
   * Marks the current span as a member of the sample; for a span that is whole anyway.
   *
   * @throws IllegalStateException if the current span is a sample or goes into a group
   */
  public void sampled() {
    if (!inSpan || grouped || isSample) {
      throw new IllegalStateException("no whole span was started");
    }
    isSampled = true;
  }

  /**
   * Returns whether {@link #endSpan} would start a group: the batch has none that differs from the
   * current span only in durations. Changes no span or group; if nothing is added to the current
   * span after it, {@code endSpan} reuses its result.
   *
   * @throws IllegalStateException if the current span does not go into a group
   */
  public boolean startsGroup() {
    if (!inSpan || !grouped) {
      throw new IllegalStateException("no span of a group was started");
    }
    writtenEnd = putGroup(putAttributes());
    writtenNumbers = attributesLength + eventNumbers;
    foundGroup = groups.find(spans, spansEnd, writtenEnd - spansEnd);
    return foundGroup == SpanGroups.NONE;
  }

  /**
   * Starts to compare a span with a group of the batch, without a started span and without a look
   * into the dictionary. Follow with {@link #isNextOfGroup} for each attribute and {@link
   * #addToGroup} until one returns false. Discards a span that was not ended.
   *
   * @param group a possible number of a group; any number at least 0
   * @return whether the batch has this group, and its spans have this name, kind and status
   */
  public boolean isOfGroup(int group, byte[] name, int offset, int length, int kind, int status) {
    inSpan = false;
    return groups.startsAs(group, dictionary, name, offset, length, kind, status);
  }

  /** Returns whether the next attribute of the compared group has this key and this value. */
  public boolean isNextOfGroup(
      byte[] key, int keyOffset, int keyLength, byte[] value, int valueOffset, int valueLength) {
    return groups.continuesAs(
        dictionary, key, keyOffset, keyLength, value, valueOffset, valueLength);
  }

  /**
   * Adds a span without events to the compared group, if the group has no more attributes and this
   * threshold.
   *
   * @param durationNanos at least 0
   * @param bytes its size as in {@link #size}
   * @return whether it was added
   * @throws IllegalStateException if the batch has {@link Limits#MAX_SPANS} spans
   */
  public boolean addToGroup(long durationNanos, long samplingThreshold, long bytes) {
    if (!groups.endsAs(samplingThreshold)) {
      return false;
    }
    checkRoom(spanCount());
    Compact.checkRange("durationNanos", durationNanos, Long.MAX_VALUE);
    Compact.checkRange("bytes", bytes, Long.MAX_VALUE);
    groups.addCompared(durationNanos, Math.min(bytes, Limits.MAX_SPAN_BYTES));
    return true;
  }

  /**
   * Sets the trace of the last ended span in a group, if it was sampled: readers get the number of
   * pairs of one trace, which says how certain the number of spans is.
   */
  public void traceOfGrouped(long traceIdHigh, long traceIdLow) {
    groups.trace(traceIdHigh, traceIdLow);
  }

  /** Returns the number of the group that received the last span in a group. */
  public int lastGroup() {
    return groups.last();
  }

  /**
   * Ends the current span.
   *
   * @throws IllegalStateException if there is none, or the spans exceed {@link
   *     Limits#MAX_MESSAGE_BYTES}; the span is left out
   */
  public void endSpan() {
    if (!inSpan) {
      throw new IllegalStateException("no span was started");
    }
    if (grouped) {
      endGrouped();
    } else {
      endSingle(putAttributes());
    }
    if (isSample) {
      sampleEventCount += spanEvents;
    } else {
      eventCount += spanEvents;
    }
  }

  private void endGrouped() {
    boolean written = writtenEnd != NONE && writtenNumbers == attributesLength + eventNumbers;
    if (!written) {
      writtenEnd = putGroup(putAttributes());
    }
    inSpan = false;
    if (written && foundGroup != SpanGroups.NONE) {
      groups.add(foundGroup, groupedNanos, size);
    } else {
      groups.add(spans, spansEnd, writtenEnd - spansEnd, groupHead, groupedNanos, size);
    }
  }

  /**
   * Writes the fields that a span and a group's head have in common, attributes and threshold, and
   * sets {@link #nextDelta}.
   *
   * @return their end
   */
  private int putAttributes() {
    spans =
        Compact.grown(
            spans,
            spanEnd,
            SPAN_FRAME_BYTES + Compact.INDEX_BYTES * (attributesLength + eventNumbers));
    byte[] out = spans;
    int at = spanEnd;
    // Absent fields increase the delta.
    int delta = 1;
    if (attributesLength != 0) {
      out[at++] = Compact.field(delta, Compact.LIST);
      at = Compact.putIndexes(out, at, attributes, attributesLength);
      delta = 0;
    }
    delta++;
    if (samplingThreshold != 0) {
      out[at++] = Compact.field(delta, Compact.I64);
      at = Compact.putVarint(out, at, Compact.zigZag(samplingThreshold));
      delta = 0;
    }
    nextDelta = delta + 1;
    return at;
  }

  private void endSingle(int end) {
    byte[] out = spans;
    int at = end;
    int delta = nextDelta;
    if (statusMessage != NONE) {
      out[at++] = Compact.field(delta, Compact.I32);
      at = Compact.putVarint(out, at, (long) statusMessage << 1);
      delta = 0;
    }
    delta++;
    if (eventNumbers != 0) {
      out[at++] = Compact.field(delta, Compact.LIST);
      at = Compact.putIndexes(out, at, events, eventNumbers);
    }
    out[at++] = Compact.STOP;
    inSpan = false;
    if (at + samplesEnd > Limits.MAX_MESSAGE_BYTES) {
      throw new IllegalStateException(
          "the spans have " + (at + samplesEnd) + " bytes, more than " + Limits.MAX_MESSAGE_BYTES);
    }
    if (isSample) {
      moveToSamples(at - spansEnd);
      return;
    }
    if (isSampled) {
      if (sampledCount == sampled.length) {
        sampled = Arrays.copyOf(sampled, 2 * sampledCount);
      }
      sampled[sampledCount++] = spanCount;
    }
    if (keepsSizes) {
      if (spanCount == spanSizes.length) {
        spanSizes = Arrays.copyOf(spanSizes, Math.max(64, 2 * spanCount));
      }
      spanSizes[spanCount] = size;
    }
    spansEnd = at;
    spanCount++;
  }

  private void moveToSamples(int length) {
    samples = Compact.grown(samples, samplesEnd, length);
    System.arraycopy(spans, spansEnd, samples, samplesEnd, length);
    samplesEnd += length;
    sampleCount++;
  }

  /** Writes the durations' header and the events of a group, sets {@link #groupHead}. */
  private int putGroup(int end) {
    byte[] out = spans;
    int at = end;
    out[at++] = Compact.field(nextDelta, Compact.LIST);
    groupHead = at - spansEnd;
    if (eventNumbers != 0) {
      out[at++] = Compact.field(1, Compact.LIST);
      at = Compact.putIndexes(out, at, events, eventNumbers);
    }
    return at;
  }

  /** Returns the ended spans of the batch, including those in groups. */
  public int spanCount() {
    return spanCount + groups.spans();
  }

  /** Returns the events of the batch so far, including those of every span in a group. */
  public int eventCount() {
    return eventCount;
  }

  public int groupCount() {
    return groups.size();
  }

  public int groupedSpanCount() {
    return groups.spans();
  }

  /** Returns the bytes of the ended samples, without strings in the dictionary. */
  public int sampleBytes() {
    return samplesEnd;
  }

  /** Returns the ended samples, which {@link #spanCount} does not include. */
  public int sampleCount() {
    return sampleCount;
  }

  /** Returns the events of the samples, which {@link #eventCount} does not include. */
  public int sampleEventCount() {
    return sampleEventCount;
  }

  /**
   * Returns an upper bound of the bytes of {@link #finish} for the batch so far, without the
   * current span. A span in a group counts as the longest duration, 10 bytes, about its memory
   * until then. Costs nothing, so callers may use it after every span.
   */
  public int sizeBytes() {
    return FRAME_BYTES
        + dictionary.bytes()
        + Compact.INDEX_BYTES * (resourceLength + groupKeyCount)
        + spansEnd
        + samplesEnd
        + Compact.INDEX_BYTES * sampledCount
        + groups.sizeBytes()
        + (keepsSizes ? SPAN_SIZE_BYTES * spanCount + GROUP_SIZE_BYTES * groups.size() : 0);
  }

  /**
   * Writes the message, without a span that was not ended. May be called again, for the same spans
   * under another name.
   *
   * @param agentHigh first half of the agent's identity
   * @param agentLow second half of the agent's identity
   * @param epoch the agent's start
   * @param sequence at least 0
   * @return its length; its bytes are {@code buffer()[0, length)}
   * @throws IllegalStateException if no application is set, or the message exceeds {@link
   *     Limits#MAX_MESSAGE_BYTES}
   */
  public int finish(long agentHigh, long agentLow, long epoch, long sequence) {
    Compact.checkRange("sequence", sequence, Long.MAX_VALUE);
    if (application == NONE) {
      throw new IllegalStateException("the batch has no application");
    }
    message = Compact.grown(message, 0, sizeBytes());
    byte[] out = message;
    boolean hasGroups = groups.size() > 0;
    int version = hasGroups ? Compact.FORMAT_VERSION_WITH_GROUPS : Compact.FORMAT_VERSION;
    int at =
        BatchHead.put(
            out, 0, version, agentHigh, agentLow, epoch, sequence, spanCount(), dictionary);
    out[at++] = Compact.field(1, Compact.I32);
    at = Compact.putVarint(out, at, (long) application << 1);
    // Written even if empty: a reader that has seen fields 1 to 9 knows that nothing follows the
    // spans.
    out[at++] = Compact.field(1, Compact.LIST);
    at = Compact.putIndexes(out, at, resource, resourceLength);
    out[at++] = Compact.field(1, Compact.I64);
    int baseStart = at;
    at =
        Compact.putVarint(
            out, at, Compact.zigZag(spanCount + sampleCount == 0 ? 0 : baseUnixNanos));
    sampleFieldBytes = spanCount == 0 ? at - baseStart - 1 : 0;
    boolean demanded = hasGroups && demand != 0;
    if (demanded) {
      at = putDemand(out, at);
    } else {
      out[at++] = Compact.field(1, Compact.LIST);
    }
    at = Compact.putListHeader(out, at, Compact.STRUCT, spanCount);
    System.arraycopy(spans, 0, out, at, spansEnd);
    at += spansEnd;
    if (hasGroups) {
      out[at++] = Compact.field(1, Compact.LIST);
      at = Compact.putListHeader(out, at, Compact.STRUCT, groups.size());
      at = groups.writeTo(out, at);
    }
    int lastField = hasGroups ? Compact.GROUPS : Compact.SPANS;
    int samplesStart = at;
    if (demanded && sampleCount + sampledCount > 0) {
      at = putSample(out, at);
      lastField = Compact.SAMPLE_THRESHOLD;
    }
    sampleFieldBytes += at - samplesStart;
    if (keepsSizes && spanCount + groups.size() > 0) {
      at = putSizes(out, at, lastField);
    }
    out[at++] = Compact.STOP;
    if (at > Limits.MAX_MESSAGE_BYTES) {
      throw new IllegalStateException(
          "the message has " + at + " bytes, more than " + Limits.MAX_MESSAGE_BYTES);
    }
    return at;
  }

  /** Writes the demand's fields and the header of the spans, whose ID is lower. */
  private int putDemand(byte[] out, int at) {
    int end = at;
    out[end++] = Compact.field(Compact.DEMAND - Compact.BASE_UNIX_NANOS, Compact.I64);
    end = Compact.putVarint(out, end, Compact.zigZag(demand));
    out[end++] = Compact.field(1, Compact.LIST);
    end = Compact.putIndexes(out, end, groupKeys, groupKeyCount);
    out[end++] = Compact.field(0, Compact.LIST);
    return Compact.putVarint(out, end, Compact.zigZag(Compact.SPANS));
  }

  /** Writes the fields of the sample, which follow the groups. */
  private int putSample(byte[] out, int at) {
    int end = at;
    int last = Compact.GROUPS;
    if (sampleCount > 0) {
      out[end++] = Compact.field(Compact.SAMPLES - last, Compact.LIST);
      end = Compact.putListHeader(out, end, Compact.STRUCT, sampleCount);
      System.arraycopy(samples, 0, out, end, samplesEnd);
      end += samplesEnd;
      last = Compact.SAMPLES;
    }
    if (sampledCount > 0) {
      out[end++] = Compact.field(Compact.SAMPLED - last, Compact.LIST);
      end = Compact.putIndexes(out, end, sampled, sampledCount);
      last = Compact.SAMPLED;
    }
    out[end++] = Compact.field(Compact.SAMPLE_THRESHOLD - last, Compact.I64);
    return Compact.putVarint(out, end, Compact.zigZag(sampleThreshold));
  }

  /** Writes the sizes of spans and groups. */
  private int putSizes(byte[] out, int at, int lastField) {
    int end = at;
    out[end++] = Compact.field(Compact.SIZES - lastField, Compact.LIST);
    end = Compact.putListHeader(out, end, Compact.I64, spanCount + groups.size());
    for (int span = 0; span < spanCount; span++) {
      end = Compact.putVarint(out, end, Compact.zigZag(spanSizes[span]));
    }
    for (int group = 0; group < groups.size(); group++) {
      end = Compact.putVarint(out, end, Compact.zigZag(groups.bytes(group)));
    }
    return end;
  }

  /**
   * Returns the bytes of the sample in the last message of {@link #finish}, without strings in the
   * dictionary.
   */
  public int sampleFieldBytes() {
    return sampleFieldBytes;
  }

  /**
   * Returns the array with the message, valid until the next {@link #finish}. Call this after
   * {@code finish}, which may replace the array.
   */
  public byte[] buffer() {
    return message;
  }

  /** Returns the bytes of the arrays, which grow with the largest batch and never shrink. */
  public long heldBytes() {
    return message.length
        + spans.length
        + samples.length
        + 4L
            * (resource.length
                + groupKeys.length
                + attributes.length
                + events.length
                + sampled.length)
        + dictionary.heldBytes()
        + 8L * spanSizes.length
        + groups.heldBytes();
  }
}
