package org.traceetl.perf.systest.ozhera;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.traceetl.testkit.Prometheus;
import tools.jackson.databind.JsonNode;

/** OzHera's metrics in a Prometheus, queried as OzHera's dashboards do. */
final class PrometheusCounts {
  /** The interval over which dashboards sum deltas. */
  static final int STEP_SECONDS = 30;

  private final Prometheus prometheus;
  private final Temporality temporality;

  PrometheusCounts(URI prometheus, Temporality temporality) {
    this.prometheus = new Prometheus(prometheus);
    this.temporality = temporality;
  }

  /**
   * Returns metric names with the prefix. Creation times, a series in older versions, are omitted.
   */
  List<String> names(String prefix) throws IOException, InterruptedException {
    List<String> names = new ArrayList<>();
    for (JsonNode name : prometheus.data("/api/v1/label/__name__/values")) {
      if (name.asString().startsWith(prefix) && !name.asString().endsWith("_created")) {
        names.add(name.asString());
      }
    }
    return names;
  }

  /** Returns the total of each series of a metric, over all servers. */
  Map<MetricSample, Double> totals(String name, Duration since)
      throws IOException, InterruptedException {
    Map<MetricSample, Double> totals = new HashMap<>();
    instant(temporality.totals(name, since))
        .forEach((labels, value) -> totals.put(MetricSample.of(name, labels), value));
    return totals;
  }

  /** Returns the value of an expression for each set of labels. */
  Map<Map<String, String>, Double> instant(String expression)
      throws IOException, InterruptedException {
    Map<Map<String, String>, Double> values = new HashMap<>();
    for (Prometheus.Sample sample : prometheus.query(expression)) {
      values.put(withoutName(sample.labels()), sample.value());
    }
    return values;
  }

  /**
   * Returns the sum of a chart's points. Each point covers the {@value #STEP_SECONDS} seconds
   * before it.
   *
   * @param firstSeconds time of the first point, seconds since 1970
   */
  Map<Map<String, String>, Double> chart(String expression, long firstSeconds, long lastSeconds)
      throws IOException, InterruptedException {
    String path =
        "/api/v1/query_range?query="
            + Prometheus.encode(expression)
            + "&start="
            + firstSeconds
            + "&end="
            + lastSeconds
            + "&step="
            + STEP_SECONDS;
    Map<Map<String, String>, Double> sums = new HashMap<>();
    for (JsonNode series : prometheus.data(path).path("result")) {
      double sum = 0;
      for (JsonNode point : series.path("values")) {
        sum += Prometheus.number(point);
      }
      sums.put(withoutName(Prometheus.labels(series)), sum);
    }
    return sums;
  }

  /** Returns the last scrape of each server by its address, seconds since 1970. */
  Map<String, Double> lastScrapes() throws IOException, InterruptedException {
    Map<String, Double> times = new TreeMap<>();
    instant("timestamp(up)").forEach((labels, time) -> times.put(labels.get("instance"), time));
    return times;
  }

  /** Returns a server's last successful scrape up to a time, seconds since 1970; NaN for none. */
  double lastSuccess(String instance, double bySeconds) throws IOException, InterruptedException {
    double newest = Double.NaN;
    String path =
        "/api/v1/query?query=" + Prometheus.encode("up{instance=\"" + instance + "\"}[1h]");
    for (JsonNode series : prometheus.data(path).path("result")) {
      for (JsonNode point : series.path("values")) {
        double time = point.get(0).asDouble();
        if (time <= bySeconds && Prometheus.number(point) == 1 && !(time <= newest)) {
          newest = time;
        }
      }
    }
    return newest;
  }

  private static Map<String, String> withoutName(Map<String, String> labels) {
    labels.remove("__name__");
    return labels;
  }
}
