package org.traceetl.perf.demand;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.traceetl.testkit.PageSample;

/** Sums of a page's counters over the values of labels. */
final class PageSums {
  private static final String CALLS = "traces_span_metrics_calls_total";

  private static final Set<String> OF_OVERFLOW = Set.of("service_name", "trace_etl_queue", "le");

  private PageSums() {}

  /** Returns the counters without the label, summed; durations in nanoseconds. */
  static SortedMap<String, Long> without(String label, List<PageSample> page) {
    return sums(page, labels -> labels.remove(label));
  }

  /** Returns the counters with only those labels that overflow series have, summed. */
  static SortedMap<String, Long> totals(List<PageSample> page) {
    return sums(page, labels -> labels.keySet().retainAll(OF_OVERFLOW));
  }

  private static SortedMap<String, Long> sums(
      List<PageSample> page, Consumer<SortedMap<String, String>> change) {
    SortedMap<String, Long> sums = new TreeMap<>();
    for (PageSample sample : page) {
      if (!sample.name().endsWith("_created")) {
        SortedMap<String, String> labels = new TreeMap<>(sample.labels());
        change.accept(labels);
        sums.merge(sample.name() + labels, value(sample), Long::sum);
      }
    }
    return sums;
  }

  private static long value(PageSample sample) {
    return Math.round(sample.value() * (sample.name().endsWith("_sum") ? 1e6 : 1));
  }

  /** Returns the calls of each series that has not the value. */
  static Map<String, Long> callsExcept(String label, String value, List<PageSample> page) {
    Map<String, Long> calls = new TreeMap<>();
    for (PageSample sample : page) {
      if (sample.name().equals(CALLS) && !value.equals(sample.labels().get(label))) {
        calls.put(sample.series(), value(sample));
      }
    }
    return calls;
  }

  /** Returns the sum of the calls of the series that have the value. */
  static long callsOf(String label, String value, List<PageSample> page) {
    return page.stream()
        .filter(sample -> sample.name().equals(CALLS))
        .filter(sample -> value.equals(sample.labels().get(label)))
        .mapToLong(PageSums::value)
        .sum();
  }
}
