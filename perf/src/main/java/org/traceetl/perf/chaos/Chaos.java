package org.traceetl.perf.chaos;

import java.io.IOException;
import java.io.PrintStream;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command line: a run from the start of all programs to the verdict. */
@Command(
    name = "chaos",
    description = {
      "Runs a whole installation as real processes under load, kills, pauses, takes away and scales"
          + " them at random, while applications move between queues, and holds the counts in"
          + " Prometheus and the documents in Elasticsearch to what was sent.",
      ""
    },
    footer = {
      "",
      "The last line is faults=… lost=… doubled=… missing_ids=… repeated_ids=…",
      "Exit codes: 0 the last four are 0, no counter went down, no queue was shown by two",
      "servers, no program ended unasked, and each fault had its effect; 1 they are",
      "not, or the installation did not work; 2 wrong usage."
    })
public final class Chaos implements Callable<Integer> {
  private static final Duration ANSWER_LIMIT = Duration.ofMinutes(5);
  private static final Duration DRAIN_LIMIT = Duration.ofMinutes(5);

  /** Without any change for so long, a difference stays. */
  private static final Duration STILL = Duration.ofSeconds(40);

  /** What would come late and double has come when all was exact so often, a window apart. */
  private static final int EXACT_TIMES = 4;

  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(20);
  private static final Duration PROGRESS = Duration.ofSeconds(10);

  @Spec private CommandSpec spec;

  @Option(
      names = "--faults",
      description = {
        "How many (default: ${DEFAULT-VALUE}). The first ten are of ten kinds, then each other kind"
            + " comes once, then each of these once more, then rounds of all kinds. With --brokers 3"
            + " and 60 faults the ten come once at least, all others twice."
      })
  private int faults = 20;

  @Option(names = "--seed", description = "Repeats the plan of another run (default: random).")
  private Long seed;

  @Option(
      names = "--only",
      split = ",",
      description = "Only these kinds of faults: ${COMPLETION-CANDIDATES}.")
  private Set<FaultKind> only = EnumSet.allOf(FaultKind.class);

  @Option(
      names = "--duration",
      paramLabel = "30m",
      description = "Spreads the faults over this time (default: as fast as it recovers).")
  private String duration;

  @Option(
      names = "--brokers",
      description =
          "1: one broker without replicas. 3: two brokers, one with three replicas and failover"
              + " (default: ${DEFAULT-VALUE}).")
  private int brokers = 1;

  @Option(
      names = "--defaults",
      description =
          "With --brokers 3: RocketMQ's defaults for replication and flushes, and the agents' for"
              + " their spools. Faults then lose spans, and the run ends with 1.")
  private boolean defaults;

  @Option(names = "--rate", description = "Spans per second (default: ${DEFAULT-VALUE}).")
  private int rate = 400;

  @Option(names = "--report", paramLabel = "FILE", description = "Writes a Markdown table to it.")
  private Path report;

  @Option(
      names = "--directory",
      description = "For data and logs; kept (default: a temporary one, kept after a failure).")
  private Path directory;

  @Option(names = "--help", usageHelp = true, description = "Show this.")
  private boolean help;

  @Option(names = "--server-jar", hidden = true, required = true)
  private Path serverJar;

  @Option(names = "--elasticsearch", hidden = true, required = true)
  private Path elasticsearch;

  @Option(names = "--prometheus", hidden = true, required = true)
  private Path prometheus;

  @Option(names = "--broker-settings", hidden = true, required = true)
  private Path brokerSettings;

  private final PrintStream out = System.out;

  public static void main(String... arguments) {
    System.exit(new CommandLine(new Chaos()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    long spreadMillis = duration == null ? 0 : millis(duration);
    if (faults < 0 || rate < 1) {
      throw new ParameterException(
          spec.commandLine(), "--faults must be 0 or more, and --rate 1 or more");
    }
    if (brokers != 1 && brokers != Installation.REPLICAS) {
      throw new ParameterException(
          spec.commandLine(), "--brokers = " + brokers + ": must be 1 or " + Installation.REPLICAS);
    }
    if (defaults && brokers == 1) {
      throw new ParameterException(spec.commandLine(), "--defaults needs --brokers 3");
    }
    long seedInUse = seed == null ? new Random().nextInt(1_000_000) : seed;
    boolean keep = directory != null;
    Path home =
        keep
            ? Files.createDirectories(directory.toAbsolutePath())
            : Files.createTempDirectory("trace-etl-chaos-");
    // Elasticsearch runs as another user.
    home.toFile().setExecutable(true, false);
    home.toFile().setReadable(true, false);
    out.printf("seed %d, all logs in %s%n", seedInUse, home);

    Installation installation =
        new Installation(
            home,
            new Installation.Parts(
                serverJar.toAbsolutePath(),
                elasticsearch.toAbsolutePath(),
                prometheus.toAbsolutePath(),
                brokerSettings.toAbsolutePath()),
            safety(),
            stepsClocks());
    CountDownLatch closed = new CountDownLatch(1);
    endOnSignal(Thread.currentThread(), closed);
    int code = 1;
    try {
      code = run(installation, home, seedInUse, spreadMillis);
    } catch (IOException e) {
      out.printf("FAILED: %s; logs are in %s%n", e.getMessage(), home);
    } catch (InterruptedException e) {
      out.printf("Interrupted; logs are in %s%n", home);
    } finally {
      installation.close();
      closed.countDown();
    }
    if (code == 0 && !keep) {
      delete(home);
    }
    return code;
  }

  /**
   * Whether the plan can have such a fault: the library for it costs, so a short run is without.
   */
  private boolean stepsClocks() {
    return only.contains(FaultKind.STEP_CLOCKS)
        && faults > only.stream().filter(FaultKind::isEssential).count();
  }

  private Installation.Safety safety() {
    if (brokers == 1) {
      return Installation.Safety.ONE_BROKER;
    }
    return defaults ? Installation.Safety.REPLICATED_BY_DEFAULTS : Installation.Safety.REPLICATED;
  }

  /** Has the programs ended by their own thread when the JVM is told to end. */
  private static void endOnSignal(Thread runner, CountDownLatch closed) {
    Runnable end =
        () -> {
          runner.interrupt();
          try {
            if (!closed.await(CLOSE_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
              System.err.println("Some programs may still run.");
            }
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        };
    Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().name("end").unstarted(end));
  }

  private int run(Installation installation, Path home, long seedInUse, long spreadMillis)
      throws IOException, InterruptedException {
    long startNanos = System.nanoTime();
    HttpClient http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();
    installation.start(http);
    out.printf(
        "all programs work after %d s%n",
        Duration.ofNanos(System.nanoTime() - startNanos).toSeconds());
    List<String> notRun = new ArrayList<>();
    Set<FaultKind> possible = possible(installation, notRun);
    if (possible.isEmpty()) {
      throw new IOException("no kind of fault of --only can be run here");
    }
    notRun.forEach(kind -> out.println("NOT RUN: " + kind));

    Truth truth = new Truth();
    Load load = new Load(truth, installation.sources(), rate, seedInUse);
    Observer observer = new Observer(installation, http);
    observer.start();
    load.start();
    Director director = new Director(installation, observer, load, http, out);
    List<PlannedFault> plan = PlannedFault.plan(faults, seedInUse, possible);
    director.follow(plan, spreadMillis);

    List<String> failures = new ArrayList<>();
    Verdict verdict = verdict(installation, observer, load, truth, http, startNanos, failures);
    Moves moves =
        new Moves(
            director.reroutes(),
            observer.decisions(),
            new PrometheusAnswers(installation.prometheusUri(), http).onSeveralQueues());
    if (load.refused() != null) {
      failures.add(load.refused());
    } else if (load.underWay() > 0) {
      failures.add(
          load.underWay()
              + " senders have no answer to their last request, which may count or not");
    }
    observer.shownTwice().forEach(what -> failures.add("two servers showed queue " + what));
    failures.addAll(director.surprises());
    Files.write(home.resolve("differences.txt"), verdict.differences());
    verdict.differences().stream().limit(40).forEach(line -> out.println("  " + line));
    boolean good = verdict.isExact() && failures.isEmpty() && truth.spans() > 0;
    director.late().forEach(what -> out.println("! " + what));
    failures.forEach(what -> out.println("!! " + what));
    out.printf(
        Locale.ROOT,
        "seed=%d seconds=%d spans=%d documents=%d repeated_requests=%d resets=%d %s%n",
        seedInUse,
        Duration.ofNanos(System.nanoTime() - startNanos).toSeconds(),
        truth.spans(),
        truth.documents().size(),
        load.repeated(),
        verdict.resets(),
        moves.line());
    if (!good) {
      out.printf("FAILED: logs are in %s, all differences in differences.txt there%n", home);
    }
    if (report != null) {
      Files.writeString(
          report,
          Report.of(
              "bin/chaos"
                  + (brokers > 1 ? " --brokers " + brokers : "")
                  + (defaults ? " --defaults" : "")
                  + " --faults "
                  + faults
                  + " --seed "
                  + seedInUse
                  + " --rate "
                  + rate,
              Duration.ofNanos(System.nanoTime() - startNanos),
              truth.spans(),
              truth.documents().size(),
              load.repeated(),
              director,
              moves,
              verdict,
              plan.size(),
              notRun));
    }
    out.println(verdict.line(plan.size()));
    out.flush();
    return good ? 0 : 1;
  }

  /**
   * The kinds of faults that can be done here.
   *
   * @param notRun gets the others, with what they need
   */
  private Set<FaultKind> possible(Installation installation, List<String> notRun)
      throws IOException, InterruptedException {
    Set<FaultKind> possible = EnumSet.copyOf(only);
    if (!installation.isReplicated()) {
      possible.removeIf(FaultKind::needsReplicas);
      possible.remove(FaultKind.SLOW_BROKER_DISK);
    }
    Map<FaultKind, String> needs = new EnumMap<>(FaultKind.class);
    if (installation.spoolDisk() == null) {
      needs.put(FaultKind.FILL_SPOOL_DISK, "root and mount");
    }
    String slowDisk = "root, mkfs.ext4, loop devices and control groups for the disk";
    if (installation.slowDisk() == null || !installation.slowDisk().canBeSlow()) {
      needs.put(FaultKind.SLOW_SPOOL_DISK, slowDisk);
    }
    if (installation.brokerDisk() == null || !installation.brokerDisk().canBeSlow()) {
      needs.put(FaultKind.SLOW_BROKER_DISK, slowDisk);
    }
    if (installation.slowDisk() == null || !LoopDisk.canLosePower()) {
      needs.put(FaultKind.POWER_LOSS, "root, mkfs.ext4, loop devices and perl");
    }
    if (!stepsClocks()) {
      possible.remove(FaultKind.STEP_CLOCKS);
    } else if (installation.clocks() == null) {
      needs.put(FaultKind.STEP_CLOCKS, "libfaketime");
    }
    if (!installation.hasNetwork()) {
      needs.put(FaultKind.CUT_REPLICA, "root and network namespaces");
      needs.put(FaultKind.CUT_MASTER, "root and network namespaces");
    }
    needs.forEach((kind, what) -> {
      if (possible.remove(kind)) {
        notRun.add(kind.label() + " (needs " + what + ")");
      }
    });
    return possible;
  }

  /**
   * Waits until all is read and nothing changes any more, or all is as it was sent.
   *
   * @param failures gets why the verdict is not to be trusted
   */
  private Verdict verdict(
      Installation installation,
      Observer observer,
      Load load,
      Truth truth,
      HttpClient http,
      long startNanos,
      List<String> failures)
      throws IOException, InterruptedException {
    load.stop();
    long deadlineNanos = System.nanoTime() + ANSWER_LIMIT.toNanos();
    while (load.underWay() > 0 && System.nanoTime() < deadlineNanos) {
      Thread.sleep(200);
    }
    out.printf("the load has ended: %d spans are taken over%n", truth.spans());
    PrometheusAnswers counts = new PrometheusAnswers(installation.prometheusUri(), http);
    IndexedDocuments documents = new IndexedDocuments(installation.elasticsearchUri(), http);
    deadlineNanos = System.nanoTime() + DRAIN_LIMIT.toNanos();
    long changedNanos = System.nanoTime();
    long toldNanos = changedNanos - PROGRESS.toNanos();
    int exactTimes = 0;
    Verdict verdict = null;
    while (true) {
      Thread.sleep(Installation.WINDOW.toMillis());
      Observation now = observer.newest();
      boolean late = System.nanoTime() > deadlineNanos;
      if (now.isDrained() || late) {
        Duration run = Duration.ofNanos(System.nanoTime() - startNanos);
        Verdict last = verdict;
        verdict =
            Verdict.of(
                truth,
                new Verdict.Found(
                    counts.calls(),
                    counts.durationCounts(),
                    counts.durationSumsMillis(),
                    counts.resets(run),
                    documents.copies()));
        exactTimes = verdict.isExact() ? exactTimes + 1 : 0;
        if (!verdict.equals(last)) {
          changedNanos = System.nanoTime();
        }
        boolean still = System.nanoTime() - changedNanos > STILL.toNanos();
        if (exactTimes >= EXACT_TIMES || still || late) {
          if (!now.isDrained()) {
            failures.add("not all that was sent is read, " + DRAIN_LIMIT + " later: " + now);
          }
          return verdict;
        }
      }
      if (System.nanoTime() - toldNanos > PROGRESS.toNanos()) {
        toldNanos = System.nanoTime();
        out.printf(
            Locale.ROOT,
            "draining: lag %.0f, spooled %.0f, unread %.0f, %s%n",
            now.lag(),
            now.spooled(),
            now.unread(),
            verdict == null ? "queues " + now.queues() : verdict.line(faults));
      }
    }
  }

  private long millis(String text) {
    String digits = text.replaceFirst("[smh]$", "");
    try {
      long number = Long.parseLong(digits);
      return switch (text.charAt(text.length() - 1)) {
        case 's' -> number * 1_000;
        case 'm' -> number * 60_000;
        case 'h' -> number * 3_600_000;
        default -> throw new NumberFormatException();
      };
    } catch (NumberFormatException e) {
      throw new ParameterException(
          spec.commandLine(), "--duration = " + text + ": must be such as 90s, 30m or 1h", e);
    }
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
