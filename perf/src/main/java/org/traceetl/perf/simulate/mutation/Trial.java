package org.traceetl.perf.simulate.mutation;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs the simulation with a mutant in JVMs of its own, one seed after the other, until a check
 * fails or a limit is reached.
 */
final class Trial {
  private static final List<String> JVM_OPTIONS =
      List.of(
          "-Xmx768m",
          "-XX:+UseSerialGC",
          "--add-opens",
          "java.base/java.lang=ALL-UNNAMED",
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow");

  /**
   * @param simulation main class of the simulation
   * @param hours simulated by each seed
   * @param firstSeed the next ones follow it
   * @param wallLimit of all seeds of a mutant
   */
  record Limits(String simulation, double hours, long firstSeed, int seeds, Duration wallLimit) {}

  private final Limits limits;
  private final Path workFolder;

  /**
   * @param workFolder for class files and the output of the simulation
   */
  Trial(Limits limits, Path workFolder) {
    this.limits = limits;
    this.workFolder = workFolder;
  }

  /**
   * @param mutant null to run the programs as they are
   */
  TrialResult run(Mutant mutant) throws IOException, InterruptedException {
    String name = mutant == null ? "control" : mutant.number();
    Path classes = workFolder.resolve(name).resolve("classes");
    long beganNanos = System.nanoTime();
    if (mutant != null) {
      try {
        mutant.write(classes);
      } catch (IllegalStateException e) {
        return TrialResult.broken(limits.firstSeed(), e.getMessage(), 0, since(beganNanos));
      }
    }
    double hours = 0;
    for (int i = 0; i < limits.seeds(); i++) {
      long seed = limits.firstSeed() + i;
      Duration left = limits.wallLimit().minus(since(beganNanos));
      Path output = workFolder.resolve(name).resolve("seed-" + seed + ".log");
      Files.createDirectories(output.getParent());
      Process process = start(seed, classes, output);
      boolean ended = process.waitFor(Math.max(0, left.toMillis()), TimeUnit.MILLISECONDS);
      if (!ended) {
        process.destroyForcibly().waitFor();
        return TrialResult.notFound(
            i, "no failed check until the time limit", hours, since(beganNanos));
      }
      SimulationOutput said = SimulationOutput.of(Files.readString(output));
      hours += said.hours().orElse(limits.hours());
      switch (process.exitValue()) {
        case 0 -> {}
        case SimulationOutput.CHECK_FAILED -> {
          return said.failedCheck().isEmpty()
              ? TrialResult.broken(
                  seed, "exit code 1 without a failed check", hours, since(beganNanos))
              : TrialResult.found(seed, said.failedCheck().get(), hours, since(beganNanos));
        }
        default -> {
          String how = "the simulation ended with exit code " + process.exitValue();
          return TrialResult.broken(seed, how + ": " + said.lastLine(), hours, since(beganNanos));
        }
      }
    }
    return TrialResult.notFound(limits.seeds(), "no failed check", hours, since(beganNanos));
  }

  private Process start(long seed, Path classes, Path output) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(JVM_OPTIONS);
    command.add("-cp");
    command.add(classes + File.pathSeparator + System.getProperty("java.class.path"));
    command.add(limits.simulation());
    command.add("--seed=" + seed);
    command.add("--hours=" + limits.hours());
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(output.toFile())
        .start();
  }

  private static Duration since(long beganNanos) {
    return Duration.ofNanos(System.nanoTime() - beganNanos);
  }
}
