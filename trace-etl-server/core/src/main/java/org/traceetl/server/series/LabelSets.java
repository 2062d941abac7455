package org.traceetl.server.series;

import java.util.Arrays;

/**
 * The labels of one queue's series after the configured dimensions, as numbers: each stands for a
 * set of pairs of a label and its value, both symbols. Equal sets must have their pairs in the same
 * order.
 *
 * <p>Sets count the series that use them. Unused ones and their symbols live until {@link #sweep}.
 * One owner thread.
 */
final class LabelSets {
  /** The series has no such labels. */
  static final int NONE = 0;

  /** The table does not have the set. */
  static final int ABSENT = -1;

  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;
  private static final int[] NO_PAIRS = {};

  private final SymbolTable symbols;
  private final HashIndex index = new HashIndex(8);
  private final IntStack free = new IntStack();

  /** Sets that were unused when created or released; some may be in use again. */
  private final IntStack unused = new IntStack();

  /** By number: label, value, label, value, … */
  private int[][] sets = {NO_PAIRS, null, null, null};

  private int[] uses = new int[sets.length];
  private int numbers = NONE + 1;

  LabelSets(SymbolTable symbols) {
    this.symbols = symbols;
  }

  /**
   * Returns the number of a set, or {@link #ABSENT}.
   *
   * @param pairs label and value in turn, in {@code [0, length)}
   */
  int find(int[] pairs, int length) {
    return length == 0 ? NONE : find(hash(pairs, length), pairs, length);
  }

  private int find(int hash, int[] pairs, int length) {
    for (int slot = index.first(hash); index.isTaken(slot); slot = index.next(slot)) {
      if (index.hasHash(slot, hash)) {
        int[] set = sets[index.number(slot)];
        if (Arrays.equals(set, 0, set.length, pairs, 0, length)) {
          return index.number(slot);
        }
      }
    }
    return ABSENT;
  }

  /** Returns or creates the number of a set; arguments as in {@link #find}. */
  int intern(int[] pairs, int length) {
    int found = find(pairs, length);
    if (found != ABSENT) {
      return found;
    }
    int set = free.isEmpty() ? numbers++ : free.pop();
    if (set == sets.length) {
      sets = Arrays.copyOf(sets, set * 2);
      uses = Arrays.copyOf(uses, set * 2);
    }
    sets[set] = Arrays.copyOf(pairs, length);
    for (int symbol : sets[set]) {
      symbols.retain(symbol);
    }
    index.add(hash(pairs, length), set);
    unused.push(set);
    return set;
  }

  private static int hash(int[] pairs, int length) {
    long hash = 0;
    for (int i = 0; i < length; i++) {
      hash = (hash ^ pairs[i]) * MIX;
      hash ^= hash >>> 32;
    }
    return (int) hash;
  }

  /** Returns the pairs of a set: label and value in turn. Read-only. */
  int[] pairs(int set) {
    return sets[set];
  }

  void retain(int set) {
    uses[set]++;
  }

  void release(int set) {
    if (--uses[set] == 0 && set != NONE) {
      unused.push(set);
    }
  }

  /** Removes unused sets. Numbers from earlier lookups become invalid. */
  void sweep() {
    while (!unused.isEmpty()) {
      int set = unused.pop();
      if (uses[set] == 0 && sets[set] != null) {
        index.remove(hash(sets[set], sets[set].length), set);
        for (int symbol : sets[set]) {
          symbols.release(symbol);
        }
        sets[set] = null;
        free.push(set);
      }
    }
  }
}
