package org.traceetl.server.features.why;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The ranges of an attribute whose values are numbers. Its units are divided at the eighths of all
 * their numbers, whichever side they are on, and a range is one or several neighbouring eighths. Of
 * an attribute only the most informative range is listed, with its probability multiplied by the
 * number of ranges (Bonferroni).
 */
final class Ranges {
  private static final int PARTS = 8;

  /** Of distinct numbers; otherwise each value is tested by itself anyway. */
  private static final int MIN_NUMBERS = PARTS;

  private static final int MIN_UNITS = 5 * PARTS;
  private static final int MAX_LENGTH = 24;

  /** Whole numbers below it are shown without an exponent. */
  private static final double MAX_WHOLE = 1e15;

  /** A range, the units in it, and their contrast. */
  record Range(String text, int[] units, Contrast contrast) {}

  private final int[] units;
  private final int[] partOf;
  private final double[] low;
  private final double[] high;

  private Ranges(int[] units, double[] numbers, double[] bounds) {
    this.units = units;
    partOf = new int[units.length];
    low = new double[bounds.length + 1];
    high = new double[bounds.length + 1];
    Arrays.fill(low, Double.POSITIVE_INFINITY);
    Arrays.fill(high, Double.NEGATIVE_INFINITY);
    for (int i = 0; i < units.length; i++) {
      int at = Arrays.binarySearch(bounds, numbers[i]);
      int part = at < 0 ? -at - 1 : at + 1;
      partOf[i] = part;
      low[part] = Math.min(low[part], numbers[i]);
      high[part] = Math.max(high[part], numbers[i]);
    }
  }

  /** Returns the number that a text is in decimal notation; NaN if it is none. */
  static double number(String text) {
    if (text.isEmpty() || text.length() > MAX_LENGTH || !isDecimal(text)) {
      return Double.NaN;
    }
    try {
      double number = Double.parseDouble(text);
      return Double.isInfinite(number) ? Double.NaN : number;
    } catch (NumberFormatException e) {
      return Double.NaN;
    }
  }

  private static boolean isDecimal(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if ((c < '0' || c > '9') && "+-.eE".indexOf(c) < 0) {
        return false;
      }
    }
    return true;
  }

  /**
   * Returns the most informative range.
   *
   * @param all units
   * @param key number of the attribute
   * @return null if too few units have it or their numbers are too few
   */
  static Range best(List<Unit> all, int key, Contrast.Strata strata) {
    int[] units = new int[all.size()];
    double[] numbers = new double[all.size()];
    int size = 0;
    for (int unit = 0; unit < all.size(); unit++) {
      int[] keys = all.get(unit).numericKeys;
      int at = 0;
      while (at < keys.length && keys[at] != key) {
        at++;
      }
      if (at < keys.length) {
        units[size] = unit;
        numbers[size++] = all.get(unit).numbers[at];
      }
    }
    double[] sorted = Arrays.copyOf(numbers, size);
    Arrays.sort(sorted);
    if (size < MIN_UNITS || Arrays.stream(sorted).distinct().count() < MIN_NUMBERS) {
      return null;
    }
    int length = size;
    double[] bounds =
        IntStream.range(1, PARTS)
            .mapToDouble(part -> sorted[(int) ((long) part * length / PARTS)])
            .distinct()
            .filter(bound -> bound > sorted[0])
            .toArray();
    return new Ranges(Arrays.copyOf(units, size), numbers, bounds).best(strata);
  }

  private Range best(Contrast.Strata strata) {
    Range best = null;
    int parts = low.length;
    for (int from = 0; from < parts; from++) {
      for (int to = from; to < parts; to++) {
        if (to - from + 1 == parts) {
          continue;
        }
        int[] in = units(from, to);
        Contrast contrast = strata.of(in);
        if (best == null || contrast.g() > best.contrast.g()) {
          best = new Range(text(from, to), in, contrast);
        }
      }
    }
    int tests = parts * (parts + 1) / 2 - 1;
    return best == null ? null : new Range(best.text, best.units, best.contrast.ofTests(tests));
  }

  private int[] units(int from, int to) {
    int[] in = new int[units.length];
    int size = 0;
    for (int i = 0; i < units.length; i++) {
      if (partOf[i] >= from && partOf[i] <= to) {
        in[size++] = units[i];
      }
    }
    return Arrays.copyOf(in, size);
  }

  private String text(int from, int to) {
    if (from == 0) {
      return "at most " + text(high[to]);
    }
    return to == low.length - 1
        ? "at least " + text(low[from])
        : text(low[from]) + " to " + text(high[to]);
  }

  private static String text(double number) {
    return number == Math.rint(number) && Math.abs(number) < MAX_WHOLE
        ? Long.toString((long) number)
        : Double.toString(number);
  }
}
