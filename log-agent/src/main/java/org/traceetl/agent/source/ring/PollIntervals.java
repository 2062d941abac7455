package org.traceetl.agent.source.ring;

import java.util.concurrent.TimeUnit;

/**
 * The intervals of the source.
 *
 * @param pauseNanos between two looks while spans arrive; on average a span waits half of it
 * @param awakeNanos time without spans before the source sleeps; writers pay for waking it
 * @param listNanos between two looks into the directory while awake
 * @param checkNanos longest sleep, and time between two checks of a ring's writers
 * @param openNanos between two attempts to open the directory
 * @param retryNanos after a refusal or failure
 */
record PollIntervals(
    long pauseNanos,
    long awakeNanos,
    long listNanos,
    long checkNanos,
    long openNanos,
    long retryNanos) {
  static final PollIntervals USUAL =
      new PollIntervals(
          TimeUnit.MILLISECONDS.toNanos(5),
          TimeUnit.MILLISECONDS.toNanos(20),
          TimeUnit.MILLISECONDS.toNanos(100),
          TimeUnit.SECONDS.toNanos(1),
          TimeUnit.SECONDS.toNanos(5),
          TimeUnit.MILLISECONDS.toNanos(50));
}
