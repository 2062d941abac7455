package org.traceetl.perf.bench.report;

import java.util.Collection;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;

/** The distribution of measured durations. Thread-safe. */
public final class Durations {
  private final ConcurrentSkipListMap<Long, AtomicLong> counts = new ConcurrentSkipListMap<>();

  public void add(long nanos) {
    counts.computeIfAbsent(nanos, unused -> new AtomicLong()).incrementAndGet();
  }

  /** Returns the distribution of all durations of several distributions. */
  public static Durations of(Collection<Durations> all) {
    Durations sum = new Durations();
    for (Durations one : all) {
      one.counts.forEach((nanos, count) ->
          sum.counts.computeIfAbsent(nanos, unused -> new AtomicLong()).addAndGet(count.get()));
    }
    return sum;
  }

  public long count() {
    return counts.values().stream().mapToLong(AtomicLong::get).sum();
  }

  /**
   * Returns the duration that this share of the durations does not exceed, in nanoseconds; 0 if
   * there are none.
   *
   * @param percent 0 to 100; 100 is the maximum
   */
  public long percentile(double percent) {
    long left = Math.max(1, (long) Math.ceil(percent / 100 * count()));
    for (var each : counts.entrySet()) {
      left -= each.getValue().get();
      if (left <= 0) {
        return each.getKey();
      }
    }
    return 0;
  }
}
