package org.traceetl.server.edge;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.BitSet;
import org.traceetl.server.series.HashIndex;
import org.traceetl.server.series.Utf8;
import org.traceetl.server.window.EdgeHead;

/**
 * The heads of the open half-edges of one queue, as numbers: two halves have equal numbers if all
 * that they share is equal. Longer names are cut between characters. A number is valid until {@link
 * #keep}. Only a new head allocates. One owner thread.
 *
 * <p>The bound is in bytes: {@value #HEAD_BYTES} for a head, about its memory, and the bytes that
 * its names have in a record, where each malformed character becomes one of three bytes.
 */
public final class EdgeHeads {
  /** There is no room for another head. */
  public static final int NONE = -1;

  /** Bytes of the heads of one queue. They fit a record of the journal, in addition to halves. */
  public static final int MAX_BYTES = 64 << 20;

  static final int HEAD_BYTES = 96;

  /** Bytes of unused heads that are no reason to remove them. */
  private static final int SPARE_BYTES = 1 << 17;

  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;
  private static final int INITIAL = 64;

  private final int maxBytes;
  private final int maxNameBytes;
  private final long seed;
  private final HashIndex index = new HashIndex(INITIAL);
  private final BitSet taken = new BitSet();
  private int[] hashes = new int[INITIAL];
  private byte[][] applications = new byte[INITIAL][];
  private byte[][] peers = new byte[INITIAL][];
  private long[] thresholds = new long[INITIAL];

  /** Connection type &lt;&lt; 1 | failed. */
  private byte[] kinds = new byte[INITIAL];

  private long bytes;

  /** The bytes that {@link #keep} left. */
  private long keptBytes;

  /** Whether a head was refused after {@link #keep}. */
  private boolean refused;

  /**
   * @param maxBytes bytes of heads at which no other one has room
   * @param maxNameBytes maximum length of a name
   * @param seed of the hashes; random, so that senders cannot prepare collisions
   */
  EdgeHeads(int maxBytes, int maxNameBytes, long seed) {
    this.maxBytes = maxBytes;
    this.maxNameBytes = maxNameBytes;
    this.seed = seed;
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
   * @param applicationBytes has the application's name in {@code [offset, offset + length)}
   * @param peerBytes has the name of the other end, of length 0 without one
   * @param connectionType 0 to 3
   */
  public int find(
      byte[] applicationBytes,
      int applicationOffset,
      int applicationLength,
      byte[] peerBytes,
      int peerOffset,
      int peerLength,
      boolean failed,
      int connectionType,
      long threshold) {
    return find(
        applicationBytes,
        applicationOffset,
        applicationLength,
        peerBytes,
        peerOffset,
        peerLength,
        failed,
        connectionType,
        threshold,
        maxBytes);
  }

  private int find(
      byte[] applicationBytes,
      int applicationOffset,
      int applicationLength,
      byte[] peerBytes,
      int peerOffset,
      int peerLength,
      boolean failed,
      int connectionType,
      long threshold,
      long limit) {
    int application =
        Utf8.cut(applicationBytes, applicationOffset, applicationLength, maxNameBytes);
    int peer = Utf8.cut(peerBytes, peerOffset, peerLength, maxNameBytes);
    byte kind = (byte) (connectionType << 1 | (failed ? 1 : 0));
    long mixed = mix(seed ^ threshold, kind);
    mixed = mix(mixed, applicationBytes, applicationOffset, application);
    mixed = mix(mixed, peerBytes, peerOffset, peer);
    int hash = (int) (mixed ^ mixed >>> 32);
    for (int slot = index.first(hash); index.isTaken(slot); slot = index.next(slot)) {
      if (index.hasHash(slot, hash)) {
        int head = index.number(slot);
        if (kinds[head] == kind
            && thresholds[head] == threshold
            && isEqual(applications[head], applicationBytes, applicationOffset, application)
            && isEqual(peers[head], peerBytes, peerOffset, peer)) {
          return head;
        }
      }
    }
    if (bytes + HEAD_BYTES + application + peer > limit) {
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
    applications[head] =
        Arrays.copyOfRange(applicationBytes, applicationOffset, applicationOffset + application);
    peers[head] = Arrays.copyOfRange(peerBytes, peerOffset, peerOffset + peer);
    thresholds[head] = threshold;
    kinds[head] = kind;
    bytes += bytes(head);
    return head;
  }

  private int bytes(int head) {
    return HEAD_BYTES + recordBytes(applications[head]) + recordBytes(peers[head]);
  }

  private static int recordBytes(byte[] name) {
    return new String(name, UTF_8).getBytes(UTF_8).length;
  }

  /** Returns the head that is equal to one of a journal; a new one, also if there is no room. */
  int find(EdgeHead head) {
    byte[] application = head.application().getBytes(UTF_8);
    byte[] peer = head.peer().getBytes(UTF_8);
    return find(
        application,
        0,
        application.length,
        peer,
        0,
        peer.length,
        head.failed(),
        head.connectionType(),
        head.samplingThreshold(),
        Long.MAX_VALUE);
  }

  private static long mix(long hash, byte[] bytes, int offset, int length) {
    long mixed = mix(hash, length);
    for (int at = offset; at < offset + length; at++) {
      mixed = mix(mixed, bytes[at]);
    }
    return mixed;
  }

  private static long mix(long hash, long value) {
    long mixed = (hash ^ value) * MIX;
    return mixed ^ mixed >>> 29;
  }

  private static boolean isEqual(byte[] name, byte[] bytes, int offset, int length) {
    return Arrays.equals(name, 0, name.length, bytes, offset, offset + length);
  }

  private void grow(int capacity) {
    hashes = Arrays.copyOf(hashes, capacity);
    applications = Arrays.copyOf(applications, capacity);
    peers = Arrays.copyOf(peers, capacity);
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
        applications[head] = null;
        peers[head] = null;
      }
    }
    keptBytes = bytes;
    refused = false;
  }

  /** Returns the bytes of the application's name. Read-only. */
  public byte[] application(int head) {
    return applications[head];
  }

  /** Returns the bytes of the other end's name, none if it has no name. Read-only. */
  public byte[] peer(int head) {
    return peers[head];
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
    return new EdgeHead(
        new String(applications[head], UTF_8),
        isFailed(head),
        connectionType(head),
        new String(peers[head], UTF_8),
        thresholds[head]);
  }
}
