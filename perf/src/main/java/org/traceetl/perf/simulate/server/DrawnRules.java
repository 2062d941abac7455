package org.traceetl.perf.simulate.server;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.traceetl.perf.simulate.check.MeasureTruth;
import org.traceetl.perf.simulate.check.SeriesKey;

/**
 * The rules of some applications, as a file has them.
 *
 * @param applications the rules of each by its name
 */
record DrawnRules(Map<String, OfApplication> applications) {
  /**
   * Buckets and units as YAML; the first one has none. Servers have room for three bounds, those of
   * their configuration.
   */
  private static final List<String> FORMS =
      List.of(
          "",
          "    histogram: {bounds-millis: [100, 1000]}\n    metrics: {unit: seconds}\n",
          "    histogram: {bounds-millis: [100, 250, 1000], kind: both, native-schema: 2}\n",
          "    histogram: {kind: native}\n    metrics: {unit: seconds}\n",
          "    metrics: {unit: seconds}\n");

  /** By name of their metric: measures as YAML, of which a rule has one. */
  private static final Map<String, List<String>> MEASURES =
      new TreeMap<>(
          Map.of(
              MeasureTruth.AMOUNT,
              List.of(
                  "name: sim.amount, type: histogram, attribute: amount, bounds: [1, 10],"
                      + " dimensions: [{attribute: region}]",
                  "name: sim.amount, type: histogram, attribute: amount, bounds: [10, 100],"
                      + " dimensions: [{attribute: region}]"),
              MeasureTruth.DURATION,
              List.of(
                  "name: sim.duration, kinds: [server], bounds: [0.01, 1],"
                      + " dimensions: [{attribute: region}]"),
              MeasureTruth.REQUESTS,
              List.of(
                  "name: sim.requests, value: one, kinds: [client, producer],"
                      + " requires: [amount], labels: [{label: from, value: rules}]")));

  /**
   * The rules of an application.
   *
   * @param region whether the region of spans is a dimension
   * @param form one of {@link #FORMS}
   * @param measures by name of their metric
   */
  record OfApplication(boolean region, String form, Map<String, String> measures) {
    String text() {
      return "    series: {dimensions: ["
          + (region ? "{attribute: " + SeriesKey.REGION + "}" : "")
          + "]}\n"
          + form
          + (measures.isEmpty()
              ? ""
              : measures.values().stream()
                  .map(measure -> "      - {" + measure + "}\n")
                  .collect(Collectors.joining("", "    measures:\n", "")));
    }
  }

  static DrawnRules none() {
    return new DrawnRules(Map.of());
  }

  /** Returns rules that add the region only. */
  static DrawnRules ofRegion(List<String> applications) {
    return drawn(applications, () -> new OfApplication(true, "", Map.of()));
  }

  /** Draws dimensions, forms and measures. */
  static DrawnRules draw(List<String> applications, SplittableRandom random) {
    return drawn(
        applications,
        () -> {
          boolean region = random.nextBoolean();
          String form = FORMS.get(random.nextInt(FORMS.size()));
          Map<String, String> measures = new TreeMap<>();
          MEASURES.forEach((name, variants) -> {
            int drawn = random.nextInt(variants.size() + 1);
            if (drawn < variants.size()) {
              measures.put(name, variants.get(drawn));
            }
          });
          return new OfApplication(region, form, measures);
        });
  }

  private static DrawnRules drawn(List<String> applications, Supplier<OfApplication> draw) {
    Map<String, OfApplication> drawn = new TreeMap<>();
    applications.forEach(application -> drawn.put(application, draw.get()));
    return new DrawnRules(drawn);
  }

  /** Returns whether any application has the region as a dimension. */
  boolean addRegion() {
    return applications.values().stream().anyMatch(OfApplication::region);
  }

  /** Returns the metrics of measures, by application. */
  Map<String, Set<String>> measures() {
    Map<String, Set<String>> measures = new TreeMap<>();
    applications.forEach((application, rules) ->
        measures.put(application, new TreeSet<>(rules.measures().keySet())));
    return measures;
  }

  /** Returns the file with a revision. */
  String text(long revision) {
    List<String> lines = new ArrayList<>();
    lines.add("revision: " + revision + "\n");
    if (!applications.isEmpty()) {
      lines.add("applications:\n");
    }
    applications.forEach(
        (application, rules) -> lines.add("  - application: " + application + "\n" + rules.text()));
    return String.join("", lines);
  }
}
