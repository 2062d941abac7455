package org.traceetl.server.compare;

import java.util.Arrays;

/**
 * The part of a difference that lateness does not explain.
 *
 * <p>Let r and l be the counts of both sides since the start of the range. If each side counts a
 * span at most the time to settle after the other, then for any time t, with d spans that the left
 * side lost up to then, {@code r(t) - l(t + settle) <= d <= r(t + settle) - l(t)}. Without spans in
 * flight both bounds are equal, and d is exact. The path of d that changes least within the bounds
 * is certain: it does not change while a side is only late.
 */
final class Settlement {
  private final double[] ahead;
  private final double net;

  private Settlement(double[] ahead, double net) {
    this.ahead = ahead;
    this.net = net;
  }

  /**
   * Compares two sides.
   *
   * @param left increases of the panes
   * @param right increases of the panes
   */
  static Settlement of(double[] left, double[] right, Panes panes) {
    int settle = panes.settle();
    double[] l = counts(left, settle);
    double[] r = counts(right, settle);
    double least = Double.NEGATIVE_INFINITY;
    double most = Double.POSITIVE_INFINITY;
    double net = 0;
    for (int i = 0; i <= settle + panes.count(); i++) {
      double lower = r[i] - l[i + settle];
      double upper = r[i + settle] - l[i];
      double move = 0;
      if (lower > most) {
        move = lower - most;
        least = lower;
        most = lower;
      } else if (upper < least) {
        move = upper - least;
        least = upper;
        most = upper;
      } else {
        least = Math.max(least, lower);
        most = Math.min(most, upper);
      }
      // What was lost before the range moves the path, but does not count.
      net += i > settle ? move : 0;
    }
    for (int i = 0; i < r.length; i++) {
      r[i] -= l[i];
    }
    return new Settlement(r, net);
  }

  /** Returns counts at the ends of panes, relative to the start of the range. */
  private static double[] counts(double[] increases, int settle) {
    double[] counts = new double[increases.length + 1];
    for (int i = 0; i < increases.length; i++) {
      counts[i + 1] = counts[i] + increases[i];
    }
    double start = counts[settle];
    for (int i = 0; i < counts.length; i++) {
      counts[i] -= start;
    }
    return counts;
  }

  /**
   * Returns by how much the right side is ahead, at the start of the first pane and the end of
   * each; relative to the start of the range, with spans in flight. To read only.
   */
  double[] ahead() {
    return ahead;
  }

  /**
   * Returns the spans that were certainly lost in the range: above 0 by the left side, below 0 by
   * the right side.
   */
  double net() {
    return net;
  }

  /**
   * Returns in which panes of the range the net loss became visible, so that no later pane makes up
   * for it. Their sum is the net loss.
   */
  double[] steps(Panes panes) {
    double[] steps = new double[panes.count()];
    double later = net;
    for (int i = panes.count() - 1; i >= 0; i--) {
      double start = i == 0 ? 0 : ahead[panes.settle() + i];
      double earlier = net > 0 ? Math.clamp(start, 0, later) : Math.clamp(start, later, 0);
      steps[i] = later - earlier;
      later = earlier;
    }
    return steps;
  }

  /** Returns by how much the right side went ahead from some panes to others, by their medians. */
  double change(int from, int to, int length) {
    return median(to, length) - median(from - length, length);
  }

  private double median(int from, int length) {
    int first = Math.clamp(from, 0, ahead.length - 1);
    int last = Math.clamp((long) from + length, first, ahead.length - 1);
    double[] sorted = Arrays.copyOfRange(ahead, first, last + 1);
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
