package org.traceetl.perf.simulate.check;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.traceetl.testkit.PageSample;

/**
 * The values that pages must show in measures while rules add these to some applications. A round
 * is the time between two quiet points. If all servers had the same measures in force throughout a
 * round, the spans of the round count exactly; otherwise each counts or not, and may count without
 * a region, because an agent without the newest demand does not send it.
 */
public final class MeasureTruth {
  /** Histogram of the spans' attribute {@value #ATTRIBUTE}, by region. */
  public static final String AMOUNT = "sim_amount";

  /** Histogram of the durations of spans of kind SERVER, by region. */
  public static final String DURATION = "sim_duration_seconds";

  /** Counter of the spans of kind CLIENT or PRODUCER that have {@value #ATTRIBUTE}. */
  public static final String REQUESTS = "sim_requests_total";

  /** Attribute of spans, a number in most of them. */
  public static final String ATTRIBUTE = "amount";

  /** A bound that all buckets of a metric have, in its unit. */
  private static final Map<String, Double> BOUNDS = Map.of(AMOUNT, 10.0, DURATION, 0.01);

  private static final Set<String> CALLERS = Set.of("SPAN_KIND_CLIENT", "SPAN_KIND_PRODUCER");
  private static final double RELATIVE_ERROR = 1e-9;
  private static final double NANOS_PER_SECOND = 1e9;

  private record Key(String application, String metric, String region) implements Comparable<Key> {
    @Override
    public int compareTo(Key other) {
      return toString().compareTo(other.toString());
    }
  }

  /** Values: how many, how many of them up to the bound, and their sum. */
  private static final class Values {
    double count;
    double low;
    double sum;

    /** How many are in the bucket of all values. */
    double all;

    void add(double value, double bound) {
      count++;
      all++;
      low += value <= bound ? 1 : 0;
      sum += value;
    }

    void add(Values more) {
      count += more.count;
      all += more.all;
      low += more.low;
      sum += more.sum;
    }
  }

  private static final class Total {
    /** As shown at the last quiet point. */
    Values settled = new Values();

    Values certain = new Values();

    /** Those that may count as well. */
    Values uncertain = new Values();
  }

  private final Predicate<String> hasRules;
  private final Map<Key, Total> totals = new TreeMap<>();
  private boolean wereCompared;

  /**
   * @param hasRules whether rules may have measures of an application
   */
  public MeasureTruth(Predicate<String> hasRules) {
    this.hasRules = hasRules;
  }

  /**
   * Adds a span.
   *
   * @param amount its attribute; empty for none
   * @param certain whether the span counts
   */
  public void add(SeriesKey series, long durationNanos, String amount, boolean certain) {
    if (!hasRules.test(series.service())) {
      return;
    }
    if (!amount.isEmpty() && isNumber(amount)) {
      add(series, AMOUNT, series.region(), Double.parseDouble(amount), certain);
    }
    if (series.kind().equals("SPAN_KIND_SERVER")) {
      add(series, DURATION, series.region(), durationNanos / NANOS_PER_SECOND, certain);
    }
    if (!amount.isEmpty() && CALLERS.contains(series.kind())) {
      add(series, REQUESTS, "", 1, certain);
    }
  }

  /** Measures leave out texts, and numbers below 0. */
  private static boolean isNumber(String amount) {
    return amount.chars().allMatch(each -> each == '.' || each >= '0' && each <= '9');
  }

  private void add(SeriesKey series, String metric, String region, double value, boolean certain) {
    totals.computeIfAbsent(new Key(series.service(), metric, ""), unused -> new Total());
    Total total =
        totals.computeIfAbsent(new Key(series.service(), metric, region), unused -> new Total());
    (certain ? total.certain : total.uncertain).add(value, BOUNDS.getOrDefault(metric, 0.0));
  }

  /** Returns what may count without a region, if some agent may not have sent it. */
  private Total ofAllRegions(Key key, Values settled) {
    Total all = new Total();
    all.settled = settled;
    all.certain = sum(key, totals, each -> each.certain);
    all.uncertain = sum(key, totals, each -> each.uncertain);
    return all;
  }

  /** Returns the sum over all regions of a metric. */
  private static <T> Values sum(Key key, Map<Key, T> of, Function<T, Values> values) {
    Values sum = new Values();
    of.forEach((other, each) -> {
      if (other.application.equals(key.application) && other.metric.equals(key.metric)) {
        sum.add(values.apply(each));
      }
    });
    return sum;
  }

  /**
   * Compares the pages of all servers, and what ended, with what must be shown.
   *
   * @param inForce by application, the metrics that all servers had in force throughout the round;
   *     null if some server may have had others
   */
  public void compare(
      Collection<List<PageSample>> pages,
      Map<String, Set<String>> inForce,
      Consumer<String> differences) {
    Map<Key, Values> shown = shown(pages);
    Map<Key, Values> all = Map.copyOf(shown);
    totals.forEach((key, total) -> {
      Values found = shown.remove(key);
      boolean counts =
          inForce == null || inForce.getOrDefault(key.application, Set.of()).contains(key.metric);
      wereCompared |= inForce != null && counts && total.certain.count > 0;
      boolean mayLackRegion = inForce == null && key.region.isEmpty();
      Total possible = mayLackRegion ? ofAllRegions(key, total.settled) : total;
      compare(key, possible, found == null ? new Values() : found, inForce != null, counts)
          .forEach(differences);
      if (mayLackRegion) {
        // With or without its region, a span counts once.
        Total sums = ofAllRegions(key, sum(key, totals, each -> each.settled));
        compare(key, sums, sum(key, all, each -> each), false, counts).forEach(differences);
      }
    });
    shown.forEach((key, found) ->
        differences.accept(
            String.format(Locale.ROOT, "%s: shows %.0f values of no span", key, found.count)));
  }

  private static List<String> compare(
      Key key, Total total, Values found, boolean exact, boolean counts) {
    double least = exact && counts ? 1 : 0;
    double most = counts ? 1 : 0;
    StringBuilder text = new StringBuilder();
    if (!key.metric.equals(REQUESTS)) {
      compare(
          " count",
          total.settled.count + least * total.certain.count,
          total.settled.count + most * (total.certain.count + total.uncertain.count),
          found.count,
          text);
      compare(" bucket of all values", found.count, found.count, found.all, text);
      compare(
          " values up to " + BOUNDS.get(key.metric),
          total.settled.low + least * total.certain.low,
          total.settled.low + most * (total.certain.low + total.uncertain.low),
          found.low,
          text);
    }
    compare(
        " sum",
        total.settled.sum + least * total.certain.sum,
        total.settled.sum + most * (total.certain.sum + total.uncertain.sum),
        found.sum,
        text);
    return text.isEmpty() ? List.of() : List.of(key + ":" + text);
  }

  private static void compare(
      String what, double least, double most, double shown, StringBuilder text) {
    double error = RELATIVE_ERROR * most;
    // A value that is not a number is not within them.
    if (!(shown >= least - error && shown <= most + error)) {
      text.append(
          String.format(Locale.ROOT, "%s %.6f instead of %.6f to %.6f;", what, shown, least, most));
    }
  }

  /** Takes what is shown as certain, after a comparison without differences. */
  public void settle(Collection<List<PageSample>> pages) {
    Map<Key, Values> shown = shown(pages);
    totals.forEach((key, total) -> {
      total.settled = shown.getOrDefault(key, new Values());
      total.certain = new Values();
      total.uncertain = new Values();
    });
  }

  /** Returns whether spans of any measure were compared exactly. */
  public boolean wereCompared() {
    return wereCompared;
  }

  private static Map<Key, Values> shown(Collection<List<PageSample>> pages) {
    Map<Key, Values> shown = new TreeMap<>();
    for (List<PageSample> page : pages) {
      for (PageSample sample : page) {
        add(sample, shown);
      }
    }
    return shown;
  }

  private static void add(PageSample sample, Map<Key, Values> shown) {
    String name = sample.name();
    if (name.equals(REQUESTS)) {
      values(sample, REQUESTS, shown).sum += sample.value();
      return;
    }
    BOUNDS.forEach((metric, bound) -> {
      if (name.equals(metric + "_count")) {
        values(sample, metric, shown).count += sample.value();
      } else if (name.equals(metric + "_sum")) {
        values(sample, metric, shown).sum += sample.value();
      } else if (name.equals(metric + "_bucket")) {
        String le = sample.labels().get("le");
        if (le.equals("+Inf")) {
          values(sample, metric, shown).all += sample.value();
        } else if (Double.parseDouble(le) == bound) {
          values(sample, metric, shown).low += sample.value();
        }
      }
    });
  }

  private static Values values(PageSample sample, String metric, Map<Key, Values> shown) {
    SeriesKey series = SeriesKey.of(sample.labels());
    return shown.computeIfAbsent(
        new Key(series.service(), metric, series.region()), unused -> new Values());
  }
}
