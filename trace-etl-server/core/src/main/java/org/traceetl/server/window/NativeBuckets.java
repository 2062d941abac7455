package org.traceetl.server.window;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Finds the bucket of a duration in a native histogram. Bucket i of Prometheus' schema s contains
 * durations above 2^((i-1)/2^s) and at most 2^(i/2^s) units. Immutable.
 *
 * <p>Buckets have numbers: {@link #ZERO} contains 0, the next one contains 1 ns, and so on without
 * gaps. Bounds are rounded down to nanoseconds. Durations are whole nanoseconds as well, so none is
 * in a wrong bucket.
 *
 * <p>A duration's power of two and the bits after its first one select an entry of a table. Entries
 * are narrower than buckets, so an entry contains at most one bound, and one comparison decides.
 */
public final class NativeBuckets {
  /** The number of the bucket that contains only 0. */
  public static final int ZERO = 0;

  /** Exceeds all numbers. */
  public static final int MAX_COUNT = 1 << 14;

  private static final BigDecimal TWO = BigDecimal.TWO;
  private static final BigDecimal MAX_NANOS = BigDecimal.valueOf(Long.MAX_VALUE);

  /** Enough digits: no root, which is irrational, is this close to an integer. */
  private static final MathContext DIGITS = new MathContext(100);

  /** Below 1 ns in any unit. */
  private static final int LEAST_POWER = -32;

  /** Their computation takes milliseconds. As few as schemas and units exist. */
  private static final Map<Scale, NativeBuckets> KNOWN = new ConcurrentHashMap<>();

  private record Scale(int schema, long unitNanos) {}

  private final int schema;
  private final int first;

  /** By number: the last nanosecond of the bucket. */
  private final long[] lastNanos;

  /** Bits after a duration's first one that select an entry. */
  private final int bits;

  /** By entry: the bucket of its shortest duration. */
  private final int[] numbers;

  /**
   * @param schema -4 (a bucket for each factor of 65,536) to 8 (256 for each power of two)
   * @param unitNanos nanoseconds of the unit in which durations are shown, at most a second
   */
  public NativeBuckets(int schema, long unitNanos) {
    this.schema = schema;
    int step = 1 << Math.max(0, schema);
    BigDecimal[] roots = roots(Math.max(0, schema), step);
    BigDecimal unit = BigDecimal.valueOf(unitNanos);
    long[] bounds = new long[MAX_COUNT];
    int index = schema < 0 ? LEAST_POWER >> -schema : LEAST_POWER << schema;
    BigDecimal bound = bound(index, unit, roots);
    while (bound.compareTo(BigDecimal.ONE) < 0) {
      bound = bound(++index, unit, roots);
    }
    first = index;
    int count = 1;
    while (bound.compareTo(MAX_NANOS) < 0) {
      bounds[count++] = bound.longValue();
      bound = bound(++index, unit, roots);
    }
    bounds[count++] = Long.MAX_VALUE;
    lastNanos = Arrays.copyOf(bounds, count);
    bits = Math.max(0, schema) + 1;
    numbers = new int[(Long.SIZE + 1) << bits];
    for (int entry = 0; entry < numbers.length; entry++) {
      numbers[entry] = search(leastNanos(entry));
    }
  }

  /** Returns the buckets of a schema and unit, which are computed once; arguments as above. */
  public static NativeBuckets of(int schema, long unitNanos) {
    return KNOWN.computeIfAbsent(
        new Scale(schema, unitNanos), scale -> new NativeBuckets(scale.schema, scale.unitNanos));
  }

  /** Returns 2^(0/n), 2^(1/n), ... 2^((n-1)/n) for n = 2^schema. */
  private static BigDecimal[] roots(int schema, int count) {
    BigDecimal root = TWO;
    for (int i = 0; i < schema; i++) {
      root = root.sqrt(DIGITS);
    }
    BigDecimal[] roots = new BigDecimal[count];
    roots[0] = BigDecimal.ONE;
    for (int i = 1; i < count; i++) {
      roots[i] = roots[i - 1].multiply(root, DIGITS);
    }
    return roots;
  }

  private BigDecimal bound(int index, BigDecimal unit, BigDecimal[] roots) {
    int power = schema < 0 ? index << -schema : index >> schema;
    BigDecimal inUnits = roots[index & (roots.length - 1)].multiply(unit);
    return power < 0
        ? inUnits.divide(TWO.pow(-power), DIGITS)
        : inUnits.multiply(TWO.pow(power), DIGITS);
  }

  private long leastNanos(int entry) {
    int power = (entry >> bits) - 1;
    if (power < 0) {
      return 0;
    }
    long behind = entry & ((1L << bits) - 1);
    return 1L << power | (power < bits ? behind >> (bits - power) : behind << (power - bits));
  }

  private int search(long nanos) {
    int found = Arrays.binarySearch(lastNanos, nanos);
    int number = found < 0 ? ~found : found;
    // Narrow buckets of few nanoseconds may have the same end: the first of them is used.
    while (number > 0 && lastNanos[number - 1] >= nanos) {
      number--;
    }
    return number;
  }

  /**
   * Returns the number of a duration's bucket.
   *
   * @param nanos at least 0
   */
  public int of(long nanos) {
    int zeros = Long.numberOfLeadingZeros(nanos);
    int number =
        numbers[(Long.SIZE - zeros) << bits | (int) (nanos << zeros << 1 >>> (Long.SIZE - bits))];
    // Adds 1 if the difference is negative: a branch would be mispredicted half of the time.
    return number + (int) (lastNanos[number] - nanos >>> Long.SIZE - 1);
  }

  /** Returns a number above those of all buckets. */
  public int count() {
    return lastNanos.length;
  }

  /** Returns Prometheus' index of a bucket other than {@link #ZERO}. */
  public int index(int number) {
    return first + number - 1;
  }

  /** Returns the schema, in Prometheus' numbering. */
  public int schema() {
    return schema;
  }
}
