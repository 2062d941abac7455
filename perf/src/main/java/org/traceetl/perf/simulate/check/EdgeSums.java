package org.traceetl.perf.simulate.check;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.traceetl.perf.simulate.check.EdgeSeries.Measure;
import org.traceetl.testkit.PageSample;

/** The values that series of edges must have: what counts, and what may count as well. */
final class EdgeSums {
  private static final double RELATIVE_ERROR = 1e-9;
  private static final double NANOS_PER_SECOND = 1e9;

  /** By bucket, without those before; a counter has one. */
  private static final class Range {
    final long[] certain;
    final long[] possible;
    long certainNanos;
    long possibleNanos;

    Range(int buckets) {
      certain = new long[buckets];
      possible = new long[buckets];
    }

    void add(Range other) {
      for (int i = 0; i < certain.length; i++) {
        certain[i] += other.certain[i];
        possible[i] += other.possible[i];
      }
      certainNanos += other.certainNanos;
      possibleNanos += other.possibleNanos;
    }

    boolean isExact() {
      return Arrays.stream(possible).allMatch(count -> count == 0);
    }

    /** Takes what is shown as certain, less what another range has of it. */
    void settle(Shown shown, Range other) {
      double before = 0;
      for (int i = 0; i < certain.length; i++) {
        certain[i] = Math.round(shown.buckets[i] - before) - other.certain[i];
        before = shown.buckets[i];
      }
      certainNanos = Math.round(shown.seconds * NANOS_PER_SECOND) - other.certainNanos;
      Arrays.fill(possible, 0);
      possibleNanos = 0;
    }
  }

  /** What pages show of a series; buckets include those before. */
  private static final class Shown {
    final double[] buckets;
    double count;
    double seconds;

    Shown(int buckets) {
      this.buckets = new double[buckets];
    }
  }

  private final double[] boundsSeconds;
  private final Map<EdgeSeries, Range> ranges = new TreeMap<>();

  /**
   * @param boundsSeconds of the pages' buckets, without infinity
   */
  EdgeSums(double[] boundsSeconds) {
    this.boundsSeconds = boundsSeconds;
  }

  private int buckets(Measure measure) {
    return measure.isHistogram() ? boundsSeconds.length + 1 : 1;
  }

  private int bucket(double seconds) {
    int bucket = 0;
    while (bucket < boundsSeconds.length && seconds > boundsSeconds[bucket]) {
      bucket++;
    }
    return bucket;
  }

  private Range range(EdgeSeries series) {
    return ranges.computeIfAbsent(series, absent -> new Range(buckets(series.measure())));
  }

  /**
   * Adds one.
   *
   * @param nanos its duration; 0 for a counter
   * @param certain whether it counts; otherwise it may count
   */
  void add(EdgeSeries series, long nanos, boolean certain) {
    Range range = range(series);
    int bucket = series.measure().isHistogram() ? bucket(nanos / NANOS_PER_SECOND) : 0;
    if (certain) {
      range.certain[bucket]++;
      range.certainNanos += nanos;
    } else {
      range.possible[bucket]++;
      range.possibleNanos += nanos;
    }
  }

  void addAll(EdgeSums others) {
    others.ranges.forEach((series, range) -> range(series).add(range));
  }

  boolean isEmpty() {
    return ranges.isEmpty();
  }

  /** Compares the pages of all servers, read at one time, with these values. */
  void compare(Collection<List<PageSample>> pages, Consumer<String> differences) {
    Map<EdgeSeries, Shown> shown = shown(pages);
    var all = new TreeSet<>(ranges.keySet());
    all.addAll(shown.keySet());
    for (EdgeSeries series : all) {
      int buckets = buckets(series.measure());
      String difference =
          difference(
              series,
              ranges.getOrDefault(series, new Range(buckets)),
              shown.getOrDefault(series, new Shown(buckets)));
      if (!difference.isEmpty()) {
        differences.accept(series + ":" + difference);
      }
    }
  }

  private Map<EdgeSeries, Shown> shown(Collection<List<PageSample>> pages) {
    Map<EdgeSeries, Shown> shown = new TreeMap<>();
    for (List<PageSample> page : pages) {
      for (PageSample sample : page) {
        Measure measure = Measure.of(sample.name());
        if (measure != null) {
          EdgeSeries series = EdgeSeries.of(measure, sample);
          add(sample, shown.computeIfAbsent(series, absent -> new Shown(buckets(measure))));
        }
      }
    }
    addEnds(shown);
    return shown;
  }

  private void add(PageSample sample, Shown to) {
    if (sample.name().endsWith("_sum")) {
      to.seconds += sample.value();
    } else if (sample.name().endsWith("_count")) {
      to.count += sample.value();
    } else {
      String bound = sample.labels().get("le");
      boolean isLast = bound == null || bound.equals("+Inf");
      to.buckets[isLast ? to.buckets.length - 1 : bucket(Double.parseDouble(bound))] +=
          sample.value();
    }
  }

  /** Adds, by server and client, the ends that pages show as paired or unpaired. */
  private static void addEnds(Map<EdgeSeries, Shown> shown) {
    for (Map.Entry<EdgeSeries, Shown> one : List.copyOf(shown.entrySet())) {
      EdgeSeries series = one.getKey();
      boolean requests = series.measure() == Measure.REQUESTS;
      boolean unpaired = series.measure() == Measure.UNPAIRED;
      boolean isPair =
          series.type().equals(EdgeSeries.CALL) || series.type().equals(EdgeSeries.MESSAGE);
      if (requests && isPair || unpaired && series.client().isEmpty()) {
        addEnd(Measure.CALLEES, "", series.server(), one.getValue(), shown);
      }
      boolean isVirtual =
          series.type().equals(EdgeSeries.VIRTUAL) && !series.client().equals(EdgeTruth.USER);
      if (requests && (isVirtual || series.type().equals(EdgeSeries.CALL))
          || unpaired && series.server().isEmpty()) {
        addEnd(Measure.CALLERS, series.client(), "", one.getValue(), shown);
      }
    }
  }

  private static void addEnd(
      Measure measure, String client, String server, Shown its, Map<EdgeSeries, Shown> to) {
    to.computeIfAbsent(EdgeSeries.ofEnds(measure, client, server), absent -> new Shown(1))
            .buckets[0] +=
        its.buckets[0];
  }

  private static String difference(EdgeSeries series, Range range, Shown shown) {
    StringBuilder text = new StringBuilder();
    long least = 0;
    long more = 0;
    for (int i = 0; i < range.certain.length; i++) {
      least += range.certain[i];
      more += range.possible[i];
      Truth.difference(
          range.certain.length == 1 ? "" : " bucket " + i, least, more, shown.buckets[i], text);
    }
    if (series.measure().isHistogram()) {
      Truth.difference(" count", least, more, shown.count, text);
      double leastSeconds = range.certainNanos / NANOS_PER_SECOND;
      double mostSeconds = (range.certainNanos + range.possibleNanos) / NANOS_PER_SECOND;
      double error = RELATIVE_ERROR * mostSeconds;
      // A value that is not a number is not within them.
      if (!(shown.seconds >= leastSeconds - error && shown.seconds <= mostSeconds + error)) {
        text.append(
            String.format(
                Locale.ROOT,
                " sum is %.9f s instead of %.9f to %.9f;",
                shown.seconds,
                leastSeconds,
                mostSeconds));
      }
    }
    return text.toString();
  }

  /**
   * Takes what is shown as certain, after a comparison without differences, where it is exact.
   *
   * @param others were compared together with these
   */
  void settle(EdgeSums others, Collection<List<PageSample>> pages) {
    Map<EdgeSeries, Shown> shown = shown(pages);
    ranges.forEach((series, range) -> {
      int buckets = buckets(series.measure());
      Range other = others.ranges.getOrDefault(series, new Range(buckets));
      if (!range.isExact() && other.isExact()) {
        range.settle(shown.getOrDefault(series, new Shown(buckets)), other);
      }
    });
  }
}
