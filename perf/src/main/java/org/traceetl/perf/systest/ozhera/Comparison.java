package org.traceetl.perf.systest.ozhera;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Compares several Prometheus with the truth: each series, and the values that dashboards show.
 *
 * @param rows a line for each metric, then for each query of the dashboards
 * @param series number of series in the truth; the buckets of a histogram are one
 * @param differing samples and dashboard values that differ from the truth, over all Prometheus
 * @param lost spans missing from the counters and histograms that differ
 * @param doubled spans too many in them
 * @param differences a line for each difference
 */
record Comparison(
    List<Row> rows, int series, int differing, long lost, long doubled, List<String> differences) {
  private static final double RELATIVE_ERROR = 1e-9;
  private static final double[] QUANTILES = {0.5, 0.95, 0.99};

  /**
   * A metric or a query.
   *
   * @param answers how many values were compared for each Prometheus
   * @param truth the sum over the series; of quantiles the maximum
   * @param found the same of each Prometheus
   * @param differing how many values differ from the truth
   */
  record Row(String what, int answers, double truth, List<Double> found, int differing) {}

  static Comparison of(
      Oracle oracle,
      List<PrometheusCounts> all,
      Temporality temporality,
      Duration since,
      long firstSecond,
      long lastSecond)
      throws IOException, InterruptedException {
    Builder builder = new Builder(oracle, all, temporality, since);
    builder.samples();
    if (temporality == Temporality.DELTA) {
      // Charts of counters show increases, which Prometheus extrapolates.
      builder.charts(firstSecond, lastSecond);
    }
    builder.quantiles();
    return builder.build();
  }

  boolean isEqual() {
    return differing == 0;
  }

  /** Compares metrics, charts and quantiles, and collects the rows. */
  private static final class Builder {
    private final Map<MetricSample, Double> truth;
    private final Map<MetricSample, Oracle.Observations> histograms;
    private final List<PrometheusCounts> all;
    private final Temporality temporality;
    private final Duration since;
    private final List<Row> rows = new ArrayList<>();
    private final List<String> differences = new ArrayList<>();
    private int differing;
    private long lost;
    private long doubled;

    Builder(Oracle oracle, List<PrometheusCounts> all, Temporality temporality, Duration since) {
      this.temporality = temporality;
      truth = oracle.samples();
      histograms = oracle.histograms();
      this.all = all;
      this.since = since;
    }

    Comparison build() {
      Set<MetricSample> series =
          truth.keySet().stream()
              .filter(
                  sample -> sample.name().endsWith("_total") || sample.name().endsWith("_count"))
              .collect(Collectors.toSet());
      return new Comparison(
          List.copyOf(rows), series.size(), differing, lost, doubled, List.copyOf(differences));
    }

    /** Compares every sample of every metric that the truth or a Prometheus has. */
    void samples() throws IOException, InterruptedException {
      Map<String, Map<Object, Double>> byName = new TreeMap<>();
      truth.forEach((sample, value) ->
          byName.computeIfAbsent(sample.name(), ignored -> new HashMap<>()).put(sample, value));
      for (PrometheusCounts prometheus : all) {
        for (String name : prometheus.names(OzheraInstallation.ENV + "_")) {
          byName.putIfAbsent(name, Map.of());
        }
      }
      for (Map.Entry<String, Map<Object, Double>> metric : byName.entrySet()) {
        List<Map<Object, Double>> found = new ArrayList<>();
        for (PrometheusCounts prometheus : all) {
          found.add(new HashMap<>(prometheus.totals(metric.getKey(), since)));
        }
        boolean spans = metric.getKey().endsWith("_total") || metric.getKey().endsWith("_count");
        compare(metric.getKey(), metric.getValue(), found, spans);
      }
    }

    /** Compares charts by application, of errors by code, and of calls by server and method. */
    void charts(long first, long last) throws IOException, InterruptedException {
      Set<String> names =
          truth.keySet().stream()
              .map(MetricSample::name)
              .filter(name -> !name.endsWith("_bucket"))
              .collect(Collectors.toCollection(TreeSet::new));
      for (String name : names) {
        chart(name, List.of("application"), first, last);
        if (name.matches(".*_http(Client)?Error_total")) {
          chart(name, List.of("application", "errorCode"), first, last);
        }
        if (name.contains("_aop") || name.contains("_dubbo")) {
          chart(name, List.of("serverIp", "methodName"), first, last);
        }
      }
    }

    private void chart(String name, List<String> labels, long first, long last)
        throws IOException, InterruptedException {
      String expression =
          String.format(
              "sum(sum_over_time(%s[%ds])) by (%s)",
              name, PrometheusCounts.STEP_SECONDS, String.join(", ", labels));
      Map<Object, Double> expected = new HashMap<>();
      truth.forEach((sample, value) -> {
        if (sample.name().equals(name)) {
          expected.merge(only(sample.labels(), labels::contains), value, Double::sum);
        }
      });
      List<Map<Object, Double>> found = new ArrayList<>();
      for (PrometheusCounts prometheus : all) {
        found.add(new HashMap<>(prometheus.chart(expression, first, last)));
      }
      compare(expression, expected, found, false);
    }

    /** Compares quantiles by application over the whole run. */
    void quantiles() throws IOException, InterruptedException {
      Map<String, Map<Map<String, String>, Oracle.Observations>> byName = new TreeMap<>();
      histograms.forEach((histogram, given) ->
          byName
              .computeIfAbsent(histogram.name(), ignored -> new HashMap<>())
              .computeIfAbsent(
                  only(histogram.labels(), "application"::equals),
                  ignored -> new Oracle.Observations(given.boundsMillis(), new ArrayList<>()))
              .millis()
              .addAll(given.millis()));
      for (var histogram : byName.entrySet()) {
        for (double q : QUANTILES) {
          quantile(histogram.getKey(), histogram.getValue(), q);
        }
      }
    }

    private void quantile(
        String name, Map<Map<String, String>, Oracle.Observations> given, double q)
        throws IOException, InterruptedException {
      String expression =
          String.format(
              Locale.ROOT,
              "histogram_quantile(%s, sum(%s) by (le, application))",
              q,
              temporality.overTime(temporality.name(name + "_bucket"), since));
      Map<Object, Double> expected = new HashMap<>();
      given.forEach((labels, observations) -> {
        double[] bounds = observations.boundsMillis();
        expected.put(
            labels,
            Quantile.ofBuckets(
                q,
                bounds,
                Arrays.stream(bounds).map(observations::atMost).toArray(),
                observations.millis().size()));
      });
      List<Map<Object, Double>> found = new ArrayList<>();
      for (PrometheusCounts prometheus : all) {
        Map<Map<String, String>, Double> answers = prometheus.instant(expression);
        found.add(new HashMap<>(answers));
        given.forEach((labels, observations) -> {
          double answer = answers.getOrDefault(labels, Double.NaN);
          if (!Quantile.isInBucketOf(
              q,
              observations.boundsMillis(),
              observations.millis().stream().mapToDouble(Double::doubleValue).toArray(),
              answer)) {
            differing++;
            differences.add(
                expression
                    + " "
                    + labels
                    + ": "
                    + answer
                    + " is not in the bucket of the exact quantile");
          }
        });
      }
      compare(expression, expected, found, false);
    }

    private static Map<String, String> only(Map<String, String> labels, Predicate<String> wanted) {
      return labels.entrySet().stream()
          .filter(label -> wanted.test(label.getKey()))
          .collect(
              Collectors.toMap(
                  Map.Entry::getKey, Map.Entry::getValue, (one, other) -> one, TreeMap::new));
    }

    /**
     * @param spans whether a difference is a number of spans
     */
    private void compare(
        String what, Map<Object, Double> expected, List<Map<Object, Double>> found, boolean spans) {
      int before = differing;
      for (int i = 0; i < found.size(); i++) {
        Set<Object> keys =
            new TreeSet<>((one, other) -> one.toString().compareTo(other.toString()));
        keys.addAll(expected.keySet());
        keys.addAll(found.get(i).keySet());
        for (Object key : keys) {
          double truthful = expected.getOrDefault(key, 0.0);
          double answer = found.get(i).getOrDefault(key, 0.0);
          if (Math.abs(answer - truthful) > Math.abs(truthful) * RELATIVE_ERROR) {
            differing++;
            if (spans) {
              lost += Math.round(Math.max(0, truthful - answer));
              doubled += Math.round(Math.max(0, answer - truthful));
            }
            differences.add(
                String.format(
                    Locale.ROOT,
                    "%ds: %s %s: %s instead of %s",
                    OzheraInstallation.SCRAPE_SECONDS.get(i),
                    what,
                    key,
                    answer,
                    truthful));
          }
        }
      }
      boolean quantile = what.startsWith("histogram_quantile");
      rows.add(
          new Row(
              what,
              expected.size(),
              whole(expected, quantile),
              found.stream().map(one -> whole(one, quantile)).toList(),
              differing - before));
    }

    private static double whole(Map<Object, Double> values, boolean greatest) {
      return greatest
          ? values.values().stream().mapToDouble(Double::doubleValue).max().orElse(Double.NaN)
          : values.values().stream().mapToDouble(Double::doubleValue).sum();
    }
  }
}
