package org.traceetl.server.compare;

import java.io.IOException;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** The series of one side, added up by the labels that both sides have. */
final class Side {
  /** Panes of all series: 128 MiB. */
  private static final long MAX_CELLS = 16L << 20;

  private static final long MAX_LABEL_CHARS = 64L << 20;

  private static final String BEFORE = "1h";

  private final Map<Map<String, String>, CountedSeries> series = new LinkedHashMap<>();
  private final BitSet restarts = new BitSet();
  private final Set<String> overflowed = new HashSet<>();
  private int known;
  private long labelChars;
  private List<String> warnings = List.of();

  private Side() {}

  /**
   * Reads the series of a side.
   *
   * @param renamed new names of labels
   * @throws IOException if there is no valid answer, or more series than can be compared
   */
  static Side read(
      Source source, Map<String, String> renamed, CompareRequest request, PrometheusClient client)
      throws IOException, InterruptedException {
    Side side = new Side();
    Panes panes = request.panes();
    Map<Map<String, String>, Double> before = new HashMap<>();
    client.query(
        "last_over_time(" + source.query() + "[" + BEFORE + "])",
        panes.endOf(-1),
        (labels, samples) -> {
          side.bound(labels, before.size(), panes);
          before.put(labels, samples.value(0));
        });
    client.query(
        source.query() + "[" + panes.length().toSeconds() + "s]",
        panes.endOf(panes.size() - 1),
        (labels, samples) -> {
          side.bound(labels, side.series.size(), panes);
          Double value = before.get(labels);
          side.known += value == null ? 0 : 1;
          side.series
              .computeIfAbsent(
                  key(labels, renamed, request.ignored()), absent -> new CountedSeries(panes))
              .add(samples, value == null ? Double.NaN : value, request.countsFromZero());
        });
    side.series.forEach((labels, one) -> {
      one.finish();
      side.restarts.or(one.restarts());
      if (Overflow.is(labels) && one.total() > 0) {
        side.overflowed.add(Overflow.applicationOf(labels));
      }
    });
    side.warnings = client.warnings();
    return side;
  }

  private void bound(Map<String, String> labels, int count, Panes panes) throws IOException {
    labels.forEach((name, value) -> labelChars += name.length() + value.length());
    if ((long) count * panes.size() > MAX_CELLS || labelChars > MAX_LABEL_CHARS) {
      throw new IOException(
          "the answer is too large: more than "
              + count
              + " series; use a selector, or a longer --pane");
    }
  }

  private static Map<String, String> key(
      SortedMap<String, String> labels, Map<String, String> renamed, Set<String> ignored) {
    Map<String, String> key = new TreeMap<>();
    labels.forEach((name, value) -> {
      String other = renamed.getOrDefault(name, name);
      if (!ignored.contains(other)) {
        key.put(other, value);
      }
    });
    return key;
  }

  /** Returns the series by their labels. */
  Map<Map<String, String>, CountedSeries> series() {
    return series;
  }

  double total() {
    return series.values().stream().mapToDouble(CountedSeries::total).sum();
  }

  /** Returns the panes in which a series restarted. */
  BitSet restarts() {
    return restarts;
  }

  /** Returns whether a limit moved spans of this application to an overflow series. */
  boolean hasOverflowed(String application) {
    return overflowed.contains(application) || overflowed.contains(Overflow.ALL);
  }

  /** Returns whether no series has a sample of the time before. */
  boolean isNew() {
    return known == 0;
  }

  List<String> warnings() {
    return warnings;
  }
}
