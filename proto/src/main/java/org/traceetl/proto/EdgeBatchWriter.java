package org.traceetl.proto;

import java.util.Arrays;

/**
 * Builds one {@code EdgeBatch} message at a time, without an object per half-edge.
 *
 * <p>Call {@link #begin}, then for each half-edge {@link #head} and {@link #waiting} or {@link
 * #immediate}, then {@link #finish}, which leaves the message in {@link #buffer()}. A head that
 * equals the last one need not be repeated. Strings are dictionary indexes from {@link #intern}.
 * Halves with equal heads share one, in the order of arrival.
 *
 * <p>{@code begin} reuses the arrays, which have grown to the largest batch so far and are bounded
 * by {@link Limits}. Otherwise it allocates nothing. {@link EdgeBatchReader} accepts every finished
 * message: arguments out of range cause an {@code IllegalArgumentException}, a batch that exceeds
 * {@link Limits} an {@code IllegalStateException}. Not thread-safe: one owner.
 */
public final class EdgeBatchWriter {
  private static final int NONE = -1;

  /** Most bytes of a message in addition to its first fields and its heads: list header, end. */
  private static final int FRAME_BYTES = 8;

  /**
   * Most bytes of an encoded head without its dimensions, and one byte that {@code putIndex} may
   * write after it.
   */
  private static final int HEAD_BYTES = 36;

  /** Most bytes of a head in addition to its encoded fields: headers of its halves, the end. */
  private static final int HALVES_FRAME_BYTES = 15;

  /** Most bytes of a duration or a step between times as a varint. */
  private static final int NUMBER_BYTES = 10;

  // A packed head: 18 bits of an application, two indexes + 1 of 19 bits, and 6 further bits.
  private static final int INDEX_BITS = 19;
  private static final int SIDE_BITS = 3;
  private static final int CONNECTION_TYPE_BITS = 2;
  private static final int REMEMBERED_BITS = 8;
  private static final long MIX = 0x9e37_79b9_7f4a_7c15L;

  private final BatchDictionary dictionary = new BatchDictionary();
  private byte[] message = new byte[1024];

  /** By head: its fields without the halves. */
  private final BatchDictionary heads = new BatchDictionary();

  private final byte[] encodedHead =
      new byte[HEAD_BYTES + Compact.INDEX_BYTES * 2 * Limits.MAX_EDGE_DIMENSIONS];
  private int encodedHeadLength;

  /** Whether the head is one of messages. */
  private boolean isMessage;

  /** The current head; {@link #NONE} if it was not looked up. */
  private int current;

  /** The fields of the head in one number; 0 if it has others. */
  private long packed;

  /** Heads that were looked up last, by a hash of their packed fields; 0 is free. */
  private final long[] remembered = new long[1 << REMEMBERED_BITS];

  private final int[] rememberedHeads = new int[remembered.length];

  // By list of halves: 2 * head for waiting ones, 2 * head + 1 for immediate ones
  private int[] sizes = new int[32];
  private int[] firsts = new int[32];
  private int[] lasts = new int[32];

  // By half, in order of arrival
  private long[] keys = new long[64];
  private char[] checks = new char[64];
  private long[] durationsNanos = new long[64];
  private long[] messageMicros = new long[64];

  /** The next half of the same list. */
  private int[] nexts = new int[64];

  private int halfCount;
  private int waitingCount;
  private int messageCount;

  /** Starts a batch with an empty dictionary; discards an unfinished one. */
  public void begin() {
    dictionary.clear();
    heads.clear();
    encodedHeadLength = 0;
    current = NONE;
    Arrays.fill(remembered, 0);
    halfCount = 0;
    waitingCount = 0;
    messageCount = 0;
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

  /**
   * Sets the head of the next half-edges.
   *
   * @param application dictionary index
   * @param namespace dictionary index, or -1
   * @param side 1 client, 2 server, 3 producer, 4 consumer
   * @param connectionType 0 none, 1 messaging system, 2 database
   * @param peer dictionary index of the peer's name, or -1
   * @param samplingThreshold 0 if the half represents only itself, else below 2^56
   * @param dimensions dictionary indexes: key i at {@code 2 * i}, value i at {@code 2 * i + 1}
   * @param dimensionCount pairs, at most {@link Limits#MAX_EDGE_DIMENSIONS}
   */
  public void head(
      int application,
      int namespace,
      int side,
      boolean failed,
      int connectionType,
      int peer,
      long samplingThreshold,
      int[] dimensions,
      int dimensionCount) {
    if (side < 1 || side > Compact.MAX_SIDE) {
      throw new IllegalArgumentException("side = " + side + " is not in 1 to " + Compact.MAX_SIDE);
    }
    Compact.checkRange("connectionType", connectionType, Compact.MAX_CONNECTION_TYPE);
    Compact.checkRange("samplingThreshold", samplingThreshold, Compact.THRESHOLD_END - 1);
    Compact.checkRange("dimensionCount", dimensionCount, Limits.MAX_EDGE_DIMENSIONS);
    dictionary.checkedIndex(application);
    for (int i = 0; i < 2 * dimensionCount; i++) {
      dictionary.checkedIndex(dimensions[i]);
    }
    if (namespace != NONE) {
      dictionary.checkedIndex(namespace);
    }
    if (peer != NONE) {
      dictionary.checkedIndex(peer);
    }
    isMessage = side >= Compact.PRODUCER;
    packed =
        samplingThreshold == 0 && dimensionCount == 0
            ? packed(application, namespace, side, failed, connectionType, peer)
            : 0;
    if (packed != 0 && remembered[rememberedSlot()] == packed) {
      current = rememberedHeads[rememberedSlot()];
      return;
    }
    byte[] out = encodedHead;
    int at = 0;
    int last = Compact.EDGE_APPLICATION;
    out[at++] = Compact.field(last, Compact.I32);
    at = Compact.putIndex(out, at, application);
    if (namespace != NONE) {
      out[at++] = Compact.field(Compact.EDGE_NAMESPACE - last, Compact.I32);
      at = Compact.putIndex(out, at, namespace);
      last = Compact.EDGE_NAMESPACE;
    }
    if (failed) {
      out[at++] = Compact.field(Compact.EDGE_FAILED - last, Compact.BOOLEAN_TRUE);
      last = Compact.EDGE_FAILED;
    }
    if (connectionType != 0) {
      out[at++] = Compact.field(Compact.EDGE_CONNECTION_TYPE - last, Compact.BYTE);
      out[at++] = (byte) connectionType;
      last = Compact.EDGE_CONNECTION_TYPE;
    }
    if (peer != NONE) {
      out[at++] = Compact.field(Compact.EDGE_PEER - last, Compact.I32);
      at = Compact.putIndex(out, at, peer);
      last = Compact.EDGE_PEER;
    }
    if (samplingThreshold != 0) {
      out[at++] = Compact.field(Compact.EDGE_SAMPLING_THRESHOLD - last, Compact.I64);
      at = Compact.putVarint(out, at, Compact.zigZag(samplingThreshold));
      last = Compact.EDGE_SAMPLING_THRESHOLD;
    }
    if (dimensionCount != 0) {
      out[at++] = Compact.field(Compact.EDGE_DIMENSIONS - last, Compact.LIST);
      at = Compact.putIndexes(out, at, dimensions, 2 * dimensionCount);
      last = Compact.EDGE_DIMENSIONS;
    }
    out[at++] = Compact.field(Compact.EDGE_SIDE - last, Compact.BYTE);
    out[at++] = (byte) side;
    encodedHeadLength = at;
    current = NONE;
  }

  /** Returns the fields of a head in one number, which is not 0: there is no side 0. */
  private static long packed(
      int application, int namespace, int side, boolean failed, int connectionType, int peer) {
    long names = ((long) application << INDEX_BITS | namespace + 1) << INDEX_BITS | peer + 1;
    return (names << SIDE_BITS | side) << CONNECTION_TYPE_BITS + 1
        | connectionType << 1
        | (failed ? 1 : 0);
  }

  private int rememberedSlot() {
    return (int) (packed * MIX >>> Long.SIZE - REMEMBERED_BITS);
  }

  /**
   * Adds a half-edge that waits for its partner.
   *
   * @param key from {@link EdgeKey#key}
   * @param check from {@link EdgeKey#check}, 0 to 65,535
   * @param durationNanos at least 0
   * @param messageMicros end of a producer's or start of a consumer's span, microseconds since
   *     1970, up to {@link Limits#MAX_MESSAGE_MICROS}; 0 if it is unknown, or the side is another
   * @throws IllegalStateException if there is no head, the batch has {@link Limits#MAX_HALF_EDGES},
   *     or its heads exceed {@link Limits#MAX_MESSAGE_BYTES}; the half is left out
   */
  public void waiting(long key, int check, long durationNanos, long messageMicros) {
    Compact.checkRange("check", check, Compact.MAX_CHECK);
    Compact.checkRange("messageMicros", messageMicros, isMessage ? Limits.MAX_MESSAGE_MICROS : 0);
    int half = add(0, durationNanos);
    keys[half] = key;
    checks[half] = (char) check;
    this.messageMicros[half] = messageMicros;
    waitingCount++;
    messageCount += isMessage ? 1 : 0;
  }

  /**
   * Adds a half-edge that needs no partner.
   *
   * @param durationNanos at least 0
   * @throws IllegalStateException as {@link #waiting}
   */
  public void immediate(long durationNanos) {
    add(1, durationNanos);
  }

  /** Adds a half to list 0 or 1 of the current head; returns its number. */
  private int add(int listOfHead, long durationNanos) {
    Compact.checkRange("durationNanos", durationNanos, Long.MAX_VALUE);
    if (halfCount == Limits.MAX_HALF_EDGES) {
      throw new IllegalStateException(
          "the batch has " + halfCount + " half-edges, the most it may have; finish it first");
    }
    if (current == NONE) {
      current = internHead();
    }
    if (halfCount == nexts.length) {
      keys = Arrays.copyOf(keys, 2 * halfCount);
      checks = Arrays.copyOf(checks, 2 * halfCount);
      durationsNanos = Arrays.copyOf(durationsNanos, 2 * halfCount);
      messageMicros = Arrays.copyOf(messageMicros, 2 * halfCount);
      nexts = Arrays.copyOf(nexts, 2 * halfCount);
    }
    int half = halfCount++;
    durationsNanos[half] = durationNanos;
    int list = 2 * current + listOfHead;
    if (sizes[list] == 0) {
      firsts[list] = half;
    } else {
      nexts[lasts[list]] = half;
    }
    lasts[list] = half;
    sizes[list]++;
    return half;
  }

  private int internHead() {
    if (encodedHeadLength == 0) {
      throw new IllegalStateException("the half-edge has no head");
    }
    int known = heads.size();
    int head = heads.intern(encodedHead, 0, encodedHeadLength);
    if (head == known) {
      if (2 * head == sizes.length) {
        sizes = Arrays.copyOf(sizes, 4 * head);
        firsts = Arrays.copyOf(firsts, 4 * head);
        lasts = Arrays.copyOf(lasts, 4 * head);
      }
      sizes[2 * head] = 0;
      sizes[2 * head + 1] = 0;
    }
    if (packed != 0) {
      remembered[rememberedSlot()] = packed;
      rememberedHeads[rememberedSlot()] = head;
    }
    return head;
  }

  /** Returns the half-edges of the batch so far, 0 to {@link Limits#MAX_HALF_EDGES}. */
  public int halfCount() {
    return halfCount;
  }

  /**
   * Returns an upper bound of the bytes of {@link #finish} for the batch so far. Each half counts
   * with the longest duration and time, 10 bytes each. Costs nothing, so callers may use it after
   * every half.
   */
  public int sizeBytes() {
    return BatchHead.FRAME_BYTES
        + FRAME_BYTES
        + dictionary.bytes()
        + heads.bytes()
        + HALVES_FRAME_BYTES * heads.size()
        + Compact.EDGE_KEY_BYTES * waitingCount
        + NUMBER_BYTES * (halfCount + messageCount);
  }

  /**
   * Writes the message. May be called again, for the same half-edges under another name.
   *
   * @param agentHigh first half of the agent's identity
   * @param agentLow second half of the agent's identity
   * @param epoch the agent's start
   * @param sequence at least 0
   * @return its length; its bytes are {@code buffer()[0, length)}
   * @throws IllegalStateException if the message exceeds {@link Limits#MAX_MESSAGE_BYTES}
   */
  public int finish(long agentHigh, long agentLow, long epoch, long sequence) {
    Compact.checkRange("sequence", sequence, Long.MAX_VALUE);
    message = Compact.grown(message, 0, sizeBytes());
    byte[] out = message;
    int version = Compact.FORMAT_VERSION_OF_EDGES;
    int at =
        BatchHead.put(out, 0, version, agentHigh, agentLow, epoch, sequence, halfCount, dictionary);
    out[at++] = Compact.field(Compact.EDGE_GROUPS - Compact.DICTIONARY, Compact.LIST);
    at = Compact.putListHeader(out, at, Compact.STRUCT, heads.size());
    for (int head = 0; head < heads.size(); head++) {
      at = heads.copyTo(head, 0, heads.length(head), out, at);
      at = putHalves(out, at, 2 * head, 2 * head + 1);
      out[at++] = Compact.STOP;
    }
    out[at++] = Compact.STOP;
    if (at > Limits.MAX_MESSAGE_BYTES) {
      throw new IllegalStateException(
          "the message has " + at + " bytes, more than " + Limits.MAX_MESSAGE_BYTES);
    }
    return at;
  }

  /** Writes the fields after the side, which differ between halves of one head. */
  private int putHalves(byte[] out, int at, int waiting, int immediate) {
    int end = at;
    boolean areMessages = out[at - 1] >= Compact.PRODUCER; // the side
    int last = Compact.EDGE_SIDE;
    if (sizes[waiting] > 0) {
      out[end++] = Compact.field(Compact.EDGE_KEYS - last, Compact.BINARY);
      end = Compact.putVarint(out, end, (long) Compact.EDGE_KEY_BYTES * sizes[waiting]);
      end = putKeys(out, end, waiting);
      last = Compact.EDGE_KEYS;
    }
    out[end++] = Compact.field(Compact.EDGE_DURATIONS_NANOS - last, Compact.LIST);
    end = Compact.putListHeader(out, end, Compact.I64, sizes[waiting] + sizes[immediate]);
    end = putDurations(out, end, waiting);
    end = putDurations(out, end, immediate);
    return areMessages && sizes[waiting] > 0 ? putMessageSteps(out, end, waiting) : end;
  }

  private int putKeys(byte[] out, int at, int list) {
    int end = at;
    int half = firsts[list];
    for (int i = 0; i < sizes[list]; i++) {
      end = Compact.putLong(out, end, keys[half]);
      out[end++] = (byte) (checks[half] >>> Byte.SIZE);
      out[end++] = (byte) checks[half];
      half = nexts[half];
    }
    return end;
  }

  private int putMessageSteps(byte[] out, int at, int list) {
    int end = at;
    out[end++] =
        Compact.field(
            Compact.EDGE_MESSAGE_STEPS_MICROS - Compact.EDGE_DURATIONS_NANOS, Compact.LIST);
    end = Compact.putListHeader(out, end, Compact.I64, sizes[list]);
    int half = firsts[list];
    long before = 0;
    for (int i = 0; i < sizes[list]; i++) {
      end = Compact.putVarint(out, end, Compact.zigZag(messageMicros[half] - before));
      before = messageMicros[half];
      half = nexts[half];
    }
    return end;
  }

  private int putDurations(byte[] out, int at, int list) {
    int end = at;
    int half = firsts[list];
    for (int i = 0; i < sizes[list]; i++) {
      end = Compact.putVarint(out, end, Compact.zigZag(durationsNanos[half]));
      half = nexts[half];
    }
    return end;
  }

  /**
   * Returns the array with the message, valid until the next {@link #finish}. Call this after
   * {@code finish}, which may replace the array.
   */
  public byte[] buffer() {
    return message;
  }
}
