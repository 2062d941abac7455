package org.traceetl.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs jcstress on every hand-off that has a stress class; forbidden outcomes fail. */
class StressTest {
  @Test
  void noHandOffHasAForbiddenOutcome(@TempDir Path directory) throws Exception {
    Path output = directory.resolve("output");
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "-cp",
                    System.getProperty("java.class.path"),
                    "org.openjdk.jcstress.Main",
                    "-t",
                    "org.traceetl.*",
                    "-m",
                    "quick",
                    "-fsm",
                    "1",
                    "-sc",
                    "false",
                    "-r",
                    directory.toString()))
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();

    int exit = process.waitFor();

    assertThat(exit).as(Files.readString(output)).isZero();
    assertThat(output).content().containsPattern("All remaining tests: [1-9]");
  }
}
