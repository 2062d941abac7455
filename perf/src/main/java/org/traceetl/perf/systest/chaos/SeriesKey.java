package org.traceetl.perf.systest.chaos;

import java.util.Comparator;
import java.util.Map;

/** The labels that distinguish series of span metrics. */
record SeriesKey(String service, String span, String kind, String status, String interval)
    implements Comparable<SeriesKey> {
  private static final Comparator<SeriesKey> ORDER =
      Comparator.comparing(SeriesKey::service)
          .thenComparing(SeriesKey::span)
          .thenComparing(SeriesKey::kind)
          .thenComparing(SeriesKey::status)
          .thenComparing(SeriesKey::interval);

  /** Returns the key of a series with these labels. */
  static SeriesKey of(Map<String, String> labels) {
    return new SeriesKey(
        labels.getOrDefault("service_name", ""),
        labels.getOrDefault("span_name", ""),
        labels.getOrDefault("span_kind", ""),
        labels.getOrDefault("status_code", ""),
        labels.getOrDefault(SentSpan.INTERVAL, ""));
  }

  @Override
  public int compareTo(SeriesKey other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return service + " / " + span + " / " + kind + " / " + status + " / " + interval;
  }
}
