package org.traceetl.server.series;

import java.util.Arrays;

/** A growing stack of ints. One owner thread. */
public final class IntStack {
  private int[] items = new int[16];
  private int size;

  boolean isEmpty() {
    return size == 0;
  }

  public int size() {
    return size;
  }

  /** Returns an item by its position; the first one pushed has position 0. */
  public int get(int position) {
    return items[position];
  }

  public void push(int item) {
    if (size == items.length) {
      items = Arrays.copyOf(items, size * 2);
    }
    items[size++] = item;
  }

  /** Removes the item pushed last, and returns it. Requires one. */
  public int pop() {
    return items[--size];
  }

  int[] toArray() {
    return Arrays.copyOf(items, size);
  }

  public void clear() {
    size = 0;
  }
}
