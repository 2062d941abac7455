package org.traceetl.server.edge;

import static org.traceetl.server.edge.HalfRows.NONE;

import java.util.BitSet;
import org.traceetl.server.series.HashIndex;
import org.traceetl.server.series.IntStack;

/**
 * Halves by number, found by key and side, and in the order in which they were added. A key has
 * either one caller, or at most one server and any number of consumers. One owner thread.
 */
final class OpenHalves {
  // Sets of sides, as bits
  static final int SERVERS = 1 << Half.SERVER;
  static final int CONSUMERS = 1 << Half.CONSUMER;
  static final int CALLERS = 1 << Half.CLIENT | 1 << Half.PRODUCER;
  static final int ALL = CALLERS | SERVERS | CONSUMERS;

  /** A processor does not wait for many more reads together. */
  static final int MOST_TOUCHED = 16;

  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

  private final long seed;
  private final HalfRows rows;
  private final ArrivalOrder order;

  /** Callers, servers, and the first consumer of each key; further ones are in a ring with it. */
  private final HashIndex index = new HashIndex(64);

  /** By half, the number that {@link #touch} found for it, or 0. */
  private final int[] touched = new int[MOST_TOUCHED];

  /** Numbers of open halves. */
  private final BitSet taken = new BitSet();

  /** Free numbers that have a row, the last one on top, and some that were taken since. */
  private final IntStack free = new IntStack();

  OpenHalves(HalfRows rows, long seed) {
    this.rows = rows;
    this.seed = seed;
    order = new ArrivalOrder(rows, 0);
  }

  int size() {
    return order.size();
  }

  /** Returns the halves in the order in which they were added. */
  ArrivalOrder order() {
    return order;
  }

  /** Returns whether a half has this number; any number is allowed. */
  boolean isOpen(int number) {
    return number >= 0 && taken.get(number);
  }

  /** Returns whether a number belongs to a client or producer. */
  boolean isCaller(int number) {
    return isOf(number, CALLERS);
  }

  private boolean isOf(int number, int sides) {
    return (1 << rows.side(number) & sides) != 0;
  }

  /** Returns the hash of a half's key and check, for the other methods. */
  int hash(Half half) {
    return hash(half.key(), half.check());
  }

  private int hash(long key, int check) {
    long hash = (key ^ seed) * MIX;
    hash = (hash ^ hash >>> 32 ^ check) * MIX;
    return (int) (hash >>> 32);
  }

  /**
   * Reads the memory that {@link #find} will read for halves with these keys and checks, at most
   * {@value #MOST_TOUCHED} of them. One such read takes long if there are many halves, but the
   * processor waits for all of these together.
   *
   * @return a number without meaning; a caller that uses it makes sure that the reads happen
   */
  long touch(long[] keys, int[] checks, int from, int to) {
    long read = 0;
    for (int i = from; i < to; i++) {
      int slot = index.first(hash(keys[i], checks[i]));
      // Many halves have none; a branch would be mispredicted.
      touched[i - from] = Math.max(0, index.number(slot));
    }
    for (int i = 0; i < to - from && rows.size() > 0; i++) {
      read ^= rows.touch(touched[i]);
    }
    return read;
  }

  /**
   * Returns an open half with the same key and check, or {@link HalfRows#NONE}. It is the only one
   * of its side, or the first consumer.
   *
   * @param sides set of its possible sides
   */
  int find(int hash, Half half, int sides) {
    return find(hash, half.key(), half.check(), sides);
  }

  private int find(int hash, long key, int check, int sides) {
    for (int slot = index.first(hash); index.isTaken(slot); slot = index.next(slot)) {
      if (index.hasHash(slot, hash)) {
        int number = index.number(slot);
        if (rows.hasKey(number, key, check) && isOf(number, sides)) {
          return number;
        }
      }
    }
    return NONE;
  }

  /** Adds a half that its key admits, as the newest one. */
  void add(int hash, Half half) {
    put(freeNumber(), hash, half);
  }

  /** Adds a half that its key admits, as the newest one, under a number that is not open. */
  void add(int number, int hash, Half half) {
    while (rows.size() <= number) {
      free.push(rows.add());
    }
    put(number, hash, half);
  }

  /** Returns the number that became free last, whose row is in caches; else one of a new row. */
  private int freeNumber() {
    while (free.size() > 0) {
      int number = free.pop();
      if (!taken.get(number)) {
        return number;
      }
    }
    return rows.add();
  }

  private void put(int number, int hash, Half half) {
    rows.write(number, half);
    taken.set(number);
    if (half.side() == Half.CONSUMER) {
      putConsumer(number, hash, find(hash, half, CONSUMERS));
    } else {
      index.add(hash, number);
    }
    order.add(number);
  }

  private void putConsumer(int number, int hash, int first) {
    if (first == NONE) {
      rows.joinOfKey(number, number);
      index.add(hash, number);
    } else {
      rows.joinOfKey(rows.beforeOfKey(first), number);
      rows.joinOfKey(number, first);
    }
  }

  /** Removes an open half. Its number is free. */
  void remove(int number, int hash) {
    if (rows.side(number) == Half.CONSUMER) {
      removeConsumer(number, hash);
    } else {
      index.remove(hash, number);
    }
    order.remove(number);
    taken.clear(number);
    addFree(number);
  }

  private void addFree(int number) {
    if (free.size() >= rows.size()) {
      // A reader of changes takes no number from here.
      free.clear();
      for (int each = rows.size() - 1; each >= 0; each--) {
        if (!taken.get(each)) {
          free.push(each);
        }
      }
    } else {
      free.push(number);
    }
  }

  private void removeConsumer(int number, int hash) {
    int next = rows.afterOfKey(number);
    if (next == number) {
      index.remove(hash, number);
      return;
    }
    rows.joinOfKey(rows.beforeOfKey(number), next);
    if (find(hash, rows.key(number), rows.check(number), CONSUMERS) == number) {
      index.remove(hash, number);
      index.add(hash, next);
    }
  }
}
