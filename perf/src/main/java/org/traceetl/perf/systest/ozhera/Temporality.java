package org.traceetl.perf.systest.ozhera;

import java.time.Duration;

/** The temporality of the servers' pages, and how Prometheus sums their values. */
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

  /** Uses the last raw value of each series, without the extrapolation of {@code increase}. */
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

  /** Returns the pages' metric whose sums equal OzHera's metric. */
  abstract String name(String metric);

  /** Returns the query for the total of each series on the pages. */
  abstract String overTime(String name, Duration since);

  /** Returns labels that OzHera's metric does not have, after a comma. */
  abstract String besides(String metric);

  /** Returns the query for the total of each of OzHera's series. */
  String totals(String metric, Duration since) {
    return "sum without (instance, job"
        + besides(metric)
        + ") ("
        + overTime(name(metric), since)
        + ")";
  }
}
