package org.traceetl.perf.simulate.mutation;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import org.traceetl.perf.simulate.mutation.TrialResult.Verdict;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command line: runs the simulation with each mutant and prints which ones it finds. */
@Command(
    name = "mutations",
    description = {
      "Puts faults into the programs, one at a time, and runs the simulation with each until a"
          + " check fails. First it runs the unchanged programs, which must pass.",
      ""
    },
    footer = {
      "",
      "Exit codes: 0 if at least --found faults are found; 1 otherwise, or if the unchanged"
          + " programs fail; 2 for wrong usage."
    })
public final class Mutations implements Callable<Integer> {
  private static final int MAX_HOURS = 100_000;
  private static final String SIMULATION = "org.traceetl.perf.simulate.Simulate";

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "NUMBER",
      description = "Only these numbers of the list.")
  private Set<Integer> only = Set.of();

  @Option(
      names = "--hours",
      description = "Simulated hours for each seed (default: ${DEFAULT-VALUE}).")
  private double hours = 0.5;

  @Option(
      names = "--seeds",
      description = "Maximum number of seeds for each fault (default: ${DEFAULT-VALUE}).")
  private int seeds = 60;

  @Option(
      names = "--first-seed",
      description = "The seed to begin with (default: ${DEFAULT-VALUE}).")
  private long firstSeed = 1;

  @Option(
      names = "--replay",
      paramLabel = "FILE",
      description = "Runs the schedule in this file with each fault, instead of seeds.")
  private Path replayed;

  @Option(
      names = "--simulate",
      split = " ",
      paramLabel = "OPTION",
      description = "Further options of bin/simulate, such as \"--rate=20 --queues=4\".")
  private List<String> options = List.of();

  @Option(
      names = "--time-limit",
      paramLabel = "SECONDS",
      description =
          "Maximum real time for each fault, in seconds; ends endless loops (default:"
              + " ${DEFAULT-VALUE}).")
  private long wallSeconds = 3_600;

  @Option(
      names = "--found",
      description =
          "Number of faults that must be found for exit code 0 (default: ${DEFAULT-VALUE}).")
  private int wanted = 18;

  @Option(
      names = "--pit",
      paramLabel = "COUNT",
      description = "Tries this number of random PIT mutants instead of the list.")
  private Integer pit;

  @Option(
      names = "--seed",
      description =
          "Seed that selects the PIT mutants; not a seed of the simulation (default: random, and"
              + " printed).")
  private long drawSeed = new Random().nextInt(Integer.MAX_VALUE);

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Prints this help.")
  @SuppressWarnings("unused") // picocli looks at the command line
  private boolean help;

  @Option(names = "--list", description = "Prints the faults, and runs nothing.")
  private boolean list;

  @Option(
      names = "--checkout",
      hidden = true,
      description = "The sources (default: the current folder).")
  private Path checkout = Path.of("");

  @Option(names = "--work", hidden = true, description = "For class files and output.")
  private Path work = Path.of("perf/target/mutations");

  @Option(names = "--simulation", hidden = true, description = "Another main class.")
  private String simulation = SIMULATION;

  @Spec private CommandSpec spec;

  public static void main(String... arguments) {
    System.exit(new CommandLine(new Mutations()).execute(arguments));
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    PrintWriter out = spec.commandLine().getOut();
    List<Mutation> all = Mutation.all();
    check(all.size());
    List<Mutation> chosen =
        all.stream()
            .filter(mutation -> only.isEmpty() || only.contains(mutation.number()))
            .toList();
    if (list) {
      chosen.forEach(mutation -> print(mutation, out));
      return 0;
    }
    if (pit != null) {
      out.printf("Drew %d mutants of PIT by seed %d%n%n", pit, drawSeed);
      return run(new PitMutants().draw(pit, drawSeed), out);
    }
    SourceMutants sources = new SourceMutants(checkout);
    for (Mutation mutation : chosen) {
      if (!mutation.outside().isEmpty()) {
        out.printf(
            "Not tried: %d %s: %s%n", mutation.number(), mutation.name(), mutation.outside());
      }
    }
    return run(
        chosen.stream().filter(mutation -> mutation.outside().isEmpty()).map(sources::of).toList(),
        out);
  }

  private void check(int mutations) {
    for (int number : only) {
      if (number < 1 || number > mutations) {
        throw refused("--only = " + number + ": must be from 1 to " + mutations);
      }
    }
    // Also refuses NaN.
    if (!(hours > 0 && hours <= MAX_HOURS)) {
      throw refused("--hours = " + hours + ": must be more than 0 and at most " + MAX_HOURS);
    }
    if (seeds < 1) {
      throw refused("--seeds = " + seeds + ": must be 1 or more");
    }
    if (pit != null && pit < 1) {
      throw refused("--pit = " + pit + ": must be 1 or more");
    }
    if (pit != null && !only.isEmpty()) {
      throw refused("--pit = " + pit + ": must be absent with --only, which selects from the list");
    }
  }

  private ParameterException refused(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  private static void print(Mutation mutation, PrintWriter out) {
    out.printf("%d %s%n", mutation.number(), mutation.name());
    out.printf("   breaks: %s%n", mutation.breaks());
    out.printf("   shown by: %s%n", mutation.shownBy());
    if (!mutation.outside().isEmpty()) {
      out.printf("   outside of the simulation: %s%n", mutation.outside());
    }
  }

  private int run(List<Mutant> mutants, PrintWriter out) throws IOException, InterruptedException {
    Trial trial =
        new Trial(
            new Trial.Limits(
                simulation,
                hours,
                firstSeed,
                seeds,
                replayed,
                options,
                Duration.ofSeconds(wallSeconds)),
            work.toAbsolutePath());
    out.printf("| number | fault | found | seed | check | simulated | real time |%n");
    out.printf("|--:|---|---|--:|---|--:|--:|%n");
    TrialResult control = trial.run(null);
    print("", "none", control, out);
    if (control.verdict() != Verdict.NOT_FOUND) {
      out.printf("Tried no faults: the unchanged programs failed or completed no run.%n");
      out.flush();
      return 1;
    }
    int found = 0;
    int stalled = 0;
    for (Mutant mutant : mutants) {
      TrialResult result = trial.run(mutant);
      print(mutant.number(), mutant.name(), result, out);
      found += result.verdict() == Verdict.FOUND ? 1 : 0;
      stalled += result.verdict() == Verdict.STALLED ? 1 : 0;
    }
    int must = Math.min(wanted, mutants.size());
    out.printf("found=%d stalled=%d of=%d wanted=%d%n", found, stalled, mutants.size(), must);
    out.flush();
    return found >= must ? 0 : 1;
  }

  private static void print(String number, String name, TrialResult result, PrintWriter out) {
    out.printf(
        Locale.ROOT,
        "| %s | %s | %s | %s | %s | %.2f h | %d s |%n",
        number,
        name,
        switch (result.verdict()) {
          case FOUND -> "yes";
          case NOT_FOUND -> "no";
          case STALLED -> "stalled";
          case BROKEN -> "no answer";
        },
        result.verdict() == Verdict.NOT_FOUND ? result.seed() + " seeds" : result.seed(),
        result.detail().replace("|", "\\|"),
        result.hours(),
        result.wall().toSeconds());
    out.flush();
  }
}
