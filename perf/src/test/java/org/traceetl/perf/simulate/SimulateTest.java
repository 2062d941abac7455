package org.traceetl.perf.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

final class SimulateTest {
  @TempDir private Path folder;

  private final StringWriter errors = new StringWriter();

  @Test
  void aRunWithoutTimeIsRefused() {
    assertThat(run("--hours", "0")).isEqualTo(2);
    assertThat(errors.toString()).contains("--hours more than 0");
  }

  @Test
  void aScheduleThatCannotBeReadIsRefusedWithItsLine() throws IOException {
    Path file = folder.resolve("plan.txt");
    Files.write(
        file,
        List.of(
            "seed=1 agents=1 servers=1 brokers=1 replicas=1 queues=2 rate=10",
            "0:00:01.000 quake target=agent-1"));

    assertThat(run("--replay", file.toString())).isEqualTo(2);
    assertThat(errors.toString()).contains("quake");
  }

  private int run(String... arguments) {
    return new CommandLine(new Simulate()).setErr(new PrintWriter(errors)).execute(arguments);
  }
}
