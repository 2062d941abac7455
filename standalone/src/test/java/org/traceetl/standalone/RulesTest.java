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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.traceetl.server.ozhera.SpanType;
import org.traceetl.server.ozhera.TypeMetrics;
import org.traceetl.testkit.Programs;

/** Tests the rules for Prometheus with promtool, and that the documents have each alert. */
final class RulesTest {
  private static final Path ROOT = Path.of(System.getProperty("basedir", "."), "..");
  private static final Path DIRECTORY = ROOT.resolve("deploy/prometheus");
  private static final Path OZHERA = ROOT.resolve("deploy/ozhera");
  private static final String TEST = ".test.yaml";
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

  static List<String> tests() throws IOException {
    List<String> tests = new ArrayList<>(files(DIRECTORY.resolve("tests"), TEST));
    tests.addAll(files(OZHERA.resolve("tests"), TEST));
    return tests;
  }

  @ParameterizedTest
  @MethodSource("tests")
  void promtoolTestsOfTheRulesPass(String file) throws Exception {
    Programs.Result result =
        Programs.run(List.of(Programs.require("promtool"), "test", "rules", file), new byte[0]);

    assertThat(result.exitCode()).as(result.output()).isZero();
  }

  @Test
  void everyAlertIsTestedBothWaysAndHasItsEntryInTheRunbook() throws Exception {
    String rules = Files.readString(DIRECTORY.resolve("trace-etl-alerts.rules.yaml"));
    StringBuilder tests = new StringBuilder();
    for (String file : files(DIRECTORY.resolve("tests"), TEST)) {
      tests.append(Files.readString(Path.of(file)));
    }
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
      List<String> found =
          files.map(Path::toString).filter(one -> one.endsWith(end)).sorted().toList();
      assertThat(found).isNotEmpty();
      return found;
    }
  }
}
