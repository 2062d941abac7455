package org.traceetl.agent.flow;

import java.util.Arrays;

/**
 * A reusable list of keys and values, as slices of byte arrays; values are text. {@link #clear}
 * removes the entries, {@link #forget} also releases the sliced arrays; both keep the capacity.
 */
public final class Attributes {
  private byte[][] keys = new byte[32][];
  private byte[][] values = new byte[32][];
  // Four numbers per entry: key offset, key length, value offset, value length.
  private int[] slices = new int[4 * 32];
  private int size;
  private long textBytes;
  // From this index on no array is referenced.
  private int mostSinceForgotten;

  /** Removes the entries. Their arrays stay referenced until new entries replace them. */
  public void clear() {
    size = 0;
    textBytes = 0;
  }

  /** Removes the entries and releases all arrays. */
  public void forget() {
    Arrays.fill(keys, 0, mostSinceForgotten, null);
    Arrays.fill(values, 0, mostSinceForgotten, null);
    mostSinceForgotten = 0;
    clear();
  }

  /**
   * Restores cleared entries that no new ones have replaced.
   *
   * @param entries number of entries to restore, from the first
   * @param bytes of their keys and values
   */
  public void keep(int entries, long bytes) {
    size = entries;
    textBytes = bytes;
  }

  /** Appends an entry, without a check for an equal key. */
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
    // Usually the same array is already there; a store costs more than the comparison.
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

  /** Returns the number of entries. */
  public int size() {
    return size;
  }

  /** Returns the bytes of all keys and values. */
  public long textBytes() {
    return textBytes;
  }

  /** Returns the array with key {@code i}. */
  public byte[] key(int i) {
    return keys[i];
  }

  public int keyOffset(int i) {
    return slices[4 * i];
  }

  public int keyLength(int i) {
    return slices[4 * i + 1];
  }

  /** Returns the array with value {@code i}. */
  public byte[] value(int i) {
    return values[i];
  }

  public int valueOffset(int i) {
    return slices[4 * i + 2];
  }

  public int valueLength(int i) {
    return slices[4 * i + 3];
  }

  /** Returns the index of the first entry with this key, or -1. */
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
