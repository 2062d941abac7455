package org.traceetl.server.features.deploys;

/**
 * A difference between two versions, with bounds that hold at all times at once: however often they
 * are looked at, they exclude the true difference with a probability of at most {@link
 * Signal#ALPHA}.
 *
 * <p>The unit of evidence is the slot, not the call: spans of a trace or of a burst are not
 * independent, so the variance is that between slots. A slot with n calls has the weight min(1, n /
 * calls of a usual slot of the old version). Let W be the sums of weights and S the variance of a
 * slot of weight 1. Then the difference D of the weighted means has the variance V = S (1 / W_new +
 * 1 / W_old). A normal mixture over the true difference d, with variance T, is a likelihood ratio
 * that does not depend on the unknown mean of the old version, so it is a test martingale (Robbins
 * 1970, Ann. Math. Stat. 41, 1397; for the invariance Pérez-Ortiz, Lardy, de Heide and Grünwald
 * 2024, Ann. Stat. 52, 1410). By Ville's inequality it ever exceeds 1/α with probability α, which
 * gives the bounds
 *
 * <pre>
 *   (D - d)² ≤ V (1 + V / T) (ln(1 + T / V) + 2 ln(1 / α))
 * </pre>
 *
 * <p>They hold if slots are near normal, as means of many calls are, and if the variance is known.
 * It is estimated to be rather too large: the highest of both versions' batch means over 1, 2, 4
 * and 8 slots, which contain the correlation of neighbouring slots (Schmeiser 1982, Oper. Res. 30,
 * 556), and a least one. Its error is taken into account by the first term of the expansion of
 * Student's quantile (Abramowitz and Stegun, 26.7.5).
 *
 * @param estimate of the difference, new less old
 * @param lower bound
 * @param upper bound
 */
record Difference(Signal signal, Verdict verdict, double estimate, double lower, double upper) {
  /** Least number of slots with calls of the old version: 5 minutes. */
  static final int LEAST_OLD = 10;

  /** Least number of slots with calls of the new version. */
  static final int LEAST_NEW = 3;

  private static final int LEAST_BATCHES = 5;
  private static final int LONGEST_BATCH = 8;

  /** Slots with which the bounds are to be narrowest: 5 minutes of new, 25 of old ones. */
  private static final double NARROWEST_VARIANCE = 1.0 / 8 + 1.0 / 50;

  /**
   * Of the mixture, divided by S: about the best one for α = {@link Signal#ALPHA} (Howard, Ramdas,
   * McAuliffe and Sekhon 2021, Ann. Stat. 49, 1055, section 3.5).
   */
  private static final double MIXTURE = 10 * NARROWEST_VARIANCE;

  /**
   * Values of a version by slot, in the order of time.
   *
   * @param values difference from what the old version's operations would have on average
   * @param calls above 0
   */
  record Slots(double[] values, double[] calls) {
    int size() {
      return values.length;
    }
  }

  /** A version's mean, and its variance. */
  private record Mean(double value, double weight, double variance) {}

  /**
   * Returns the difference between two versions.
   *
   * @param leastVarianceOfCall variance of a call's value if calls were independent; 0 if unknown
   * @param margin a smaller difference is no verdict
   * @return null if there is too little of either version
   */
  static Difference of(
      Signal signal, Slots old, Slots now, double leastVarianceOfCall, double margin) {
    if (old.size() < LEAST_OLD || now.size() < LEAST_NEW) {
      return null;
    }
    double usual = 0;
    for (double calls : old.calls) {
      usual += calls / old.size();
    }
    Mean before = mean(old, usual);
    Mean after = mean(now, usual);
    double ofSlot =
        Math.max(leastVarianceOfCall / usual, Math.max(before.variance, after.variance));
    double looseness = 2 * Math.log(1 / Signal.ALPHA);
    double unknown = 1 + (looseness + 1) / (4 * (old.size() - 1));
    ofSlot *= unknown * unknown;
    double estimate = after.value - before.value;
    double variance = ofSlot * (1 / after.weight + 1 / before.weight);
    double radius = 0;
    if (variance > 0) {
      double mixture = MIXTURE * ofSlot;
      radius =
          Math.sqrt(
              variance * (1 + variance / mixture) * (Math.log1p(mixture / variance) + looseness));
    }
    double lower = estimate - radius;
    double upper = estimate + radius;
    // Without any variance it is unknown, not 0.
    Verdict verdict =
        radius > 0 && lower > margin
            ? Verdict.WORSE
            : radius > 0 && upper < -margin ? Verdict.BETTER : Verdict.NO_DIFFERENCE_YET;
    return new Difference(signal, verdict, estimate, lower, upper);
  }

  private static Mean mean(Slots slots, double usual) {
    int size = slots.size();
    double[] weights = new double[size];
    double weight = 0;
    double sum = 0;
    for (int i = 0; i < size; i++) {
      weights[i] = Math.min(1, slots.calls[i] / usual);
      weight += weights[i];
      sum += weights[i] * slots.values[i];
    }
    double mean = sum / weight;
    double[] residuals = new double[size];
    for (int i = 0; i < size; i++) {
      residuals[i] = Math.sqrt(weights[i]) * (slots.values[i] - mean);
    }
    double variance = 0;
    for (int length = 1; length <= LONGEST_BATCH && size / length >= LEAST_BATCHES; length *= 2) {
      variance = Math.max(variance, ofBatches(residuals, length));
    }
    return new Mean(mean, weight, variance);
  }

  /** Returns the variance of a slot by that of sums of neighbouring slots, the newest of them. */
  private static double ofBatches(double[] residuals, int length) {
    int batches = residuals.length / length;
    double squares = 0;
    int at = residuals.length - batches * length;
    for (int batch = 0; batch < batches; batch++) {
      double sum = 0;
      for (int i = 0; i < length; i++, at++) {
        sum += residuals[at];
      }
      squares += sum * sum / length;
    }
    return squares / (batches - 1);
  }
}
