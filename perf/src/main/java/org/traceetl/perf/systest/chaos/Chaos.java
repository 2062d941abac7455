package org.traceetl.perf.systest.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.traceetl.perf.systest.Installation;
import org.traceetl.perf.systest.SystemTest;
import org.traceetl.testkit.Prometheus;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command line of a run, from the start of all programs to the verdict. */
@Command(
    name = "chaos",
    description = {
      "Runs an installation as real processes under load. Kills, pauses, stops and scales them at"
          + " random while applications move between queues. Then compares the counts in"
          + " Prometheus, the pushed sums at the end of each pane and the documents in"
          + " Elasticsearch with what was sent.",
      ""
    },
    footer = {
      "",
      "The last line is faults=… lost=… doubled=… missing_ids=… repeated_ids=… wrong_panes=…",
      "panes=…, with the panes of all series of which the count is certain. Exit codes: 0 if all",
      "but the first and the last number are 0, no counter decreased, no two servers showed the",
      "same queue, no program ended unexpectedly and each fault had its effect; 1 otherwise, or",
      "if the installation did not work; 2 for wrong usage."
    })
public final class Chaos extends SystemTest<ChaosInstallation> {
  private static final Duration ANSWER_LIMIT = Duration.ofMinutes(5);
  private static final Duration DRAIN_LIMIT = Duration.ofMinutes(5);

  /** A difference that has not changed for this duration and some windows is final. */
  private static final Duration STILL = Duration.ofSeconds(40);

  /**
   * The last pane is pushed when agents of silent queues have sent heartbeats, and windows ended.
   */
  private static final int STILL_WINDOWS = 4;

  private static final Duration COMPARE = Duration.ofSeconds(2);

  /** Exact verdicts in succession that end the run: late repeats have arrived by then. */
  private static final int EXACT_TIMES = 4;

  /** With charts: the time before and after the faults. */
  private static final Duration AROUND = Duration.ofMinutes(2);

  private static final Duration PROGRESS = Duration.ofSeconds(10);

  /** After an added queue and all faults: ends of requests that moved are counted as unpaired. */
  private static final Duration MOVED = ChaosInstallation.EDGES_WAIT.plusMinutes(1);

  @Option(
      names = "--faults",
      description = {
        "Number of faults (default: ${DEFAULT-VALUE}). The first ten are of ten kinds. Then each"
            + " other kind occurs once, then once more, then rounds of all kinds. With --brokers 3"
            + " and 62 faults the ten occur at least once, all others twice."
      })
  private int faults = 20;

  @Option(
      names = "--only",
      split = ",",
      description = "Only these kinds of faults: ${COMPLETION-CANDIDATES}.")
  private Set<FaultKind> only = EnumSet.allOf(FaultKind.class);

  @Option(
      names = "--duration",
      paramLabel = "30m",
      description =
          "Spreads the faults over this time (default: as fast as the installation recovers).")
  private String duration;

  @Option(
      names = "--outage",
      paramLabel = "10m",
      description =
          "Duration of faults in which the broker or all servers are away (default: 5 to 40 s)."
              + " With more than five minutes, --window 15s is needed.")
  private String outage;

  @Option(
      names = "--window",
      paramLabel = "5s",
      description = "Length of windows and panes, 4s to 60s (default: ${DEFAULT-VALUE}).")
  private String window = "5s";

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
              + " their spools. Faults then lose spans, and the exit code is 1.")
  private boolean defaults;

  @Option(
      names = "--clocks",
      description =
          "The clocks of agents differ by minutes and drift, as with plans that step clocks. Needs"
              + " libfaketime.")
  private boolean clocks;

  @Option(names = "--rate", description = "Spans per second (default: ${DEFAULT-VALUE}).")
  private int rate = 400;

  @Option(
      names = "--edges",
      description =
          "Spans have parents, and servers count the service graph. The last line also has"
              + " edges_lost=… edges_doubled=… edges_moved=… requests=…; requests move while a"
              + " queue of half-edges is added.")
  private boolean edges;

  @Option(
      names = "--charts",
      paramLabel = "DIR",
      description = {
        "Draws the scraped and the pushed rate of spans into this directory, as SVG files. The load"
            + " then runs for some minutes before and after the faults, and series last as long as"
            + " the run. Use it with --faults 1 --only OUTAGE."
      })
  private Path charts;

  @Option(
      names = "--report",
      paramLabel = "FILE",
      description = "Writes a Markdown table to this file.")
  private Path report;

  @Option(names = "--broker-settings", hidden = true, required = true)
  private Path brokerSettings;

  private long spreadMillis;
  private Duration windowLength;
  private Duration outageLength;

  public static void main(String... arguments) {
    System.exit(commandLine(new Chaos()).execute(arguments));
  }

  @Override
  protected void validate() {
    spreadMillis = duration == null ? 0 : duration("--duration", duration).toMillis();
    outageLength = outage == null ? null : duration("--outage", outage);
    windowLength = duration("--window", window);
    if (windowLength.compareTo(PaneSchedule.MIN_LENGTH) < 0
        || windowLength.compareTo(PaneSchedule.MAX_LENGTH) > 0) {
      throw refused("--window = " + window + ": must be 4s to 60s");
    }
    if (faults < 0 || rate < 1) {
      throw refused("--faults must be 0 or more, and --rate 1 or more");
    }
    if (brokers != 1 && brokers != ChaosInstallation.REPLICAS) {
      throw refused("--brokers = " + brokers + ": must be 1 or " + ChaosInstallation.REPLICAS);
    }
    if (defaults && brokers == 1) {
      throw refused("--defaults needs --brokers 3");
    }
  }

  @Override
  protected ChaosInstallation install(Path home, Installation.Parts parts)
      throws IOException, InterruptedException {
    return new ChaosInstallation(
        home,
        parts,
        windowLength,
        brokerSettings.toAbsolutePath(),
        safety(),
        edges,
        clocks || stepsClocks());
  }

  /**
   * Returns whether the plan can step clocks. The library is expensive, so a short run omits it.
   */
  private boolean stepsClocks() {
    return only.contains(FaultKind.STEP_CLOCKS)
        && faults > only.stream().filter(FaultKind::isEssential).count();
  }

  private ChaosInstallation.Safety safety() {
    if (brokers == 1) {
      return ChaosInstallation.Safety.ONE_BROKER;
    }
    return defaults
        ? ChaosInstallation.Safety.REPLICATED_BY_DEFAULTS
        : ChaosInstallation.Safety.REPLICATED;
  }

  @Override
  protected boolean run(ChaosInstallation installation, Path home, long seedInUse)
      throws IOException, InterruptedException {
    long startNanos = System.nanoTime();
    installation.start(http);
    out.printf("all programs are ready after %d s%n", since(startNanos).toSeconds());
    List<String> notRun = new ArrayList<>();
    Set<FaultKind> possible = possible(installation, notRun);
    if (possible.isEmpty()) {
      throw new IOException("none of the faults of --only can run on this machine");
    }
    if (clocks && installation.clocks() == null) {
      notRun.add("--clocks (needs libfaketime)");
    }
    notRun.forEach(kind -> out.println("NOT RUN: " + kind));

    if (edges) {
      installation.awaitEdgeQueues(http);
    }
    Truth truth = new Truth();
    Calls calls = edges ? new Calls() : null;
    ExpectedPanes panes = new ExpectedPanes(PaneSchedule.of(windowLength));
    SpanLoad load =
        new SpanLoad(
            truth,
            panes,
            calls,
            charts == null ? Traffic.Intervals.OF_15_SECONDS : Traffic.Intervals.ONE,
            installation.sources(),
            rate,
            seedInUse);
    Observer observer = new Observer(installation, http);
    observer.start();
    load.start();
    Director director = new Director(installation, observer, load, http, out);
    List<PlannedFault> plan =
        PlannedFault.plan(faults, seedInUse, possible).stream()
            .map(fault ->
                outageLength != null && fault.kind().isOutage()
                    ? fault.lasting(outageLength.toMillis())
                    : fault)
            .toList();
    long loadMillis = System.currentTimeMillis();
    if (charts != null) {
      Thread.sleep(AROUND);
    }
    director.follow(plan, spreadMillis);
    if (charts != null) {
      Thread.sleep(AROUND);
    }
    Period shown = new Period(loadMillis, System.currentTimeMillis());
    boolean queueAdded = director.edgeQueuesAdded() > 0;
    if (queueAdded) {
      // The load goes on: half-edges expire by the times of the messages after them.
      out.printf("half-edges that moved expire within %d s%n", MOVED.toSeconds());
      Thread.sleep(MOVED);
    }

    List<String> failures =
        new ArrayList<>(
            new CompletenessCheck(installation, observer, load, http, out, panes.panes()).run());
    Verdicts verdicts =
        verdicts(
            installation,
            observer,
            load,
            truth,
            calls,
            queueAdded,
            director.changesOfRules() > 0,
            () -> PaneVerdict.of(panes, pushed(installation, startNanos), director.delays()),
            startNanos,
            failures);
    Verdict verdict = verdicts.counts();
    PaneVerdict paneVerdict = verdicts.panes();
    Moves moves =
        new Moves(
            director.reroutes(),
            observer.decisions(),
            new PrometheusAnswers(installation.prometheusUri()).onSeveralQueues(),
            director.changesOfRules());
    if (load.refused() != null) {
      failures.add(load.refused());
    } else if (load.underWay() > 0) {
      failures.add(
          load.underWay()
              + " senders got no answer to their last request, which may or may not count");
    }
    observer.shownTwice().forEach(what -> failures.add("two servers showed queue " + what));
    failures.addAll(director.surprises());
    observer
        .others()
        .restarted()
        .forEach(series -> failures.add("a series of another application restarted: " + series));
    List<String> differences = new ArrayList<>(verdict.differences());
    differences.addAll(paneVerdict.differences());
    if (verdicts.edges() != null) {
      differences.addAll(verdicts.edges().differences());
    }
    Files.write(home.resolve("differences.txt"), differences);
    differences.stream().limit(40).forEach(line -> out.println("  " + line));
    if (paneVerdict.panes() == 0) {
      failures.add("no pane of a pushed series could be compared");
    }
    boolean good = verdicts.areExact() && failures.isEmpty() && truth.spans() > 0;
    director.late().forEach(what -> out.println("! " + what));
    failures.forEach(what -> out.println("!! " + what));
    out.printf(
        Locale.ROOT,
        "seed=%d seconds=%d spans=%d documents=%d repeated_requests=%d resets=%d"
            + " uncertain_panes=%d %s%n",
        seedInUse,
        since(startNanos).toSeconds(),
        truth.spans(),
        truth.documents().size(),
        load.repeated(),
        verdict.resets(),
        paneVerdict.uncertain(),
        moves.line());
    if (!good) {
      out.printf("FAILED: logs are in %s, all differences in its differences.txt%n", home);
    }
    if (charts != null) {
      new OutageCharts(
              new Prometheus(installation.prometheusUri()),
              shown,
              director.outages(),
              panes.panes())
          .write(charts);
    }
    if (report != null) {
      Files.writeString(
          report,
          Report.of(
              "bin/chaos"
                  + (brokers > 1 ? " --brokers " + brokers : "")
                  + (defaults ? " --defaults" : "")
                  + (edges ? " --edges" : "")
                  + (outage == null ? "" : " --outage " + outage)
                  + " --window "
                  + window
                  + (clocks ? " --clocks" : "")
                  + " --faults "
                  + faults
                  + " --seed "
                  + seedInUse
                  + " --rate "
                  + rate,
              since(startNanos),
              truth.spans(),
              truth.documents().size(),
              load.repeated(),
              director,
              moves,
              verdicts,
              plan.size(),
              notRun));
    }
    out.println(
        verdicts.line(plan.size())
            + (director.changesOfRules() > 0 ? " " + observer.others().line() : ""));
    out.flush();
    return good;
  }

  /**
   * Returns the kinds of faults that this machine can run.
   *
   * @param notRun receives the labels of the other kinds, with what they need
   */
  private Set<FaultKind> possible(ChaosInstallation installation, List<String> notRun)
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
    if (!edges) {
      possible.remove(FaultKind.ADD_EDGE_QUEUE);
    }
    needs.forEach((kind, what) -> {
      if (possible.remove(kind)) {
        notRun.add(kind.label() + " (needs " + what + ")");
      }
    });
    return possible;
  }

  private static Map<SeriesKey, PushedSeries> pushed(
      ChaosInstallation installation, long startNanos) throws IOException, InterruptedException {
    return new PrometheusAnswers(installation.prometheusUri()).pushed(since(startNanos));
  }

  /** Compares pushed series. */
  private interface PaneComparison {
    PaneVerdict verdict() throws IOException, InterruptedException;
  }

  /**
   * Waits until all is read and the differences are final, or until the counts are exact.
   *
   * @param queueAdded whether requests may have moved to an added queue of half-edges
   * @param rulesChanged whether series of an application may have ended
   * @param failures receives why the verdicts cannot be trusted
   */
  private Verdicts verdicts(
      ChaosInstallation installation,
      Observer observer,
      SpanLoad load,
      Truth truth,
      Calls calls,
      boolean queueAdded,
      boolean rulesChanged,
      PaneComparison panes,
      long startNanos,
      List<String> failures)
      throws IOException, InterruptedException {
    load.stop();
    long deadlineNanos = System.nanoTime() + ANSWER_LIMIT.toNanos();
    while (load.underWay() > 0 && System.nanoTime() < deadlineNanos) {
      Thread.sleep(200);
    }
    out.printf("the load has ended: %d spans were accepted%n", truth.spans());
    PrometheusAnswers counts = new PrometheusAnswers(installation.prometheusUri());
    deadlineNanos = System.nanoTime() + DRAIN_LIMIT.toNanos();
    long stillNanos = STILL.plus(windowLength.multipliedBy(STILL_WINDOWS)).toNanos();
    long changedNanos = System.nanoTime();
    long toldNanos = changedNanos - PROGRESS.toNanos();
    int exactTimes = 0;
    Verdicts verdicts = null;
    while (true) {
      Thread.sleep(COMPARE);
      Observation now = observer.newest();
      boolean late = System.nanoTime() > deadlineNanos;
      if (now.isDrained() || late) {
        Duration run = since(startNanos);
        Optional<Duration> ended = rulesChanged ? Optional.of(run) : Optional.empty();
        Verdicts last = verdicts;
        verdicts =
            new Verdicts(
                Verdict.of(
                    truth,
                    new Verdict.Found(
                        counts.calls(ended),
                        counts.durationCounts(ended),
                        counts.durationSumsMillis(ended),
                        counts.resets(run),
                        ChaosInstallation.documentCopies(installation.elasticsearchUri(), http))),
                panes.verdict(),
                calls == null
                    ? null
                    : EdgeVerdict.of(
                        calls.edges(),
                        counts.edges(),
                        counts.unpairedServers(""),
                        queueAdded ? counts.unpairedServers("moved") : Map.of()));
        exactTimes = verdicts.areExact() ? exactTimes + 1 : 0;
        if (!verdicts.equals(last)) {
          changedNanos = System.nanoTime();
        }
        boolean still = System.nanoTime() - changedNanos > stillNanos;
        if (exactTimes >= EXACT_TIMES || still || late) {
          if (!now.isDrained()) {
            failures.add("spans are still unread " + DRAIN_LIMIT + " after the load: " + now);
          }
          return verdicts;
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
            verdicts == null ? "queues " + now.queues() : verdicts.line(faults));
      }
    }
  }
}
