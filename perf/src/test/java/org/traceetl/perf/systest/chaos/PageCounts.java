package org.traceetl.perf.systest.chaos;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.traceetl.testkit.PageSample;

/** The sums of the counts on the pages of all servers. */
record PageCounts(
    Map<SeriesKey, Double> calls,
    Map<SeriesKey, Double> durationCounts,
    Map<SeriesKey, Double> durationSumsMillis) {
  static PageCounts of(List<String> pages) {
    PageCounts all = new PageCounts(new TreeMap<>(), new TreeMap<>(), new TreeMap<>());
    for (String page : pages) {
      for (PageSample sample : PageSample.of(page)) {
        Map<SeriesKey, Double> counts =
            switch (sample.name()) {
              case "traces_span_metrics_calls_total" -> all.calls;
              case "traces_span_metrics_duration_milliseconds_count" -> all.durationCounts;
              case "traces_span_metrics_duration_milliseconds_sum" -> all.durationSumsMillis;
              default -> null;
            };
        if (counts != null) {
          counts.merge(SeriesKey.of(sample.labels()), sample.value(), Double::sum);
        }
      }
    }
    return all;
  }
}
