package org.traceetl.perf.simulate;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.traceetl.perf.simulate.fault.Drawing;
import org.traceetl.perf.simulate.fault.Fleet;
import org.traceetl.perf.simulate.fault.Schedule;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
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
      "Each run ends with a line seed=… outcome=… hash=…; the hash covers all that happened. After"
          + " a failure, lines FAILED: … name the checks. Then come the last events and the"
          + " smallest schedule that still fails. If simulated time stands still for five real"
          + " minutes, the run fails and prints the stacks.",
      "Exit codes: 0 if each run passed, 1 otherwise, 2 for wrong usage."
    })
public final class Simulate implements Callable<Integer> {
  private static final int FAILURES_SHOWN = 40;
  private static final int REPLICATED = 3;

  /** States of releases have five agents and eight queues. */
  private static final int RECORDED_AGENTS = 5;

  private static final int RECORDED_QUEUES = 8;

  /** Longer than most rounds, so that faults continue at the end of a recorded run. */
  private static final Duration ROUND = Duration.ofMinutes(10);

  /** Options that set what the file of --replay sets. */
  private static final List<String> NOT_WITH_REPLAY =
      List.of(
          "--seed",
          "--runs",
          "--for",
          "--from",
          "--agents",
          "--servers",
          "--brokers",
          "--replicas",
          "--queues",
          "--rate",
          "--faults-per-minute");

  private static final int MAX_HOURS = 100_000;
  private static final int MAX_FAULTS_PER_MINUTE = 1_000;
  private static final int FEWEST_AGENTS = 2;
  private static final int MOST_AGENTS = 5;
  private static final int FEWEST_SERVERS = 2;
  private static final int FEWEST_QUEUES = 2;
  private static final int HIGHEST_RATE = 100;
  private static final int MOST_FAULTS_PER_MINUTE = 8;

  @Spec private CommandSpec spec;

  @Option(
      names = "--seed",
      description = "Seed of the first run (default: random); the next run has the next one.")
  private Long seed;

  @Option(
      names = "--hours",
      description =
          "Least simulated hours of each run; its last round is completed (default:"
              + " ${DEFAULT-VALUE}).")
  private double hours = 1;

  @Option(names = "--runs", description = "Number of runs (default: ${DEFAULT-VALUE}).")
  private int runs = 1;

  @Option(
      names = "--for",
      paramLabel = "DURATION",
      description = "Real time, such as 3m, in which runs start; replaces --runs.")
  private String realTime;

  @Option(
      names = "--replay",
      paramLabel = "FILE",
      description =
          "Repeats the run whose schedule a failed run wrote. The file sets the seed, the state,"
              + " the sizes, the rate and the faults: options for these, --runs and --for are"
              + " refused. --hours requires --record.")
  private Path replay;

  @Option(
      names = "--from",
      paramLabel = "STATE",
      description =
          "Begins with the state that --record wrote, such as that of another build (default:"
              + " nothing, and for every fourth seed the state of a release).")
  private String from;

  @Option(
      names = "--record",
      paramLabel = "FILE",
      description =
          "Ends the run after --hours, while faults last, and writes the state of brokers, disks"
              + " and index to this file, for --from.")
  private Path recording;

  @Option(
      names = "--agents",
      description = "Agents (default: 2 to 5 by the seed; with a recorded state 5).")
  private Integer agents;

  @Option(names = "--servers", description = "Servers (default: 2 or 3 by the seed).")
  private Integer servers;

  @Option(names = "--brokers", description = "Brokers (default: 1 or 2 by the seed).")
  private Integer brokers;

  @Option(
      names = "--replicas",
      description = "Replicas of each broker; 0: 1 or 3 by the seed (default: ${DEFAULT-VALUE}).")
  private int replicas;

  @Option(
      names = "--queues",
      description = "Queues of each broker (default: 2 to 8 by the seed; with a recorded state 8).")
  private Integer queues;

  @Option(
      names = "--rate",
      description = "Spans per simulated second (default: 10 to 100 by the seed).")
  private Integer rate;

  @Option(
      names = "--faults-per-minute",
      description = "Mean number of faults in a simulated minute (default: 1 to 8 by the seed).")
  private Double faultsPerMinute;

  @Option(
      names = "--timeline",
      paramLabel = "FILE",
      description = "Writes the last " + Run.NOTES + " events of the last run to this file.")
  private Path timelineFile;

  @Option(
      names = "--shrink-for",
      paramLabel = "DURATION",
      description =
          "Real time in which a failed run is repeated with fewer faults; 0s: no search (default:"
              + " ${DEFAULT-VALUE}).")
  private String shrinkTime = "2m";

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Prints this help.")
  @SuppressWarnings("unused") // picocli looks at the command line
  private boolean help;

  private final Runner runner;
  private final Watchdog watchdog = new Watchdog();
  private PrintWriter out;

  /** Runs a plan. */
  @FunctionalInterface
  interface Runner {
    Outcome run(Plan plan, Consumer<String> progress, Watchdog watchdog);
  }

  Simulate(Runner runner) {
    this.runner = runner;
  }

  public static void main(String... arguments) {
    Simulate command =
        new Simulate((plan, progress, watchdog) -> new Run(plan, progress, watchdog).call());
    command.watchdog.start();
    System.exit(new CommandLine(command).execute(arguments));
  }

  @Override
  public Integer call() throws IOException {
    out = spec.commandLine().getOut();
    final Duration shrinking = duration("--shrink-for", shrinkTime);
    final Duration real = realTime == null ? null : duration("--for", realTime);
    if (real != null && real.isZero()) {
      throw refused("--for = " + realTime + ": must be more than 0s");
    }
    checkNumbers();
    long first = seed == null ? new Random().nextInt(1_000_000) : seed;
    if (replay != null) {
      checkReplay();
    }
    Plan replayed = replay == null ? null : read(replay);
    checkState(replayed == null ? Optional.ofNullable(from) : replayed.from());
    writeTimeline(List.of());
    if (recording != null) {
      checkRecording();
      return record(replayed == null ? plan(first, length().plus(ROUND)) : replayed);
    }
    long startNanos = System.nanoTime();
    for (int run = 0; replayed != null ? run < 1 : more(run, real, startNanos); run++) {
      Outcome outcome = run(replayed != null ? replayed : plan(first + run, length()));
      writeTimeline(outcome.timeline());
      if (!outcome.passed()) {
        report(outcome, shrinking);
        return 1;
      }
    }
    return 0;
  }

  /** Refuses options that a replayed schedule would ignore. */
  private void checkReplay() {
    ParseResult given = spec.commandLine().getParseResult();
    for (String option : NOT_WITH_REPLAY) {
      if (given.hasMatchedOption(option)) {
        throw refused(
            option
                + " = "
                + given.matchedOptionValue(option, null)
                + ": must be absent with --replay, whose file describes one run");
      }
    }
    if (recording == null && given.hasMatchedOption("--hours")) {
      throw refused(
          "--hours = " + hours + ": must be absent with --replay, except together with --record");
    }
  }

  private void checkNumbers() {
    atLeastOne("--runs", runs);
    if (agents != null) {
      atLeastOne("--agents", agents);
    }
    if (servers != null) {
      atLeastOne("--servers", servers);
    }
    if (brokers != null) {
      atLeastOne("--brokers", brokers);
    }
    if (queues != null) {
      atLeastOne("--queues", queues);
    }
    if (rate != null) {
      atLeastOne("--rate", rate);
    }
    if (replicas < 0) {
      throw refused("--replicas = " + replicas + ": must be 0 or more");
    }
    // Also refuses NaN.
    if (!(hours > 0 && hours <= MAX_HOURS)) {
      throw refused("--hours = " + hours + ": must be more than 0 and at most " + MAX_HOURS);
    }
    if (faultsPerMinute != null
        && !(faultsPerMinute >= 0 && faultsPerMinute <= MAX_FAULTS_PER_MINUTE)) {
      throw refused(
          "--faults-per-minute = "
              + faultsPerMinute
              + ": must be from 0 to "
              + MAX_FAULTS_PER_MINUTE);
    }
  }

  private void checkState(Optional<String> state) {
    if (state.isPresent()) {
      try {
        RecordedState.read(state.get());
      } catch (IOException e) {
        throw refused(named(state.get()) + ": cannot be read: " + e);
      }
    }
  }

  /** Returns a state as the user named it. */
  private String named(String state) {
    return (replay == null ? "--from = " : "--replay = " + replay + ": from = ") + state;
  }

  /** Before the run, so that it is not in vain. The run may begin with the content of the file. */
  private void checkRecording() {
    try {
      Files.write(recording, new byte[0], StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw refused("--record = " + recording + ": cannot be written: " + e);
    }
  }

  private int record(Plan plan) {
    Outcome outcome =
        orRefused(
            plan, () -> new Run(plan, out::println, watchdog).record(recording, length()).call());
    writeTimeline(outcome.timeline());
    print(outcome);
    out.println(outcome.line());
    return outcome.passed() ? 0 : 1;
  }

  private Duration length() {
    return Duration.ofMillis((long) (hours * Duration.ofHours(1).toMillis()));
  }

  private void atLeastOne(String option, int value) {
    if (value < 1) {
      throw refused(option + " = " + value + ": must be 1 or more");
    }
  }

  /**
   * Writes the file of --timeline; the first time before the runs, so that they are not in vain.
   */
  private void writeTimeline(List<String> lines) {
    if (timelineFile != null) {
      try {
        Files.write(timelineFile, lines);
      } catch (IOException e) {
        throw refused("--timeline = " + timelineFile + ": cannot be written: " + e);
      }
    }
  }

  private boolean more(int run, Duration real, long startNanos) {
    return real == null ? run < runs : lasts(real, startNanos);
  }

  private static boolean lasts(Duration time, long startNanos) {
    return Duration.ofNanos(System.nanoTime() - startNanos).compareTo(time) < 0;
  }

  /** Draws by the seed what no option sets: runs of different size find different faults. */
  private Plan plan(long runSeed, Duration length) {
    SplittableRandom random = new SplittableRandom(runSeed);
    int drawnReplicas = Math.floorMod(runSeed, 2) == 0 ? REPLICATED : 1;
    int drawnAgents = random.nextInt(FEWEST_AGENTS, MOST_AGENTS + 1);
    int drawnServers = FEWEST_SERVERS + random.nextInt(4) / 3;
    int drawnBrokers = 1 + random.nextInt(3) / 2;
    int drawnQueues = FEWEST_QUEUES << random.nextInt(3);
    int drawnRate = (int) (HIGHEST_RATE * Math.pow(0.1, random.nextDouble()));
    double drawnFaults = Math.pow(MOST_FAULTS_PER_MINUTE, random.nextDouble());
    Optional<String> state = from == null ? release(runSeed) : Optional.of(from);
    Fleet fleet =
        new Fleet(
            agents == null ? state.map(any -> RECORDED_AGENTS).orElse(drawnAgents) : agents,
            servers == null ? drawnServers : servers,
            brokers == null ? drawnBrokers : brokers,
            replicas == 0 ? drawnReplicas : replicas);
    double mean = faultsPerMinute == null ? drawnFaults : faultsPerMinute;
    Plan plan =
        new Plan(
            runSeed,
            fleet,
            queues == null ? state.map(any -> RECORDED_QUEUES).orElse(drawnQueues) : queues,
            rate == null ? drawnRate : rate,
            DemandDraw.isUsedBy(runSeed),
            state,
            Drawing.draw(runSeed, fleet, length, mean));
    return mean > 0 && state.isEmpty() && recording == null ? withChanges(plan) : plan;
  }

  /** Adds what a plan without a recorded state also changes. */
  private static Plan withChanges(Plan plan) {
    Schedule schedule = plan.schedule();
    if (EdgeDraw.of(plan, false).used()) {
      schedule = Drawing.withAddedEdgeQueue(plan.seed(), schedule);
    }
    if (DemandDraw.changesRules(plan)) {
      schedule = Drawing.withChangedRules(plan.seed(), plan.fleet(), schedule);
    }
    return plan.with(schedule);
  }

  /**
   * Draws the state of a release for one of four seeds in a row, if it fits into the fleet. It is
   * not always the same one of the four, because their remainder also decides on replicas.
   */
  private Optional<String> release(long runSeed) {
    int releases = RecordedState.RELEASES.size();
    boolean fits =
        (agents == null || agents >= RECORDED_AGENTS)
            && (queues == null || queues >= RECORDED_QUEUES);
    long four = Math.floorDiv(runSeed, 4);
    return fits && Math.floorMod(runSeed, 4) == Math.floorMod(four, 4)
        ? Optional.of(RecordedState.RELEASES.get(Math.floorMod(four / 4, releases)))
        : Optional.empty();
  }

  private Outcome run(Plan plan) {
    out.println("seed " + plan.seed() + plan.from().map(state -> " from " + state).orElse(""));
    Outcome outcome = orRefused(plan, () -> runner.run(plan, out::println, watchdog));
    if (!outcome.faults().isEmpty()) {
      out.println("faults: " + outcome.faultsLine());
    }
    out.println(outcome.line());
    return outcome;
  }

  /** Refuses a recorded state that does not fit the plan. */
  private Outcome orRefused(Plan plan, Supplier<Outcome> run) {
    try {
      return run.get();
    } catch (UncheckedIOException e) {
      throw refused(named(plan.from().orElse("")) + ": " + e.getCause());
    }
  }

  private void report(Outcome failed, Duration shrinking) throws IOException {
    print(failed);
    if (!shrinking.isZero()) {
      out.printf(
          Locale.ROOT,
          "Searching for fewer faults that still fail, for at most %d s (--shrink-for) ...%n",
          shrinking.toSeconds());
    }
    long startNanos = System.nanoTime();
    Shrinker shrinker =
        new Shrinker(
            plan -> runner.run(plan, progress -> {}, watchdog), () -> lasts(shrinking, startNanos));
    Outcome shrunk = shrinker.shrink(failed);
    Path file = Files.createTempFile("simulate-" + failed.plan().seed() + "-", ".txt");
    Files.write(file, shrunk.plan().lines());
    out.println("Last events:");
    shrunk.timeline().forEach(line -> out.println("  " + line));
    out.printf(
        "Smallest schedule that still fails: attempts=%d faults=%d of=%d%n",
        shrinker.attempts(),
        shrunk.plan().schedule().faults().size(),
        failed.plan().schedule().faults().size());
    shrunk.plan().lines().forEach(line -> out.println("  " + line));
    print(shrunk);
    out.println(shrunk.line());
    out.println("seed " + failed.plan().seed() + " failed; replay with --replay " + file);
  }

  private void print(Outcome failed) {
    failed.failures().stream()
        .limit(FAILURES_SHOWN)
        .forEach(what -> out.println("FAILED: " + what));
    if (failed.failures().size() > FAILURES_SHOWN) {
      out.println("FAILED: " + (failed.failures().size() - FAILURES_SHOWN) + " more checks");
    }
  }

  private Plan read(Path file) {
    try {
      return Plan.read(Files.readAllLines(file));
    } catch (IOException e) {
      throw refused("--replay = " + file + ": cannot be read: " + e);
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
      Duration duration = Duration.parse("PT" + text.toUpperCase(Locale.ROOT));
      if (!duration.isNegative()) {
        return duration;
      }
    } catch (DateTimeParseException e) {
      // Refused below.
    }
    throw refused(option + " = " + text + ": must be such as 90s, 3m or 1h");
  }
}
