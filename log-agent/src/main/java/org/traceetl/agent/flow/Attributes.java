package org.traceetl.agent.flow;

import java.util.Arrays;

/**
 * Keys and values as slices of byte arrays; values are text. Reused: {@link #clear} forgets the
 * entries, {@link #forget} the arrays they were slices of as well; both keep the room for them.
 */
public final class Attributes {
  private byte[][] keys = new byte[32][];
  private byte[][] values = new byte[32][];
  // Four numbers an entry: key offset, key length, value offset, value length.
  private int[] slices = new int[4 * 32];
  private int size;
  private long textBytes;
  // Above it no array is held.
  private int mostSinceForgotten;

  /** Forgets the entries. Their arrays are still held, until others take their place. */
  public void clear() {
    size = 0;
    textBytes = 0;
  }

  /** Forgets the entries and lets go of all arrays. */
  public void forget() {
    Arrays.fill(keys, 0, mostSinceForgotten, null);
    Arrays.fill(values, 0, mostSinceForgotten, null);
    mostSinceForgotten = 0;
    clear();
  }

  /**
   * Takes back entries that were cleared and that no other ones have taken the place of.
   *
   * @param entries those from the first on that there are then
   * @param bytes of their keys and values
   */
  public void keep(int entries, long bytes) {
    size = entries;
    textBytes = bytes;
  }

  /** Adds an entry. A key that is already there is not looked for. */
  public void add(
      byte[] key, int keyOffset, int keyLength, byte[] value, int valueOffset, int valueLength) {
    if (size == keys.length) {
      keys = Arrays.copyOf(keys, 2 * size);
      values = Arrays.copyOf(values, 2 * size);
      slices = Arrays.copyOf(slices, 8 * size);
    }
    if (size == mostSinceForgotten) {
      mostSinceForgotten++;
    }
    // Mostly the array is the payload, and there already: a store would cost more than the look.
    if (keys[size] != key) {
      keys[size] = key;
    }
    if (values[size] != value) {
      values[size] = value;
    }
    int at = 4 * size++;
    textBytes += (long) keyLength + valueLength;
    slices[at] = keyOffset;
    slices[at + 1] = keyLength;
    slices[at + 2] = valueOffset;
    slices[at + 3] = valueLength;
  }

  /** Entries. */
  public int size() {
    return size;
  }

  /** Bytes of all keys and values. */
  public long textBytes() {
    return textBytes;
  }

  /** The array that holds key {@code i}. */
  public byte[] key(int i) {
    return keys[i];
  }

  public int keyOffset(int i) {
    return slices[4 * i];
  }

  public int keyLength(int i) {
    return slices[4 * i + 1];
  }

  /** The array that holds value {@code i}. */
  public byte[] value(int i) {
    return values[i];
  }

  public int valueOffset(int i) {
    return slices[4 * i + 2];
  }

  public int valueLength(int i) {
    return slices[4 * i + 3];
  }

  /** Index of the first entry with this key, or -1. */
  public int find(byte[] key) {
    for (int i = 0; i < size; i++) {
      int from = slices[4 * i];
      if (slices[4 * i + 1] == key.length
          && Arrays.equals(keys[i], from, from + key.length, key, 0, key.length)) {
        return i;
      }
    }
    return -1;
  }
}
