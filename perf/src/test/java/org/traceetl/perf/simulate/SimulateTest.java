package org.traceetl.perf.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

final class SimulateTest {
  private static final String PLAN =
      "seed=1 agents=1 servers=1 brokers=1 replicas=1 queues=2 rate=10";

  @TempDir private Path folder;

  private final StringWriter errors = new StringWriter();

  private final StringWriter output = new StringWriter();

  @Test
  void aRunWithoutTimeIsRefused() {
    assertThat(run("--hours", "0")).isEqualTo(2);
    assertThat(errors.toString()).contains("--hours = 0.0: must be more than 0");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--hours=NaN",
        "--for=0s",
        "--for=-5m",
        "--for=long",
        "--shrink-for=-1s",
        "--faults-per-minute=NaN",
        "--agents=0",
        "--replay=missing.txt",
        "--from=missing.zip",
        "--timeline=missing/timeline.txt",
        "--record=missing/state.zip"
      })
  void aWrongOptionIsRefusedWithItsValue(String option) {
    assertThat(run(option)).isEqualTo(2);
    assertThat(errors.toString()).contains(option.replace("=", " = "));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0:00:01.000 quake target=agent-1",
        "0:00:01.000 drain target=foo lasts-millis=9",
        "0:00:01.000 drain target=foo-1 lasts-millis=9",
        "0:00:01.000 drain target=agent-9 lasts-millis=9",
        "0:00:01.000 drain target=agent-1 lasts-millis=99999999999999999999",
        "0:00:01.000 drain target=agent-1 lasts-millis=59000"
      })
  void aFaultThatCannotBeReadIsRefusedWithItsLine(String line) throws IOException {
    assertThat(replay(PLAN, line, "0:01:00.000 quiet")).isEqualTo(2);
    assertThat(errors.toString()).contains("plan.txt").contains(line);
  }

  @ParameterizedTest
  @ValueSource(strings = {"agents", "agents=0", "seed=99999999999999999999", "rate=99999999999"})
  void aPlanThatCannotBeReadIsRefusedWithItsLine(String word) throws IOException {
    String line = PLAN + " " + word;

    assertThat(replay(line, "0:01:00.000 quiet")).isEqualTo(2);
    assertThat(errors.toString()).contains("plan.txt").contains(line);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--seed=2",
        "--runs=1",
        "--for=1m",
        "--from=release-1.zip",
        "--agents=1",
        "--servers=1",
        "--brokers=1",
        "--replicas=1",
        "--queues=2",
        "--rate=10",
        "--faults-per-minute=1.0",
        "--hours=1.0"
      })
  void anOptionThatAReplayWouldIgnoreIsRefused(String option) throws IOException {
    write(PLAN, "0:01:00.000 quiet");

    assertThat(run("--replay", plan().toString(), option)).isEqualTo(2);
    assertThat(errors.toString())
        .contains(option.replace("=", " = "), "must be absent with --replay");
  }

  @Test
  void aStateThatAScheduleNamesIsRefusedWithBothFiles() throws IOException {
    assertThat(replay(PLAN, "from=missing.zip", "0:01:00.000 quiet")).isEqualTo(2);
    assertThat(errors.toString())
        .contains("--replay = " + plan() + ": from = missing.zip: cannot be read");
  }

  @Test
  void aFailedRunPrintsItsSeedAndAFileToReplay() throws IOException {
    assertThat(run("--seed=7", "--hours=0.1", "--shrink-for=0s")).isEqualTo(1);

    assertThat(output.toString())
        .contains("seed 7")
        .contains("FAILED: it fails")
        .contains("Smallest schedule that still fails: attempts=0 faults=")
        .doesNotContain("Searching");
    Matcher file = Pattern.compile("--replay (\\S+)").matcher(output.toString());
    assertThat(file.find()).isTrue();
    assertThat(Files.readAllLines(Path.of(file.group(1))).getFirst()).startsWith("seed=7 ");
    Files.delete(Path.of(file.group(1)));
  }

  private int replay(String... lines) throws IOException {
    write(lines);
    return run("--replay", plan().toString());
  }

  private void write(String... lines) throws IOException {
    Files.write(plan(), List.of(lines));
  }

  private Path plan() {
    return folder.resolve("plan.txt");
  }

  private int run(String... arguments) {
    Simulate command =
        new Simulate((plan, progress, watchdog) ->
            new Outcome(
                plan,
                List.of("it fails"),
                "0",
                1,
                Duration.ZERO,
                0,
                0,
                new TreeMap<>(),
                List.of()));
    return new CommandLine(command)
        .setErr(new PrintWriter(errors))
        .setOut(new PrintWriter(output))
        .execute(arguments);
  }
}
