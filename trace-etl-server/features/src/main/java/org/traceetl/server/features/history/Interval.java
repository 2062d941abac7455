package org.traceetl.server.features.history;

import org.traceetl.server.minutes.CountBounds;

/**
 * Numbers of a period.
 *
 * @param startMillis start, milliseconds since 1970
 * @param ended false for the current minute
 * @param observedMillis part of the period after the first calls of the fleet, milliseconds; all of
 *     a minute that has just begun
 * @param callsBounds bounds of the calls; null if none were sampled
 * @param errors calls with status ERROR
 * @param durationMillis sum of the calls' durations, milliseconds
 * @param p50Millis median of the durations, milliseconds; NaN without calls, like the others
 */
public record Interval(
    long startMillis,
    boolean ended,
    long observedMillis,
    long calls,
    CountBounds callsBounds,
    long errors,
    double durationMillis,
    double p50Millis,
    double p95Millis,
    double p99Millis) {
  private static final double MILLIS_PER_SECOND = 1e3;

  /** Returns a count divided by the time observed; 0 if nothing was observed. */
  double perSecond(long count) {
    return observedMillis == 0 ? 0 : count / (observedMillis / MILLIS_PER_SECOND);
  }

  /** Returns errors divided by calls; NaN without calls. */
  public double errorRatio() {
    return calls == 0 ? Double.NaN : (double) errors / calls;
  }
}
