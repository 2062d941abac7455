package org.traceetl.perf.simulate;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import org.traceetl.perf.simulate.fault.Drawing;
import org.traceetl.perf.simulate.fault.Fleet;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command line of simulated runs. */
@Command(
    name = "simulate",
    description = {
      "Runs the classes of agents and servers on simulated brokers, disks, clocks and networks, in"
          + " one thread and in simulated time. Injects random faults, and compares what pages and"
          + " the index show with what was sent. Equal options and seeds repeat a run exactly.",
      ""
    },
    footer = {
      "",
      "Each run ends with a line seed=… outcome=… hash=… of all that happened. After a failure,",
      "lines FAILED: … name the checks; the fewest faults found that still fail follow, and what",
      "happened last.",
      "Exit codes: 0 if each run passed, 1 otherwise, 2 for wrong usage."
    })
public final class Simulate implements Callable<Integer> {
  private static final int FAILURES_SHOWN = 40;
  private static final int REPLICATED = 3;

  @Spec private CommandSpec spec;

  @Option(
      names = "--seed",
      description = "Seed of the first run (default: random); the next run has the next one.")
  private Long seed;

  @Option(
      names = "--hours",
      description = "Simulated hours of each run, at least (default: ${DEFAULT-VALUE}).")
  private double hours = 1;

  @Option(names = "--runs", description = "Number of runs (default: ${DEFAULT-VALUE}).")
  private int runs = 1;

  @Option(
      names = "--for",
      paramLabel = "3m",
      description = "Starts runs for this time on the wall, in place of --runs.")
  private String wallTime;

  @Option(
      names = "--replay",
      paramLabel = "FILE",
      description = "Runs the schedule that a failed run wrote, in place of a random one.")
  private Path replay;

  @Option(names = "--agents", description = "Agents (default: ${DEFAULT-VALUE}).")
  private int agents = 5;

  @Option(names = "--servers", description = "Servers (default: ${DEFAULT-VALUE}).")
  private int servers = 2;

  @Option(names = "--brokers", description = "Brokers (default: ${DEFAULT-VALUE}).")
  private int brokers = 1;

  @Option(
      names = "--replicas",
      description = "Replicas of each broker; 0: 1 or 3 by the seed (default: ${DEFAULT-VALUE}).")
  private int replicas;

  @Option(names = "--queues", description = "Queues of each broker (default: ${DEFAULT-VALUE}).")
  private int queues = 8;

  @Option(names = "--rate", description = "Spans per simulated second (default: ${DEFAULT-VALUE}).")
  private int rate = 100;

  @Option(
      names = "--faults-per-minute",
      description = "Mean number of faults in a simulated minute (default: ${DEFAULT-VALUE}).")
  private double faultsPerMinute = 1;

  @Option(
      names = "--timeline",
      paramLabel = "FILE",
      description = "Writes what happened last in the last run to this file.")
  private Path timelineFile;

  @Option(
      names = "--shrink-for",
      paramLabel = "2m",
      description =
          "After a failure, searches fewer faults for this time on the wall; 0s: does not"
              + " (default: ${DEFAULT-VALUE}).")
  private String shrinkTime = "2m";

  @Option(names = "--help", usageHelp = true, description = "Prints this help.")
  private boolean help;

  private final PrintStream out = System.out;

  public static void main(String... arguments) {
    System.exit(new CommandLine(new Simulate()).execute(arguments));
  }

  @Override
  public Integer call() throws IOException {
    Duration shrinking = duration("--shrink-for", shrinkTime);
    Duration wall = wallTime == null ? null : duration("--for", wallTime);
    if (hours <= 0
        || runs < 1
        || agents < 1
        || servers < 1
        || brokers < 1
        || replicas < 0
        || queues < 1
        || rate < 1
        || faultsPerMinute < 0) {
      throw refused("numbers of parts and runs must be 1 or more, and --hours more than 0");
    }
    long first = seed == null ? new Random().nextInt(1_000_000) : seed;
    Plan replayed = replay == null ? null : read(replay);
    out.println("seed " + (replayed == null ? first : replayed.seed()));
    long startNanos = System.nanoTime();
    for (int run = 0; replayed != null ? run < 1 : more(run, wall, startNanos); run++) {
      Outcome outcome = run(replayed != null ? replayed : plan(first + run));
      if (timelineFile != null) {
        Files.write(timelineFile, outcome.timeline());
      }
      if (!outcome.passed()) {
        report(outcome, shrinking);
        return 1;
      }
    }
    return 0;
  }

  private boolean more(int run, Duration wall, long startNanos) {
    return wall == null ? run < runs : System.nanoTime() - startNanos < wall.toNanos();
  }

  private Plan plan(long runSeed) {
    int drawn = Math.floorMod(runSeed, 2) == 0 ? REPLICATED : 1;
    Fleet fleet = new Fleet(agents, servers, brokers, replicas == 0 ? drawn : replicas);
    Duration length = Duration.ofMillis((long) (hours * Duration.ofHours(1).toMillis()));
    return new Plan(
        runSeed, fleet, queues, rate, Drawing.draw(runSeed, fleet, length, faultsPerMinute));
  }

  private Outcome run(Plan plan) {
    Outcome outcome = new Run(plan, out::println).call();
    if (!outcome.faults().isEmpty()) {
      out.println("faults: " + outcome.faultsLine());
    }
    out.println(outcome.line());
    return outcome;
  }

  private void report(Outcome failed, Duration shrinking) throws IOException {
    tell(failed);
    out.printf(
        Locale.ROOT,
        "Searching fewer faults that fail, for up to %d s of --shrink-for ...%n",
        shrinking.toSeconds());
    long startNanos = System.nanoTime();
    Shrinker shrinker =
        new Shrinker(
            plan -> new Run(plan, progress -> {}).call(),
            () -> System.nanoTime() - startNanos < shrinking.toNanos());
    Outcome shrunk = shrinker.shrink(failed);
    Path file = Files.createTempFile("simulate-" + failed.plan().seed() + "-", ".txt");
    Files.write(file, shrunk.plan().lines());
    out.println("What happened last:");
    shrunk.timeline().forEach(line -> out.println("  " + line));
    out.printf(
        "After %d attempts %d of %d faults are left:%n",
        shrinker.attempts(),
        shrunk.plan().schedule().faults().size(),
        failed.plan().schedule().faults().size());
    shrunk.plan().lines().forEach(line -> out.println("  " + line));
    tell(shrunk);
    out.println(shrunk.line());
    out.println("seed " + failed.plan().seed() + " failed; replay with --replay " + file);
  }

  private void tell(Outcome failed) {
    failed.failures().stream()
        .limit(FAILURES_SHOWN)
        .forEach(what -> out.println("FAILED: " + what));
    if (failed.failures().size() > FAILURES_SHOWN) {
      out.println("FAILED: " + (failed.failures().size() - FAILURES_SHOWN) + " more checks");
    }
  }

  private Plan read(Path file) throws IOException {
    try {
      List<String> lines = Files.readAllLines(file);
      return Plan.read(lines);
    } catch (IllegalArgumentException e) {
      throw refused("--replay = " + file + ": " + e.getMessage());
    }
  }

  private ParameterException refused(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  /** Parses a duration such as 90s, 3m or 1h. */
  private Duration duration(String option, String text) {
    try {
      return Duration.parse("PT" + text.toUpperCase(Locale.ROOT));
    } catch (DateTimeParseException e) {
      throw refused(option + " = " + text + ": must be such as 90s, 3m or 1h");
    }
  }
}
