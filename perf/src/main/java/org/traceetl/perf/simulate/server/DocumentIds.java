package org.traceetl.perf.simulate.server;

import java.util.Arrays;

/**
 * The IDs of documents, as 64-bit hashes: a simulated year has hundreds of millions, and two of ten
 * million have the same hash in one of 370,000 runs.
 */
final class DocumentIds {
  private static final long MIX = 0x9E3779B97F4A7C15L;

  /** Open addressing; 0 is free. */
  private long[] hashes = new long[1 << 10];

  private int size;

  /** Adds an ID; returns whether it is new. */
  boolean add(String id) {
    long hash = 0;
    for (int i = 0; i < id.length(); i++) {
      hash = mixed(hash ^ id.charAt(i));
    }
    return add(hash == 0 ? 1 : hash);
  }

  private static long mixed(long bits) {
    long mixed = bits * MIX;
    return (mixed ^ mixed >>> 32) * MIX;
  }

  /** Adds the hash of an ID; returns whether it is new. */
  boolean add(long hash) {
    int place = (int) (hash >>> 32) & hashes.length - 1;
    while (hashes[place] != 0) {
      if (hashes[place] == hash) {
        return false;
      }
      place = place + 1 & hashes.length - 1;
    }
    hashes[place] = hash;
    size++;
    if (2 * size > hashes.length) {
      grow();
    }
    return true;
  }

  /** Returns a copy of the hashes; without order. */
  long[] hashes() {
    return Arrays.stream(hashes).filter(hash -> hash != 0).toArray();
  }

  private void grow() {
    long[] old = hashes;
    hashes = new long[2 * old.length];
    size = 0;
    Arrays.stream(old).filter(hash -> hash != 0).forEach(this::add);
  }
}
