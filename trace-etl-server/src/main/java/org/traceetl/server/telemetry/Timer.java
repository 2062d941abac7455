package org.traceetl.server.telemetry;

import io.prometheus.client.Histogram;

/** Durations of one kind of work. Safe from any thread. */
public final class Timer {
  private static final double NANOS_PER_SECOND = 1e9;

  private final Histogram seconds;

  Timer(Histogram seconds) {
    this.seconds = seconds;
  }

  public void recordNanos(long nanos) {
    seconds.observe(nanos / NANOS_PER_SECOND);
  }
}
