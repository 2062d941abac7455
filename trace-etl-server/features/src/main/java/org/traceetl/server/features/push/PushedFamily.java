package org.traceetl.server.features.push;

import org.traceetl.server.expose.Family;
import org.traceetl.server.window.NativeBuckets;

/** A family with the strings of its series. Immutable. */
final class PushedFamily {
  private static final int NANOS_PER_MILLI = 1_000_000;

  final long bit;
  final boolean isHistogram;

  /** Whether its counter adds up the sizes of spans, not spans. */
  final boolean isSize;

  /** Whether its counter is the sum of values. */
  final boolean isSum;

  /** Whether series have classic buckets. */
  final boolean isClassic;

  /** Null without native buckets. */
  final NativeBuckets nativeBuckets;

  /** True for durations in seconds, false for milliseconds. */
  final boolean seconds;

  /** Name of a native histogram, and of the metadata of a histogram. */
  final Symbol name;

  /** The name in OTLP. */
  final Symbol nameInOtlp;

  /** The unit in OTLP; empty for none. */
  final String unitInOtlp;

  final Symbol help;
  final Symbol unit;

  /** Name of a counter's series, and of its metadata. */
  final Symbol total;

  final Symbol bucket;
  final Symbol sum;
  final Symbol count;

  /** By bucket: the label {@code le}; null for a counter. */
  final Symbol[] le;

  /** The finite bounds in the page's unit; null for a counter. */
  final double[] bounds;

  PushedFamily(Family family, boolean isSize) {
    this.isSize = isSize;
    bit = family.bit();
    isHistogram = family.isHistogram();
    isClassic = isHistogram && family.isClassic();
    nativeBuckets = family.nativeBuckets();
    isSum = family.isSum();
    seconds = (isHistogram || isSum) && family.seconds();
    name = Symbol.of(family.name());
    help = Symbol.of(family.help());
    unit = family.unit() == null ? Symbol.EMPTY : Symbol.of(family.unit());
    Family.Metric metric = family.metricInOtlp();
    nameInOtlp = metric == null ? name : Symbol.of(metric.name());
    unitInOtlp = metric != null ? metric.unit() : unitInOtlp(family);
    total = Symbol.of(family.name() + "_total");
    bucket = Symbol.of(family.name() + "_bucket");
    sum = Symbol.of(family.name() + "_sum");
    count = Symbol.of(family.name() + "_count");
    le = isHistogram ? new Symbol[family.buckets()] : null;
    bounds = isHistogram ? new double[le.length - 1] : null;
    for (int i = 0; isHistogram && i < le.length; i++) {
      le[i] = Symbol.of(family.boundText(i));
      if (i < bounds.length) {
        bounds[i] = family.bound(i);
      }
    }
  }

  private static String unitInOtlp(Family family) {
    if (family.unit() == null) {
      return "";
    }
    return family.seconds() ? "s" : "ms";
  }

  /** Returns a duration in the family's unit. */
  double inUnit(long nanos) {
    return inUnit(nanos / NANOS_PER_MILLI, (int) (nanos % NANOS_PER_MILLI));
  }

  /**
   * Returns the double nearest to a duration in the family's unit; an adjacent one for sums of more
   * than 104 days.
   */
  double inUnit(long millis, int nanos) {
    double unitNanos = seconds ? 1e9 : 1e6;
    return millis < Long.MAX_VALUE / NANOS_PER_MILLI
        ? (millis * NANOS_PER_MILLI + nanos) / unitNanos
        : millis / (unitNanos / NANOS_PER_MILLI);
  }
}
