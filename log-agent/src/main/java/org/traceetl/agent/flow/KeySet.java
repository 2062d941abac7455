package org.traceetl.agent.flow;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/** A set of a few attribute keys. Immutable. */
public final class KeySet {
  private static final int MIX = 0x9E37_79B9;

  // An open-addressed hash table with linear probing, at most a quarter full.
  private final byte[][] slots;
  private final int shift;
  // Bit n is set if a key has n bytes, modulo 64. Most keys that are not in the set fail this test.
  private final long lengths;
  // By length, modulo 64: bit n is set if such a key ends with the byte n, modulo 64. Most others
  // fail this test.
  private final long[] ends = new long[Long.SIZE];

  /**
   * @param keys as UTF-8
   */
  public KeySet(Collection<byte[]> keys) {
    int width = Integer.SIZE - Integer.numberOfLeadingZeros(4 * Math.max(1, keys.size()) - 1);
    slots = new byte[1 << width][];
    shift = Integer.SIZE - width;
    long bits = 0;
    for (byte[] key : List.copyOf(keys)) {
      bits |= 1L << key.length;
      if (key.length > 0) {
        ends[key.length & Long.SIZE - 1] |= 1L << key[key.length - 1];
      }
      int slot = slot(key, 0, key.length);
      while (slots[slot] != null) {
        slot = slot + 1 & slots.length - 1;
      }
      slots[slot] = key.clone();
    }
    lengths = bits;
  }

  /** Returns whether the slice is one of the keys. */
  public boolean contains(byte[] bytes, int offset, int length) {
    return (lengths >>> length & 1) != 0 && isFound(bytes, offset, length);
  }

  private boolean isFound(byte[] bytes, int offset, int length) {
    if (length > 0 && (ends[length & Long.SIZE - 1] >>> bytes[offset + length - 1] & 1) == 0) {
      return false;
    }
    int slot = slot(bytes, offset, length);
    for (byte[] key = slots[slot]; key != null; key = slots[slot]) {
      if (key.length == length && Arrays.equals(key, 0, length, bytes, offset, offset + length)) {
        return true;
      }
      slot = slot + 1 & slots.length - 1;
    }
    return false;
  }

  /** Hashes the length, the last two bytes and the middle one, where keys differ most. */
  private int slot(byte[] bytes, int offset, int length) {
    if (length == 0) {
      return 0;
    }
    int end = offset + length;
    int hash = length;
    hash = 31 * hash + bytes[end - 1];
    hash = 31 * hash + bytes[end - 1 - (length > 1 ? 1 : 0)];
    hash = 31 * hash + bytes[offset + length / 2];
    return hash * MIX >>> shift;
  }
}
