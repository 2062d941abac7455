package org.traceetl.agent.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.agent.disk.Disk;

final class RunClocksTest {
  @TempDir private Path directory;

  private static AgentIdentity run(long epoch) {
    return new AgentIdentity(7, 8, epoch);
  }

  private RunClocks start(long epoch, long offsetMillis) throws IOException {
    try (StateDirectory state = StateDirectory.open(directory, Disk.SYSTEM)) {
      return RunClocks.start(state, run(epoch), offsetMillis);
    }
  }

  private Path file() {
    return directory.resolve("run-clocks");
  }

  @Test
  void downTimeIsTheGrowthOfTheDifference() throws IOException {
    assertThat(start(1, 0).downMillis(run(1))).isZero();
    start(2, 500);
    RunClocks third = start(3, 600_500);

    assertThat(third.downMillis(run(1))).isEqualTo(600_500);
    assertThat(third.downMillis(run(2))).isEqualTo(600_000);
    assertThat(third.downMillis(run(3))).isZero();
    assertThat(file()).hasContent("1 0\n2 500\n3 600500\n");
  }

  @Test
  void aClockThatWasSetBackAddsNothing() throws IOException {
    start(1, 0);
    start(2, 90_000);
    RunClocks third = start(3, -3_600_000);

    assertThat(third.downMillis(run(1))).isZero();
    assertThat(third.downMillis(run(2))).isZero();
    assertThat(start(4, 91_000).downMillis(run(2))).isEqualTo(1_000);
  }

  @Test
  void runsWithoutLineHaveNoDownTime() throws IOException {
    start(1, 0);
    start(4, 1_000);
    RunClocks fifth = start(5, 3_000);

    assertThat(fifth.downMillis(run(3))).isZero();
    assertThat(fifth.downMillis(run(4))).isEqualTo(2_000);
    assertThat(fifth.downMillis(new AgentIdentity(7, 9, 4))).isZero();
    assertThat(fifth.downMillis(new AgentIdentity(6, 8, 4))).isZero();
  }

  @Test
  void linesOfLaterRunsAreReplaced() throws IOException {
    Files.writeString(file(), "2 5\n3 6\n4 7\n");

    RunClocks third = start(3, 10);

    assertThat(third.downMillis(run(2))).isEqualTo(5);
    assertThat(third.downMillis(run(4))).isZero();
    assertThat(file()).hasContent("2 5\n3 10\n");
  }

  @Test
  void theNewestRunsAreKept() throws IOException {
    for (int epoch = 1; epoch <= 70; epoch++) {
      start(epoch, epoch);
    }

    List<String> lines = Files.readAllLines(file());

    assertThat(lines).hasSize(64).startsWith("7 7").endsWith("70 70");
    assertThat(start(71, 80).downMillis(run(8))).isEqualTo(72);
    assertThat(start(72, 80).downMillis(run(8))).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "x",
        "1",
        "1 2 3",
        "-1 2",
        "1 2\n\n2 3",
        "1 1234567890123456789",
        "1  2",
        "1 +2",
        "1 2 ",
      })
  void aDamagedFileIsReplaced(String content) throws IOException {
    Files.writeString(file(), "1 7\n" + content + "\n");

    assertThat(start(2, 10).downMillis(run(1))).isZero();

    assertThat(file()).hasContent("2 10\n");
    assertThat(start(3, 15).downMillis(run(2))).isEqualTo(5);
  }

  @Test
  void anAgentStartsWithoutTheFile() throws IOException {
    Files.createDirectories(file().resolve("not a file"));

    assertThat(start(2, 10).downMillis(run(1))).isZero();

    assertThat(file()).isDirectory();
  }
}
