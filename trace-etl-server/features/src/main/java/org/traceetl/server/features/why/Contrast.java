package org.traceetl.server.features.why;

import java.util.Arrays;
import org.apache.commons.statistics.distribution.BinomialDistribution;
import org.apache.commons.statistics.distribution.ChiSquaredDistribution;

/**
 * How much more frequent something is in the selection than in the baseline, by strata: in each
 * stratum s, n1 units of the selection and n0 of the baseline, of which a and c have it. Sums over
 * the strata with units of both sides, some with it and some without:
 *
 * <pre>
 *   observed   a, n1 - a, c, n0 - c
 *   expected   e = sum of n1 (a + c) / (n1 + n0), n1 - e, a + c - e, n0 - a - c + e
 *   G          2 * sum of observed * ln(observed / expected)
 * </pre>
 *
 * <p>With one stratum this is the G-test of independence (Sokal and Rohlf, Biometry, 17.4), with
 * one degree of freedom. With several, only differences within strata count, as in the test of
 * Cochran, Mantel and Haenszel, and the statistic is too small rather than too large: 1 / (sum of 1
 * / expected) is superadditive, so it is at least the sum of the strata's variances. A stratum in
 * which all or none have it tells nothing, and would only enlarge it.
 *
 * <p>If units of a trace are in several strata, G is divided by the largest design effect that this
 * may have, sum of k² / sum of k for k units of a trace (Rao and Scott 1981, Kish 1965).
 *
 * <p>If e is below {@value #FEW}, the probability is at least that of a or more among a + c trials
 * with the mean e, by the binomial distribution: sums of hypergeometric numbers are sums of
 * independent trials (Vatutin and Mikhailov 1982), whose upper tail the binomial one bounds
 * (Hoeffding 1956).
 *
 * <p>Units may represent different numbers. Those of a stratum and side then count as many as a
 * simple sample with the same variance, (sum of w)² / sum of w², in proportion to their weights w
 * (Kish), so that weights do not overstate evidence; shares are those of the weights.
 *
 * @param a units of the selection with it
 * @param c units of the baseline with it
 * @param g statistic; 0 if it is not more frequent in the selection
 * @param p probability of such a difference or a larger one, in either direction, by chance
 * @param selectionShare a / n1, by weight
 * @param baselineShare the sum of (c / n0) * n1 / (sum of n1): the baseline with the selection's
 *     strata
 * @param effective units of a simple sample with the same variance of the baseline's share (Kish)
 */
record Contrast(
    int a,
    int c,
    double g,
    double p,
    double selectionShare,
    double baselineShare,
    double effective) {
  private static final double FEW = 10;

  /** Of the standard normal distribution, for bounds of 95 %. */
  private static final double Z = 1.959964;

  private static final ChiSquaredDistribution CHI_SQUARED = ChiSquaredDistribution.of(1);

  /** The strata of units: those of the selection come first. */
  static final class Strata {
    private final int selection;
    private final int[] of;
    private final double[] weights;
    private final double designEffect;

    // By stratum, as units of a simple sample
    private final double[] n1;
    private final double[] n0;
    private final double[] a;
    private final double[] c;

    /** What a unit of weight 1 counts, by stratum. */
    private final double[] unit1;

    private final double[] unit0;

    /** Creates strata of units that represent the same number. */
    Strata(int[] of, int count, int selection, double designEffect) {
      this(of, ones(of.length), count, selection, designEffect);
    }

    /**
     * @param of stratum of each unit
     * @param weights what each unit represents, more than 0
     * @param count number of strata
     * @param selection number of units of the selection
     */
    Strata(int[] of, double[] weights, int count, int selection, double designEffect) {
      this.of = of;
      this.weights = weights;
      this.selection = selection;
      this.designEffect = designEffect;
      n1 = new double[count];
      n0 = new double[count];
      a = new double[count];
      c = new double[count];
      unit1 = new double[count];
      unit0 = new double[count];
      double[] squares1 = new double[count];
      double[] squares0 = new double[count];
      for (int unit = 0; unit < of.length; unit++) {
        double weight = weights[unit];
        (unit < selection ? unit1 : unit0)[of[unit]] += weight;
        (unit < selection ? squares1 : squares0)[of[unit]] += weight * weight;
      }
      for (int s = 0; s < count; s++) {
        unit1[s] = unit1[s] == 0 ? 0 : unit1[s] / squares1[s];
        unit0[s] = unit0[s] == 0 ? 0 : unit0[s] / squares0[s];
      }
      for (int unit = 0; unit < of.length; unit++) {
        (unit < selection ? n1 : n0)[of[unit]] += counted(unit);
      }
    }

    private static double[] ones(int length) {
      double[] ones = new double[length];
      Arrays.fill(ones, 1);
      return ones;
    }

    private double counted(int unit) {
      return (unit < selection ? unit1 : unit0)[of[unit]] * weights[unit];
    }

    /** Returns the strata in which a further property splits these. */
    Strata split(int[] units) {
      int[] split = new int[of.length];
      for (int unit = 0; unit < of.length; unit++) {
        split[unit] = 2 * of[unit];
      }
      for (int unit : units) {
        split[unit]++;
      }
      int[] numbers = new int[2 * n1.length];
      int count = 0;
      for (int unit = 0; unit < of.length; unit++) {
        if (numbers[split[unit]] == 0) {
          numbers[split[unit]] = ++count;
        }
        split[unit] = numbers[split[unit]] - 1;
      }
      return new Strata(split, weights, count, selection, designEffect);
    }

    /**
     * Returns the contrast of a property.
     *
     * @param units those that have it, ascending
     */
    Contrast of(int[] units) {
      Arrays.fill(a, 0);
      Arrays.fill(c, 0);
      int ofSelection = 0;
      int ofBaseline = 0;
      for (int unit : units) {
        int s = of[unit];
        (unit < selection ? a : c)[s] += counted(unit);
        if (unit1[s] > 0 && unit0[s] > 0) {
          ofSelection += unit < selection ? 1 : 0;
          ofBaseline += unit < selection ? 0 : 1;
        }
      }
      return contrast(ofSelection, ofBaseline);
    }

    private Contrast contrast(int ofSelection, int ofBaseline) {
      // By weight
      double sumA = 0;
      double sumN1 = 0;
      double e0 = 0;
      double squares = 0;
      // Of the strata in which some have it and some do not
      double e = 0;
      double mixedA = 0;
      double mixedC = 0;
      double mixedN1 = 0;
      double mixedN0 = 0;
      for (int s = 0; s < n1.length; s++) {
        if (n1[s] == 0 || n0[s] == 0) {
          continue;
        }
        double weight = n1[s] / unit1[s];
        sumA += a[s] / unit1[s];
        sumN1 += weight;
        e0 += weight * c[s] / n0[s];
        squares += weight * weight / n0[s];
        double have = a[s] + c[s];
        if (have > 0 && have < n1[s] + n0[s]) {
          e += n1[s] * have / (n1[s] + n0[s]);
          mixedA += a[s];
          mixedC += c[s];
          mixedN1 += n1[s];
          mixedN0 += n0[s];
        }
      }
      if (sumN1 == 0) {
        return new Contrast(0, 0, 0, 1, 0, 0, 0);
      }
      double effective = sumN1 * sumN1 / squares / designEffect;
      double share = sumA / sumN1;
      double baseline = e0 / sumN1;
      if (mixedA <= e) {
        return new Contrast(ofSelection, ofBaseline, 0, 1, share, baseline, effective);
      }
      double g =
          2
              * (term(mixedA, e)
                  + term(mixedN1 - mixedA, mixedN1 - e)
                  + term(mixedC, mixedA + mixedC - e)
                  + term(mixedN0 - mixedC, mixedN0 - mixedA - mixedC + e))
              / designEffect;
      double p = CHI_SQUARED.survivalProbability(Math.max(0, g));
      if (e < FEW) {
        int trials = (int) Math.ceil(mixedA + mixedC);
        p =
            Math.max(
                p,
                BinomialDistribution.of(trials, e / trials)
                    .survivalProbability((int) Math.floor(mixedA) - 1));
      }
      return new Contrast(ofSelection, ofBaseline, Math.max(0, g), p, share, baseline, effective);
    }

    private static double term(double observed, double expected) {
      return observed <= 0 ? 0 : observed * Math.log(observed / expected);
    }
  }

  /** Returns the contrast of the best of several properties (Bonferroni). */
  Contrast ofTests(int tests) {
    return new Contrast(a, c, g, Math.min(1, p * tests), selectionShare, baselineShare, effective);
  }

  /**
   * Returns the share of the selection that would be missing if those with the property were as
   * rarely selected as all others: s (1 - 1 / r) for the ratio r of odds, which is (s - b) / (1 -
   * b) (Miettinen 1974).
   */
  double explained() {
    return baselineShare >= 1 ? 0 : (selectionShare - baselineShare) / (1 - baselineShare);
  }

  /** Returns the lower bound of the baseline's share, 95 % (Wilson 1927). */
  double baselineLow() {
    return baselineShare == 0 ? 0 : Math.max(0, bound(-Z));
  }

  /** Returns the upper bound of the baseline's share, 95 % (Wilson 1927). */
  double baselineHigh() {
    return baselineShare >= 1 ? 1 : Math.min(1, bound(Z));
  }

  private double bound(double z) {
    double n = Math.max(1, effective);
    double p = baselineShare;
    double root = z * Math.sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    return (p + z * z / (2 * n) + root) / (1 + z * z / n);
  }
}
