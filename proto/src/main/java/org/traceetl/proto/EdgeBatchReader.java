package org.traceetl.proto;

import java.util.Objects;

/**
 * A cursor over one {@code EdgeBatch} message. It reads in place: no object per half-edge, no
 * {@code String}; arrays are reused for all messages.
 *
 * <p>Call {@link #wrap}. If it returns {@link Rejection#NONE}, call {@link #nextHead} until false,
 * and {@link #next} until false after each. Then {@link #rejection} says whether the complete batch
 * is valid. A batch may be refused after some halves, so callers collect halves before they record
 * them. Unknown fields are skipped. A message can cause neither an exception nor a larger
 * allocation than {@link Limits} and its own length justify. A batch of spans is refused as {@link
 * Rejection#UNSUPPORTED_VERSION}.
 *
 * <p>Every returned index is inside the dictionary. The dictionary's bytes are not checked to be
 * UTF-8: they are compared as bytes, and malformed ones are replaced when they are rendered.
 *
 * <p>Not thread-safe: one owner, who must not change the message's bytes while reading.
 */
public final class EdgeBatchReader {
  private static final int NONE = -1;

  /**
   * Fewest bytes of a group: application, side, one duration, one byte for each number, the end.
   */
  private static final int MIN_GROUP_BYTES = 8;

  private static final int BATCH_REQUIRED =
      1 << Compact.VERSION
          | 1 << Compact.AGENT
          | 1 << Compact.EPOCH
          | 1 << Compact.SEQUENCE
          | 1 << Compact.COUNT
          | 1 << Compact.DICTIONARY;

  private static final int GROUP_REQUIRED =
      1 << Compact.EDGE_APPLICATION | 1 << Compact.EDGE_SIDE | 1 << Compact.EDGE_DURATIONS_NANOS;

  private final CompactInput input = new CompactInput();
  private final BatchHead batch = new BatchHead(input, Limits.MAX_HALF_EDGES);

  /** Heads not read yet; {@link #NONE} if nothing is left to read. */
  private int headsLeft;

  /** Declared halves that must be of heads not read yet. */
  private int halvesLeft;

  private int application;
  private int namespace;
  private int side;
  private boolean failed;
  private int connectionType;
  private int peer;
  private long samplingThreshold;
  private final int[] dimensions = new int[2 * Limits.MAX_EDGE_DIMENSIONS];
  private int dimensionCount;

  /** Start of the keys of the current head that were not read yet. */
  private int keysStart;

  private int waitingCount;
  private long[] durationsNanos = new long[64];
  private long[] messageMicros = new long[64];

  /** Halves of the current head whose message has a time. */
  private int messageCount;

  /** Halves of the current head. */
  private int size;

  /** Halves of the current head that were read. */
  private int read;

  private boolean isWaiting;
  private long key;
  private int check;
  private long durationNanos;
  private long micros;

  /**
   * Reads everything up to the heads.
   *
   * @return {@link Rejection#NONE}, or why the message is refused
   * @throws IndexOutOfBoundsException if {@code [offset, offset + length)} is not inside the array
   */
  public Rejection wrap(byte[] buffer, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, buffer.length);
    input.wrap(buffer, offset, length);
    batch.clear();
    clearHead();
    headsLeft = NONE;
    halvesLeft = 0;
    if (length > Limits.MAX_MESSAGE_BYTES) {
      input.refuse(Rejection.TOO_LARGE);
    } else {
      readStart();
    }
    return input.rejection();
  }

  /**
   * Moves to the next head, before its first half-edge. Skips halves of the last head that were not
   * read. Returns false after the last head, or if the batch is refused; see {@link #rejection}.
   */
  public boolean nextHead() {
    clearHead();
    if (input.isRefused() || headsLeft == NONE) {
      return false;
    }
    if (headsLeft == 0) {
      headsLeft = NONE;
      readEnd();
      return false;
    }
    headsLeft--;
    readGroup();
    if (input.isRefused()) {
      clearHead();
      return false;
    }
    halvesLeft -= size;
    return true;
  }

  /**
   * Moves to the next half-edge of the current head. Waiting ones precede immediate ones. Returns
   * false after the last one.
   */
  public boolean next() {
    if (read == size) {
      clearHalf();
      return false;
    }
    isWaiting = read < waitingCount;
    if (isWaiting) {
      byte[] in = input.bytes();
      key = Compact.longAt(in, keysStart);
      check = (in[keysStart + 8] & 0xff) << Byte.SIZE | in[keysStart + 9] & 0xff;
      keysStart += Compact.EDGE_KEY_BYTES;
    } else {
      key = 0;
      check = 0;
    }
    durationNanos = durationsNanos[read];
    micros = read < messageCount ? messageMicros[read] : 0;
    read++;
    return true;
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
    return batch.agentHigh();
  }

  public long agentLow() {
    return batch.agentLow();
  }

  public long epoch() {
    return batch.epoch();
  }

  /** Returns the sequence number, at least 0. */
  public long sequence() {
    return batch.sequence();
  }

  /**
   * Returns the declared number of half-edges, 0 to {@link Limits#MAX_HALF_EDGES}; 0 if the batch
   * was refused before that field. After {@link #nextHead} has returned false without a rejection,
   * it equals the halves of all heads.
   */
  public int halfCount() {
    return batch.count();
  }

  public int dictionarySize() {
    return batch.dictionarySize();
  }

  /** Returns the start of entry {@code index} in {@link #buffer}. */
  public int dictionaryOffset(int index) {
    return batch.dictionaryOffset(index);
  }

  /** Returns the length of entry {@code index}, bytes. */
  public int dictionaryLength(int index) {
    return batch.dictionaryLength(index);
  }

  // The current head

  /** Returns the dictionary index of the application. */
  public int application() {
    return application;
  }

  /** Returns the dictionary index of the namespace, or -1. */
  public int namespace() {
    return namespace;
  }

  /** Returns the side: 1 client, 2 server, 3 producer, 4 consumer. */
  public int side() {
    return side;
  }

  /** Returns whether the spans failed. */
  public boolean isFailed() {
    return failed;
  }

  /** Returns the connection type: 0 none, 1 messaging system, 2 database. */
  public int connectionType() {
    return connectionType;
  }

  /** Returns the dictionary index of the peer's name, or -1. */
  public int peer() {
    return peer;
  }

  /** Returns the threshold, below 2^56; 0 if each half represents only itself. */
  public long samplingThreshold() {
    return samplingThreshold;
  }

  /** Returns the number of dimensions, 0 to {@link Limits#MAX_EDGE_DIMENSIONS}. */
  public int dimensionCount() {
    return dimensionCount;
  }

  /**
   * Returns the dimensions as dictionary indexes: key i at {@code 2 * i}, value i at {@code 2 * i +
   * 1}, for i below {@link #dimensionCount}. Valid until {@link #nextHead}.
   */
  public int[] dimensions() {
    return dimensions;
  }

  // The current half-edge

  /** Returns whether the half waits for its partner; if not, it is immediate. */
  public boolean isWaiting() {
    return isWaiting;
  }

  /** Returns the {@linkplain EdgeKey#key key} of a waiting half; 0 of an immediate one. */
  public long key() {
    return key;
  }

  /**
   * Returns the {@linkplain EdgeKey#check check} of a waiting half, 0 to 65,535; 0 of an immediate
   * one.
   */
  public int check() {
    return check;
  }

  /** Returns the duration, at least 0. */
  public long durationNanos() {
    return durationNanos;
  }

  /**
   * Returns the end of a producer's or the start of a consumer's span, microseconds since 1970, up
   * to {@link Limits#MAX_MESSAGE_MICROS}; 0 if it is unknown, or the half is another one.
   */
  public long messageMicros() {
    return micros;
  }

  // The batch's fields

  private void readStart() {
    int seen = 0;
    input.fieldsAfter(0);
    while (input.readFieldHeader() && input.fieldId() != Compact.EDGE_GROUPS) {
      int id = input.fieldId();
      if (id < Compact.VERSION || id > Compact.DICTIONARY) {
        input.skipField();
        continue;
      }
      seen = input.seenOnce(seen, id);
      if (!input.isRefused()) {
        batch.read(id);
      }
    }
    boolean hasVersion = (seen & 1 << Compact.VERSION) != 0;
    if (hasVersion && batch.version() != Compact.FORMAT_VERSION_OF_EDGES) {
      // The content of the groups is unknown, but the number of halves is known.
      input.refuse(Rejection.UNSUPPORTED_VERSION);
    } else if (seen != BATCH_REQUIRED || input.fieldId() != Compact.EDGE_GROUPS) {
      input.refuse(Rejection.MISSING_FIELD);
    } else {
      headsLeft = input.readListHeader(Compact.STRUCT, batch.count(), MIN_GROUP_BYTES);
      halvesLeft = batch.count();
    }
  }

  /** Reads the fields after the groups, and refuses a batch that lacks declared halves. */
  private void readEnd() {
    input.fieldsAfter(Compact.EDGE_GROUPS);
    while (input.readFieldHeader()) {
      int id = input.fieldId();
      if (id >= Compact.VERSION && id <= Compact.DICTIONARY || id == Compact.EDGE_GROUPS) {
        input.refuse(Rejection.MALFORMED);
      } else {
        input.skipField();
      }
    }
    if (input.position() != input.limit()) {
      input.refuse(Rejection.MALFORMED);
    }
    if (halvesLeft != 0) {
      input.refuse(Rejection.BAD_LENGTH);
    }
  }

  private void readGroup() {
    int seen = 0;
    input.fieldsAfter(0);
    while (input.readFieldHeader()) {
      int id = input.fieldId();
      if (id < Compact.EDGE_APPLICATION || id > Compact.EDGE_MESSAGE_STEPS_MICROS) {
        input.skipField();
        continue;
      }
      seen = input.seenOnce(seen, id);
      switch (id) {
        case Compact.EDGE_APPLICATION -> application = batch.readIndex();
        case Compact.EDGE_NAMESPACE -> namespace = batch.readIndex();
        case Compact.EDGE_FAILED -> failed = input.readBoolean();
        case Compact.EDGE_CONNECTION_TYPE ->
            connectionType = input.readByte(Compact.MAX_CONNECTION_TYPE);
        case Compact.EDGE_PEER -> peer = batch.readIndex();
        case Compact.EDGE_SAMPLING_THRESHOLD ->
            samplingThreshold = input.readI64(Compact.THRESHOLD_END - 1);
        case Compact.EDGE_DIMENSIONS -> dimensionCount = batch.readPairs(dimensions);
        case Compact.EDGE_SIDE -> readSide();
        case Compact.EDGE_KEYS -> readKeys();
        case Compact.EDGE_DURATIONS_NANOS -> readDurations();
        default -> readMessageSteps();
      }
    }
    if ((seen & GROUP_REQUIRED) != GROUP_REQUIRED) {
      input.refuse(Rejection.MISSING_FIELD);
    }
    int mostMessages = side < Compact.PRODUCER ? 0 : waitingCount;
    if (waitingCount > size || messageCount != 0 && messageCount != mostMessages) {
      input.refuse(Rejection.BAD_LENGTH);
    }
  }

  private void readSide() {
    side = input.readByte(Compact.MAX_SIDE);
    if (side == 0) {
      input.refuse(Rejection.BAD_VALUE);
    }
  }

  private void readKeys() {
    int length = input.readBinary(Limits.MAX_MESSAGE_BYTES);
    if (length % Compact.EDGE_KEY_BYTES != 0) {
      input.refuse(Rejection.BAD_LENGTH);
    }
    keysStart = input.position() - length;
    waitingCount = length / Compact.EDGE_KEY_BYTES;
  }

  private void readDurations() {
    int count = input.readListHeader(Compact.I64, halvesLeft, 1);
    if (count == 0) {
      input.refuse(Rejection.BAD_LENGTH);
      return;
    }
    durationsNanos = withRoom(durationsNanos, count);
    input.readDurations(durationsNanos, count);
    size = count;
  }

  private void readMessageSteps() {
    int count = input.readListHeader(Compact.I64, halvesLeft, 1);
    messageMicros = withRoom(messageMicros, count);
    long micros = 0;
    for (int i = 0; i < count; i++) {
      // If it overflows, the sum is negative.
      micros += Compact.unZigZag(input.readVarint64());
      if (micros < 0 || micros > Limits.MAX_MESSAGE_MICROS) {
        input.refuse(Rejection.BAD_VALUE);
      }
      if (input.isRefused()) {
        return;
      }
      messageMicros[i] = micros;
    }
    messageCount = count;
  }

  private static long[] withRoom(long[] array, int count) {
    return count <= array.length ? array : new long[Integer.highestOneBit(count - 1) << 1];
  }

  private void clearHead() {
    application = NONE;
    namespace = NONE;
    side = 0;
    failed = false;
    connectionType = 0;
    peer = NONE;
    samplingThreshold = 0;
    dimensionCount = 0;
    waitingCount = 0;
    size = 0;
    messageCount = 0;
    read = 0;
    clearHalf();
  }

  private void clearHalf() {
    isWaiting = false;
    key = 0;
    check = 0;
    durationNanos = 0;
    micros = 0;
  }
}
