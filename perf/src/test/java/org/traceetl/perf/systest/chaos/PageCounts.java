package org.traceetl.perf.systest.chaos;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the pages of all servers have counted, added up. */
record PageCounts(
    Map<SeriesKey, Double> calls,
    Map<SeriesKey, Double> durationCounts,
    Map<SeriesKey, Double> durationSumsMillis) {
  private static final Pattern SAMPLE =
      Pattern.compile("^traces_span_metrics_([a-z_]+)\\{(.*)} ([^ ]+)$", Pattern.MULTILINE);
  private static final Pattern LABEL = Pattern.compile("([a-z_]+)=\"([^\"]*)\"");

  static PageCounts of(List<String> pages) {
    PageCounts all = new PageCounts(new TreeMap<>(), new TreeMap<>(), new TreeMap<>());
    for (String page : pages) {
      Matcher sample = SAMPLE.matcher(page);
      while (sample.find()) {
        Map<SeriesKey, Double> counts =
            switch (sample.group(1)) {
              case "calls_total" -> all.calls;
              case "duration_milliseconds_count" -> all.durationCounts;
              case "duration_milliseconds_sum" -> all.durationSumsMillis;
              default -> null;
            };
        if (counts != null) {
          counts.merge(series(sample.group(2)), Double.parseDouble(sample.group(3)), Double::sum);
        }
      }
    }
    return all;
  }

  private static SeriesKey series(String text) {
    Map<String, String> labels = new TreeMap<>();
    Matcher label = LABEL.matcher(text);
    while (label.find()) {
      labels.put(label.group(1), label.group(2));
    }
    return new SeriesKey(
        labels.getOrDefault("service_name", ""),
        labels.getOrDefault("span_name", ""),
        labels.getOrDefault("span_kind", ""),
        labels.getOrDefault("status_code", ""),
        labels.getOrDefault(SentSpan.INTERVAL, ""));
  }
}
