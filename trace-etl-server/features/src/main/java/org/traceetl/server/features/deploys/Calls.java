package org.traceetl.server.features.deploys;

import com.google.common.math.LongMath;

/**
 * Calls of an operation of a version, as columns of {@link
 * org.traceetl.server.minutes.MinuteColumns}.
 */
final class Calls {
  static final int ALL = 0;
  static final int FAILED = 1;

  /** Durations of calls that did not fail, in nanoseconds. */
  static final int NANOS = 2;

  /** First bucket of calls that did not fail. */
  static final int BUCKETS = 3;

  private Calls() {}

  static long passed(long[] columns) {
    return columns[ALL] - columns[FAILED];
  }

  static void add(long[] sum, long[] columns) {
    for (int i = 0; i < sum.length; i++) {
      sum[i] = LongMath.saturatedAdd(sum[i], columns[i]);
    }
  }
}
