package org.traceetl.server.journal;

import org.traceetl.server.window.SealedWindow;

/**
 * The seal times and stream times of the newest windows, at least a second of stream time apart. A
 * gap between the messages of a queue is short in stream time, see {@link
 * org.traceetl.server.window.WindowCompleteness#streamMillis}.
 */
final class StreamTimes {
  private static final int MAX = 256;
  private static final long MIN_STEP_MILLIS = 1_000;

  private final long[] sealedMillis = new long[MAX];
  private final long[] streamMillis = new long[MAX];

  /** Number of windows so far; window n is at {@code n % MAX}. */
  private long windows;

  /** Adds a window, unless its stream time is unknown. */
  void add(SealedWindow window) {
    if (window.completeness().isEmpty()) {
      return;
    }
    long stream = window.completeness().streamMillis();
    boolean replaces = windows > 1 && stream - streamMillis[at(windows - 2)] < MIN_STEP_MILLIS;
    long number = replaces ? windows - 1 : windows++;
    sealedMillis[at(number)] = window.sealedMillis();
    streamMillis[at(number)] = stream;
  }

  private static int at(long window) {
    return (int) (window % MAX);
  }

  /**
   * Returns after which time windows were sealed that have messages of the given stream time before
   * the end of the last one. What is before the first known window is taken for a time without
   * gaps.
   *
   * @param lastMillis seal time of the last window, for which the stream time may be unknown
   */
  long began(long length, long lastMillis) {
    if (windows == 0) {
      return lastMillis - length;
    }
    long begin = streamMillis[at(windows - 1)] - length;
    long oldest = Math.max(0, windows - MAX);
    for (long window = windows - 1; window >= oldest; window--) {
      if (streamMillis[at(window)] <= begin) {
        return sealedMillis[at(window)];
      }
    }
    return sealedMillis[at(oldest)] - (streamMillis[at(oldest)] - begin);
  }
}
