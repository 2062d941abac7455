package org.traceetl.server.features.preview;

import java.util.HashSet;
import java.util.Set;

/**
 * Estimates a number of keys. Those of all spans are counted. Of the others a sample is known: a
 * key of several samples counts once, and a key of only one sample stands for the square root of
 * the spans of a sample. This bounds the error by that factor in both directions, whether such keys
 * are rare or each span has its own (Charikar et al., Towards Estimation Error Guarantees for
 * Distinct Values, 2000).
 */
final class KeyEstimate {
  private final Set<Long> known = new HashSet<>();
  private final Set<Long> once = new HashSet<>();

  /**
   * Adds the key of a span.
   *
   * @return number of new keys: 0 or 1
   */
  int add(long key) {
    return known.add(key) && !once.remove(key) ? 1 : 0;
  }

  /**
   * Adds the key of a sample.
   *
   * @return number of new keys: 0 or 1
   */
  int addSample(long key) {
    if (known.contains(key)) {
      return 0;
    }
    if (once.remove(key)) {
      known.add(key);
      return 0;
    }
    once.add(key);
    return 1;
  }

  /** Returns whether a key counts once, not as the square root of the spans of a sample. */
  boolean isCertain(long key) {
    return known.contains(key);
  }

  /**
   * Returns the number of keys.
   *
   * @param spansPerSample at least 1
   */
  long keys(double spansPerSample) {
    return known.size() + Math.round(once.size() * Math.sqrt(spansPerSample));
  }
}
