package org.traceetl.server.component;

import io.prometheus.client.Histogram;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/** Measures the durations of one kind of work. Thread-safe. */
public final class Timer {
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double NANOS_PER_MILLI = 1e6;

  /**
   * All durations so far; the parts may be from slightly different times.
   *
   * @param meanMillis 0 if there is no duration, like {@code maxMillis}
   */
  public record Total(long count, double meanMillis, double maxMillis) {}

  private final String name;
  private final Histogram seconds;
  private final LongAdder count = new LongAdder();
  private final LongAdder nanos = new LongAdder();
  private final LongAccumulator maxNanos = new LongAccumulator(Math::max, 0);

  /**
   * @param name of the work, one or two words
   */
  public Timer(String name, Histogram seconds) {
    this.name = name;
    this.seconds = seconds;
  }

  /** Returns the name of the work, one or two words. */
  public String name() {
    return name;
  }

  public void recordNanos(long nanos) {
    seconds.observe(nanos / NANOS_PER_SECOND);
    this.nanos.add(nanos);
    count.increment();
    maxNanos.accumulate(nanos);
  }

  public Total total() {
    long done = count.sum();
    return new Total(
        done,
        done == 0 ? 0 : nanos.sum() / NANOS_PER_MILLI / done,
        maxNanos.get() / NANOS_PER_MILLI);
  }
}
