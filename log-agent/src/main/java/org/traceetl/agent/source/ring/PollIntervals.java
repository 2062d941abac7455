package org.traceetl.agent.source.ring;

import java.util.concurrent.TimeUnit;

/**
 * How often the source looks at what.
 *
 * @param pauseNanos between two looks while spans come; half of what a span may wait
 * @param awakeNanos how long nothing has to come before it sleeps: writers pay for waking it
 * @param listNanos between two looks into the directory while it is awake
 * @param checkNanos longest sleep, and between two looks whether a ring's writers live
 * @param openNanos between two attempts to have the directory
 * @param retryNanos after which what was refused or failed is tried again
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
