package org.traceetl.server.features.preview;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The size of one application's spans: sets of hashes of keys and values. */
final class ApplicationEstimate {
  private final Set<Long> plain = new HashSet<>();
  private final Set<Long> full = new HashSet<>();
  private final Set<Long> names = new HashSet<>();
  private final List<Set<Long>> values = new ArrayList<>();
  private final List<Set<Long>> without = new ArrayList<>();
  private long spans;

  ApplicationEstimate(int dimensions) {
    for (int i = 0; i < dimensions; i++) {
      values.add(new HashSet<>());
      without.add(new HashSet<>());
    }
  }

  /**
   * Adds spans of one key.
   *
   * @param kindAndStatus both as one number
   * @param dimensions hashes of the values, 0 for none
   * @param count number of spans
   * @return number of new hashes
   */
  int add(long name, int kindAndStatus, long[] dimensions, int count) {
    spans += count;
    long key = mix(name, kindAndStatus);
    int fresh = count(names.add(name)) + count(plain.add(key));
    long all = key;
    for (long value : dimensions) {
      all = mix(all, value);
    }
    if (!full.add(all)) {
      return fresh;
    }
    fresh++;
    for (int i = 0; i < dimensions.length; i++) {
      long rest = key;
      for (int other = 0; other < dimensions.length; other++) {
        rest = mix(rest, other == i ? 0 : dimensions[other]);
      }
      fresh += count(without.get(i).add(rest));
      fresh += dimensions[i] == 0 ? 0 : count(values.get(i).add(dimensions[i]));
    }
    return fresh;
  }

  private static int count(boolean added) {
    return added ? 1 : 0;
  }

  private static long mix(long hash, long value) {
    long mixed = (hash ^ value) * 0x9E37_79B9_7F4A_7C15L;
    return mixed ^ mixed >>> 32;
  }

  long spans() {
    return spans;
  }

  /** Returns the series without any configured dimension. */
  int plain() {
    return plain.size();
  }

  /** Returns the series with all dimensions. */
  int series() {
    return full.size();
  }

  int names() {
    return names.size();
  }

  int values(int dimension) {
    return values.get(dimension).size();
  }

  /** Returns the series with all dimensions except one. */
  int without(int dimension) {
    return without.get(dimension).size();
  }
}
