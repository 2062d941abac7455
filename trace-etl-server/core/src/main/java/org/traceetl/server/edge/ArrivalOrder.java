package org.traceetl.server.edge;

import static org.traceetl.server.edge.HalfRows.NONE;

/**
 * The numbers of open halves in the order of arrival. A half has a place, and leaves a hole: so
 * nothing is read or written of its neighbours, which are far away in memory. The first and the
 * last place are never holes. If there are no places left and at least half of them are holes, the
 * numbers move together; else the places double.
 *
 * <p>Memory: 4 to 16 bytes a number. One owner thread.
 */
final class ArrivalOrder {
  private final HalfRows rows;

  /** By place, modulo the length, a power of two; {@link HalfRows#NONE} for a hole. */
  private int[] numbers = new int[64];

  private int first;
  private int end;

  /** The first place of the open window. */
  private int window;

  private int size;

  /**
   * @param rows have the places
   * @param place of the first number; after the highest int comes the lowest
   */
  ArrivalOrder(HalfRows rows, int place) {
    this.rows = rows;
    first = place;
    end = place;
    window = place;
  }

  /** Returns the number of numbers. */
  int size() {
    return size;
  }

  /** Returns the place of the oldest number; {@link #end} without a number. */
  int first() {
    return first;
  }

  /** Returns the place of the oldest number of the open window; {@link #end} if it has none. */
  int window() {
    return window;
  }

  /** Returns the place after the newest number. */
  int end() {
    return end;
  }

  /** Returns the number at a place before {@link #end}; {@link HalfRows#NONE} for a hole. */
  int at(int place) {
    return numbers[place & numbers.length - 1];
  }

  /** Returns whether a number was added in the open window. */
  boolean isNew(int number) {
    return rows.place(number) - window >= 0;
  }

  /** Begins a window, which has no number yet. */
  void beginWindow() {
    window = end;
  }

  /** Adds a number as the newest one. */
  void add(int number) {
    if (end - first == numbers.length) {
      makeRoom();
    }
    numbers[end & numbers.length - 1] = number;
    rows.setPlace(number, end++);
    size++;
  }

  void remove(int number) {
    numbers[rows.place(number) & numbers.length - 1] = NONE;
    size--;
    while (first != end && at(first) == NONE) {
      first++;
    }
    while (first != end && at(end - 1) == NONE) {
      end--;
    }
    // Places may wrap around, so only differences can be compared.
    if (window - first < 0) {
      window = first;
    }
    if (window - end > 0) {
      window = end;
    }
  }

  private void makeRoom() {
    if (size <= numbers.length / 2) {
      moveTogether();
      return;
    }
    int[] doubled = new int[2 * numbers.length];
    for (int place = first; place != end; place++) {
      doubled[place & doubled.length - 1] = at(place);
    }
    numbers = doubled;
  }

  private void moveTogether() {
    int to = first;
    int newWindow = window;
    for (int place = first; place != end; place++) {
      if (place == window) {
        newWindow = to;
      }
      int number = at(place);
      if (number != NONE) {
        numbers[to & numbers.length - 1] = number;
        rows.setPlace(number, to++);
      }
    }
    window = window == end ? to : newWindow;
    end = to;
  }
}
