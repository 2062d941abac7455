package org.traceetl.server.compare;

import java.util.Arrays;

/** The samples of one raw series, by time. Reused from series to series. */
final class Samples {
  private static final int FIRST_CAPACITY = 256;
  private static final double MILLIS = 1_000;

  private long[] millis = new long[FIRST_CAPACITY];
  private double[] values = new double[FIRST_CAPACITY];
  private int size;

  /** Appends a sample. One that is no number, which a counter never has, is left out. */
  void add(double seconds, double value) {
    if (!Double.isFinite(value)) {
      return;
    }
    if (size == values.length) {
      millis = Arrays.copyOf(millis, 2 * size);
      values = Arrays.copyOf(values, 2 * size);
    }
    millis[size] = Math.round(seconds * MILLIS);
    values[size++] = value;
  }

  void clear() {
    size = 0;
  }

  int size() {
    return size;
  }

  long millis(int index) {
    return millis[index];
  }

  double value(int index) {
    return values[index];
  }
}
