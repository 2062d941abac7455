package org.traceetl.server.series;

import java.util.Arrays;

/** A growing stack of ints. */
final class IntStack {
  private int[] items = new int[16];
  private int size;

  boolean isEmpty() {
    return size == 0;
  }

  void push(int item) {
    if (size == items.length) {
      items = Arrays.copyOf(items, size * 2);
    }
    items[size++] = item;
  }

  int pop() {
    return items[--size];
  }

  int[] toArray() {
    return Arrays.copyOf(items, size);
  }

  void clear() {
    size = 0;
  }
}
