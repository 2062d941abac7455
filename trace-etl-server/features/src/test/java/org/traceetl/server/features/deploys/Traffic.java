package org.traceetl.server.features.deploys;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Calls of an application by slot, as they are in production: their rate and durations follow the
 * hour, all calls of some seconds are slow together, errors come in bursts, and operations have
 * another share in each slot. Durations are lognormal.
 */
final class Traffic {
  /**
   * What is simulated.
   *
   * @param callsPerSecond at the middle of the day
   * @param noise standard deviation of the logarithm of durations that all calls of 15 seconds
   *     share
   * @param correlation of this noise between neighbours
   * @param errorRatio of the old version
   * @param errorNoise standard deviation of the logarithm of the ratio that all calls of a slot
   *     share
   * @param ownNoise standard deviation of the logarithm of durations that all calls of a version in
   *     a slot share
   */
  record Load(
      double callsPerSecond,
      double noise,
      double correlation,
      double errorRatio,
      double errorNoise,
      double ownNoise) {}

  static final double[] BOUNDS_MILLIS = {
    2, 4, 6, 8, 10, 50, 100, 200, 400, 800, 1_000, 1_400, 2_000, 5_000, 10_000, 15_000
  };

  private static final int BUCKETS = BOUNDS_MILLIS.length + 1;
  private static final double SLOTS_PER_DAY = 2_880;
  private static final double SECONDS_PER_SLOT = 30;

  /** Share, median in milliseconds, and standard deviation of the logarithm of durations. */
  private static final double[][] OPERATIONS = {
    {0.5, 12, 0.5}, {0.3, 60, 0.6}, {0.15, 150, 0.8}, {0.05, 700, 1}
  };

  private final SplittableRandom random;
  private final Load load;
  private final double phase;
  private double[] shared = new double[2];
  private double ofErrors;
  private final double[] mix = new double[OPERATIONS.length];
  private int slot;

  Traffic(long seed, Load load) {
    random = new SplittableRandom(seed);
    this.load = load;
    phase = random.nextDouble() * 2 * Math.PI;
    shared[1] = load.noise * random.nextGaussian();
    ofErrors = load.errorNoise * random.nextGaussian();
  }

  /** Goes on to the next slot. */
  void next() {
    slot++;
    double innovation = load.noise * Math.sqrt(1 - load.correlation * load.correlation);
    shared[0] = load.correlation * shared[1] + innovation * random.nextGaussian();
    shared[1] = load.correlation * shared[0] + innovation * random.nextGaussian();
    double ofErrorsInnovation =
        load.errorNoise * Math.sqrt(1 - load.correlation * load.correlation);
    ofErrors = load.correlation * ofErrors + ofErrorsInnovation * random.nextGaussian();
    for (int i = 0; i < mix.length; i++) {
      mix[i] = 0.9 * mix[i] + 0.05 * random.nextGaussian();
    }
  }

  /**
   * Returns the calls of a version in the slot.
   *
   * @param share of all calls, 0 to 1
   * @param slower factor of all durations
   * @param errors factor of the ratio of failed calls
   */
  Map<Operation, long[]> calls(double share, double slower, double errors) {
    double hour = Math.sin(phase + 2 * Math.PI * slot / SLOTS_PER_DAY);
    double rate = load.callsPerSecond * SECONDS_PER_SLOT * share * (1 + 0.4 * hour);
    Map<Operation, long[]> calls = new HashMap<>();
    for (int i = 0; i < OPERATIONS.length; i++) {
      double[] of = OPERATIONS[i];
      double expected = rate * of[0] * Math.exp(mix[i]);
      double failing = Math.min(0.9, load.errorRatio * errors * Math.exp(ofErrors));
      long[] columns = new long[Calls.BUCKETS + BUCKETS];
      long failed = poisson(expected * failing);
      columns[Calls.FAILED] = failed;
      columns[Calls.ALL] = failed;
      for (double pane : shared) {
        double median = of[1] * slower * Math.exp(pane + 0.2 * hour);
        add(columns, expected * (1 - failing) / 2, Math.log(median), of[2]);
      }
      if (columns[Calls.ALL] > 0) {
        calls.put(new Operation("operation " + i, "2", null), columns);
      }
    }
    return calls;
  }

  private void add(long[] columns, double expected, double mean, double deviation) {
    double below = 0;
    double partBelow = 0;
    double squareBelow = 0;
    double whole = Math.exp(mean + deviation * deviation / 2);
    double wholeSquare = Math.exp(2 * mean + 2 * deviation * deviation);
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      boolean isLast = bucket == BUCKETS - 1;
      double z = isLast ? 40 : (Math.log(BOUNDS_MILLIS[bucket]) - mean) / deviation;
      double to = normal(z);
      double partTo = whole * normal(z - deviation);
      double squareTo = wholeSquare * normal(z - 2 * deviation);
      double probability = to - below;
      long count = poisson(expected * probability);
      if (count > 0) {
        double its = (partTo - partBelow) / probability;
        double variance = Math.max(0, (squareTo - squareBelow) / probability - its * its);
        double sum = count * its + Math.sqrt(count * variance) * random.nextGaussian();
        columns[Calls.NANOS] += (long) (Math.max(0, sum) * 1e6);
        columns[Calls.ALL] += count;
        columns[Calls.BUCKETS + bucket] += count;
      }
      below = to;
      partBelow = partTo;
      squareBelow = squareTo;
    }
  }

  private long poisson(double mean) {
    if (mean > 50) {
      return Math.max(0, Math.round(mean + Math.sqrt(mean) * random.nextGaussian()));
    }
    double product = random.nextDouble();
    double limit = Math.exp(-mean);
    long count = 0;
    while (product > limit) {
      product *= random.nextDouble();
      count++;
    }
    return count;
  }

  /** The distribution function of the normal distribution, Abramowitz and Stegun 26.2.17. */
  private static double normal(double z) {
    if (z < 0) {
      return 1 - normal(-z);
    }
    double t = 1 / (1 + 0.2316419 * z);
    double series =
        t
            * (0.319381530
                + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
    return 1 - Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI) * series;
  }
}
