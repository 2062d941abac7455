package org.traceetl.server.edge;

import static org.traceetl.server.edge.HalfRows.NONE;

import org.traceetl.server.series.HashIndex;

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

  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

  private final long seed;
  private final HalfRows rows;

  /** Callers, servers, and the first consumer of each key; further ones are in a ring with it. */
  private final HashIndex index = new HashIndex(64);

  private int size;
  private int oldest = NONE;
  private int newest = NONE;

  /** The first of the free numbers that have a row. */
  private int free = NONE;

  OpenHalves(HalfRows rows, long seed) {
    this.rows = rows;
    this.seed = seed;
  }

  int size() {
    return size;
  }

  /** Returns the half added first, or {@link HalfRows#NONE}. */
  int oldest() {
    return oldest;
  }

  /** Returns the half added last, or {@link HalfRows#NONE}. */
  int newest() {
    return newest;
  }

  /** Returns whether a half has this number; any number is allowed. */
  boolean isOpen(int number) {
    return number >= 0 && number < rows.size() && rows.side(number) != HalfRows.NO_SIDE;
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
    long hash = (half.key() ^ seed) * MIX;
    hash = (hash ^ hash >>> 32 ^ half.check()) * MIX;
    return (int) (hash >>> 32);
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

  /**
   * Adds a half that its key admits, as the newest one.
   *
   * @return its number
   */
  int add(int hash, Half half, int flags) {
    int number = free;
    if (number == NONE) {
      number = rows.add();
    } else {
      unlinkFree(number);
    }
    put(number, hash, half, flags);
    return number;
  }

  /** Adds a half that its key admits, as the newest one, under a number that is not open. */
  void add(int number, int hash, Half half) {
    while (rows.size() <= number) {
      linkFree(rows.add());
    }
    unlinkFree(number);
    put(number, hash, half, 0);
  }

  private void put(int number, int hash, Half half, int flags) {
    rows.write(number, half, flags);
    if (half.side() == Half.CONSUMER) {
      putConsumer(number, hash, find(hash, half, CONSUMERS));
    } else {
      index.add(hash, number);
    }
    rows.join(newest, number);
    rows.join(number, NONE);
    newest = number;
    oldest = oldest == NONE ? number : oldest;
    size++;
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
    int before = rows.before(number);
    int after = rows.after(number);
    rows.join(before, after);
    oldest = number == oldest ? after : oldest;
    newest = number == newest ? before : newest;
    size--;
    rows.clear(number);
    linkFree(number);
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

  private void linkFree(int number) {
    rows.join(number, free);
    rows.join(NONE, number);
    free = number;
  }

  private void unlinkFree(int number) {
    int after = rows.after(number);
    rows.join(rows.before(number), after);
    free = number == free ? after : free;
  }
}
