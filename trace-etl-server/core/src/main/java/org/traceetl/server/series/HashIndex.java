package org.traceetl.server.series;

import java.util.Arrays;

/**
 * An open-addressing index from hashes to numbers at or above 0. It has no keys: callers follow the
 * probe sequence and compare keys if an entry has the hash.
 *
 * <pre>{@code
 * for (int slot = index.first(hash); index.isTaken(slot); slot = index.next(slot)) {
 *   if (index.hasHash(slot, hash) && sameKey(index.number(slot))) {
 *     return index.number(slot);
 *   }
 * }
 * }</pre>
 *
 * <p>An entry has the hash in the high 32 bits and number + 1 in the low ones; 0 is free. The index
 * is at most three quarters full, so probes are short and always end. Removal moves entries back,
 * so there are no tombstones. One owner thread.
 */
public final class HashIndex {
  private long[] entries;
  private int mask;
  private int size;

  public HashIndex(int expected) {
    int capacity = Integer.highestOneBit(Math.max(expected, 8) * 2 - 1) * 2;
    entries = new long[capacity];
    mask = capacity - 1;
  }

  public int size() {
    return size;
  }

  /** Returns the start of a hash's probe sequence. */
  public int first(int hash) {
    return hash & mask;
  }

  /** Returns the next slot in a probe sequence. */
  public int next(int slot) {
    return (slot + 1) & mask;
  }

  public boolean isTaken(int slot) {
    return entries[slot] != 0;
  }

  public boolean hasHash(int slot, int hash) {
    return (int) (entries[slot] >>> 32) == hash;
  }

  public int number(int slot) {
    return (int) entries[slot] - 1;
  }

  /** Removes all numbers. */
  public void clear() {
    Arrays.fill(entries, 0);
    size = 0;
  }

  /** Adds a number whose key is not in the index. */
  public void add(int hash, int number) {
    if (size + 1 > entries.length / 4 * 3) {
      grow();
    }
    place(((long) hash << 32) | (number + 1));
    size++;
  }

  private void place(long entry) {
    int slot = (int) (entry >>> 32) & mask;
    while (entries[slot] != 0) {
      slot = (slot + 1) & mask;
    }
    entries[slot] = entry;
  }

  private void grow() {
    long[] old = entries;
    entries = new long[old.length * 2];
    mask = entries.length - 1;
    for (long entry : old) {
      if (entry != 0) {
        place(entry);
      }
    }
  }

  /** Removes a number added with this hash. */
  public void remove(int hash, int number) {
    long entry = ((long) hash << 32) | (number + 1);
    int hole = hash & mask;
    while (entries[hole] != entry) {
      hole = (hole + 1) & mask;
    }
    for (int slot = (hole + 1) & mask; entries[slot] != 0; slot = (slot + 1) & mask) {
      int home = (int) (entries[slot] >>> 32) & mask;
      // An entry may move back to the hole only if the hole is not before its first slot.
      if (((slot - home) & mask) >= ((slot - hole) & mask)) {
        entries[hole] = entries[slot];
        hole = slot;
      }
    }
    entries[hole] = 0;
    size--;
  }
}
