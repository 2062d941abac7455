package org.traceetl.server.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The report for a terminal. */
final class TextReport {
  private static final String ROW = "%16s %16s %16s  %-20s  %s";

  private final Comparison comparison;
  private final int top;

  TextReport(Comparison comparison, int top) {
    this.comparison = comparison;
    this.top = top;
  }

  List<String> lines() {
    List<String> lines = new ArrayList<>(facts(comparison));
    comparison.notes().forEach(note -> lines.add("note   " + SeriesText.printable(note)));
    List<Pair> differing = comparison.differing();
    if (!differing.isEmpty()) {
      lines.add("");
      lines.add(ROW.formatted("RIGHT - LEFT", "LEFT", "RIGHT", "MOST LOST BY", "REASON, SERIES"));
      for (Pair pair : differing.subList(0, Math.min(top, differing.size()))) {
        lines.add(
            ROW.formatted(
                SeriesText.signed(pair.difference()),
                SeriesText.count(pair.leftTotal()),
                SeriesText.count(pair.rightTotal()),
                SeriesText.when(pair, comparison.panes()),
                SeriesText.reason(pair) + " " + SeriesText.labels(pair.labels())));
      }
      if (differing.size() > top) {
        lines.add((differing.size() - top) + " more pairs differ; --top prints more");
      }
    }
    lines.add("");
    lines.add(verdict(comparison));
    return lines;
  }

  /** Returns what was compared, a line each. */
  static List<String> facts(Comparison comparison) {
    CompareRequest request = comparison.request();
    Panes panes = comparison.panes();
    return List.of(
        side(request.left(), comparison.left()),
        side(request.right(), comparison.right()),
        "range  %s to %s; panes of %ds; a side may count a span %ds later than the other"
            .formatted(
                panes.rangeStart(),
                panes.rangeEnd(),
                panes.paneMillis() / 1_000,
                panes.settle() * panes.paneMillis() / 1_000),
        "total  right - left = %s spans, without those that may be in flight %s"
            .formatted(
                SeriesText.signed(comparison.total().rawDifference()),
                SeriesText.signed(comparison.total().settled().net())));
  }

  private static String side(Source source, Side side) {
    return "%-6s %s spans in %s series; %s %s"
        .formatted(
            source.side(),
            SeriesText.count(side.total()),
            SeriesText.count(side.series().size()),
            source.url(),
            SeriesText.printable(source.query()));
  }

  /** Returns the result in one line. */
  static String verdict(Comparison comparison) {
    Map<Finding, Integer> reasons = comparison.reasons();
    String others =
        "%d pairs are equal, %d are only late"
            .formatted(
                reasons.getOrDefault(Finding.EQUAL, 0), reasons.getOrDefault(Finding.LATE, 0));
    if (comparison.isEqual()) {
      return "EQUAL: " + others + ".";
    }
    double leftLacks = 0;
    double rightLacks = 0;
    for (Pair pair : comparison.differing()) {
      leftLacks += Math.max(0, pair.difference());
      rightLacks += Math.max(0, -pair.difference());
    }
    return "DIFFERENT: the left lacks %s spans and the right %s, in %d pairs (%s); %s."
        .formatted(
            SeriesText.count(leftLacks),
            SeriesText.count(rightLacks),
            comparison.differing().size(),
            reasons.entrySet().stream()
                .filter(entry -> entry.getKey().isDifference())
                .map(entry -> entry.getKey() + " " + entry.getValue())
                .collect(Collectors.joining(", ")),
            others);
  }
}
