package org.traceetl.server.edge;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.traceetl.server.series.HashIndex;
import org.traceetl.server.series.TextHash;
import org.traceetl.server.series.Utf8;
import org.traceetl.server.window.EdgeHead;

/**
 * The heads of the open half-edges of one queue, as numbers: two halves have equal numbers if all
 * that they share is equal. Longer texts are cut between characters. A number is valid until {@link
 * #keep}. Only a new head allocates. One owner thread.
 *
 * <p>The texts of a head are the application, the name of the other end, and a value for each
 * dimension, in this order.
 *
 * <p>The bound is in bytes: {@value #HEAD_BYTES} for a head and {@value #VALUE_BYTES} for each
 * dimension, about its memory, and the bytes that its texts have in a record, where each malformed
 * character becomes one of three bytes.
 */
public final class EdgeHeads {
  /** There is no room for another head. */
  public static final int NONE = -1;

  /** Bytes of the heads of one queue. They fit a record of the journal, in addition to halves. */
  public static final int MAX_BYTES = 64 << 20;

  static final int HEAD_BYTES = 96;
  static final int VALUE_BYTES = 24;

  /** Texts of a head before its values. */
  private static final int NAMES = 2;

  /** Bytes of unused heads that are no reason to remove them. */
  private static final int SPARE_BYTES = 1 << 17;

  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;
  private static final int INITIAL = 64;
  private static final int APPLICATION = 0;
  private static final int PEER = 1;
  private static final byte[] EMPTY = {};

  private final int maxBytes;
  private final int maxTextBytes;
  private final long seed;

  /** Number of texts of a head. */
  private final int width;

  private final HashIndex index = new HashIndex(INITIAL);
  private final BitSet taken = new BitSet();
  private int[] hashes = new int[INITIAL];

  /** By head, as many as it has texts. */
  private byte[][] texts;

  private long[] thresholds = new long[INITIAL];

  /** Connection type &lt;&lt; 1 | failed. */
  private byte[] kinds = new byte[INITIAL];

  /** Lengths of the texts of the head that is looked for, after cuts. */
  private final int[] lengths;

  private long bytes;

  /** The bytes that {@link #keep} left. */
  private long keptBytes;

  /** Whether a head was refused after {@link #keep}. */
  private boolean refused;

  /**
   * @param maxBytes bytes of heads at which no other one has room
   * @param maxTextBytes maximum length of a text
   * @param dimensions number of values of a head
   * @param seed of the hashes; random, so that senders cannot prepare collisions
   */
  EdgeHeads(int maxBytes, int maxTextBytes, int dimensions, long seed) {
    this.maxBytes = maxBytes;
    this.maxTextBytes = maxTextBytes;
    this.seed = seed;
    width = NAMES + dimensions;
    texts = new byte[INITIAL * width][];
    lengths = new int[width];
  }

  /** Returns a number above all heads. */
  int end() {
    return taken.length();
  }

  /** Returns whether unused heads should be removed: they may have most bytes, or the last room. */
  boolean isCrowded() {
    return refused || bytes > 2 * keptBytes + SPARE_BYTES;
  }

  /**
   * Returns the head with these parts, a new one if no head has them; {@link #NONE} if there is no
   * room for it.
   *
   * @param buffer has the texts
   * @param slices offset and length of each text, from {@code at} on; length 0 without the text
   * @param connectionType 0 to 3
   */
  public int find(
      byte[] buffer, int[] slices, int at, boolean failed, int connectionType, long threshold) {
    return find(buffer, slices, at, failed, connectionType, threshold, maxBytes);
  }

  private int find(
      byte[] buffer,
      int[] slices,
      int at,
      boolean failed,
      int connectionType,
      long threshold,
      long limit) {
    byte kind = (byte) (connectionType << 1 | (failed ? 1 : 0));
    long mixed = mix(seed ^ threshold, kind);
    long added = HEAD_BYTES + (long) VALUE_BYTES * (width - NAMES);
    for (int text = 0; text < width; text++) {
      int offset = slices[at + 2 * text];
      int length = Utf8.cut(buffer, offset, slices[at + 2 * text + 1], maxTextBytes);
      lengths[text] = length;
      mixed = TextHash.of(mixed, buffer, offset, length);
      added += length;
    }
    int hash = (int) (mixed ^ mixed >>> 32);
    for (int slot = index.first(hash); index.isTaken(slot); slot = index.next(slot)) {
      if (index.hasHash(slot, hash)) {
        int head = index.number(slot);
        if (kinds[head] == kind
            && thresholds[head] == threshold
            && hasTexts(head, buffer, slices, at)) {
          return head;
        }
      }
    }
    if (bytes + added > limit) {
      refused = true;
      return NONE;
    }
    int head = taken.nextClearBit(0);
    if (head == kinds.length) {
      grow(head * 2);
    }
    taken.set(head);
    index.add(hash, head);
    hashes[head] = hash;
    for (int text = 0; text < width; text++) {
      int offset = slices[at + 2 * text];
      texts[head * width + text] =
          lengths[text] == 0 ? EMPTY : Arrays.copyOfRange(buffer, offset, offset + lengths[text]);
    }
    thresholds[head] = threshold;
    kinds[head] = kind;
    bytes += bytes(head);
    return head;
  }

  private boolean hasTexts(int head, byte[] buffer, int[] slices, int at) {
    for (int text = 0; text < width; text++) {
      byte[] own = texts[head * width + text];
      int offset = slices[at + 2 * text];
      if (!Arrays.equals(own, 0, own.length, buffer, offset, offset + lengths[text])) {
        return false;
      }
    }
    return true;
  }

  private long bytes(int head) {
    long sum = HEAD_BYTES + (long) VALUE_BYTES * (width - NAMES);
    for (int text = 0; text < width; text++) {
      sum += recordBytes(texts[head * width + text]);
    }
    return sum;
  }

  private static int recordBytes(byte[] text) {
    return text.length == 0 ? 0 : new String(text, UTF_8).getBytes(UTF_8).length;
  }

  /**
   * Returns the head that is equal to one of a journal; a new one, also if there is no room.
   *
   * @param valueOf index of the head's value for each dimension; below 0 without one
   */
  int find(EdgeHead head, int[] valueOf) {
    byte[][] all = new byte[width][];
    all[APPLICATION] = head.application().getBytes(UTF_8);
    all[PEER] = head.peer().getBytes(UTF_8);
    for (int i = 0; i < valueOf.length; i++) {
      all[NAMES + i] = valueOf[i] < 0 ? EMPTY : head.values().get(valueOf[i]).getBytes(UTF_8);
    }
    int[] slices = new int[2 * width];
    int length = 0;
    for (int text = 0; text < width; text++) {
      slices[2 * text] = length;
      slices[2 * text + 1] = all[text].length;
      length += all[text].length;
    }
    byte[] buffer = new byte[length];
    for (int text = 0; text < width; text++) {
      System.arraycopy(all[text], 0, buffer, slices[2 * text], all[text].length);
    }
    return find(
        buffer,
        slices,
        0,
        head.failed(),
        head.connectionType(),
        head.samplingThreshold(),
        Long.MAX_VALUE);
  }

  private static long mix(long hash, long value) {
    long mixed = (hash ^ value) * MIX;
    return mixed ^ mixed >>> 29;
  }

  private void grow(int capacity) {
    hashes = Arrays.copyOf(hashes, capacity);
    texts = Arrays.copyOf(texts, capacity * width);
    thresholds = Arrays.copyOf(thresholds, capacity);
    kinds = Arrays.copyOf(kinds, capacity);
  }

  /** Removes all other heads; their numbers are free. */
  void keep(BitSet used) {
    for (int head = taken.nextSetBit(0); head >= 0; head = taken.nextSetBit(head + 1)) {
      if (!used.get(head)) {
        index.remove(hashes[head], head);
        taken.clear(head);
        bytes -= bytes(head);
        Arrays.fill(texts, head * width, (head + 1) * width, null);
      }
    }
    keptBytes = bytes;
    refused = false;
  }

  /** Returns the bytes of the application's name. Read-only. */
  public byte[] application(int head) {
    return texts[head * width + APPLICATION];
  }

  /** Returns the bytes of the other end's name, none if it has no name. Read-only. */
  public byte[] peer(int head) {
    return texts[head * width + PEER];
  }

  /** Returns the bytes of the value of a dimension, none without a value. Read-only. */
  public byte[] value(int head, int dimension) {
    return texts[head * width + NAMES + dimension];
  }

  public boolean isFailed(int head) {
    return (kinds[head] & 1) != 0;
  }

  public int connectionType(int head) {
    return kinds[head] >> 1;
  }

  public long samplingThreshold(int head) {
    return thresholds[head];
  }

  /** Returns a copy. */
  EdgeHead copy(int head) {
    List<String> values = new ArrayList<>(width - NAMES);
    for (int dimension = 0; dimension < width - NAMES; dimension++) {
      values.add(new String(value(head, dimension), UTF_8));
    }
    return new EdgeHead(
        new String(application(head), UTF_8),
        isFailed(head),
        connectionType(head),
        new String(peer(head), UTF_8),
        thresholds[head],
        List.copyOf(values));
  }
}
