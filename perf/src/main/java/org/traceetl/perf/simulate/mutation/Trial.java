package org.traceetl.perf.simulate.mutation;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Runs the simulation with a mutant in a JVM of its own, one seed after the other, until a check
 * fails or a limit is reached.
 */
final class Trial {
  private static final List<String> JVM_OPTIONS =
      List.of(
          "-Xmx768m",
          "-XX:+UseSerialGC",
          // Runs are too short for the optimizing compiler.
          "-XX:TieredStopAtLevel=1",
          "-XX:-OmitStackTraceInFastThrow",
          "-Djdk.trackAllThreads=false",
          "--add-opens",
          "java.base/java.lang=ALL-UNNAMED",
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow");

  /**
   * @param simulation main class of the simulation
   * @param hours simulated by each seed
   * @param firstSeed the next ones follow it
   * @param replayed schedule to run instead of seeds; null for none
   * @param options further ones of the simulation
   * @param wallLimit of all seeds of a mutant
   */
  record Limits(
      String simulation,
      double hours,
      long firstSeed,
      int seeds,
      Path replayed,
      List<String> options,
      Duration wallLimit) {}

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
    empty(classes);
    if (mutant != null) {
      try {
        mutant.write(classes);
      } catch (IllegalStateException e) {
        return TrialResult.broken(limits.firstSeed(), e.getMessage(), 0, since(beganNanos));
      }
    }
    Path output = Files.createDirectories(workFolder.resolve(name)).resolve("output.log");
    Process process = start(classes, output);
    boolean ended;
    try {
      ended = process.waitFor(limits.wallLimit().toMillis(), TimeUnit.MILLISECONDS);
    } finally {
      process.destroyForcibly();
    }
    process.waitFor();
    SimulationOutput said = SimulationOutput.of(Files.readString(output));
    Duration wall = since(beganNanos);
    if (!ended && mutant == null && said.ends().isEmpty()) {
      return TrialResult.broken(limits.firstSeed(), "no seed ended within the time limit", 0, wall);
    }
    if (!ended) {
      return TrialResult.notFound(
          said.ends().size(), "no failed check until the time limit", said.hours(), wall);
    }
    int exitCode = process.exitValue();
    if (exitCode == 0) {
      return TrialResult.notFound(said.ends().size(), "no failed check", said.hours(), wall);
    }
    long seed = said.ends().isEmpty() ? limits.firstSeed() : said.ends().getLast().seed();
    if (said.stalledSeed().isPresent()) {
      long stalledSeed = said.stalledSeed().getAsLong();
      return TrialResult.stalled(stalledSeed, said.failedCheck().orElseThrow(), said.hours(), wall);
    }
    return exitCode == SimulationOutput.CHECK_FAILED && said.failedCheck().isPresent()
        ? TrialResult.found(seed, said.failedCheck().get(), said.hours(), wall)
        : TrialResult.broken(
            seed, "exit code " + exitCode + ": " + said.lastLine(), said.hours(), wall);
  }

  private Process start(Path classes, Path output) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(JVM_OPTIONS);
    command.add("-cp");
    command.add(classes + File.pathSeparator + System.getProperty("java.class.path"));
    command.add(limits.simulation());
    if (limits.replayed() == null) {
      command.add("--seed=" + limits.firstSeed());
      command.add("--runs=" + limits.seeds());
      command.add("--hours=" + limits.hours());
    } else {
      command.add("--replay=" + limits.replayed());
    }
    command.add("--shrink-for=0s");
    command.addAll(limits.options());
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(output.toFile())
        .start();
  }

  /** Deletes the classes of an earlier trial, which may have had other changes. */
  private static void empty(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    List<Path> contents;
    try (Stream<Path> all = Files.walk(folder)) {
      contents = all.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path one : contents) {
      Files.delete(one);
    }
  }

  private static Duration since(long beganNanos) {
    return Duration.ofNanos(System.nanoTime() - beganNanos);
  }
}
