package org.traceetl.perf.systest.chaos;

import java.util.Comparator;

/** The labels that distinguish series of span metrics. */
record SeriesKey(String service, String span, String kind, String status, String interval)
    implements Comparable<SeriesKey> {
  private static final Comparator<SeriesKey> ORDER =
      Comparator.comparing(SeriesKey::service)
          .thenComparing(SeriesKey::span)
          .thenComparing(SeriesKey::kind)
          .thenComparing(SeriesKey::status)
          .thenComparing(SeriesKey::interval);

  @Override
  public int compareTo(SeriesKey other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return service + " / " + span + " / " + kind + " / " + status + " / " + interval;
  }
}
