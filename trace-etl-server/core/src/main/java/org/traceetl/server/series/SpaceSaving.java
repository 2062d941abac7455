package org.traceetl.server.series;

import java.util.Arrays;

/**
 * Counts the keys with most spans by their hashes, in memory of fixed size. It uses the
 * space-saving algorithm in {@value #SETS} sets of {@value #WAYS} counters; a key may use one set.
 * A key without a counter takes over the least one of its set with its count, which is recorded as
 * its maximum error. So {@link #least} is never too high. One owner thread.
 */
final class SpaceSaving {
  private static final int SETS = 64;
  private static final int WAYS = 8;
  static final int COUNTERS = SETS * WAYS;

  private final long[] hashes = new long[COUNTERS];

  /** 0 for a free counter. */
  private final long[] counts = new long[COUNTERS];

  private final long[] errors = new long[COUNTERS];

  /**
   * Adds spans of a key.
   *
   * @param spans at least 1
   */
  void add(long hash, long spans) {
    int first = (int) (hash >>> Long.SIZE - 6) * WAYS;
    int least = first;
    for (int counter = first; counter < first + WAYS; counter++) {
      if (counts[counter] > 0 && hashes[counter] == hash) {
        counts[counter] += spans;
        return;
      }
      if (counts[counter] < counts[least]) {
        least = counter;
      }
    }
    hashes[least] = hash;
    errors[least] = counts[least];
    counts[least] += spans;
  }

  long hash(int counter) {
    return hashes[counter];
  }

  /** Returns the minimum number of spans of the counter's key; 0 for a free counter. */
  long least(int counter) {
    return counts[counter] - errors[counter];
  }

  void clear() {
    Arrays.fill(counts, 0);
    Arrays.fill(errors, 0);
  }
}
