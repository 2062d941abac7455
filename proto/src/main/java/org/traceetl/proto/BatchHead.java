package org.traceetl.proto;

/**
 * The first fields of every batch: version, name, declared count, and the dictionary with the
 * indexes into it. Writers put them with {@link #put}. A reader keeps one instance, which reads
 * them from its input. Every index that it returns is inside the dictionary.
 */
final class BatchHead {
  /**
   * Most bytes of {@link #put} in addition to the dictionary's strings: field headers, numbers, the
   * agent, the list header.
   */
  static final int FRAME_BYTES = 64;

  private final CompactInput input;
  private final int maxCount;

  private int version;
  private long agentHigh;
  private long agentLow;
  private long epoch;
  private long sequence;
  private int count;
  private int[] dictionaryOffsets = new int[256];
  private int[] dictionaryLengths = new int[256];
  private int dictionarySize;

  /**
   * @param maxCount largest valid count
   */
  BatchHead(CompactInput input, int maxCount) {
    this.input = input;
    this.maxCount = maxCount;
  }

  /** Writes fields 1 to 6 and returns their end. */
  static int put(
      byte[] out,
      int at,
      int version,
      long agentHigh,
      long agentLow,
      long epoch,
      long sequence,
      int count,
      BatchDictionary dictionary) {
    int end = at;
    out[end++] = Compact.field(Compact.VERSION, Compact.I32);
    end = Compact.putVarint(out, end, (long) version << 1);
    out[end++] = Compact.field(1, Compact.BINARY);
    out[end++] = Compact.AGENT_BYTES;
    end = Compact.putLong(out, end, agentHigh);
    end = Compact.putLong(out, end, agentLow);
    out[end++] = Compact.field(1, Compact.I64);
    end = Compact.putVarint(out, end, Compact.zigZag(epoch));
    out[end++] = Compact.field(1, Compact.I64);
    end = Compact.putVarint(out, end, Compact.zigZag(sequence));
    out[end++] = Compact.field(1, Compact.I32);
    end = Compact.putVarint(out, end, (long) count << 1);
    out[end++] = Compact.field(1, Compact.LIST);
    end = Compact.putListHeader(out, end, Compact.BINARY, dictionary.size());
    return dictionary.copyTo(out, end);
  }

  /** Forgets the last message. */
  void clear() {
    version = 0;
    agentHigh = 0;
    agentLow = 0;
    epoch = 0;
    sequence = 0;
    count = 0;
    dictionarySize = 0;
  }

  /** Reads the field, 1 to 6, whose header the input has read. */
  void read(int id) {
    switch (id) {
      case Compact.VERSION -> version = input.readI32();
      case Compact.AGENT -> readAgent();
      case Compact.EPOCH -> epoch = input.readI64();
      case Compact.SEQUENCE -> sequence = input.readI64(Long.MAX_VALUE);
      case Compact.COUNT -> readCount();
      default -> readDictionary();
    }
  }

  private void readAgent() {
    if (input.readBinary(Compact.AGENT_BYTES) != Compact.AGENT_BYTES) {
      input.refuse(Rejection.BAD_VALUE);
    } else {
      int start = input.position() - Compact.AGENT_BYTES;
      agentHigh = Compact.longAt(input.bytes(), start);
      agentLow = Compact.longAt(input.bytes(), start + Long.BYTES);
    }
  }

  private void readCount() {
    int declared = input.readI32();
    if (declared < 0 || declared > maxCount) {
      input.refuse(Rejection.BAD_LENGTH);
    } else {
      count = declared;
    }
  }

  private void readDictionary() {
    int entries = input.readListHeader(Compact.BINARY, Limits.MAX_DICTIONARY_ENTRIES, 1);
    if (entries > dictionaryOffsets.length) {
      int capacity = Integer.highestOneBit(entries - 1) << 1;
      dictionaryOffsets = new int[capacity];
      dictionaryLengths = new int[capacity];
    }
    byte[] in = input.bytes();
    int end = input.limit();
    int at = input.position();
    for (int i = 0; i < entries; i++) {
      int length;
      if (at < end && in[at] >= 0) {
        length = in[at++];
      } else {
        input.moveTo(at);
        length = input.readVarint32();
        at = input.position();
      }
      if (length < 0 || length > Limits.MAX_STRING_BYTES || length > end - at) {
        input.refuse(Rejection.BAD_LENGTH);
      }
      if (input.isRefused()) {
        return;
      }
      dictionaryOffsets[i] = at;
      dictionaryLengths[i] = length;
      at += length;
    }
    input.moveTo(at);
    dictionarySize = entries;
  }

  /** Returns the version; 0 if no version was read. */
  int version() {
    return version;
  }

  long agentHigh() {
    return agentHigh;
  }

  long agentLow() {
    return agentLow;
  }

  long epoch() {
    return epoch;
  }

  /** Returns the sequence number, at least 0. */
  long sequence() {
    return sequence;
  }

  /** Returns the declared count; 0 if the batch was refused before that field. */
  int count() {
    return count;
  }

  int dictionarySize() {
    return dictionarySize;
  }

  int dictionaryOffset(int index) {
    return dictionaryOffsets[index];
  }

  int dictionaryLength(int index) {
    return dictionaryLengths[index];
  }

  /** Reads keys and values into {@code out}; returns the number of pairs. */
  int readPairs(int[] out) {
    int numbers = input.readListHeader(Compact.I32, out.length, 1);
    if ((numbers & 1) != 0) {
      input.refuse(Rejection.BAD_LENGTH);
    }
    for (int i = 0; i < numbers && !input.isRefused(); i++) {
      out[i] = readElement();
    }
    return input.isRefused() ? 0 : numbers >> 1;
  }

  /** Reads an index in a list. */
  int readElement() {
    int index = Compact.unZigZag(input.readVarint32());
    checkIndex(index);
    return index;
  }

  /** Reads a field that is an index. */
  int readIndex() {
    int index = input.readI32();
    checkIndex(index);
    return index;
  }

  private void checkIndex(int index) {
    if (Integer.compareUnsigned(index, dictionarySize) >= 0) {
      input.refuse(Rejection.BAD_INDEX);
    }
  }
}
