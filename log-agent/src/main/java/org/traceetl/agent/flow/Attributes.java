package org.traceetl.agent.flow;

import java.util.Arrays;

/**
 * Keys and values as slices of byte arrays; values are text. Reused: {@link #clear} forgets the
 * entries and the arrays they are slices of, and keeps the room for them.
 */
public final class Attributes {
  private byte[][] keys = new byte[32][];
  private byte[][] values = new byte[32][];
  // Four numbers an entry: key offset, key length, value offset, value length.
  private int[] slices = new int[4 * 32];
  private int size;

  /** Forgets the entries. */
  public void clear() {
    Arrays.fill(keys, 0, size, null);
    Arrays.fill(values, 0, size, null);
    size = 0;
  }

  /** Adds an entry. A key that is already there is not looked for. */
  public void add(
      byte[] key, int keyOffset, int keyLength, byte[] value, int valueOffset, int valueLength) {
    if (size == keys.length) {
      keys = Arrays.copyOf(keys, 2 * size);
      values = Arrays.copyOf(values, 2 * size);
      slices = Arrays.copyOf(slices, 8 * size);
    }
    keys[size] = key;
    values[size] = value;
    int at = 4 * size++;
    slices[at] = keyOffset;
    slices[at + 1] = keyLength;
    slices[at + 2] = valueOffset;
    slices[at + 3] = valueLength;
  }

  /** Entries. */
  public int size() {
    return size;
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
