package org.traceetl.agent.source.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs jcstress on the memory shared by writers and the reader of a ring. */
final class RingStressTest {
  @Test
  void noOutcomeIsForbidden(@TempDir Path directory) throws Exception {
    Path output = directory.resolve("output");
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Djava.io.tmpdir=" + directory,
                    "-cp",
                    System.getProperty("java.class.path"),
                    "org.openjdk.jcstress.Main",
                    "-t",
                    "org.traceetl.*",
                    "-m",
                    "quick",
                    "-fsm",
                    "1",
                    "-time",
                    "500",
                    // Each ring has a file, which is reused.
                    "-strideSize",
                    "32",
                    "-strideCount",
                    "2",
                    "-sc",
                    "false",
                    "-jvmArgs",
                    "-Xmx256m -Djava.io.tmpdir=" + directory,
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
