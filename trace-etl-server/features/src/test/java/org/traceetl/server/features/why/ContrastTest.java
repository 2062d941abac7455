package org.traceetl.server.features.why;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The test of a property, against published figures and by chance alone. */
final class ContrastTest {
  private static Contrast contrast(int a, int n1, int c, int n0) {
    int[] units = IntStream.concat(IntStream.range(0, a), IntStream.range(n1, n1 + c)).toArray();
    return new Contrast.Strata(new int[n1 + n0], 1, n1, 1).of(units);
  }

  @Test
  void oneStratumIsTheGTestOfIndependence() {
    // Sokal and Rohlf, box 17.6: ants in trees, G = 13.798... of other data; here by hand:
    // 2 * (30 ln(30/20) + 70 ln(70/80) + 10 ln(10/20) + 90 ln(90/80)) = 12.97...
    Contrast contrast = contrast(30, 100, 10, 100);

    double g =
        2 * (30 * Math.log(1.5) + 70 * Math.log(0.875) + 10 * Math.log(0.5) + 90 * Math.log(1.125));
    assertThat(contrast.g()).isCloseTo(g, within(1e-9));
    assertThat(contrast.p()).isCloseTo(3.16e-4, within(1e-5));
    assertThat(contrast.selectionShare()).isEqualTo(0.3);
    assertThat(contrast.baselineShare()).isEqualTo(0.1);
    assertThat(contrast.explained()).isCloseTo(2.0 / 9, within(1e-9));
  }

  @Test
  void theBoundsAreWilsons() {
    // 10 of 100: 5.5 % to 17.4 % (Newcombe 1998, method 3).
    Contrast contrast = contrast(30, 100, 10, 100);

    assertThat(contrast.baselineLow()).isCloseTo(0.0552, within(1e-4));
    assertThat(contrast.baselineHigh()).isCloseTo(0.1744, within(1e-4));
    assertThat(contrast(5, 100, 0, 50).baselineLow()).isZero();
    assertThat(contrast(5, 100, 0, 50).baselineHigh()).isCloseTo(0.0713, within(1e-4));
  }

  @Test
  void lessFrequentIsNeverSignificant() {
    assertThat(contrast(10, 100, 30, 100).p()).isEqualTo(1);
    assertThat(contrast(10, 100, 10, 100).p()).isEqualTo(1);
  }

  @Test
  void differencesBetweenStrataDoNotCount() {
    // 80 % of the selection is in stratum 0, where all have the property; in each stratum the
    // selection is as the baseline.
    int[] of = new int[200];
    Arrays.fill(of, 80, 100, 1);
    Arrays.fill(of, 120, 200, 1);
    int[] units = IntStream.range(0, 200).filter(unit -> of[unit] == 0).toArray();

    Contrast contrast = new Contrast.Strata(of, 2, 100, 1).of(units);

    assertThat(contrast.p()).isEqualTo(1);
    assertThat(contrast.baselineShare()).isCloseTo(0.8, within(1e-9));
    // Kish: 100^2 / (80^2 / 20 + 20^2 / 80).
    assertThat(contrast.effective()).isCloseTo(10_000 / 325.0, within(1e-9));
  }

  @Test
  void strataOfOneSideOnlyDoNotCount() {
    int[] of = {0, 0, 1, 1, 0, 0, 2, 2};

    Contrast contrast = new Contrast.Strata(of, 3, 4, 1).of(new int[] {0, 2, 3});

    assertThat(contrast.a()).isEqualTo(1);
    assertThat(contrast.selectionShare()).isEqualTo(0.5);
  }

  /** A rare property by chance: the probability is never too small. */
  @Test
  void smallCountsAreNotOverrated() {
    SplittableRandom random = new SplittableRandom(7);
    int runs = 200_000;
    double[] levels = {0.01, 0.001, 0.0003};
    int[] below = new int[levels.length];
    for (int run = 0; run < runs; run++) {
      int n1 = 100;
      int n0 = 300 + random.nextInt(500);
      int having = 5 + random.nextInt(30);
      int a = 0;
      int left = having;
      // Without replacement.
      for (int unit = 0; unit < n1; unit++) {
        if (random.nextInt(n1 + n0 - unit) < left) {
          a++;
          left--;
        }
      }
      double p = contrast(a, n1, having - a, n0).p();
      for (int i = 0; i < levels.length; i++) {
        below[i] += p <= levels[i] ? 1 : 0;
      }
    }
    for (int i = 0; i < levels.length; i++) {
      double mean = levels[i] * runs;
      assertThat((double) below[i]).isLessThanOrEqualTo(mean + 4 * Math.sqrt(mean));
    }
  }

  @Test
  void strataInWhichAllOrNoneHaveItTellNothing() {
    // Stratum 0 alone has 30 of 100 and 10 of 100; in stratum 1 none has it, in stratum 2 all.
    int[] of = new int[600];
    int[] units =
        IntStream.range(0, 600)
            .filter(unit -> {
              int place = unit % 300;
              of[unit] = place / 100;
              return place >= 200 || place < (unit < 300 ? 30 : 10);
            })
            .toArray();

    Contrast contrast = new Contrast.Strata(of, 3, 300, 1).of(units);

    assertThat(contrast.g()).isCloseTo(contrast(30, 100, 10, 100).g(), within(1e-9));
    assertThat(contrast.selectionShare()).isEqualTo(130.0 / 300);
    assertThat(contrast.baselineShare()).isCloseTo(110.0 / 300, within(1e-9));
  }

  @Test
  void splitStrataAreThoseOfBothProperties() {
    // Among the units with the first property, the second one is everywhere in the selection.
    int[] first = {0, 1, 2, 3, 8, 9, 10, 11};
    int[] second = {0, 1, 2, 3, 4, 8, 9};
    Contrast.Strata strata = new Contrast.Strata(new int[16], 1, 8, 1);

    Contrast contrast = strata.split(first).of(second);

    assertThat(contrast.a()).isEqualTo(5);
    assertThat(contrast.selectionShare()).isEqualTo(5.0 / 8);
    // 4 * 6 / 8 of the first, 4 * 1 / 8 of the others are expected.
    double e = 3.5;
    double g =
        2
            * (5 * Math.log(5 / e)
                + 3 * Math.log(3 / (8 - e))
                + 2 * Math.log(2 / (7 - e))
                + 6 * Math.log(6 / (8 - 7 + e)));
    assertThat(contrast.g()).isCloseTo(g, within(1e-9));
  }

  @Test
  void weightsDoNotOverstateEvidence() {
    SplittableRandom random = new SplittableRandom(5);
    int runs = 2_000;
    int significant = 0;
    for (int run = 0; run < runs; run++) {
      int[] has = IntStream.range(0, 400).filter(unit -> random.nextInt(4) == 0).toArray();
      double[] weights = random.doubles(400).map(place -> Math.exp(3 * place)).toArray();
      Contrast contrast = new Contrast.Strata(new int[400], weights, 1, 200, 1).of(has);
      significant += contrast.p() <= 0.05 ? 1 : 0;
    }

    // More frequent in the selection in half of all runs: 2.5 % of them, and 3 standard errors.
    assertThat((double) significant / runs).isBetween(0.01, 0.036);
  }

  @Test
  void sharesAreThoseOfTheWeights() {
    double[] weights = {9, 1, 1, 1, 1, 1};
    Contrast contrast = new Contrast.Strata(new int[6], weights, 1, 4, 1).of(new int[] {0, 4});

    assertThat(contrast.selectionShare()).isCloseTo(0.75, within(1e-9));
    assertThat(contrast.baselineShare()).isEqualTo(0.5);
    assertThat(contrast.a()).isOne();
  }
}
