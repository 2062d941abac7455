package org.traceetl.server.features.preview;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.traceetl.server.log.Printable;

/** Prints a comparison of rules for people. */
final class RulesTable {
  private static final int MAX_LABEL = 32;
  private static final int MAX_VALUE = 60;
  private static final int COLUMN = 17;
  private static final String[] UNITS = {"B", "kB", "MB", "GB"};

  private final RulesComparison comparison;
  private final PrintWriter out;

  RulesTable(RulesComparison comparison, PrintWriter out) {
    this.comparison = comparison;
    this.out = out;
  }

  void print() {
    RulesCost inForce = comparison.inForce();
    RulesCost proposed = comparison.proposed();
    out.printf(
        Locale.ROOT,
        "%s: %d of %d messages (%d refused), %d spans (%d filtered), %d queues%n",
        Printable.of(comparison.application(), MAX_VALUE),
        comparison.applicationMessages(),
        comparison.messages(),
        comparison.refused(),
        comparison.spans() + comparison.filtered(),
        comparison.filtered(),
        comparison.queues());
    out.println(
        inForce.isConfiguration()
            ? "In force is the configuration: no published rules were found."
            : "In force: " + inForce.rules() + ".");
    if (!comparison.complete()) {
      out.println("The preview is full: the figures cover only the messages read so far.");
    }
    out.println();
    row("", RulesCost::rules);
    row("series", cost -> figure(cost, cost.series()));
    row("series on all queues", cost -> figure(cost, cost.seriesOnQueues()));
    row("  above the limit of a queue", cost -> figure(cost, cost.overflowing()));
    row("queues above the limit", cost -> figure(cost, cost.fullQueues()));
    row("memory without native buckets", cost -> shown(cost, true, bytes(cost.memoryBytes())));
    row("OpenMetrics page", cost -> shown(cost, true, bytes(cost.pageBytes())));
    row("samples of a text page", cost -> figure(cost, cost.samples()));
    measures(inForce);
    measures(comparison.proposed());
    labels(inForce);
    labels(proposed);
    out.printf(
        Locale.ROOT,
        "%nThe limit of a queue: trace-etl.series.max-per-application = %d%n",
        comparison.maxPerApplication());
    explain(inForce);
    explain(proposed);
    out.flush();
  }

  private void row(String name, Function<RulesCost, String> figure) {
    columns(name, figure.apply(comparison.inForce()), figure.apply(comparison.proposed()));
    out.println();
  }

  private void measures(RulesCost cost) {
    if (cost.measures().isEmpty()) {
      return;
    }
    out.println();
    columns("measures of " + cost.rules(), "series", "on all queues");
    out.println("  memory, page, samples");
    for (RulesCost.Measure measure : cost.measures()) {
      columns(
          Printable.of(measure.metric(), MAX_LABEL),
          shown(cost, measure.estimated(), Long.toString(measure.series())),
          shown(cost, measure.estimated(), Long.toString(measure.seriesOnQueues())));
      out.println(
          "  "
              + shown(cost, measure.estimated(), bytes(measure.memoryBytes()))
              + ", "
              + shown(cost, measure.estimated(), bytes(measure.pageBytes()))
              + ", "
              + shown(cost, measure.estimated(), Long.toString(measure.samples())));
    }
  }

  private void labels(RulesCost cost) {
    out.println();
    columns(cost.rules(), "values", "series without it");
    out.println("  values with most series");
    for (RulesCost.Label label : cost.labels()) {
      columns(
          Printable.of(label.label(), MAX_LABEL),
          shown(cost, label.valuesEstimated(), Long.toString(label.values())),
          shown(cost, label.seriesWithoutEstimated(), Long.toString(label.seriesWithout())));
      out.println(
          "  "
              + label.top().stream()
                  .map(value ->
                      Printable.of(value.value(), MAX_VALUE)
                          + " ("
                          + figure(cost, value.series())
                          + ")")
                  .collect(Collectors.joining(", ")));
    }
  }

  private void columns(String name, String first, String second) {
    out.printf(
        Locale.ROOT,
        "%-" + MAX_LABEL + "s  %" + COLUMN + "s  %" + COLUMN + "s",
        name,
        first,
        second);
  }

  private void explain(RulesCost cost) {
    if (!cost.estimated()) {
      return;
    }
    String groups =
        String.format(
            Locale.ROOT,
            "Agents sent %d spans in groups without %s",
            cost.incompleteSpans(),
            String.join(", ", cost.lacking()));
    if (cost.errorFactor() == null) {
      out.printf(
          Locale.ROOT,
          "%n%s: unknown because of a missing sample. %s, and none of them whole.%n"
              + "Read more messages, or set detail.sample-ratio of the agents.%n",
          cost.rules(),
          groups);
    } else {
      out.printf(
          Locale.ROOT,
          "%n~ %s: estimated from a sample. %s, and %d of them also whole.%n"
              + "Numbers of series and values may be too high or too low by a factor of about %.1f;"
              + " series above the limit, a difference, by more.%n",
          cost.rules(),
          groups,
          cost.wholeSpans(),
          cost.errorFactor());
    }
  }

  private static String figure(RulesCost cost, long figure) {
    return shown(cost, true, Long.toString(figure));
  }

  /**
   * Returns a figure with a mark if it is estimated.
   *
   * @param needsAll whether it depends on dimensions that groups may lack
   */
  private static String shown(RulesCost cost, boolean needsAll, String figure) {
    if (!needsAll || !cost.estimated()) {
      return figure;
    }
    return cost.errorFactor() == null ? "unknown" : "~" + figure;
  }

  private static String bytes(long bytes) {
    double shown = bytes;
    int unit = 0;
    while (shown >= 1_000 && unit < UNITS.length - 1) {
      shown /= 1_000;
      unit++;
    }
    return String.format(Locale.ROOT, unit == 0 ? "%.0f %s" : "%.1f %s", shown, UNITS[unit]);
  }
}
