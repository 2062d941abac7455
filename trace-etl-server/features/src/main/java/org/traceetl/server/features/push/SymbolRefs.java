package org.traceetl.server.features.push;

import java.util.Arrays;

/**
 * The symbols of one request in the order of their numbers; number 0 is the empty string. The
 * memory is reused. For one thread.
 */
final class SymbolRefs {
  private static final int INITIAL_SLOTS = 1_024;

  private Symbol[] symbols = new Symbol[INITIAL_SLOTS / 2];
  private int size;

  /** Number of the symbol in each slot, if the slot's round is the current one. */
  private int[] slots = new int[INITIAL_SLOTS];

  private int[] rounds = new int[INITIAL_SLOTS];
  private int round;

  SymbolRefs() {
    clear();
  }

  /** Begins another request. */
  void clear() {
    Arrays.fill(symbols, 0, size, null);
    size = 0;
    round++;
    if (round == 0) {
      // Slots of the round 2^32 requests ago.
      Arrays.fill(rounds, 0);
      round = 1;
    }
    ref(Symbol.EMPTY);
  }

  int size() {
    return size;
  }

  /** Returns the symbol with a number. */
  Symbol get(int number) {
    return symbols[number];
  }

  /** Returns the number of a symbol, which is added if it is new. */
  int ref(Symbol symbol) {
    int mask = slots.length - 1;
    int slot = (symbol.hash ^ symbol.hash >>> 16) & mask;
    while (rounds[slot] == round) {
      if (symbol.equals(symbols[slots[slot]])) {
        return slots[slot];
      }
      slot = (slot + 1) & mask;
    }
    if (size == symbols.length) {
      grow();
      return ref(symbol);
    }
    symbols[size] = symbol;
    rounds[slot] = round;
    slots[slot] = size;
    return size++;
  }

  private void grow() {
    Symbol[] known = symbols;
    int count = size;
    symbols = new Symbol[known.length * 2];
    slots = new int[symbols.length * 2];
    rounds = new int[slots.length];
    size = 0;
    for (int i = 0; i < count; i++) {
      ref(known[i]);
    }
  }
}
