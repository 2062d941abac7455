package org.traceetl.perf.simulate.broker;

import java.util.StringJoiner;
import java.util.random.RandomGenerator;

/** The current rates of {@link Misbehaviour} of one broker. */
final class Conditions {
  private static final long LEAST_LATENCY_NANOS = 100_000;

  /** Of a random number: at most a quarter of a millisecond. */
  private static final int LATENCY_BITS = 18;

  private final RandomGenerator random;
  private final double[] rates = new double[Misbehaviour.values().length];
  private final long[] delays = new long[rates.length];

  Conditions(RandomGenerator random) {
    this.random = random;
  }

  /**
   * @param rate of requests, 0 to 1
   * @param delayNanos the longest delay, if there is one
   */
  void set(Misbehaviour what, double rate, long delayNanos) {
    rates[what.ordinal()] = rate;
    delays[what.ordinal()] = delayNanos;
  }

  void clear() {
    for (Misbehaviour what : Misbehaviour.values()) {
      set(what, 0, 0);
    }
  }

  /** Returns whether it happens to this request. */
  boolean happens(Misbehaviour what) {
    double rate = rates[what.ordinal()];
    return rate > 0 && random.nextDouble() < rate;
  }

  /** Returns a delay of a late request or answer. */
  long delayNanos(Misbehaviour what) {
    return 1 + random.nextLong(Math.max(1, delays[what.ordinal()]));
  }

  /** Returns the time of one way through the network. */
  long latencyNanos() {
    return LEAST_LATENCY_NANOS + (random.nextLong() >>> Long.SIZE - LATENCY_BITS);
  }

  @Override
  public String toString() {
    StringJoiner text = new StringJoiner(" ", ", share of its requests: ", "").setEmptyValue("");
    for (Misbehaviour what : Misbehaviour.values()) {
      if (rates[what.ordinal()] > 0) {
        text.add(what + "=" + rates[what.ordinal()]);
      }
    }
    return text.toString();
  }
}
