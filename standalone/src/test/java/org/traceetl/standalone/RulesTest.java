package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.traceetl.server.ozhera.SpanType;
import org.traceetl.server.ozhera.TypeMetrics;
import org.traceetl.testkit.Programs;

/** Tests the rules for Prometheus with promtool, and that the documents have each alert. */
final class RulesTest {
  private static final Path ROOT = Path.of(System.getProperty("basedir", "."), "..");
  private static final Path DIRECTORY = ROOT.resolve("deploy/prometheus");
  private static final Path OZHERA = ROOT.resolve("deploy/ozhera");
  private static final Pattern ALERT = Pattern.compile("(?m)^ +- alert: (\\w+)$");
  private static final Pattern ENTRY = Pattern.compile("(?m)^## (TraceEtl\\w+)$");
  private static final Pattern RUNBOOK = Pattern.compile("(?m)^ +runbook_url: (\\S+)$");

  @Test
  void promtoolAcceptsTheRules() throws Exception {
    List<String> command =
        new ArrayList<>(List.of(Programs.require("promtool"), "check", "rules", "--lint-fatal"));
    command.addAll(files(DIRECTORY, ".rules.yaml"));
    command.addAll(files(OZHERA, ".rules.yaml"));

    Programs.Result result = Programs.run(command, new byte[0]);

    assertThat(result.exitCode()).as(result.output()).isZero();
  }

  @Test
  void promtoolTestsOfTheRulesPass() throws Exception {
    List<String> command = new ArrayList<>(List.of(Programs.require("promtool"), "test", "rules"));
    command.addAll(files(DIRECTORY.resolve("tests"), ".test.yaml"));
    command.addAll(files(OZHERA.resolve("tests"), ".test.yaml"));

    Programs.Result result = Programs.run(command, new byte[0]);

    assertThat(result.exitCode()).as(result.output()).isZero();
  }

  @Test
  void everyAlertIsTestedBothWaysAndHasItsEntryInTheRunbook() throws Exception {
    String rules = Files.readString(DIRECTORY.resolve("trace-etl-alerts.rules.yaml"));
    String tests = Files.readString(DIRECTORY.resolve("tests/trace-etl-alerts.test.yaml"));
    String runbook = Files.readString(ROOT.resolve("docs/runbook.md"));
    List<String> alerts = all(ALERT, rules);

    assertThat(alerts).isNotEmpty().doesNotHaveDuplicates();
    for (String alert : alerts) {
      assertThat(tests)
          .contains("- name: " + alert + " fires\n", "- name: " + alert + " does not fire\n");
    }
    assertThat(all(RUNBOOK, rules))
        .isEqualTo(
            alerts.stream()
                .map(alert -> "docs/runbook.md#" + alert.toLowerCase(Locale.ROOT))
                .toList());
    assertThat(all(ENTRY, runbook)).containsExactlyElementsOf(alerts);
  }

  @Test
  void theRulesForCountersOfOzheraReadEachTypeOfSpans() throws Exception {
    String rules = Files.readString(OZHERA.resolve("trace-etl-ozhera.rules.yaml"));

    for (SpanType type : SpanType.values()) {
      TypeMetrics metrics = TypeMetrics.of(type);
      assertThat(rules)
          .contains(
              "(rate(staging_hera_" + metrics.total() + "_total[1m]))",
              "(rate(staging_hera_" + metrics.error() + "_total[1m]))",
              "(rate(staging_hera_" + metrics.durations() + "_bucket[1m]))");
    }
  }

  @Test
  void queriesForDeltasBecomeQueriesForCounters() throws Exception {
    String queries =
        """
        sum(sum_over_time(x_total{a=~\\"b|\\"}[30s])/30) / sum(sum_over_time(y_total[30s])/30)
        sum(sum_over_time(x_total{a="b"}[$interval])) by (application)
        histogram_quantile(0.99, sum(sum_over_time(x_without_methodName_bucket[30s])) by (le))
        """;

    Programs.Result result =
        Programs.run(
            List.of("sed", "-E", "-f", OZHERA.resolve("counters.sed").toString()),
            queries.getBytes(StandardCharsets.UTF_8));

    assertThat(result.output())
        .isEqualTo(
            """
            sum((rate(x_total{a=~\\"b|\\"}[1m]) * 30)/30) / sum((rate(y_total[1m]) * 30)/30)
            sum(increase(x_total{a="b"}[$interval])) by (application)
            histogram_quantile(0.99, sum((rate(x_bucket[1m]) * 30)) by (le))
            """);
  }

  private static List<String> all(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(match -> match.group(1)).toList();
  }

  private static List<String> files(Path directory, String end) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      List<String> found = files.map(Path::toString).filter(one -> one.endsWith(end)).toList();
      assertThat(found).isNotEmpty();
      return found;
    }
  }
}
