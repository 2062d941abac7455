package org.traceetl.proto;

import java.util.Objects;

/**
 * A cursor over one {@code SpanBatch} message. It reads in place: no object per span, no {@code
 * String}; arrays are reused for all messages.
 *
 * <p>Call {@link #wrap}. If it returns {@link Rejection#NONE}, call {@link #next} until false, then
 * {@link #nextGroup} until false. Then {@link #rejection} says whether the complete batch is valid.
 * The sample counts nowhere and is only read, and checked, by {@link #nextSample} and {@link
 * #nextSampled}. Sizes are known once {@link #nextGroup} has returned false. A batch may be refused
 * after some spans, so callers collect spans before they record them. Unknown fields are skipped. A
 * message can neither cause an exception nor a larger allocation than {@link Limits} and its own
 * length justify.
 *
 * <p>Every returned index is inside the dictionary. The dictionary's bytes are not checked to be
 * UTF-8: they are compared as bytes, and malformed ones are replaced when they are rendered.
 *
 * <p>Not thread-safe: one owner, who must not change the message's bytes while reading.
 */
public final class SpanBatchReader {
  private static final int NONE = -1;

  /** Fewest bytes of a span: its required fields, one byte for each number. */
  private static final int MIN_SPAN_BYTES = 37;

  /** Fewest bytes of a group: its required fields, one duration, one byte for each number. */
  private static final int MIN_GROUP_BYTES = 10;

  /** Most bytes of fields 1 to 6 and a list header on the fast path, with a margin. */
  private static final int FAST_HEAD_BYTES = 80;

  /** Most bytes after the attributes on the fast path, with a margin. */
  private static final int FAST_TAIL_BYTES = 32;

  private static final int BATCH_REQUIRED =
      1 << Compact.VERSION
          | 1 << Compact.AGENT
          | 1 << Compact.EPOCH
          | 1 << Compact.SEQUENCE
          | 1 << Compact.COUNT
          | 1 << Compact.DICTIONARY
          | 1 << Compact.APPLICATION
          | 1 << Compact.BASE_UNIX_NANOS;

  /** Once these fields are read, fields after the spans do not matter. */
  private static final int BATCH_HEAD = BATCH_REQUIRED | 1 << Compact.RESOURCE;

  private static final int SPAN_REQUIRED =
      1 << Compact.IDS
          | 1 << Compact.NAME
          | 1 << Compact.KIND
          | 1 << Compact.STATUS
          | 1 << Compact.START_DELTA_NANOS
          | 1 << Compact.DURATION_NANOS;

  private static final int GROUP_REQUIRED =
      1 << Compact.GROUP_NAME
          | 1 << Compact.GROUP_KIND
          | 1 << Compact.GROUP_STATUS
          | 1 << Compact.GROUP_DURATIONS_NANOS;

  private final CompactInput input = new CompactInput();
  private final BatchHead head = new BatchHead(input, Limits.MAX_SPANS);

  private int seenBatchFields;
  private boolean knownVersion;
  private int application = NONE;
  private final int[] resource = new int[2 * Limits.MAX_ATTRIBUTES];
  private int resourceAttributeCount;
  private long baseUnixNanos;
  private long demand;
  private final int[] groupKeys = new int[Limits.MAX_ATTRIBUTES];
  private int groupKeyCount;

  /** Spans not read yet. */
  private int spansLeft;

  /** Whether the fields after the spans have been read to the end. */
  private boolean tailRead;

  /** Start of the groups not read yet, or {@link #NONE} if there was no such field so far. */
  private int groupsStart;

  private int groupsLeft;

  private int groupCount;

  /** Declared spans that must be in groups not read yet. */
  private int groupedSpansLeft;

  private long sampleThreshold;

  /** Start of the samples not read yet. */
  private int samplesStart;

  private int samplesLeft;

  /** Whether {@link #eventCount} counts events of samples, which have a limit of their own. */
  private boolean inSamples;

  /** Start of the indexes of members not read yet. */
  private int sampledStart;

  private int sampledLeft;
  private int sampledSpan;

  /** Declared spans that are not in groups. */
  private int wholeSpanCount;

  /** Number of sizes, or {@link #NONE} if there was no such field so far. */
  private int sizeCount;

  private long[] sizes = new long[0];

  private long traceIdHigh;
  private long traceIdLow;
  private long spanId;
  private long parentSpanId;
  private int name;
  private int kind;
  private int status;
  private long startUnixNanos;
  private long durationNanos;
  private long samplingThreshold;
  private int statusMessage;
  private final int[] attributes = new int[2 * Limits.MAX_ATTRIBUTES];
  private int attributeCount;
  private final int[] events = new int[Limits.MAX_EVENT_NUMBERS];
  private int eventNumbers;

  /** Events of the batch so far. */
  private int eventCount;

  private long[] groupDurationsNanos = new long[64];
  private int groupSize;
  private long groupPairs;

  /**
   * Reads everything up to the spans.
   *
   * @return {@link Rejection#NONE}, or why the message is refused
   * @throws IndexOutOfBoundsException if {@code [offset, offset + length)} is not inside the array
   */
  public Rejection wrap(byte[] buffer, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, buffer.length);
    input.wrap(buffer, offset, length);
    head.clear();
    seenBatchFields = 0;
    knownVersion = true;
    application = NONE;
    resourceAttributeCount = 0;
    baseUnixNanos = 0;
    demand = 0;
    groupKeyCount = 0;
    spansLeft = 0;
    tailRead = false;
    groupsStart = NONE;
    groupsLeft = 0;
    groupCount = 0;
    groupedSpansLeft = 0;
    groupSize = 0;
    sampleThreshold = 0;
    samplesLeft = 0;
    inSamples = false;
    sampledLeft = 0;
    sampledSpan = NONE;
    wholeSpanCount = 0;
    sizeCount = NONE;
    attributeCount = 0;
    eventNumbers = 0;
    eventCount = 0;
    if (length > Limits.MAX_MESSAGE_BYTES) {
      input.refuse(Rejection.TOO_LARGE);
    } else {
      readHead();
    }
    return input.rejection();
  }

  /**
   * Moves to the next single span. Returns false after the last one, or if the batch is refused;
   * see {@link #rejection}.
   */
  public boolean next() {
    if (spansLeft == 0) {
      attributeCount = 0;
      eventNumbers = 0;
      if (groupsStart == NONE && !input.isRefused()) {
        endSpans();
      }
      return false;
    }
    spansLeft--;
    return readExpectedSpan() || readAnySpan();
  }

  /**
   * Moves to the next group, after {@link #next} has returned false. Returns false after the last
   * one, or if the batch is refused; see {@link #rejection}.
   */
  public boolean nextGroup() {
    if (spansLeft > 0) {
      throw new IllegalStateException(spansLeft + " spans precede the groups");
    }
    attributeCount = 0;
    eventNumbers = 0;
    groupSize = 0;
    if (groupsStart == NONE || input.isRefused()) {
      return false;
    }
    if (groupsLeft == 0) {
      endGroups();
      return false;
    }
    groupsLeft--;
    input.moveTo(groupsStart);
    boolean read = readGroup();
    groupsStart = input.position();
    return read;
  }

  /**
   * Moves to the next sample, after {@link #nextGroup} has returned false: a whole copy of a span
   * that is in a group. Its threshold is the greater of the span's and {@link #sampleThreshold}.
   * Returns false after the last one, or if the batch is refused; see {@link #rejection}.
   */
  public boolean nextSample() {
    checkTailIsRead();
    if (samplesLeft == 0 || input.isRefused()) {
      attributeCount = 0;
      eventNumbers = 0;
      return false;
    }
    if (!inSamples) {
      inSamples = true;
      eventCount = 0;
    }
    samplesLeft--;
    input.moveTo(samplesStart);
    boolean read = readExpectedSpan() || readAnySpan();
    samplesStart = input.position();
    return read;
  }

  /**
   * Moves to the next whole span that is a member of the sample, after {@link #nextGroup} has
   * returned false. Returns false after the last one, or if the batch is refused.
   */
  public boolean nextSampled() {
    checkTailIsRead();
    if (sampledLeft == 0 || input.isRefused()) {
      return false;
    }
    sampledLeft--;
    input.moveTo(sampledStart);
    int index = Compact.unZigZag(input.readVarint32());
    sampledStart = input.position();
    if (index <= sampledSpan || index >= wholeSpanCount) {
      input.refuse(Rejection.BAD_INDEX);
      return false;
    }
    sampledSpan = index;
    return true;
  }

  private void checkTailIsRead() {
    if (!input.isRefused() && (!tailRead || spansLeft > 0 || groupsLeft > 0)) {
      throw new IllegalStateException("spans and groups precede the sample and the sizes");
    }
  }

  /** Returns why the batch was refused; {@link Rejection#NONE} if no error was found so far. */
  public Rejection rejection() {
    return input.rejection();
  }

  /** Returns the array given to {@link #wrap}. */
  public byte[] buffer() {
    return input.bytes();
  }

  // The batch

  public long agentHigh() {
    return head.agentHigh();
  }

  public long agentLow() {
    return head.agentLow();
  }

  public long epoch() {
    return head.epoch();
  }

  /** Returns the sequence number, at least 0. */
  public long sequence() {
    return head.sequence();
  }

  /**
   * Returns the declared number of spans, 0 to {@link Limits#MAX_SPANS}; 0 if the batch was refused
   * before that field. After {@link #nextGroup} has returned false without a rejection, it equals
   * the spans read, including those in groups.
   */
  public int spanCount() {
    return head.count();
  }

  public int dictionarySize() {
    return head.dictionarySize();
  }

  /** Returns the start of entry {@code index} in {@link #buffer}. */
  public int dictionaryOffset(int index) {
    return head.dictionaryOffset(index);
  }

  /** Returns the length of entry {@code index}, bytes. */
  public int dictionaryLength(int index) {
    return head.dictionaryLength(index);
  }

  /** Returns the dictionary index of the application; -1 if the batch was refused before it. */
  public int application() {
    return application;
  }

  public int resourceAttributeCount() {
    return resourceAttributeCount;
  }

  /** Returns the dictionary index of the key of resource attribute {@code i}. */
  public int resourceAttributeKey(int i) {
    return resource[2 * i];
  }

  /** Returns the dictionary index of the value of resource attribute {@code i}. */
  public int resourceAttributeValue(int i) {
    return resource[2 * i + 1];
  }

  /**
   * Returns the version of the demand by which the groups lack attributes; 0 if they have all
   * attributes of their spans.
   */
  public long demand() {
    return demand;
  }

  /** Returns the number of keys that groups have if their spans have them. */
  public int groupKeyCount() {
    return groupKeyCount;
  }

  /** Returns the dictionary index of key {@code i} that groups have if their spans have it. */
  public int groupKey(int i) {
    return groupKeys[i];
  }

  /**
   * Returns the threshold of the sample, below 2^56, after {@link #nextGroup} has returned false; 0
   * if the batch has no sample.
   */
  public long sampleThreshold() {
    return sampleThreshold;
  }

  /** Returns the place, from 0, of the last member in the order of {@link #next}. */
  public int sampledSpan() {
    return sampledSpan;
  }

  /**
   * Returns whether the batch has sizes, after {@link #nextGroup} has returned false; false if the
   * batch is refused.
   */
  public boolean hasSizes() {
    checkTailIsRead();
    return sizeCount != NONE && !input.isRefused();
  }

  /**
   * Returns the bytes of a span, or of all spans of a group, as the agent received them; 0 if
   * unknown. All of a batch are at most {@link Limits#MAX_SPAN_BYTES} times its spans. Only if
   * {@link #hasSizes}.
   *
   * @param entry place of the span in the order of {@link #next}, from 0; or the number of these
   *     spans plus the place of the group in the order of {@link #nextGroup}
   */
  public long size(int entry) {
    return sizes[entry];
  }

  // The current span, sample or group. A group has no identity, start, duration or message.

  public long traceIdHigh() {
    return traceIdHigh;
  }

  public long traceIdLow() {
    return traceIdLow;
  }

  public long spanId() {
    return spanId;
  }

  /** Returns the parent's ID; 0 for a root span. */
  public long parentSpanId() {
    return parentSpanId;
  }

  /** Returns the dictionary index of the name. */
  public int name() {
    return name;
  }

  /** Returns the kind as in OTLP, 0 to 5. */
  public int kind() {
    return kind;
  }

  /** Returns the status as in OTLP, 0 to 2. */
  public int status() {
    return status;
  }

  public long startUnixNanos() {
    return startUnixNanos;
  }

  /** Returns the duration, at least 0. */
  public long durationNanos() {
    return durationNanos;
  }

  /** Returns the threshold, below 2^56; 0 if the span represents only itself. */
  public long samplingThreshold() {
    return samplingThreshold;
  }

  /** Returns the dictionary index of the status message, or -1. */
  public int statusMessage() {
    return statusMessage;
  }

  public int attributeCount() {
    return attributeCount;
  }

  /**
   * Returns the span's attributes as dictionary indexes: key i at {@code 2 * i}, value i at {@code
   * 2 * i + 1}, for i below {@link #attributeCount}. Valid until {@link #next}.
   */
  public int[] attributes() {
    return attributes;
  }

  /**
   * Returns the events to count, of the span or of each span of the group, in sequence in {@code
   * [0, eventNumbers())}: the name, the number n of attributes, then n times key and value. All but
   * n are dictionary indexes. Valid until {@link #next} or {@link #nextGroup}.
   */
  public int[] events() {
    return events;
  }

  /** Returns the count of numbers in {@link #events}. */
  public int eventNumbers() {
    return eventNumbers;
  }

  /** Returns the spans in the current group, at least 1; 0 if there is no current group. */
  public int groupSize() {
    return groupSize;
  }

  /**
   * Returns how many ordered pairs of different spans of the current group are of one trace, if
   * they were sampled; 0 to n (n - 1) for n spans.
   */
  public long groupPairs() {
    return groupPairs;
  }

  /**
   * Returns the durations of the current group's spans in {@code [0, groupSize())}: each at least
   * 0. Valid until {@link #nextGroup}.
   */
  public long[] groupDurationsNanos() {
    return groupDurationsNanos;
  }

  // The batch's fields

  private void readHead() {
    input.fieldsAfter(0);
    while (input.readFieldHeader()) {
      if (input.fieldId() != Compact.SPANS) {
        readBatchField();
        continue;
      }
      if (!knownVersion) {
        break;
      }
      int count = input.readListHeader(Compact.STRUCT, Limits.MAX_SPANS, MIN_SPAN_BYTES);
      int spansStart = input.position();
      if ((seenBatchFields & BATCH_HEAD) != BATCH_HEAD || groupsStart != NONE) {
        // Callers need the fields after the spans first, and reading groups in place does not reach
        // the end again. So read the rest, then return.
        input.skipStructs(count);
        readTail(false);
      }
      if (!knownVersion) {
        input.refuse(Rejection.UNSUPPORTED_VERSION);
      } else if ((seenBatchFields & BATCH_REQUIRED) != BATCH_REQUIRED) {
        input.refuse(Rejection.MISSING_FIELD);
      } else if (count > head.count()) {
        input.refuse(Rejection.BAD_LENGTH);
      }
      if (!input.isRefused()) {
        input.moveTo(spansStart);
        spansLeft = count;
        wholeSpanCount = count;
        groupedSpansLeft = head.count() - count;
      }
      return;
    }
    // The content of the spans is unknown, but their number and application are known.
    input.refuse(knownVersion ? Rejection.MISSING_FIELD : Rejection.UNSUPPORTED_VERSION);
  }

  private void endSpans() {
    if (!tailRead) {
      input.fieldsAfter(Compact.SPANS);
      readTail(true);
    }
    if (groupsStart == NONE) {
      checkEnd();
    }
  }

  private void endGroups() {
    if (!tailRead) {
      input.fieldsAfter(Compact.GROUPS);
      readTail(false);
    }
    checkEnd();
  }

  /** Refuses a batch that lacks declared spans, or whose sizes are not one for each entry. */
  private void checkEnd() {
    if (groupedSpansLeft != 0) {
      input.refuse(Rejection.BAD_LENGTH);
    }
    if (sizeCount != NONE && sizeCount != wholeSpanCount + groupCount) {
      input.refuse(Rejection.MALFORMED);
    }
    checkSizes();
  }

  /** Bounds the sizes by the spans, which may follow them. */
  private void checkSizes() {
    long left = head.count() * Limits.MAX_SPAN_BYTES;
    for (int i = 0; i < sizeCount && !input.isRefused(); i++) {
      left -= sizes[i];
      if (left < 0 || i < wholeSpanCount && sizes[i] > Limits.MAX_SPAN_BYTES) {
        input.refuse(Rejection.MALFORMED);
      }
    }
  }

  /**
   * Reads the fields after the spans.
   *
   * @param toGroups whether to stop at groups, to read them in place
   */
  private void readTail(boolean toGroups) {
    while (input.readFieldHeader()) {
      int id = input.fieldId();
      if (id == Compact.SPANS || id == Compact.DEMAND || id == Compact.GROUP_KEYS) {
        input.refuse(Rejection.MALFORMED);
      } else if (toGroups && id == Compact.GROUPS) {
        readGroupsHeader();
        if (groupsLeft > 0) {
          return;
        }
      } else {
        readBatchField();
      }
    }
    if (input.position() != input.limit()) {
      input.refuse(Rejection.MALFORMED);
    }
    tailRead = true;
  }

  private void readGroupsHeader() {
    seenBatchFields = input.seenOnce(seenBatchFields, Compact.GROUPS);
    groupsLeft = input.readListHeader(Compact.STRUCT, Limits.MAX_SPANS, MIN_GROUP_BYTES);
    groupCount = groupsLeft;
    groupsStart = input.position();
  }

  private void readBatchField() {
    int id = input.fieldId();
    if (id < Compact.VERSION
        || id > Compact.GROUP_KEYS && id < Compact.SAMPLES
        || id > Compact.SIZES) {
      input.skipField();
      return;
    }
    if (id == Compact.GROUPS) {
      // Callers may need the fields after the groups first.
      readGroupsHeader();
      input.skipStructs(groupsLeft);
      return;
    }
    seenBatchFields = input.seenOnce(seenBatchFields, id);
    if (input.isRefused()) {
      return;
    }
    switch (id) {
      case Compact.VERSION -> {
        head.read(id);
        int version = head.version();
        knownVersion =
            version == Compact.FORMAT_VERSION || version == Compact.FORMAT_VERSION_WITH_GROUPS;
      }
      case Compact.AGENT, Compact.EPOCH, Compact.SEQUENCE, Compact.COUNT, Compact.DICTIONARY ->
          head.read(id);
      case Compact.APPLICATION -> {
        int index = head.readIndex();
        application = input.isRefused() ? NONE : index;
      }
      case Compact.RESOURCE -> resourceAttributeCount = head.readPairs(resource);
      case Compact.BASE_UNIX_NANOS -> baseUnixNanos = input.readI64();
      case Compact.DEMAND -> demand = input.readI64(Long.MAX_VALUE);
      case Compact.GROUP_KEYS -> readGroupKeys();
      case Compact.SAMPLES -> {
        samplesLeft = input.readListHeader(Compact.STRUCT, Limits.MAX_SPANS, MIN_SPAN_BYTES);
        samplesStart = input.position();
        input.skipStructs(samplesLeft);
      }
      case Compact.SAMPLED -> {
        sampledLeft = input.readListHeader(Compact.I32, Limits.MAX_SPANS, 1);
        sampledStart = input.position();
        input.skipNumbers(sampledLeft);
      }
      case Compact.SAMPLE_THRESHOLD -> sampleThreshold = input.readI64(Compact.THRESHOLD_END - 1);
      default -> readSizes();
    }
  }

  private void readSizes() {
    int count = input.readListHeader(Compact.I64, Limits.MAX_SPANS, 1);
    if (count > sizes.length) {
      sizes = new long[Math.max(64, Integer.highestOneBit(count - 1) << 1)];
    }
    for (int i = 0; i < count && !input.isRefused(); i++) {
      long size = Compact.unZigZag(input.readVarint64());
      if (size < 0 || size > Limits.MAX_SPANS * Limits.MAX_SPAN_BYTES) {
        input.refuse(Rejection.MALFORMED);
      }
      sizes[i] = size;
    }
    sizeCount = count;
  }

  private void readGroupKeys() {
    int count = input.readListHeader(Compact.I32, groupKeys.length, 1);
    for (int i = 0; i < count && !input.isRefused(); i++) {
      groupKeys[i] = head.readElement();
    }
    groupKeyCount = input.isRefused() ? 0 : count;
  }

  // Spans

  /**
   * Reads a span by the fast path: fields in order, numbers of the usual length, not at the end of
   * the message. Returns false without moving for any other span, valid or not; this is not a
   * rejection.
   */
  private boolean readExpectedSpan() {
    byte[] in = input.bytes();
    int end = input.limit();
    int size = head.dictionarySize();
    int at = input.position();
    if (end - at < FAST_HEAD_BYTES || in[at] != (1 << 4 | Compact.BINARY)) {
      return false;
    }
    long high = Compact.longAt(in, at + 2);
    long low = Compact.longAt(in, at + 10);
    long span = Compact.longAt(in, at + 18);
    long parent = 0;
    int idsLength = in[at + 1];
    if (idsLength == Compact.CHILD_IDS_BYTES) {
      parent = Compact.longAt(in, at + 26);
    } else if (idsLength != Compact.ROOT_IDS_BYTES) {
      return false;
    }
    at += 2 + idsLength;

    if (in[at] != (1 << 4 | Compact.I32)) {
      return false;
    }
    int nameVarint = in[at + 1];
    at += 2;
    if (nameVarint < 0) {
      nameVarint = (nameVarint & 0x7f) | (in[at++] << 7);
      if (nameVarint < 0) {
        nameVarint = (nameVarint & 0x3fff) | (in[at++] << 14);
      }
    }
    int nameIndex = Compact.indexOf(nameVarint);
    if (Integer.compareUnsigned(nameIndex, size) >= 0) {
      return false;
    }

    if (in[at] != (1 << 4 | Compact.BYTE) || in[at + 2] != (1 << 4 | Compact.BYTE)) {
      return false;
    }
    int kindValue = in[at + 1];
    int statusValue = in[at + 3];
    if (Integer.compareUnsigned(kindValue, Compact.MAX_KIND) > 0
        || Integer.compareUnsigned(statusValue, Compact.MAX_STATUS) > 0) {
      return false;
    }
    at += 4;

    if (in[at] != (1 << 4 | Compact.I64)) {
      return false;
    }
    long word = (long) Compact.LONG_LITTLE_ENDIAN.get(in, at + 1);
    int length = Compact.varintLength(word);
    long startDelta = Compact.unZigZag(Compact.varint(word));
    at += 1 + length;
    if (length > Long.BYTES || in[at] != (1 << 4 | Compact.I64)) {
      return false;
    }
    word = (long) Compact.LONG_LITTLE_ENDIAN.get(in, at + 1);
    length = Compact.varintLength(word);
    long duration = Compact.unZigZag(Compact.varint(word));
    at += 1 + length;
    if (length > Long.BYTES || duration < 0) {
      return false;
    }

    int field = Compact.DURATION_NANOS;
    int header = in[at++];
    int count = 0;
    if (header == (1 << 4 | Compact.LIST)) {
      int listHeader = in[at++];
      if ((listHeader & 0x0f) != Compact.I32) {
        return false;
      }
      count = listHeader >>> 4 & 0x0f;
      if (count == Compact.LONG_LIST) {
        count = in[at++];
        if (count < 0) {
          count = (count & 0x7f) | (in[at++] << 7);
        }
      }
      if (count < 0
          || (count & 1) != 0
          || count > attributes.length
          || end - at < Compact.INDEX_BYTES * count + FAST_TAIL_BYTES) {
        return false;
      }
      int[] out = attributes;
      // One read covers a pair, which has at most six bytes.
      for (int i = 0; i < count; i += 2) {
        word = (long) Compact.LONG_LITTLE_ENDIAN.get(in, at);
        int keyLength = Compact.indexLength(word);
        int key = Compact.index(word, keyLength);
        word >>>= keyLength * Byte.SIZE;
        int valueLength = Compact.indexLength(word);
        int value = Compact.index(word, valueLength);
        if (Integer.compareUnsigned(key, size) >= 0 || Integer.compareUnsigned(value, size) >= 0) {
          return false;
        }
        out[i] = key;
        out[i + 1] = value;
        at += keyLength + valueLength;
      }
      field = Compact.ATTRIBUTES;
      header = in[at++];
    } else if (end - at < FAST_TAIL_BYTES) {
      return false;
    }

    long threshold = 0;
    int message = NONE;
    if (header != Compact.STOP) {
      if (header == Compact.field(Compact.SAMPLING_THRESHOLD - field, Compact.I64)) {
        word = (long) Compact.LONG_LITTLE_ENDIAN.get(in, at);
        length = Compact.varintLength(word);
        threshold = Compact.unZigZag(Compact.varint(word));
        at += length;
        // Eight varint bytes hold 55 bits and a sign, which is below the threshold's limit.
        if (length > Long.BYTES || threshold < 0) {
          return false;
        }
        field = Compact.SAMPLING_THRESHOLD;
        header = in[at++];
      }
      if (header == Compact.field(Compact.STATUS_MESSAGE - field, Compact.I32)) {
        int varint = in[at++];
        if (varint < 0) {
          varint = (varint & 0x7f) | (in[at++] << 7);
          if (varint < 0) {
            varint = (varint & 0x3fff) | (in[at++] << 14);
          }
        }
        message = Compact.indexOf(varint);
        if (Integer.compareUnsigned(message, size) >= 0) {
          return false;
        }
        header = in[at++];
      }
      if (header != Compact.STOP) {
        return false;
      }
    }

    input.moveTo(at);
    traceIdHigh = high;
    traceIdLow = low;
    spanId = span;
    parentSpanId = parent;
    name = nameIndex;
    kind = kindValue;
    status = statusValue;
    startUnixNanos = baseUnixNanos + startDelta;
    durationNanos = duration;
    attributeCount = count >> 1;
    eventNumbers = 0;
    samplingThreshold = threshold;
    statusMessage = message;
    return true;
  }

  /** Reads a span by the general path; returns false if the batch is refused. */
  private boolean readAnySpan() {
    attributeCount = 0;
    eventNumbers = 0;
    samplingThreshold = 0;
    statusMessage = NONE;
    int seen = 0;
    input.fieldsAfter(0);
    while (input.readFieldHeader()) {
      int id = input.fieldId();
      if (id < Compact.IDS || id > Compact.EVENTS) {
        input.skipField();
        continue;
      }
      seen = input.seenOnce(seen, id);
      switch (id) {
        case Compact.IDS -> readIds();
        case Compact.NAME -> name = head.readIndex();
        case Compact.KIND -> kind = input.readByte(Compact.MAX_KIND);
        case Compact.STATUS -> status = input.readByte(Compact.MAX_STATUS);
        case Compact.START_DELTA_NANOS -> startUnixNanos = baseUnixNanos + input.readI64();
        case Compact.DURATION_NANOS -> durationNanos = input.readI64(Long.MAX_VALUE);
        case Compact.ATTRIBUTES -> attributeCount = head.readPairs(attributes);
        case Compact.SAMPLING_THRESHOLD ->
            samplingThreshold = input.readI64(Compact.THRESHOLD_END - 1);
        case Compact.STATUS_MESSAGE -> statusMessage = head.readIndex();
        default -> readEvents();
      }
    }
    if ((seen & SPAN_REQUIRED) != SPAN_REQUIRED) {
      input.refuse(Rejection.MISSING_FIELD);
    }
    if (input.isRefused()) {
      attributeCount = 0;
      eventNumbers = 0;
      spansLeft = 0;
      return false;
    }
    return true;
  }

  /** Reads a group; returns false if the batch is refused. */
  private boolean readGroup() {
    clearSpan();
    groupPairs = 0;
    int seen = 0;
    input.fieldsAfter(0);
    while (input.readFieldHeader()) {
      int id = input.fieldId();
      if (id < Compact.GROUP_NAME || id > Compact.GROUP_PAIRS) {
        input.skipField();
        continue;
      }
      seen = input.seenOnce(seen, id);
      switch (id) {
        case Compact.GROUP_NAME -> name = head.readIndex();
        case Compact.GROUP_KIND -> kind = input.readByte(Compact.MAX_KIND);
        case Compact.GROUP_STATUS -> status = input.readByte(Compact.MAX_STATUS);
        case Compact.GROUP_ATTRIBUTES -> attributeCount = head.readPairs(attributes);
        case Compact.GROUP_SAMPLING_THRESHOLD ->
            samplingThreshold = input.readI64(Compact.THRESHOLD_END - 1);
        case Compact.GROUP_DURATIONS_NANOS -> readDurations();
        case Compact.GROUP_PAIRS ->
            groupPairs = input.readI64((long) Limits.MAX_SPANS * Limits.MAX_SPANS);
        default -> readEvents();
      }
    }
    if ((seen & GROUP_REQUIRED) != GROUP_REQUIRED) {
      input.refuse(Rejection.MISSING_FIELD);
    } else if (groupPairs > (long) groupSize * (groupSize - 1)) {
      input.refuse(Rejection.BAD_VALUE);
    }
    if (input.isRefused()) {
      attributeCount = 0;
      eventNumbers = 0;
      groupSize = 0;
      return false;
    }
    groupedSpansLeft -= groupSize;
    return true;
  }

  /** Clears the last span's values, which must not appear in a group. */
  private void clearSpan() {
    traceIdHigh = 0;
    traceIdLow = 0;
    spanId = 0;
    parentSpanId = 0;
    startUnixNanos = 0;
    durationNanos = 0;
    samplingThreshold = 0;
    statusMessage = NONE;
  }

  private void readDurations() {
    int count = input.readListHeader(Compact.I64, groupedSpansLeft, 1);
    if (count == 0) {
      input.refuse(Rejection.BAD_LENGTH);
      return;
    }
    if (count > groupDurationsNanos.length) {
      groupDurationsNanos = new long[Integer.highestOneBit(count - 1) << 1];
    }
    input.readDurations(groupDurationsNanos, count);
    groupSize = input.isRefused() ? 0 : count;
  }

  private void readIds() {
    int length = input.readBinary(Compact.CHILD_IDS_BYTES);
    if (length != Compact.ROOT_IDS_BYTES && length != Compact.CHILD_IDS_BYTES) {
      input.refuse(Rejection.BAD_VALUE);
      return;
    }
    byte[] in = input.bytes();
    int start = input.position() - length;
    traceIdHigh = Compact.longAt(in, start);
    traceIdLow = Compact.longAt(in, start + 8);
    spanId = Compact.longAt(in, start + 16);
    parentSpanId = length == Compact.CHILD_IDS_BYTES ? Compact.longAt(in, start + 24) : 0;
  }

  private void readEvents() {
    int count = input.readListHeader(Compact.I32, events.length, 1);
    int before = eventCount;
    int at = 0;
    while (at < count && !input.isRefused()) {
      events[at++] = head.readElement();
      int pairs = at < count ? Compact.unZigZag(input.readVarint32()) : -1;
      // The first comparison prevents an overflow in the second.
      if (pairs < 0 || pairs > count || 2 * pairs > count - at - 1) {
        input.refuse(Rejection.BAD_LENGTH);
        return;
      }
      events[at++] = pairs;
      for (int end = at + 2 * pairs; at < end; at++) {
        events[at] = head.readElement();
      }
      eventCount++;
    }
    if (eventCount - before > Limits.MAX_SPAN_EVENTS || eventCount > Limits.MAX_EVENTS) {
      input.refuse(Rejection.BAD_LENGTH);
    }
    eventNumbers = input.isRefused() ? 0 : count;
  }
}
