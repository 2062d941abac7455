package org.traceetl.proto;

/**
 * Counts the sampled spans of a batch by series or group, and by trace. Spans of one trace are
 * sampled together, so their number is less certain than that of as many traces. Allocates only to
 * grow; a batch bounds it. For one thread at a time.
 */
public final class SpansOfTraces {
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

  // A place is WIDTH longs, and free if it is of an earlier batch.
  private static final int HIGH = 0;
  private static final int LOW = 1;
  private static final int SERIES = 2;
  private static final int BATCH = 3;
  private static final int SPANS = 4;
  private static final int WIDTH = 5;

  private int capacity = 256;
  private long[] places = new long[capacity * WIDTH];
  private long batch = 1;
  private int taken;

  /** Returns the bytes of the array, which never shrinks. */
  long heldBytes() {
    return (long) Long.BYTES * places.length;
  }

  /** Forgets all traces. */
  public void nextBatch() {
    batch++;
    taken = 0;
  }

  /**
   * Counts a span.
   *
   * @param series its series or group
   * @return number of its trace's spans in the series before it; 0 without a trace ID
   */
  public int add(int series, long traceIdHigh, long traceIdLow) {
    if ((traceIdHigh | traceIdLow) == 0) {
      return 0;
    }
    if (taken == capacity / 2) {
      grow();
    }
    int at = find(series, traceIdHigh, traceIdLow);
    if (places[at + BATCH] != batch) {
      places[at + HIGH] = traceIdHigh;
      places[at + LOW] = traceIdLow;
      places[at + SERIES] = series;
      places[at + BATCH] = batch;
      places[at + SPANS] = 0;
      taken++;
    }
    return (int) places[at + SPANS]++;
  }

  /** Returns the place of a trace in a series, or the free one where it belongs. */
  private int find(long series, long traceIdHigh, long traceIdLow) {
    long hash = ((traceIdHigh * MIX ^ traceIdLow) * MIX ^ series) * MIX;
    int place = (int) (hash >>> Integer.SIZE) & capacity - 1;
    while (places[place * WIDTH + BATCH] == batch
        && (places[place * WIDTH + HIGH] != traceIdHigh
            || places[place * WIDTH + LOW] != traceIdLow
            || places[place * WIDTH + SERIES] != series)) {
      place = place + 1 & capacity - 1;
    }
    return place * WIDTH;
  }

  private void grow() {
    long[] before = places;
    capacity *= 2;
    places = new long[capacity * WIDTH];
    for (int at = 0; at < before.length; at += WIDTH) {
      if (before[at + BATCH] == batch) {
        int to = find(before[at + SERIES], before[at + HIGH], before[at + LOW]);
        System.arraycopy(before, at, places, to, WIDTH);
      }
    }
  }
}
