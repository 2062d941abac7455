package org.traceetl.perf.simulate.mutation;

import java.time.Duration;

/**
 * What the simulation says of a mutant.
 *
 * @param seed with which a check failed, or the simulation stalled or broke; the number of seeds if
 *     not found
 * @param detail the check that failed, or why no check failed
 * @param hours simulated by all seeds
 * @param wall real time of all seeds
 */
record TrialResult(Verdict verdict, long seed, String detail, double hours, Duration wall) {
  /** Whether the simulation finds a mutant. */
  enum Verdict {
    /** A check failed. */
    FOUND,
    NOT_FOUND,
    /** Simulated time stood still, and the simulation's watchdog ended it. */
    STALLED,
    /** There is no answer: the mutant does not compile, or the simulation itself failed. */
    BROKEN
  }

  static TrialResult found(long seed, String check, double hours, Duration wall) {
    return new TrialResult(Verdict.FOUND, seed, check, hours, wall);
  }

  static TrialResult notFound(long seeds, String why, double hours, Duration wall) {
    return new TrialResult(Verdict.NOT_FOUND, seeds, why, hours, wall);
  }

  static TrialResult stalled(long seed, String why, double hours, Duration wall) {
    return new TrialResult(Verdict.STALLED, seed, why, hours, wall);
  }

  static TrialResult broken(long seed, String why, double hours, Duration wall) {
    return new TrialResult(Verdict.BROKEN, seed, why, hours, wall);
  }
}
