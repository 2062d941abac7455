package org.traceetl.perf.bench.gate;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class InstructionCounterTest {
  @TempDir private Path directory;

  @Test
  void aCountOfPerfIsRecognised() {
    assertThat(InstructionCounter.problem(0, List.of("131072,,instructions:u,401200,100.00,,")))
        .isEmpty();
  }

  @Test
  void aMachineWithoutTheCounterIsReported() {
    assertThat(InstructionCounter.problem(0, List.of("<not supported>,,instructions:u,0,100.00,,")))
        .isEqualTo("this machine has no counter of instructions that perf can read");
  }

  @Test
  void aFailureOfPerfIsReported() {
    assertThat(InstructionCounter.problem(255, List.of("Error:", "Access is limited.")))
        .isEqualTo("perf failed with exit code 255: Error: Access is limited.");
  }

  @Test
  void aMissingPerfIsReported() throws InterruptedException {
    assertThat(InstructionCounter.problem(directory.resolve("perf").toString()))
        .startsWith("perf cannot be run: ");
  }
}
