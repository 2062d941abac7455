package org.traceetl.server.series;

import java.util.Arrays;

/**
 * Counts the keys that have most spans, in memory of fixed size, by their hashes: space-saving in
 * {@value #SETS} sets of {@value #WAYS} counters, of which a key may use one set. A key that finds
 * no counter takes over the least of its set, with its count, which is noted as the most by which
 * it is counted too much: so {@link #least} never is. One owner thread.
 */
final class SpaceSaving {
  private static final int SETS = 64;
  private static final int WAYS = 8;
  static final int COUNTERS = SETS * WAYS;

  private final long[] hashes = new long[COUNTERS];

  /** 0: the counter is free. */
  private final long[] counts = new long[COUNTERS];

  private final long[] errors = new long[COUNTERS];

  /**
   * Counts.
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

  /** Spans that the counter's key had at least; 0 where it has none. */
  long least(int counter) {
    return counts[counter] - errors[counter];
  }

  void clear() {
    Arrays.fill(counts, 0);
    Arrays.fill(errors, 0);
  }
}
