package org.traceetl.agent.source.payload;

import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * Arrays for payloads, used again and again: they are the largest things that the agent makes, and
 * one that was just read is still in the processor's cache. What is free is held weakly, so that a
 * collection takes what nobody uses, and an agent with nothing to do keeps none. Safe for any
 * thread.
 */
public final class PayloadArrays {
  /** Smaller ones cost as little as to look for one. */
  private static final int SMALLEST = 4 * 1024;

  /** Free arrays of one size; more only after a rush. */
  private static final int MOST_FREE = 64;

  /** By length, the one given back last first. Guarded by itself. */
  private final Map<Integer, ArrayDeque<WeakReference<byte[]>>> free = new HashMap<>();

  /**
   * An array with room for so many bytes, and at most a quarter more. Its content is what was
   * there.
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

  /** Gives back an array that nobody reads or writes any more, wherever it is from. */
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

  /** The next of the sizes there are: four between a power of two and the next. */
  static int sizeFor(int least) {
    int step = Integer.highestOneBit(Math.max(least - 1, SMALLEST)) / 4;
    return Math.ceilDiv(least, step) * step;
  }
}
