package org.traceetl.server.features.deploys;

import java.util.Arrays;

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
 * <p>While both versions run, a slot is a block: what its calls share does not change the
 * difference of its two values. So there are bounds by these pairs, too: D is their weighted mean,
 * a pair of n and m calls has the weight of a slot with n m / (n + m) calls, and V = S / W by the
 * variance between pairs. If the old version had calls after the new one's warm-up and not later
 * than the third slot of the new one, when the first look is possible, each of both bounds has half
 * of α, so that they hold together: what comes later must not choose α. Otherwise pairs are left
 * out. With {@value #LEAST_PAIRS} pairs or more, the narrower bounds are used: in a rolling deploy
 * those of pairs, and as calls of the new version alone go on, perhaps the others.
 *
 * <p>They hold if slots are near normal, as means of many calls are, and if the variance is known.
 * It is estimated to be rather too large: the highest of both versions' overlapping batch means
 * over 1, 2, 4 and 8 slots, which contain the correlation of neighbouring slots (Meketon and
 * Schmeiser 1984, Winter Simulation Conf., 226), and a least one. So few pairs may not show how
 * neighbours correlate, so the variance between them is multiplied by at least what longer batches
 * add to that of the old version. The error of a variance is taken into account by the first term
 * of the expansion of Student's quantile (Abramowitz and Stegun, 26.7.5).
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

  /** Least number of slots with calls of both versions. */
  private static final int LEAST_PAIRS = 5;

  /** Least value of n m / (n + m) of such a slot. */
  private static final double LEAST_CALLS_OF_PAIR = 20;

  private static final int LEAST_BATCHES = 5;
  private static final int LONGEST_BATCH = 8;

  /** Slots with which the bounds are to be narrowest: 5 minutes of new, 25 of old ones. */
  private static final double NARROWEST_NEW = 8;

  private static final double NARROWEST_OLD = 50;

  /**
   * Variance of the mixture, divided by V at these slots: about the best one for α = {@link
   * Signal#ALPHA} (Howard, Ramdas, McAuliffe and Sekhon 2021, Ann. Stat. 49, 1055, section 3.5).
   */
  private static final double MIXTURE = 10;

  /**
   * Values of a version by slot, in the order of time.
   *
   * @param at number of the slot, ascending
   * @param values difference from what the old version's operations would have on average
   * @param calls above 0
   */
  record Slots(int[] at, double[] values, double[] calls) {
    int size() {
      return values.length;
    }
  }

  /**
   * A mean, and the variance of a slot.
   *
   * @param ofOne the variance by batches of one slot
   * @param first mean weight of the first slots: it is known at the first look, so the mixture may
   *     depend on it
   */
  private record Mean(double value, double weight, double variance, double ofOne, double first) {
    /** Returns what the correlation of neighbours adds to the variance, as a factor. */
    double correlation() {
      return ofOne > 0 ? variance / ofOne : 1;
    }
  }

  /** Bounds are the estimate less and plus the radius; 0 for unknown. */
  private record Interval(double estimate, double radius) {}

  /**
   * Returns the difference between two versions.
   *
   * @param old slots of which the mean and the variance of the old version are known
   * @param beside slots of the old version in the time of {@code now}
   * @param leastVarianceOfCall variance of a call's value if calls were independent; 0 if unknown
   * @param margin a smaller difference is no verdict
   * @return null if there is too little of either version
   */
  static Difference of(
      Signal signal,
      Slots old,
      Slots beside,
      Slots now,
      double leastVarianceOfCall,
      double margin) {
    if (old.size() < LEAST_OLD || now.size() < LEAST_NEW) {
      return null;
    }
    double usual = 0;
    for (double calls : old.calls) {
      usual += calls / old.size();
    }
    double least = leastVarianceOfCall / usual;
    // Later looks must find the same, or both bounds could have more than α together.
    boolean isPaired = beside.size() > 0 && beside.at[0] <= now.at[LEAST_NEW - 1];
    double alpha = isPaired ? Signal.ALPHA / 2 : Signal.ALPHA;
    Mean before = mean(old, usual);
    Interval found = ofVersions(before, mean(now, usual), least, old.size(), alpha);
    Slots pairs = pairs(beside, now);
    if (isPaired && pairs.size() >= LEAST_PAIRS) {
      Interval paired =
          ofPairs(mean(pairs, usual), before.correlation(), least, pairs.size(), alpha);
      found = 0 < paired.radius && paired.radius < found.radius ? paired : found;
    }
    double lower = found.estimate - found.radius;
    double upper = found.estimate + found.radius;
    // Without any variance it is unknown, not 0.
    Verdict verdict =
        found.radius > 0 && lower > margin
            ? Verdict.WORSE
            : found.radius > 0 && upper < -margin ? Verdict.BETTER : Verdict.NO_DIFFERENCE_YET;
    return new Difference(signal, verdict, found.estimate, lower, upper);
  }

  private static Interval ofVersions(
      Mean before, Mean after, double least, int slots, double alpha) {
    return interval(
        after.value - before.value,
        Math.max(least, Math.max(before.variance, after.variance)),
        1 / after.weight + 1 / before.weight,
        1 / (NARROWEST_NEW * after.first) + 1 / NARROWEST_OLD,
        slots,
        alpha);
  }

  private static Interval ofPairs(
      Mean pairs, double correlation, double least, int slots, double alpha) {
    return interval(
        pairs.value,
        Math.max(least, Math.max(pairs.variance, pairs.ofOne * correlation)),
        1 / pairs.weight,
        1 / (NARROWEST_NEW * pairs.first),
        slots,
        alpha);
  }

  /**
   * Returns the bounds of a difference.
   *
   * @param ofSlot variance of a slot of weight 1
   * @param parts variance of the difference, divided by that of a slot
   * @param narrowest the same where bounds are to be narrowest
   * @param slots of which the variance of a slot is known
   */
  private static Interval interval(
      double estimate, double ofSlot, double parts, double narrowest, int slots, double alpha) {
    double looseness = 2 * Math.log(1 / alpha);
    double unknown = 1 + (looseness + 1) / (4 * (slots - 1));
    double variance = ofSlot * unknown * unknown * parts;
    double ratio = MIXTURE * narrowest / parts;
    return new Interval(
        estimate, Math.sqrt(variance * (1 + 1 / ratio) * (Math.log1p(ratio) + looseness)));
  }

  /** Returns the differences in slots with enough calls of both versions. */
  private static Slots pairs(Slots old, Slots now) {
    int most = Math.min(old.size(), now.size());
    int[] at = new int[most];
    double[] values = new double[most];
    double[] calls = new double[most];
    int pairs = 0;
    for (int i = 0, j = 0; i < old.size() && j < now.size(); ) {
      if (old.at[i] == now.at[j]) {
        double both = old.calls[i] * now.calls[j] / (old.calls[i] + now.calls[j]);
        if (both >= LEAST_CALLS_OF_PAIR) {
          at[pairs] = now.at[j];
          values[pairs] = now.values[j] - old.values[i];
          calls[pairs] = both;
          pairs++;
        }
        i++;
        j++;
      } else if (old.at[i] < now.at[j]) {
        i++;
      } else {
        j++;
      }
    }
    return new Slots(
        Arrays.copyOf(at, pairs), Arrays.copyOf(values, pairs), Arrays.copyOf(calls, pairs));
  }

  private static Mean mean(Slots slots, double usual) {
    int size = slots.size();
    double[] weights = new double[size];
    double weight = 0;
    double first = 0;
    double sum = 0;
    for (int i = 0; i < size; i++) {
      weights[i] = Math.min(1, slots.calls[i] / usual);
      weight += weights[i];
      first += i < LEAST_NEW ? weights[i] / LEAST_NEW : 0;
      sum += weights[i] * slots.values[i];
    }
    double mean = sum / weight;
    double[] residuals = new double[size];
    for (int i = 0; i < size; i++) {
      residuals[i] = Math.sqrt(weights[i]) * (slots.values[i] - mean);
    }
    double ofOne = size >= LEAST_BATCHES ? ofBatches(residuals, 1) : 0;
    double variance = ofOne;
    for (int length = 2; length <= LONGEST_BATCH && size / length >= LEAST_BATCHES; length *= 2) {
      variance = Math.max(variance, ofBatches(residuals, length));
    }
    return new Mean(mean, weight, variance, ofOne, first);
  }

  /** Returns the variance of a slot by that of sums of neighbouring slots, from each slot on. */
  private static double ofBatches(double[] residuals, int length) {
    int size = residuals.length;
    double squares = 0;
    double sum = 0;
    for (int i = 0; i < size; i++) {
      sum += residuals[i] - (i < length ? 0 : residuals[i - length]);
      squares += i < length - 1 ? 0 : sum * sum;
    }
    return squares * size / ((double) length * (size - length + 1) * (size - length));
  }
}
