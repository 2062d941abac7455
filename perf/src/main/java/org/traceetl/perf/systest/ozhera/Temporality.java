package org.traceetl.perf.systest.ozhera;

import java.time.Duration;

/** What the values of the servers' pages are, and how Prometheus adds them up. */
enum Temporality {
  DELTA {
    @Override
    String name(String metric) {
      return metric;
    }

    @Override
    String overTime(String name, Duration since) {
      return "sum_over_time(" + name + "[" + since.toSeconds() + "s])";
    }

    @Override
    String besides(String metric) {
      return "";
    }
  },

  /** Raw values: the last one of each series, without the extrapolation of {@code increase}. */
  CUMULATIVE {
    @Override
    String name(String metric) {
      return metric.replace(WITHOUT_METHOD, "");
    }

    @Override
    String overTime(String name, Duration since) {
      return "last_over_time(" + name + "[" + since.toSeconds() + "s])";
    }

    @Override
    String besides(String metric) {
      return ", outcome, trace_etl_queue"
          + (metric.matches(".*_http(Client)?Error_total") ? "" : ", errorCode")
          + (metric.contains(WITHOUT_METHOD) ? ", methodName" : "");
    }
  };

  private static final String WITHOUT_METHOD = "_without_methodName";

  /** What the pages call the metric whose sums are one of OzHera's. */
  abstract String name(String metric);

  /** All that was ever added to each series on the pages. */
  abstract String overTime(String name, Duration since);

  /** Labels that OzHera's metric does not have, after a comma. */
  abstract String besides(String metric);

  /** All that was ever added to each of OzHera's series. */
  String totals(String metric, Duration since) {
    return "sum without (instance, job"
        + besides(metric)
        + ") ("
        + overTime(name(metric), since)
        + ")";
  }
}
