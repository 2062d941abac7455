package org.traceetl.server.series;

/**
 * The number of spans that a sampled span represents. The threshold T of its tracestate means that
 * spans with a random value below T, out of 2^56, were dropped: it represents 2^56 / (2^56 - T).
 *
 * <p>Weights are fixed-point numbers with {@link #FRACTION_BITS} fraction bits. Counts are whole,
 * so each series carries the fraction to its next sampled span. Its total is less than a span below
 * the exact sum, and never above it. (Each weight is rounded by less than 2^-40: a series is off by
 * one after some 10^12 sampled spans.)
 */
public final class Weight {
  /** Number of fraction bits. */
  public static final int FRACTION_BITS = 40;

  /** The weight of an unsampled span. */
  public static final long ONE = 1L << FRACTION_BITS;

  /** Spans with a higher weight are rejected, because their threshold is probably damaged. */
  public static final long MAX_SPANS = 1L << 20;

  private static final long RANGE = 1L << 56;
  private static final long MAX_THRESHOLD = RANGE - (RANGE / MAX_SPANS);
  private static final long FRACTION_MASK = ONE - 1;

  private Weight() {}

  /** Returns whether a span with this threshold may be counted. */
  public static boolean isSane(long threshold) {
    return threshold <= MAX_THRESHOLD;
  }

  /**
   * Returns the weight, in fixed point.
   *
   * @param threshold 0 to below 2^56, and {@link #isSane sane}
   */
  public static long of(long threshold) {
    return Math.round((double) RANGE / (RANGE - threshold) * ONE);
  }

  /**
   * Returns the variance of the count that a sampled span estimates: w (w - 1) for its weight w.
   * Added up over the sampled spans, it is an unbiased estimate if each span was sampled on its
   * own.
   *
   * @param threshold as of {@link #of}
   */
  public static double variance(long threshold) {
    double weight = (double) RANGE / (RANGE - threshold);
    return weight * (weight - 1);
  }

  /** Returns the whole spans of a weight. */
  public static long whole(long weight) {
    return weight >>> FRACTION_BITS;
  }

  /** Returns the fraction of a weight. */
  public static long fraction(long weight) {
    return weight & FRACTION_MASK;
  }

  /** Returns a duration times a weight, rounded; saturates. */
  public static long times(long weight, long nanos) {
    return Math.round((double) weight / ONE * nanos);
  }
}
