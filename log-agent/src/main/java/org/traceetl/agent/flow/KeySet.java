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

  /**
   * @param keys as UTF-8
   */
  public KeySet(Collection<byte[]> keys) {
    int bits = Integer.SIZE - Integer.numberOfLeadingZeros(4 * Math.max(1, keys.size()) - 1);
    slots = new byte[1 << bits][];
    shift = Integer.SIZE - bits;
    for (byte[] key : List.copyOf(keys)) {
      int slot = slot(key, 0, key.length);
      while (slots[slot] != null) {
        slot = slot + 1 & slots.length - 1;
      }
      slots[slot] = key.clone();
    }
  }

  /** Returns whether the slice is one of the keys. */
  public boolean contains(byte[] bytes, int offset, int length) {
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
