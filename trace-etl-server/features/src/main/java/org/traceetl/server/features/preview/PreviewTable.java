package org.traceetl.server.features.preview;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.log.Printable;

/** Prints a preview of all applications for people. */
final class PreviewTable {
  private static final int MAX_APPLICATIONS_SHOWN = 50;
  private static final int MAX_NAME = 48;

  private final Preview preview;
  private final SeriesConfig config;
  private final Map<String, ApplicationEstimate> tallies;
  private final PrintWriter out;

  PreviewTable(Preview preview, PrintWriter out) {
    this.preview = preview;
    config = preview.config();
    tallies = preview.estimates();
    this.out = out;
  }

  void print() {
    out.printf(
        Locale.ROOT,
        "%d messages (%d refused), %d spans (%d filtered), %d applications%n",
        preview.messages(),
        preview.refused(),
        sum(ApplicationEstimate::spans) + preview.filtered(),
        preview.filtered(),
        tallies.size());
    if (preview.isFull()) {
      out.println("The preview is full: the figures cover only the messages read so far.");
    }
    out.println();
    List<Map.Entry<String, ApplicationEstimate>> applications = new ArrayList<>(tallies.entrySet());
    applications.sort(
        Comparator.comparingLong(
                (Map.Entry<String, ApplicationEstimate> entry) -> entry.getValue().series())
            .reversed()
            .thenComparing(Map.Entry::getKey));
    StringBuilder head = new StringBuilder();
    head.append(row("application", "spans", "names", "series without", "series"));
    config
        .dimensions()
        .forEach(d -> head.append("  ").append(d.label()).append(" (series without it)"));
    out.println(head);
    line(
        "all",
        sum(ApplicationEstimate::spans),
        sum(ApplicationEstimate::names),
        sum(ApplicationEstimate::plain),
        sum(ApplicationEstimate::series),
        i ->
            figure(
                sum(tally -> tally.values(i)),
                tallies.values().stream().anyMatch(tally -> tally.lacks(i))),
        i ->
            figure(
                sum(tally -> tally.without(i)),
                tallies.values().stream().anyMatch(tally -> tally.lacksOther(i))),
        sum(ApplicationEstimate::incomplete) > 0);
    for (Map.Entry<String, ApplicationEstimate> entry :
        applications.subList(0, Math.min(applications.size(), MAX_APPLICATIONS_SHOWN))) {
      ApplicationEstimate tally = entry.getValue();
      line(
          entry.getKey(),
          tally.spans(),
          tally.names(),
          tally.plain(),
          tally.series(),
          i -> figure(tally.values(i), tally.lacks(i)),
          i -> figure(tally.without(i), tally.lacksOther(i)),
          tally.incomplete() > 0);
    }
    int more = applications.size() - MAX_APPLICATIONS_SHOWN;
    if (more > 0) {
      out.println("and " + more + " applications with fewer series");
    }
    explainEstimates();
    warn(applications);
  }

  private static String figure(long figure, boolean isEstimate) {
    return (isEstimate ? "~" : "") + figure;
  }

  private void explainEstimates() {
    long incomplete = sum(ApplicationEstimate::incomplete);
    if (incomplete == 0) {
      return;
    }
    out.printf(
        Locale.ROOT,
        "%n~ from a sample: agents sent %d spans in groups without %s, and %d of them also whole.%n"
            + "A key that only one of these has counts as the square root of spans per whole one.%n",
        incomplete,
        preview.isMapped()
            ? "their attributes"
            : lacking(i -> tallies.values().stream().anyMatch(tally -> tally.lacks(i))),
        sum(ApplicationEstimate::samples));
    long without =
        tallies.values().stream()
            .filter(tally -> tally.incomplete() > 0 && tally.samples() == 0)
            .count();
    if (without > 0) {
      out.printf(
          Locale.ROOT,
          "Too few keys are known of applications without a whole one: %d. Read more messages, or"
              + " set detail.sample-ratio of the agents.%n",
          without);
    }
  }

  private String lacking(IntPredicate lacks) {
    return IntStream.range(0, config.dimensions().size())
        .filter(lacks)
        .mapToObj(i -> config.dimensions().get(i).label())
        .collect(Collectors.joining(", "));
  }

  private void warn(List<Map.Entry<String, ApplicationEstimate>> applications) {
    long above =
        applications.stream()
            .filter(entry -> entry.getValue().series() > config.maxPerApplication())
            .count();
    if (above > 0) {
      out.printf(
          Locale.ROOT,
          "%nApplications with more series than trace-etl.series.max-per-application = %d,"
              + " the limit on one queue: %d%n",
          config.maxPerApplication(),
          above);
    }
    if (sum(ApplicationEstimate::series) > config.max()) {
      out.printf(
          Locale.ROOT,
          "%nThe series exceed trace-etl.series.max = %d, the limit of one server.%n",
          config.max());
    }
  }

  /** A figure of a dimension. */
  private interface Figure {
    String of(int dimension);
  }

  private void line(
      String application,
      long spans,
      long itsNames,
      long plain,
      long series,
      Figure ofValues,
      Figure without,
      boolean isEstimate) {
    StringBuilder line =
        new StringBuilder(
            row(
                Printable.of(application, MAX_NAME),
                Long.toString(spans),
                Long.toString(itsNames),
                Long.toString(plain),
                figure(series, isEstimate)));
    for (int i = 0; i < config.dimensions().size(); i++) {
      line.append("  ").append(ofValues.of(i)).append(" (").append(without.of(i)).append(')');
    }
    out.println(line);
  }

  private static String row(String application, String... figures) {
    StringBuilder row =
        new StringBuilder(String.format(Locale.ROOT, "%-" + MAX_NAME + "s", application));
    for (String figure : figures) {
      row.append(String.format(Locale.ROOT, "  %14s", figure));
    }
    return row.toString();
  }

  private long sum(ToLongFunction<ApplicationEstimate> figure) {
    return tallies.values().stream().mapToLong(figure).sum();
  }
}
