package org.traceetl.agent.source.payload;

import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * A pool of arrays for payloads, the largest objects of the agent; a recently used array is still
 * in the processor's cache. The pool holds free arrays weakly, so a garbage collection frees them
 * and an idle agent keeps none. Safe for any thread.
 */
public final class PayloadArrays {
  /** Allocating a smaller array costs no more than a lookup. */
  private static final int SMALLEST = 4 * 1024;

  /** Most free arrays of one size; only a burst frees more. */
  private static final int MOST_FREE = 64;

  /** Free arrays by length, the last one returned first. Guarded by itself. */
  private final Map<Integer, ArrayDeque<WeakReference<byte[]>>> free = new HashMap<>();

  /**
   * Returns an array of at least this length and at most a quarter more. Its content is undefined.
   *
   * @param least at least 0, and at most 2^30
   */
  public byte[] take(int least) {
    if (least < SMALLEST) {
      return new byte[least];
    }
    int length = sizeFor(least);
    synchronized (free) {
      ArrayDeque<WeakReference<byte[]>> ofLength = free.get(length);
      while (ofLength != null && !ofLength.isEmpty()) {
        byte[] array = ofLength.pop().get();
        if (array != null) {
          return array;
        }
      }
    }
    return new byte[length];
  }

  /** Gives an array to the pool, wherever it is from; nothing may use it any more. */
  public void give(byte[] array) {
    if (array.length < SMALLEST || sizeFor(array.length) != array.length) {
      return;
    }
    synchronized (free) {
      ArrayDeque<WeakReference<byte[]>> ofLength =
          free.computeIfAbsent(array.length, length -> new ArrayDeque<>());
      if (ofLength.size() == MOST_FREE) {
        ofLength.removeLast();
      }
      ofLength.push(new WeakReference<>(array));
    }
  }

  /** Rounds up to a size of the pool; there are four between consecutive powers of two. */
  static int sizeFor(int least) {
    int step = Integer.highestOneBit(Math.max(least - 1, SMALLEST)) / 4;
    return Math.ceilDiv(least, step) * step;
  }
}
