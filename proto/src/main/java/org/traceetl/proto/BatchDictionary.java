package org.traceetl.proto;

import java.security.SecureRandom;
import java.util.Arrays;

/**
 * The strings of the current batch: encoded bytes in sequence, and a hash table. Clearing costs
 * what the last batch used, not the size of the arrays.
 */
final class BatchDictionary {
  // An odd factor with a random-looking bit pattern; the seed prevents prepared collisions.
  private static final long FACTOR = 0x9e37_79b9_7f4a_7c15L;
  private static final int MIX = 0x9e37_79b9;
  private static final long SEED = new SecureRandom().nextLong();

  /** Most bytes of a string's length as a varint: 65,535 has 16 bits. */
  private static final int LENGTH_BYTES = 3;

  private static final long HASH_BITS = 0xffff_ffff_0000_0000L;

  private static final int FOUND_BITS = 8;
  private static final int FOUND = 1 << FOUND_BITS;

  private byte[] encoded = new byte[1024];
  private int end;
  private int size;

  /** By index: the string's start and, in the lower half, its length. */
  private long[] places = new long[64];

  private int[] slots = new int[64];

  /**
   * A hash table with linear probing, at most half full; its size is a power of two. An entry is
   * the upper half of the string's hash and, in the lower half, its index + 1; 0 is free.
   */
  private long[] table = new long[128];

  /** Array whose content does not change; null without one. */
  private byte[] source;

  /**
   * Strings of the source that were found last, by a hash of their place: the place and, in the
   * lower half, the index + 1; 0 is free.
   */
  private long[] found = {};

  void clear() {
    for (int i = 0; i < size; i++) {
      table[slots[i]] = 0;
    }
    size = 0;
    end = 0;
    source(null);
  }

  /**
   * Sets an array whose content does not change until the next call: its strings are compared once,
   * then recognized by their place.
   *
   * @param array null for none
   */
  void source(byte[] array) {
    if (array != source) {
      if (source != null) {
        Arrays.fill(found, 0);
      } else if (found.length == 0) {
        found = new long[FOUND];
      }
      source = array;
    }
  }

  /**
   * Returns the length to keep of a string: one over {@link Limits#MAX_STRING_BYTES} is cut at a
   * UTF-8 boundary.
   */
  static int kept(byte[] bytes, int offset, int length) {
    if (length <= Limits.MAX_STRING_BYTES) {
      return length;
    }
    int kept = Limits.MAX_STRING_BYTES;
    while (kept > Limits.MAX_STRING_BYTES - 3 && (bytes[offset + kept] & 0xc0) == 0x80) {
      kept--;
    }
    return kept;
  }

  int size() {
    return size;
  }

  /**
   * Returns the index.
   *
   * @throws IllegalArgumentException if it is outside the dictionary
   */
  int checkedIndex(int index) {
    if (Integer.compareUnsigned(index, size) >= 0) {
      throw new IllegalArgumentException(
          "index " + index + " is outside the dictionary of " + size + " entries");
    }
    return index;
  }

  int bytes() {
    return end;
  }

  /** Returns the bytes of the arrays, which never shrink. */
  long heldBytes() {
    return encoded.length
        + 8L * places.length
        + 4L * slots.length
        + 8L * table.length
        + 8L * found.length;
  }

  int copyTo(byte[] out, int at) {
    System.arraycopy(encoded, 0, out, at, end);
    return at + end;
  }

  /** Returns the length of a string, bytes. */
  int length(int index) {
    return (int) places[index];
  }

  /** Copies the bytes {@code [from, to)} of a string; returns the end of the copy. */
  int copyTo(int index, int from, int to, byte[] out, int at) {
    System.arraycopy(encoded, (int) (places[index] >>> 32) + from, out, at, to - from);
    return at + to - from;
  }

  /**
   * Returns the string's index; adds a new string.
   *
   * @param guess a possible index; any number at least 0
   */
  int intern(byte[] bytes, int offset, int length, int guess) {
    return guess < size && is(guess, bytes, offset, length) ? guess : intern(bytes, offset, length);
  }

  int intern(byte[] bytes, int offset, int length) {
    if (bytes != source) {
      return internByContent(bytes, offset, length);
    }
    long entry = found[foundSlot(offset)];
    int index = (int) entry - 1;
    if (index < 0 || entry >>> 32 != offset || length(index) != length) {
      index = internByContent(bytes, offset, length);
      found(offset, index);
    }
    return index;
  }

  private int internByContent(byte[] bytes, int offset, int length) {
    long hash = hash(bytes, offset, length) & HASH_BITS;
    int slot = slot(hash, bytes, offset, length);
    long entry = table[slot];
    return entry == 0 ? add(bytes, offset, length, hash, slot) : (int) entry - 1;
  }

  private void found(int offset, int index) {
    found[foundSlot(offset)] = (long) offset << 32 | (index + 1);
  }

  private static int foundSlot(int offset) {
    return offset * MIX >>> Integer.SIZE - FOUND_BITS;
  }

  /** Returns the string's index, or -1. */
  int find(byte[] bytes, int offset, int length, int guess) {
    if (guess < size && is(guess, bytes, offset, length)) {
      return guess;
    }
    long hash = hash(bytes, offset, length) & HASH_BITS;
    return (int) table[slot(hash, bytes, offset, length)] - 1;
  }

  /** Returns the string's slot, or the free one where it would be. */
  private int slot(long hash, byte[] bytes, int offset, int length) {
    int mask = table.length - 1;
    int slot = (int) (hash >>> 32) & mask;
    while (true) {
      long entry = table[slot];
      if (entry == 0
          || ((entry & HASH_BITS) == hash && is((int) entry - 1, bytes, offset, length))) {
        return slot;
      }
      slot = (slot + 1) & mask;
    }
  }

  /** Returns the array with a string that {@link #start} and {@link #length} locate. */
  byte[] encoded() {
    return encoded;
  }

  /** Returns the position of a string in {@link #encoded}. */
  int start(int index) {
    return (int) (places[index] >>> 32);
  }

  /** Returns whether the string has this index, which must be in use. */
  boolean is(int index, byte[] bytes, int offset, int length) {
    long place = places[index];
    if ((int) place != length) {
      return false;
    }
    if (bytes != source) {
      return isSame((int) (place >>> 32), bytes, offset, length);
    }
    if (found[foundSlot(offset)] == ((long) offset << 32 | (index + 1))) {
      return true;
    }
    boolean same = isSame((int) (place >>> 32), bytes, offset, length);
    if (same) {
      found(offset, index);
    }
    return same;
  }

  // Most strings are a few words long; the JDK's range comparison costs more to start.
  private boolean isSame(int start, byte[] bytes, int offset, int length) {
    if (length < Long.BYTES) {
      for (int i = 0; i < length; i++) {
        if (encoded[start + i] != bytes[offset + i]) {
          return false;
        }
      }
      return true;
    }
    int last = length - Long.BYTES;
    for (int i = 0; i < last; i += Long.BYTES) {
      if ((long) Compact.LONG_LITTLE_ENDIAN.get(encoded, start + i)
          != (long) Compact.LONG_LITTLE_ENDIAN.get(bytes, offset + i)) {
        return false;
      }
    }
    return (long) Compact.LONG_LITTLE_ENDIAN.get(encoded, start + last)
        == (long) Compact.LONG_LITTLE_ENDIAN.get(bytes, offset + last);
  }

  private int add(byte[] bytes, int offset, int length, long hash, int slot) {
    if (size == Limits.MAX_DICTIONARY_ENTRIES
        || end + length + LENGTH_BYTES > Limits.MAX_MESSAGE_BYTES) {
      throw new IllegalStateException(
          "the dictionary is full: " + size + " entries, " + end + " bytes; finish the batch");
    }
    if (size == places.length) {
      places = Arrays.copyOf(places, 2 * size);
      slots = Arrays.copyOf(slots, 2 * size);
    }
    encoded = Compact.grown(encoded, end, length + LENGTH_BYTES);
    int start = Compact.putVarint(encoded, end, length);
    System.arraycopy(bytes, offset, encoded, start, length);
    end = start + length;

    int index = size++;
    places[index] = (long) start << 32 | length;
    slots[index] = slot;
    table[slot] = hash | (index + 1);
    if (2 * size > table.length) {
      rehash();
    }
    return index;
  }

  private void rehash() {
    long[] old = table;
    table = new long[2 * old.length];
    int mask = table.length - 1;
    for (int i = 0; i < size; i++) {
      long entry = old[slots[i]];
      int slot = (int) (entry >>> 32) & mask;
      while (table[slot] != 0) {
        slot = (slot + 1) & mask;
      }
      table[slot] = entry;
      slots[i] = slot;
    }
  }

  private static long hash(byte[] bytes, int offset, int length) {
    long hash = SEED ^ length;
    int at = offset;
    int last = offset + length - Long.BYTES;
    for (; at <= last; at += Long.BYTES) {
      hash = mix(hash ^ (long) Compact.LONG_LITTLE_ENDIAN.get(bytes, at));
    }
    if (at == last + Long.BYTES) {
      return hash;
    }
    return mix(hash ^ tail(bytes, offset, length));
  }

  /** Returns the last eight bytes, which may overlap those before; of a shorter string all. */
  private static long tail(byte[] bytes, int offset, int length) {
    if (length >= Long.BYTES) {
      return (long) Compact.LONG_LITTLE_ENDIAN.get(bytes, offset + length - Long.BYTES);
    }
    if (length >= Integer.BYTES) {
      long last = (int) Compact.INT_LITTLE_ENDIAN.get(bytes, offset + length - Integer.BYTES);
      return last << 32 ^ (int) Compact.INT_LITTLE_ENDIAN.get(bytes, offset);
    }
    long tail = 0;
    for (int at = offset; at < offset + length; at++) {
      tail = (tail << 8) | (bytes[at] & 0xff);
    }
    return tail;
  }

  private static long mix(long value) {
    return value * FACTOR ^ Math.unsignedMultiplyHigh(value, FACTOR);
  }
}
