package org.traceetl.server.decode;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** A small set of attribute keys, numbered in order. Immutable. */
public final class AttributeKeys {
  /** Not one of the keys. */
  public static final int NONE = -1;

  private final List<String> names;
  private final byte[][] keys;

  /** Numbers by hash; at most a quarter of the slots is used. */
  private final int[] numbers;

  /**
   * @param keys the keys; null leaves a number without a key
   */
  public AttributeKeys(List<String> keys) {
    names = Collections.unmodifiableList(new ArrayList<>(keys));
    this.keys =
        keys.stream().map(key -> key == null ? null : key.getBytes(UTF_8)).toArray(byte[][]::new);
    numbers = new int[Integer.highestOneBit(keys.size() + 1) * 8];
    Arrays.fill(numbers, NONE);
    for (int number = 0; number < this.keys.length; number++) {
      byte[] key = this.keys[number];
      if (key != null) {
        int slot = first(key, 0, key.length);
        while (numbers[slot] != NONE) {
          slot = next(slot);
        }
        numbers[slot] = number;
      }
    }
  }

  /** Returns these keys and others, which are numbered after them. */
  public AttributeKeys and(AttributeKeys others) {
    List<String> all = new ArrayList<>(names);
    all.addAll(others.names);
    return new AttributeKeys(all);
  }

  /** Returns how many numbers exist. */
  public int size() {
    return keys.length;
  }

  /** Returns the key with this number. */
  public String key(int number) {
    return names.get(number);
  }

  /** Returns the number of the key in these bytes, or {@link #NONE}. */
  public int find(byte[] buffer, int offset, int length) {
    for (int slot = first(buffer, offset, length); numbers[slot] != NONE; slot = next(slot)) {
      byte[] key = keys[numbers[slot]];
      if (Arrays.equals(key, 0, key.length, buffer, offset, offset + length)) {
        return numbers[slot];
      }
    }
    return NONE;
  }

  /** Returns the first slot. Keys differ in their length, first or last bytes; there are few. */
  private int first(byte[] buffer, int offset, int length) {
    if (length == 0) {
      return 0;
    }
    int hash = length * 31 + buffer[offset];
    hash = hash * 31 + buffer[offset + length / 2];
    hash = hash * 31 + buffer[offset + length - 1];
    return (hash ^ hash >>> 7) & (numbers.length - 1);
  }

  private int next(int slot) {
    return (slot + 1) & (numbers.length - 1);
  }
}
