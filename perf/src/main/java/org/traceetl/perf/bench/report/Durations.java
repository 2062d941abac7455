package org.traceetl.perf.bench.report;

import java.util.Collection;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** The distribution of measured durations, to three significant digits. Thread-safe. */
public final class Durations {
  private final Histogram nanos = new ConcurrentHistogram(3);

  public void add(long durationNanos) {
    nanos.recordValue(durationNanos);
  }

  /** Returns the distribution of all durations of several distributions. */
  public static Durations of(Collection<Durations> all) {
    Durations sum = new Durations();
    all.forEach(one -> sum.nanos.add(one.nanos));
    return sum;
  }

  public long count() {
    return nanos.getTotalCount();
  }

  /**
   * Returns the duration that this share of the durations does not exceed, in nanoseconds; 0 if
   * there are none.
   *
   * @param percent 0 to 100; 100 is the maximum
   */
  public long percentile(double percent) {
    return nanos.getValueAtPercentile(percent);
  }
}
