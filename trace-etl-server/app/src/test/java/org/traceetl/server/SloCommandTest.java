package org.traceetl.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.testkit.Programs;

/**
 * What {@code slo} prints. The rules of the document's example are those that the promtool tests in
 * {@code deploy/prometheus/tests} read; run with {@code -Dtraceetl.docs.write=true} to write them.
 */
class SloCommandTest {
  private static final Path ROOT = Path.of("../..");
  private static final Path GENERATED =
      ROOT.resolve("deploy/prometheus/tests/trace-etl-slo.rules.yaml");
  private static final Pattern EXAMPLE = Pattern.compile("(?s)```yaml\n(.*?)```");

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @TempDir private Path directory;

  private int run(String rules, String... options) throws Exception {
    Path file = directory.resolve("rules.yaml");
    Files.writeString(file, rules);
    return TraceEtlServer.run(
        new PrintWriter(out),
        new PrintWriter(err, true),
        Stream.concat(Stream.of("slo", "--rules", file.toString()), Arrays.stream(options))
            .toArray(String[]::new));
  }

  @Test
  void rulesOfTheDocumentsExampleAreThoseThatPromtoolTests() throws Exception {
    Matcher example = EXAMPLE.matcher(Files.readString(ROOT.resolve("docs/slo.md")));
    assertThat(example.find()).isTrue();

    assertThat(run(example.group(1))).as(err.toString()).isZero();

    if (Boolean.getBoolean("traceetl.docs.write")) {
      Files.writeString(GENERATED, out.toString());
    }
    assertThat(out.toString()).isEqualTo(Files.readString(GENERATED));
  }

  @Test
  void promtoolAcceptsTheRules() throws Exception {
    Programs.Result result =
        Programs.run(
            List.of(
                Programs.require("promtool"),
                "check",
                "rules",
                "--lint-fatal",
                GENERATED.toString()),
            new byte[0]);

    assertThat(result.exitCode()).as(result.output()).isZero();
  }

  @Test
  void applicationHasTheLabelOfTheProfile() throws Exception {
    String rules = "revision: 1\ndefaults.objectives: [{name: a, target: 99}]\n";

    assertThat(run(rules, "--trace-etl.metrics.profile=tempo")).as(err.toString()).isZero();

    assertThat(out.toString())
        .contains("sum by (service) (rate(", "\"$1\", \"service\", \"(.*)\"")
        .doesNotContain("service_name");
  }

  @Test
  void ratesFollowTheWindowAndAreAtLeastOne() throws Exception {
    String rules = "revision: 1\ndefaults.objectives: [{name: a, target: 99.95, window: %s}]\n";

    run(rules.formatted("90d"));
    assertThat(out.toString())
        .contains("> (43.2 * 0.0005)", "> (18 * 0.0005)", "> (9 * 0.0005)", "> (3 * 0.0005)");
    run(rules.formatted("7d"));
    assertThat(out.toString())
        .contains("> (3.36 * 0.0005)", "> (1.4 * 0.0005)", "> (1 * 0.0005)", "ratio_rate7d");
  }

  @Test
  void invalidFileIsRefusedWithKeyValueAndLine() throws Exception {
    assertThat(run("revision: 1\ndefaults.objectives: [{name: a, target: 100}]\n")).isEqualTo(2);
    assertThat(err.toString())
        .contains("defaults.objectives[0]")
        .contains("= 100.0: must be the percent of good events, above 0 and below 100")
        .contains("rules.yaml:2");
    assertThat(run("revision: 1\n")).isEqualTo(2);
    assertThat(err.toString()).contains("rules.yaml: must have objectives, in defaults or in");
    assertThat(out.toString()).isEmpty();
  }
}
