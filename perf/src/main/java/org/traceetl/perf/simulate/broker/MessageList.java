package org.traceetl.perf.simulate.broker;

import java.util.Arrays;

/** Messages at consecutive offsets: added and cut off at the end, deleted at the begin. */
final class MessageList {
  private static final int FIRST_CAPACITY = 16;

  private Message[] items = new Message[FIRST_CAPACITY];
  private int head;
  private int size;
  private long min;

  /** Returns the offset of the oldest message. */
  long min() {
    return min;
  }

  /** Returns the offset after the newest message. */
  long end() {
    return min + size;
  }

  /** Returns the message at an offset that exists. */
  Message get(long offset) {
    return items[head + (int) (offset - min)];
  }

  /** Replaces the message at an offset that exists. */
  void set(long offset, Message message) {
    items[head + (int) (offset - min)] = message;
  }

  void add(Message message) {
    if (head + size == items.length) {
      if (head > items.length / 2) {
        System.arraycopy(items, head, items, 0, size);
        Arrays.fill(items, size, head + size, null);
      } else {
        Message[] larger = new Message[items.length * 2];
        System.arraycopy(items, head, larger, 0, size);
        items = larger;
      }
      head = 0;
    }
    items[head + size] = message;
    size++;
  }

  /** Removes the newest message, and returns it. */
  Message removeLast() {
    size--;
    Message last = items[head + size];
    items[head + size] = null;
    return last;
  }

  /** Deletes messages before an offset. */
  void deleteBefore(long offset) {
    while (size > 0 && min < offset) {
      items[head] = null;
      head++;
      size--;
      min++;
    }
  }

  /** Deletes all messages; the next one has this offset. */
  void restartAt(long offset) {
    deleteBefore(end());
    min = offset;
  }
}
