package org.traceetl.server.series;

/**
 * How many spans a sampled span stands for. The threshold T of its tracestate says that spans with
 * a random value below T, out of 2^56, were dropped: it stands for 2^56 / (2^56 - T).
 *
 * <p>Weights are fixed-point numbers with {@link #FRACTION_BITS} bits after the point. Counts are
 * whole, so each series carries the fraction on to its next sampled span: its total is never a
 * whole span behind the exact sum, nor ahead of it. (Each weight is rounded by less than 2^-40: a
 * series is off by one after some 10^12 sampled spans.)
 */
public final class Weight {
  /** Bits after the point. */
  public static final int FRACTION_BITS = 40;

  /** A span that stands for itself alone. */
  public static final long ONE = 1L << FRACTION_BITS;

  /** Spans that stand for more than this many are refused: a damaged threshold must not count. */
  public static final long MAX_SPANS = 1L << 20;

  private static final long RANGE = 1L << 56;
  private static final long MAX_THRESHOLD = RANGE - (RANGE / MAX_SPANS);
  private static final long FRACTION_MASK = ONE - 1;

  private Weight() {}

  /** Whether a span with this threshold may be counted. */
  public static boolean isSane(long threshold) {
    return threshold <= MAX_THRESHOLD;
  }

  /**
   * The weight, in fixed point.
   *
   * @param threshold 0 to below 2^56, and {@link #isSane sane}
   */
  public static long of(long threshold) {
    return Math.round((double) RANGE / (RANGE - threshold) * ONE);
  }

  /** The whole spans in a weight. */
  public static long whole(long weight) {
    return weight >>> FRACTION_BITS;
  }

  /** What is left of a weight without its whole spans. */
  public static long fraction(long weight) {
    return weight & FRACTION_MASK;
  }

  /** A duration times a weight, rounded; saturates. */
  public static long times(long weight, long nanos) {
    return Math.round((double) weight / ONE * nanos);
  }
}
