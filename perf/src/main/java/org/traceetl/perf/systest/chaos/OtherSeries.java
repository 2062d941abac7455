package org.traceetl.perf.systest.chaos;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.traceetl.testkit.PageSample;

/**
 * The series of spans of all applications but the one whose rules change, as servers' pages in
 * OpenMetrics show them. Each must keep its created timestamp, and its value must not decrease,
 * also on another server. Servers must show the label of the queue, and no series may be idle for
 * too long. Thread-safe.
 */
final class OtherSeries {
  private static final String PREFIX = "traces_span_metrics_";
  private static final String TOTAL = "calls_total";
  private static final String CREATED = "_created";

  /** A sample as the last page shows it. */
  private record Shown(double value, String server) {}

  /**
   * All series at one time.
   *
   * @param created when they were created, in seconds since 1970
   * @param calls their spans
   */
  private record Snapshot(Map<String, Shown> created, Map<String, Shown> calls) {}

  private final String changing;
  private final Map<String, Shown> created = new HashMap<>();
  private final Map<String, Shown> calls = new HashMap<>();
  private final Set<String> restarted = new TreeSet<>();

  /** Before the last change. */
  private Snapshot before = new Snapshot(Map.of(), Map.of());

  /**
   * @param changing the application whose rules change
   */
  OtherSeries(String changing) {
    this.changing = changing;
  }

  /** Reads a page of a server. */
  synchronized void read(String server, List<PageSample> page) {
    for (PageSample sample : page) {
      if (!sample.name().startsWith(PREFIX)
          || changing.equals(sample.labels().get("service_name"))) {
        continue;
      }
      if (sample.name().endsWith(CREATED)) {
        Shown last = created.put(sample.series(), new Shown(sample.value(), server));
        if (last != null && last.value != sample.value()) {
          restarted.add(sample.series());
        }
      } else if (sample.name().endsWith(TOTAL)) {
        Shown last = calls.put(sample.series(), new Shown(sample.value(), server));
        if (last != null && sample.value() < last.value) {
          restarted.add(sample.series());
        }
      }
    }
  }

  /** The rules change now. */
  synchronized void begin() {
    before = new Snapshot(Map.copyOf(created), Map.copyOf(calls));
  }

  /** Returns a line that compares the series with those before the last change. */
  synchronized String compared() {
    long same =
        before.created.entrySet().stream()
            .filter(each -> created.get(each.getKey()).value == each.getValue().value)
            .count();
    Map<String, Integer> servers = new TreeMap<>();
    before.calls.keySet().forEach(each -> servers.merge(calls.get(each).server, 1, Integer::sum));
    return String.format(
        Locale.ROOT,
        "series of other applications: %d of %d created timestamps as before, spans %.0f before and"
            + " %.0f after, by server %s",
        same,
        before.created.size(),
        sum(before.calls, before.calls.keySet()),
        sum(calls, before.calls.keySet()),
        servers);
  }

  private static double sum(Map<String, Shown> of, Set<String> series) {
    return series.stream().mapToDouble(each -> of.get(each).value).sum();
  }

  /** Returns the series that began again, or decreased. */
  synchronized Set<String> restarted() {
    return Set.copyOf(restarted);
  }

  synchronized String line() {
    return "other_series=" + calls.size() + " other_series_restarted=" + restarted.size();
  }
}
