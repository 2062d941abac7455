package org.traceetl.server.dedup;

/**
 * Stores which of {@value #WIDTH} consecutive sequences were seen, as bit {@code sequence % WIDTH}.
 */
final class SeenRing {
  static final int WIDTH = 4_096;

  /** Heap of a ring: the object and its array. */
  static final int BYTES = 16 + 16 + WIDTH / Byte.SIZE;

  private final long[] seen = new long[WIDTH / Long.SIZE];

  boolean isSeen(long sequence) {
    return (seen[(int) (sequence % WIDTH) / Long.SIZE] & 1L << sequence) != 0;
  }

  /** Sets or clears the bits of at most {@link #WIDTH} sequences, whole words at a time. */
  void fill(long first, long last, boolean value) {
    int left = (int) (last - first) + 1;
    int at = (int) (first % WIDTH);
    while (left > 0) {
      int bit = at % Long.SIZE;
      int bits = Math.min(left, Long.SIZE - bit);
      long mask = -1L >>> (Long.SIZE - bits) << bit;
      if (value) {
        seen[at / Long.SIZE] |= mask;
      } else {
        seen[at / Long.SIZE] &= ~mask;
      }
      left -= bits;
      at = (at + bits) % WIDTH;
    }
  }

  /** Returns the first of {@code [from, to)} at which {@code base +} it was seen, or not; or to. */
  int next(long base, int from, int to, boolean wanted) {
    int at = from;
    while (at < to) {
      int place = (int) ((base + at) % WIDTH);
      long word = wanted ? seen[place / Long.SIZE] : ~seen[place / Long.SIZE];
      long ahead = word >>> place;
      if (ahead != 0) {
        return Math.min(at + Long.numberOfTrailingZeros(ahead), to);
      }
      at += Long.SIZE - place % Long.SIZE;
    }
    return to;
  }
}
