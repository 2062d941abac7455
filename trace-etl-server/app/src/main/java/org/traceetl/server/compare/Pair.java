package org.traceetl.server.compare;

import java.util.BitSet;
import java.util.Map;

/** The series of both sides with the same labels. One of them may be absent. */
final class Pair {
  private static final BitSet NO_RESTARTS = new BitSet(0);

  private final Map<String, String> labels;
  private final Panes panes;
  private final CountedSeries left;
  private final CountedSeries right;
  private final Settlement settled;
  private Finding reason = Finding.EQUAL;
  private String detail = "";
  private int when = -1;
  private boolean isCertain;

  /**
   * @param labels of both, by their right names
   * @param none increases of an absent series
   */
  Pair(
      Map<String, String> labels,
      Panes panes,
      CountedSeries left,
      CountedSeries right,
      double[] none) {
    this.labels = labels;
    this.panes = panes;
    this.left = left;
    this.right = right;
    settled =
        Settlement.of(
            left == null ? none : left.increases(),
            right == null ? none : right.increases(),
            panes);
  }

  /** Sets the reason, with the pane in which the loss became visible. */
  void explain(Finding why, String what) {
    double most = 0;
    double[] steps = steps();
    int pane = -1;
    for (int i = 0; i < steps.length; i++) {
      if (Math.abs(steps[i]) > most) {
        most = Math.abs(steps[i]);
        pane = panes.settle() + i;
      }
    }
    explain(why, what, pane, true);
  }

  /**
   * Sets the reason.
   *
   * @param pane the one in which most was lost; -1 if that is unknown
   * @param certain whether the difference is the certain loss, and not what spans in flight are in
   */
  void explain(Finding why, String what, int pane, boolean certain) {
    reason = why;
    detail = what;
    when = pane;
    isCertain = certain;
  }

  Map<String, String> labels() {
    return labels;
  }

  /** Returns the left series; null if it is absent. */
  CountedSeries left() {
    return left;
  }

  /** Returns the right series; null if it is absent. */
  CountedSeries right() {
    return right;
  }

  Settlement settled() {
    return settled;
  }

  Finding reason() {
    return reason;
  }

  /** Returns more about the reason; may be empty. */
  String detail() {
    return detail;
  }

  double leftTotal() {
    return left == null ? 0 : left.total();
  }

  double rightTotal() {
    return right == null ? 0 : right.total();
  }

  /** Returns by how much the right side counted more in the range, with spans in flight. */
  double rawDifference() {
    return rightTotal() - leftTotal();
  }

  /** Returns the certain loss by pane of the range. */
  double[] steps() {
    return settled.steps(panes);
  }

  /** Returns the panes with restarts of either side. */
  BitSet restarts() {
    BitSet restarts = new BitSet(panes.size());
    restarts.or(restartsOf(1));
    restarts.or(restartsOf(-1));
    return restarts;
  }

  /** Returns by how much the right side counted more: certainly, else with spans in flight. */
  double difference() {
    return isCertain ? settled.net() : rawDifference();
  }

  boolean isCertain() {
    return isCertain;
  }

  /** Returns the pane in which most was lost; -1 if that is unknown. */
  int when() {
    return when;
  }

  /** Returns the panes with restarts of the side that lacks the spans of a difference. */
  BitSet restartsOf(double difference) {
    CountedSeries series = difference > 0 ? left : right;
    return series == null ? NO_RESTARTS : series.restarts();
  }
}
