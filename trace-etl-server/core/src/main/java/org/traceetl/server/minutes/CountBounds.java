package org.traceetl.server.minutes;

/**
 * The bounds within which a count that is estimated from a sample is with 95 % confidence. Score
 * intervals: a true count is within them if the estimate is at most 1.96 standard deviations away
 * from it, by the variance that this true count has. So they hold for small counts as well, where
 * the variance of the estimate is too uncertain.
 *
 * @param lower at least 0
 * @param upper at least {@code lower}
 */
public record CountBounds(long lower, long upper) {
  private static final double Z = 1.959964;

  /**
   * Returns the bounds of a count.
   *
   * @param count the estimate
   * @param variancePerCall variance of estimates divided by the estimates, over a longer time, so
   *     that it is known also if the count is 0
   * @return null without variance: the count is exact
   */
  public static CountBounds of(long count, double variancePerCall) {
    if (!(variancePerCall > 0)) {
      return null;
    }
    double middle = count + Z * Z * variancePerCall / 2;
    double distance = Math.sqrt(Math.max(0, middle * middle - (double) count * count));
    // At least as many were counted: by Cauchy and Schwarz the number of independent spans is no
    // less.
    double counted = count / (1 + variancePerCall);
    return new CountBounds(
        (long) Math.ceil(Math.max(counted, middle - distance)),
        (long) Math.floor(middle + distance));
  }
}
