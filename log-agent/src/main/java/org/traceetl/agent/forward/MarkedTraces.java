package org.traceetl.agent.forward;

import org.traceetl.agent.config.ForwardConfig.Keep;

/**
 * Traces of which a span is slow or failed, as 64-bit hashes with the time of their last mark. Two
 * traces with the same hash are both marked. Bounded: if it is full, a further trace is not marked.
 * Owned by one thread, except the size.
 */
final class MarkedTraces {
  /**
   * Most traces. The table has up to two slots for each, and while it is replaced, is there twice.
   */
  static final int MOST = Keep.MARKS_BYTES / (2 * 2 * 2 * Long.BYTES);

  private static final int LEAST_SLOTS = 1 << 10;

  // An open-addressed hash table with linear probing, at most half full, by the lowest bits of a
  // hash. A hash of 0 is a free slot.
  private long[] hashes = new long[LEAST_SLOTS];
  private long[] millis = new long[LEAST_SLOTS];
  private volatile int size;
  private final long seed;

  /**
   * @param seed secret, so that senders of spans cannot choose IDs that meet in the table
   */
  MarkedTraces(long seed) {
    this.seed = seed;
  }

  /** Returns the number of traces. Safe for any thread. */
  int size() {
    return size;
  }

  /** Marks a trace; returns false if there is no room for it. */
  boolean mark(long traceIdHigh, long traceIdLow, long nowMillis) {
    long hash = hash(traceIdHigh, traceIdLow);
    int slot = slot(hash);
    if (hashes[slot] == 0) {
      if (size == MOST) {
        return false;
      }
      hashes[slot] = hash;
      size++;
      millis[slot] = nowMillis;
      if (2 * size > hashes.length) {
        rebuild(2 * hashes.length, Long.MIN_VALUE, Long.MAX_VALUE);
      }
    } else {
      millis[slot] = nowMillis;
    }
    return true;
  }

  /** Returns whether the last mark of a trace is not older than this. */
  boolean isMarked(long traceIdHigh, long traceIdLow, long sinceMillis) {
    long hash = hash(traceIdHigh, traceIdLow);
    int slot = slot(hash);
    return hashes[slot] == hash && millis[slot] >= sinceMillis;
  }

  /** Forgets marks that are older than the first time or newer than the last one. */
  void forget(long firstMillis, long lastMillis) {
    int live = 0;
    for (int slot = 0; slot < hashes.length; slot++) {
      if (hashes[slot] != 0 && millis[slot] >= firstMillis && millis[slot] <= lastMillis) {
        live++;
      }
    }
    if (live < size) {
      // A quarter full, so that it does not grow again soon.
      rebuild(Integer.highestOneBit(Math.max(LEAST_SLOTS, 4 * live)), firstMillis, lastMillis);
    }
  }

  private void rebuild(int slots, long firstMillis, long lastMillis) {
    long[] oldHashes = hashes;
    long[] oldMillis = millis;
    hashes = new long[slots];
    millis = new long[slots];
    int live = 0;
    for (int old = 0; old < oldHashes.length; old++) {
      if (oldHashes[old] != 0 && oldMillis[old] >= firstMillis && oldMillis[old] <= lastMillis) {
        int slot = slot(oldHashes[old]);
        hashes[slot] = oldHashes[old];
        millis[slot] = oldMillis[old];
        live++;
      }
    }
    size = live;
  }

  /** Returns the hash, each bit of which depends on all bits of the ID and of the seed. */
  long hash(long traceIdHigh, long traceIdLow) {
    long hash = mix(mix(traceIdHigh ^ seed) ^ traceIdLow);
    return hash == 0 ? 1 : hash;
  }

  /**
   * The function "Mix13" of David Stafford, <i>Better Bit Mixing: Improving on MurmurHash3's 64-bit
   * Finalizer</i> (2011).
   */
  private static long mix(long value) {
    long mixed = (value ^ value >>> 30) * 0xbf58_476d_1ce4_e5b9L;
    mixed = (mixed ^ mixed >>> 27) * 0x94d0_49bb_1331_11ebL;
    return mixed ^ mixed >>> 31;
  }

  /** Returns the slot of a hash, or the free one where it belongs. */
  private int slot(long hash) {
    int slot = (int) hash & hashes.length - 1;
    while (hashes[slot] != hash && hashes[slot] != 0) {
      slot = slot + 1 & hashes.length - 1;
    }
    return slot;
  }
}
