package org.traceetl.perf.bench.gate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.profile.LinuxPerfNormProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.traceetl.perf.bench.report.Results;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Fails if a hot path allocates more bytes than the baseline allows. Where the machine counts
 * instructions, it also fails if they exceed the baseline by more than a tenth. It never compares
 * times, so a busy machine has no effect on the result.
 */
@Command(
    name = "gate",
    description = {
      "Compares the allocation of the agent's, server's and page's hot path with a baseline; where"
          + " perf counts instructions, also these.",
      "Exit code 0: within the baseline; 1: above it.",
      ""
    })
public final class Gate implements Callable<Integer> {
  private static final String ALLOCATED = "gc.alloc.rate.norm";
  private static final int ITERATIONS = 3;

  /** Fixed, so that JAVA_OPTS and the machine's memory do not change the amounts. */
  private static final String[] JVM = {
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "--enable-native-access=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow"
  };

  @Mixin private Results results;

  @Option(
      names = "--baseline",
      paramLabel = "FILE",
      description = "The allowed amounts (default: ${DEFAULT-VALUE}).")
  private Path file = Path.of("perf", "baseline.csv");

  @Option(names = "--write", description = "Writes the measured amounts to the baseline.")
  private boolean write;

  @Option(names = "--help", usageHelp = true, description = "Prints this help.")
  private boolean help;

  @Override
  public Integer call() throws Exception {
    // The lock keeps others from disturbing times, which do not count here.
    System.setProperty("jmh.ignoreLock", "true");
    Baseline baseline;
    try {
      baseline = Baseline.read(file);
    } catch (InvalidBaselineException e) {
      System.err.println("bin/bench gate: " + e.getMessage());
      return 1;
    }
    String uncounted = InstructionCounter.problem();
    Map<Figure, Amounts> measured = measure(baseline, uncounted.isEmpty());
    if (write) {
      baseline.with(measured).write();
      System.out.println("wrote " + file);
      return 0;
    }
    if (uncounted.isEmpty()) {
      uncounted = uncompared(baseline);
    }
    if (!uncounted.isEmpty()) {
      System.out.println("NOT RUN: instructions: " + uncounted);
    }
    List<String> problems = new ArrayList<>();
    measured.forEach((figure, amounts) -> problems.addAll(baseline.problems(figure, amounts)));
    problems.forEach(problem -> System.out.println("FAILED: " + problem));
    return problems.isEmpty() ? 0 : 1;
  }

  /** Returns why instructions are not compared although they are counted; empty if they are. */
  private String uncompared(Baseline baseline) {
    List<String> without =
        Figure.ALL.stream()
            .filter(figure -> baseline.of(figure).flatMap(Amounts::instructions).isEmpty())
            .map(Figure::name)
            .toList();
    return without.isEmpty()
        ? ""
        : "%s has none for %s; write them with %s"
            .formatted(file, String.join(", ", without), Baseline.WRITE);
  }

  private Map<Figure, Amounts> measure(Baseline baseline, boolean counts)
      throws IOException, RunnerException {
    results.columns("figure unit bytes allowed_bytes instructions baseline_instructions");
    Map<Figure, Amounts> measured = new LinkedHashMap<>();
    Map<String, Object> summary = new LinkedHashMap<>();
    for (Figure figure : Figure.ALL) {
      Amounts amounts = measure(figure, counts);
      measured.put(figure, amounts);
      summary.put(figure.name() + "_bytes_per_" + figure.unit(), amounts.bytes());
      Optional<Amounts> allowed = baseline.of(figure);
      results.row(
          figure.name(),
          figure.unit(),
          amounts.bytes(),
          shown(allowed.map(Amounts::bytes)),
          shown(amounts.instructions()),
          shown(allowed.flatMap(Amounts::instructions)));
    }
    results.summary("gate", summary);
    return measured;
  }

  private static Object shown(Optional<Double> amount) {
    return amount.isPresent() ? amount.get() : "";
  }

  private Amounts measure(Figure figure, boolean counts) throws IOException, RunnerException {
    Path log = results.file("gate-" + figure.name() + ".log");
    Files.createDirectories(log.getParent());
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .include(figure.pattern())
            .mode(Mode.SingleShotTime)
            .warmupIterations(ITERATIONS)
            .warmupBatchSize(figure.warmUpCalls())
            .measurementIterations(ITERATIONS)
            .measurementBatchSize(figure.calls())
            .jvmArgs(JVM)
            .shouldFailOnError(true)
            .output(log.toString())
            .addProfiler(GCProfiler.class);
    figure.parameters().forEach(options::param);
    if (counts) {
      options.addProfiler(LinuxPerfNormProfiler.class, "events=" + InstructionCounter.EVENT);
    }
    try {
      RunResult run = new Runner(options.build()).runSingle();
      Map<String, Result> secondary = run.getSecondaryResults();
      // The first iterations may allocate more, until the compiler removes allocations.
      double bytes = secondary.get(ALLOCATED).getStatistics().getMin() / figure.calls();
      Result<?> instructions = secondary.get(InstructionCounter.EVENT);
      return new Amounts(
          bytes, Optional.ofNullable(instructions).map(found -> found.getScore() / figure.calls()));
    } catch (RunnerException e) {
      throw new RunnerException(figure.name() + " failed; see " + log, e);
    }
  }
}
