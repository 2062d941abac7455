package org.traceetl.server.features.deploys;

import java.util.Locale;

/** What is compared of two versions. All of them are at the old version's mix of operations. */
enum Signal {
  /** Failed calls divided by calls: new less old. */
  ERRORS(0.001),

  /** Mean duration of calls that did not fail: new divided by old, less 1. */
  LATENCY_MEAN(0.05),

  /**
   * Probability that a call of the new version takes longer than one of the old version, less 0.5;
   * of calls that did not fail, by bucket, half of equal ones.
   */
  LATENCY_RANK(0.02);

  /** The part of the errors of the first kind that each signal may make: 5 % in all. */
  static final double ALPHA = 0.05 / values().length;

  /**
   * A difference up to it is no verdict: it is too small to matter, or load and hour explain it.
   */
  final double margin;

  private final String label = name().toLowerCase(Locale.ROOT);

  Signal(double margin) {
    this.margin = margin;
  }

  String label() {
    return label;
  }
}
