package org.traceetl.perf.systest.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import org.traceetl.perf.bench.report.Durations;

/** The table of a run in Markdown. */
final class Report {
  private Report() {}

  static String of(
      String command,
      Duration run,
      long spans,
      int documents,
      long repeatedRequests,
      Director director,
      Moves moves,
      Verdicts verdicts,
      int faults,
      List<String> notRun) {
    List<String> lines = new ArrayList<>();
    lines.add("`" + command + "`");
    lines.add("");
    lines.add("| fault | times | duration (median, longest) | recovery (median, longest) |");
    lines.add("|---|--:|--:|--:|");
    for (FaultKind kind : FaultKind.values()) {
      List<Outcome> all =
          director.outcomes().stream().filter(outcome -> outcome.kind() == kind).toList();
      if (all.isEmpty()) {
        continue;
      }
      List<Outcome> recovered = all.stream().filter(one -> one.recoveredMillis() >= 0).toList();
      lines.add(
          String.format(
              Locale.ROOT,
              "| %s | %d | %s | %s |",
              kind.label(),
              all.size(),
              seconds(all, Outcome::heldMillis),
              seconds(recovered, Outcome::recoveredMillis)));
    }
    lines.add("");
    lines.add(
        "Recovery lasts from the end of the fault (from its start if other servers take over) until"
            + " each queue has one owner, the lag is gone and pages grow. Other faults may overlap"
            + " it.");
    lines.add("");
    lines.add("| measure | value |");
    lines.add("|---|--:|");
    lines.add(row("run", run.toSeconds() + " s"));
    lines.add(row("spans sent", Long.toString(spans)));
    lines.add(row("slow or failed spans", Integer.toString(documents)));
    lines.add(row("repeated requests", Long.toString(repeatedRequests)));
    lines.add(
        row(
            "time until an added server has queues",
            seconds(director.scaledUpMillis(), Long::longValue)));
    lines.add(row("changes of the agents' routing file", Long.toString(moves.reroutes())));
    lines.add(row("changes of the servers' file of rules", Long.toString(moves.rules())));
    lines.add(row("decisions on hotspots", Long.toString(moves.decisions())));
    lines.add(row("series counted on more than one queue", Long.toString(moves.series())));
    lines.add(row("counters that decreased", Long.toString(verdicts.counts().resets())));
    lines.add(row("panes of pushed series, compared", Long.toString(verdicts.panes().panes())));
    lines.add(
        row(
            "programs that ended unexpectedly, faults without effect",
            Integer.toString(director.surprises().size())));
    lines.add(row("recoveries not seen within 120 s", Integer.toString(director.late().size())));
    lines.add("");
    for (String kind : notRun) {
      lines.add("NOT RUN: " + kind);
      lines.add("");
    }
    lines.add("`" + verdicts.line(faults) + "`");
    return String.join("\n", lines) + "\n";
  }

  private static String row(String measure, String value) {
    return "| " + measure + " | " + value + " |";
  }

  private static <T> String seconds(List<T> from, ToLongFunction<T> millis) {
    if (from.isEmpty()) {
      return "–";
    }
    Durations all = new Durations();
    from.forEach(one -> all.add(TimeUnit.MILLISECONDS.toNanos(millis.applyAsLong(one))));
    return String.format(
        Locale.ROOT, "%.1f s, %.1f s", all.percentile(50) / 1e9, all.percentile(100) / 1e9);
  }
}
