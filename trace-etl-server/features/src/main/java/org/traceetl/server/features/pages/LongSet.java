package org.traceetl.server.features.pages;

/** A set of longs in one array, with linear probing, at most half full. Removal closes holes. */
final class LongSet {
  private static final int INITIAL_SLOTS = 64;

  private long[] slots = new long[INITIAL_SLOTS];
  private int size;
  private boolean hasZero;

  /** Adds a value; returns false if it is already present. */
  boolean add(long value) {
    if (value == 0) {
      boolean added = !hasZero;
      hasZero = true;
      return added;
    }
    int slot = find(value);
    if (slots[slot] == value) {
      return false;
    }
    slots[slot] = value;
    if (++size > slots.length / 2) {
      grow();
    }
    return true;
  }

  void remove(long value) {
    if (value == 0) {
      hasZero = false;
      return;
    }
    int mask = slots.length - 1;
    int hole = find(value);
    if (slots[hole] == 0) {
      return;
    }
    size--;
    // Move entries that were placed beyond the hole back, so that no search ends too early.
    for (int next = (hole + 1) & mask; slots[next] != 0; next = (next + 1) & mask) {
      int home = home(slots[next]);
      if (((next - home) & mask) >= ((next - hole) & mask)) {
        slots[hole] = slots[next];
        hole = next;
      }
    }
    slots[hole] = 0;
  }

  int size() {
    return size + (hasZero ? 1 : 0);
  }

  /** Returns the value's slot, or the empty slot for it. */
  private int find(long value) {
    int mask = slots.length - 1;
    int slot = home(value);
    while (slots[slot] != 0 && slots[slot] != value) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private int home(long value) {
    return (int) (value ^ (value >>> 32)) & (slots.length - 1);
  }

  private void grow() {
    long[] old = slots;
    slots = new long[old.length * 2];
    for (long value : old) {
      if (value != 0) {
        slots[find(value)] = value;
      }
    }
  }
}
