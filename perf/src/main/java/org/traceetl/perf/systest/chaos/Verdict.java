package org.traceetl.perf.systest.chaos;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Compares the counts with the spans sent.
 *
 * @param lost spans missing, over all series
 * @param doubled spans too many, over all series; if only the sum of durations of a series is
 *     wrong, one span is in {@code lost} or {@code doubled}
 * @param missingIds slow and failed spans that the index does not have
 * @param repeatedIds documents that are repeated or unexpected
 * @param resets how often a series decreased in Prometheus
 * @param differences a line for each series that differs, and for some of the documents
 */
record Verdict(
    long lost,
    long doubled,
    long missingIds,
    long repeatedIds,
    long resets,
    List<String> differences) {
  private static final double RELATIVE_ERROR = 1e-9;
  private static final int DOCUMENTS_TOLD = 20;

  /** The counts found: spans, sums of durations, decreases of counters, and documents by name. */
  record Found(
      Map<SeriesKey, Double> calls,
      Map<SeriesKey, Double> durationCounts,
      Map<SeriesKey, Double> durationSumsMillis,
      Map<SeriesKey, Double> resets,
      Map<String, Integer> documents) {}

  static Verdict of(Truth truth, Found found) {
    List<String> differences = new ArrayList<>();
    Map<SeriesKey, Double> calls = found.calls;
    Map<SeriesKey, Double> counts = found.durationCounts;
    Map<SeriesKey, Double> sums = found.durationSumsMillis;
    Map<SeriesKey, Truth.Total> expected = truth.series();
    Set<SeriesKey> all = new TreeSet<>(expected.keySet());
    all.addAll(calls.keySet());
    all.addAll(counts.keySet());
    long lost = 0;
    long doubled = 0;
    for (SeriesKey series : all) {
      Truth.Total total = expected.getOrDefault(series, new Truth.Total(0, 0));
      double sum = sums.getOrDefault(series, 0.0);
      double expectedSum = total.nanos() / 1e6;
      long called = Math.round(calls.getOrDefault(series, 0.0)) - total.spans();
      long counted = Math.round(counts.getOrDefault(series, 0.0)) - total.spans();
      boolean sumDiffers = Math.abs(sum - expectedSum) > expectedSum * RELATIVE_ERROR;
      if (called == 0 && counted == 0 && !sumDiffers) {
        continue;
      }
      long less = Math.max(0, -Math.min(called, counted));
      long more = Math.max(0, Math.max(called, counted));
      if (called == 0 && counted == 0) {
        less = sum < expectedSum ? 1 : 0;
        more = 1 - less;
      }
      lost += less;
      doubled += more;
      differences.add(
          String.format(
              Locale.ROOT,
              "%s: sent %d, calls %+d, duration count %+d, duration sum %+.3f ms",
              series,
              total.spans(),
              called,
              counted,
              sum - expectedSum));
    }
    found.resets.forEach((series, times) ->
        differences.add(String.format(Locale.ROOT, "%s: decreased %.0f times", series, times)));
    return new Verdict(
        lost,
        doubled,
        missing(truth.documents(), found.documents, differences),
        repeated(truth.documents(), found.documents, differences),
        Math.round(found.resets.values().stream().mapToDouble(Double::doubleValue).sum()),
        List.copyOf(differences));
  }

  private static long missing(
      Set<String> expected, Map<String, Integer> copies, List<String> differences) {
    Set<String> missing = new HashSet<>(expected);
    missing.removeAll(copies.keySet());
    missing.stream()
        .limit(DOCUMENTS_TOLD)
        .forEach(id -> differences.add("document " + id + ": missing in the index"));
    return missing.size();
  }

  private static long repeated(
      Set<String> expected, Map<String, Integer> copies, List<String> differences) {
    Map<String, Integer> tooMany = new TreeMap<>();
    copies.forEach((id, times) -> {
      int more = expected.contains(id) ? times - 1 : times;
      if (more > 0) {
        tooMany.put(id, more);
      }
    });
    tooMany.entrySet().stream()
        .limit(DOCUMENTS_TOLD)
        .forEach(one ->
            differences.add("document " + one.getKey() + ": " + one.getValue() + " too many"));
    return tooMany.values().stream().mapToLong(Integer::longValue).sum();
  }

  boolean isExact() {
    return lost == 0 && doubled == 0 && missingIds == 0 && repeatedIds == 0 && resets == 0;
  }

  String line(int faults) {
    return String.format(
        Locale.ROOT,
        "faults=%d lost=%d doubled=%d missing_ids=%d repeated_ids=%d",
        faults,
        lost,
        doubled,
        missingIds,
        repeatedIds);
  }
}
