package org.traceetl.perf.systest.ozhera;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A metric's name with its labels. As in Prometheus, empty labels are absent and bucket bounds are
 * equal if their numbers are.
 */
record MetricSample(String name, SortedMap<String, String> labels)
    implements Comparable<MetricSample> {
  static MetricSample of(String name, Map<String, String> labels) {
    SortedMap<String, String> sorted = new TreeMap<>();
    labels.forEach((label, value) -> {
      if (value != null && !value.isEmpty()) {
        sorted.put(label, label.equals("le") ? bound(value) : value);
      }
    });
    return new MetricSample(name, sorted);
  }

  private static String bound(String le) {
    return le.equals("+Inf") ? le : Double.toString(Double.parseDouble(le));
  }

  /** Returns the series with a name suffix and one more label. */
  MetricSample with(String nameEnd, String label, String value) {
    SortedMap<String, String> more = new TreeMap<>(labels);
    more.put(label, value);
    return new MetricSample(name + nameEnd, more);
  }

  @Override
  public int compareTo(MetricSample other) {
    int byName = name.compareTo(other.name);
    return byName != 0 ? byName : labels.toString().compareTo(other.labels.toString());
  }

  @Override
  public String toString() {
    return name + labels;
  }
}
