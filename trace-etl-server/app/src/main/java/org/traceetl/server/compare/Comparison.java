package org.traceetl.server.compare;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The differences of two sides. */
public final class Comparison {
  private final CompareRequest request;
  private final Panes panes;
  private final Side left;
  private final Side right;
  private final List<Pair> pairs;
  private final Pair total;

  /** Compares two sides that were read. */
  Comparison(CompareRequest request, Side left, Side right) {
    this.request = request;
    this.left = left;
    this.right = right;
    panes = request.panes();
    double[] none = new double[panes.size()];
    CountedSeries leftSum = new CountedSeries(panes);
    CountedSeries rightSum = new CountedSeries(panes);
    left.series().values().forEach(leftSum::add);
    right.series().values().forEach(rightSum::add);
    total = new Pair(Map.of(), panes, leftSum, rightSum, none);
    Set<Map<String, String>> labels = new LinkedHashSet<>(left.series().keySet());
    labels.addAll(right.series().keySet());
    pairs = new ArrayList<>(labels.size());
    for (Map<String, String> key : labels) {
      pairs.add(new Pair(key, panes, left.series().get(key), right.series().get(key), none));
    }
    new Explanation(panes, left, right, request.tolerance()).explain(pairs);
    pairs.sort(
        Comparator.comparing((Pair pair) -> pair.reason().isDifference())
            .thenComparingDouble(pair -> Math.abs(pair.difference()))
            .reversed());
  }

  /**
   * Reads both sides and compares them.
   *
   * @throws IOException if a side has no valid answer or no series
   * @throws org.traceetl.common.ConfigException if the file of certificates cannot be used
   */
  public static Comparison of(CompareRequest request) throws IOException, InterruptedException {
    return new Comparison(
        request,
        read(request.left(), request.renamed(), request),
        read(request.right(), Map.of(), request));
  }

  private static Side read(Source source, Map<String, String> renamed, CompareRequest request)
      throws IOException, InterruptedException {
    try (PrometheusClient client =
        new PrometheusClient(source, request.caFile(), request.timeout())) {
      Side side = Side.read(source, renamed, request, client);
      if (side.series().isEmpty()) {
        throw new IOException(
            "--" + source.side() + " = " + source.url() + ": has no samples of " + source.query());
      }
      return side;
    }
  }

  /** Returns whether all pairs are equal, within the tolerance and apart from spans in flight. */
  public boolean isEqual() {
    return pairs.stream().noneMatch(pair -> pair.reason().isDifference());
  }

  /** Returns the report as lines of text, with at most this many pairs. */
  public List<String> text(int top) {
    return new TextReport(this, top).lines();
  }

  /** Returns the report as a page of HTML that needs no other file. */
  public String html(int top) {
    return new HtmlReport(this, top).page();
  }

  CompareRequest request() {
    return request;
  }

  Panes panes() {
    return panes;
  }

  Side left() {
    return left;
  }

  Side right() {
    return right;
  }

  /** Returns the pairs that differ, the largest difference first. */
  List<Pair> differing() {
    return pairs.stream().filter(pair -> pair.reason().isDifference()).toList();
  }

  /** Returns the sums of both sides. */
  Pair total() {
    return total;
  }

  /** Returns the number of pairs by reason. */
  Map<Finding, Integer> reasons() {
    Map<Finding, Integer> counts = new EnumMap<>(Finding.class);
    pairs.forEach(pair -> counts.merge(pair.reason(), 1, Integer::sum));
    return counts;
  }

  /** Returns what a reader of the numbers must know. */
  List<String> notes() {
    List<String> notes = new ArrayList<>();
    for (Side side : List.of(left, right)) {
      String name = side == left ? "left" : "right";
      if (side.isNew() && request.countsFromZero()) {
        notes.add(
            name
                + ": no series has a sample in the hour before; all count from 0. If they counted"
                + " before they were scraped, use --from-first-sample");
      }
      side.warnings().forEach(warning -> notes.add(name + ": Prometheus warns: " + warning));
    }
    Set<String> onLeft = labelsOf(left, right);
    Set<String> onRight = labelsOf(right, left);
    if (!onLeft.isEmpty() || !onRight.isEmpty()) {
      notes.add(
          "labels of one side only: left "
              + onLeft
              + ", right "
              + onRight
              + "; to pair series without them use --ignore-label or --map");
    }
    long inFlight = differing().stream().filter(pair -> !pair.isCertain()).count();
    if (inFlight > 0) {
      notes.add(
          inFlight
              + " pairs have spans in flight at an end of the range; their differences include"
              + " these");
    }
    return notes;
  }

  private static Set<String> labelsOf(Side side, Side other) {
    Set<String> names = new TreeSet<>();
    side.series().keySet().stream()
        .filter(labels -> !Overflow.is(labels))
        .forEach(labels -> names.addAll(labels.keySet()));
    other.series().keySet().forEach(labels -> names.removeAll(labels.keySet()));
    return names;
  }
}
