package org.traceetl.perf.bench;

import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.traceetl.perf.bench.load.ExportLoad;
import org.traceetl.perf.bench.load.LinkedExports;
import org.traceetl.perf.bench.load.OtlpExport;
import org.traceetl.perf.bench.load.RenumberedExport;
import org.traceetl.perf.bench.load.SpanStream;
import org.traceetl.perf.bench.overhead.Application;
import org.traceetl.perf.bench.process.Usage;
import org.traceetl.perf.bench.report.Results;
import org.traceetl.testkit.Ports;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Measures the whole path and the OpenTelemetry Collector with the span metrics connector on the
 * same spans, in alternating rounds. A collector is stopped (SIGSTOP) between its rounds; the whole
 * path idles, and its idle cost is reported. A round counts only if the page has every span exactly
 * once. With spans from an application, the cost includes what tracing adds to it: in each round
 * the same work also runs untraced. With edges, a second whole path without them takes turns as
 * well.
 */
@Command(
    name = "rivals",
    description = {
      "Measures trace-etl and the OpenTelemetry Collector on the same spans, in turns: CPU per span,"
          + " memory, and scrapes of a million samples.",
      "",
      "With --from application, a Java process with the OpenTelemetry SDK creates the spans. For"
          + " trace-etl it exports them through the ring, for the Collector by the SDK's batch"
          + " processor and OTLP over gRPC with their defaults. CPU per span is that of all"
          + " processes, the application included, less that of an application that does the same"
          + " work untraced at the same rate. Scrapes and the Collector with Go's default GOGC are"
          + " not measured.",
      "",
      "With --edges, spans call each other, and trace-etl with and without the service graph and the"
          + " Collector with it take turns. Then a million half-edges wait in both, and their memory"
          + " is measured. Scrapes are not measured.",
      ""
    })
final class Rivals extends Measurement {
  private static final Duration WINDOW = Duration.ofSeconds(15);
  private static final Duration LEAST = Duration.ofSeconds(8);
  private static final Duration SCRAPE_INTERVAL = Duration.ofSeconds(5);
  private static final String OURS = "trace-etl";
  private static final String OURS_WITH_EDGES = OURS + "-edges";

  /** The GOGC with which the collector performs best, and Go's default. */
  private static final int STRONGEST_GOGC = 400;

  private static final int QUICK_SERIES = 3_000;
  private static final int QUICK_RATE = 20_000;

  private static final int REQUESTS = 512;

  /** The callers of messages wait for the whole time, and messages come fast. */
  private static final EdgeLimits EDGES = new EdgeLimits(Duration.ofSeconds(10), 1_000_000, WINDOW);

  private static final int OPEN_HALVES = 1_000_000;
  private static final int QUICK_OPEN_HALVES = 50_000;

  /** If an application is slower, its cost cannot be compared with that of the others. */
  private static final double LEAST_SHARE_OF_RATE = 0.8;

  @Mixin private Installed installed;
  @Mixin private BuiltCollector collector;
  @Mixin private RunFolder folder;

  @Option(
      names = "--from",
      paramLabel = "sender|application",
      converter = From.Converter.class,
      description =
          "What creates the spans: a sender whose cost does not count, or a traced application"
              + " (default: ${DEFAULT-VALUE}).")
  private From from = From.SENDER;

  @Option(
      names = "--rate",
      description = "Spans per second of an application (default: ${DEFAULT-VALUE}).")
  private int rate = 60_000;

  @Option(names = "--edges", description = "Counts the service graph as well.")
  private boolean edges;

  @Option(
      names = "--warm-up",
      paramLabel = "SECONDS",
      description =
          "Maximum load on the whole path, or on each application, before the first round"
              + " (default: ${DEFAULT-VALUE}).")
  private int warmUpSeconds = 90;

  @Option(names = "--rounds", description = "Rounds of each (default: ${DEFAULT-VALUE}).")
  private int rounds = 3;

  @Option(
      names = "--series",
      description =
          "Additional series for the scrapes, of 20 samples each; 0: no scrapes"
              + " (default: ${DEFAULT-VALUE}).")
  private int scrapedSeries = 41_000;

  @Option(
      names = "--quick",
      description =
          "Runs a smoke test: one round of each, a short warm-up, and an application of at most "
              + QUICK_RATE
              + " spans/s that may be slower than its rate.")
  private boolean quick;

  private final HttpClient http = HttpClient.newHttpClient();
  private final Ports ports = new Ports();
  private final Map<String, Object> summary = new LinkedHashMap<>();
  private ExportLoad load;

  @Override
  protected void measure() throws Exception {
    if (rate < 1) {
      throw new IllegalArgumentException("--rate=" + rate + " must be at least 1");
    }
    if (edges && from == From.APPLICATION) {
      throw new IllegalArgumentException("--edges needs --from sender");
    }
    if (quick) {
      warmUpSeconds = 10;
      rounds = 1;
      scrapedSeries = Math.min(scrapedSeries, QUICK_SERIES);
      rate = Math.min(rate, QUICK_RATE);
    }
    results.columns(
        "phase contender round spans seconds spans_per_second cpu_ns_per_span"
            + " agent_cpu_ns_per_span broker_cpu_ns_per_span server_cpu_ns_per_span"
            + " application_cpu_ns_per_span compiler_cpu_ns_per_span sender_cpu_ns_per_span"
            + " others_cores memory_mb live_heap_mb open_halves"
            + " page_samples page_wire_bytes page_seconds page_cpu_seconds requests_refused");
    summary.put("from", from);
    summary.put("detail", installed.detail());
    summary.put("bundles", installed.bundles());
    try {
      switch (from) {
        case SENDER -> {
          if (edges) {
            folder.run("rivals", this::runWithEdges);
          } else {
            load = new ExportLoad(ExportLoad.realisticRequests(REQUESTS), Driver.UNANSWERED);
            folder.run("rivals", data -> run(data, null));
          }
        }
        case APPLICATION -> folder.runWithRings("rivals", this::run);
      }
    } finally {
      http.shutdownNow();
    }
    String name = from == From.SENDER ? "rivals" : "rivals-from-application";
    results.summary(edges ? "rivals-edges" : name, summary);
  }

  /**
   * The costs of one round of each contender.
   *
   * @param untracedPerSpan CPU of the work that is not tracing, in nanoseconds per span; is not
   *     part of the figures
   */
  private record Pair(Driver.Cost mine, Driver.Cost theirs, double untracedPerSpan) {
    double minePerSpan() {
      return mine.cpuPerSpan() - untracedPerSpan;
    }

    double theirsPerSpan() {
      return theirs.cpuPerSpan() - untracedPerSpan;
    }

    /** CPU that tracing adds to the application. */
    double addedBy(Driver.Cost cost) {
      return cost.cpuPerSpan(Application.NAME) - untracedPerSpan;
    }

    double ratio() {
      return minePerSpan() / theirsPerSpan();
    }
  }

  /**
   * @param rings the directory of the application's rings; null: a sender creates the spans
   */
  private void run(Path data, Path rings) throws Exception {
    try (TraceEtl ours =
            new TraceEtl(data, ports, installed, SpanStream.DIMENSIONS, WINDOW, rings);
        Collector strongest = collector.plain(data, ports, name(STRONGEST_GOGC), STRONGEST_GOGC);
        Collector plain =
            collector.plain(data, ports, name(BuiltCollector.GO_GOGC), BuiltCollector.GO_GOGC)) {
      ours.start(http);
      try (Driver ourDriver = driver(ours, data, rings);
          Application untraced = from == From.SENDER ? null : untraced(data)) {
        ourDriver.page();
        row("warm-up", OURS, 0, ourDriver, ourDriver.warmUp(Duration.ofSeconds(warmUpSeconds)));
        strongest.start(http);
        try (Driver theirDriver = driver(strongest, data, null)) {
          if (untraced == null) {
            theirDriver.load(Duration.ofSeconds(5));
          } else {
            Driver.Cost warm = theirDriver.warmUp(Duration.ofSeconds(warmUpSeconds));
            row("warm-up", strongest.program().name(), 0, theirDriver, warm);
            untraced.send(LEAST.toNanos(), rate);
          }
          strongest.program().pause();
          List<Pair> pairs = new ArrayList<>();
          for (int number = 1; number <= rounds; number++) {
            Driver.Round mine = round(OURS, number, ourDriver, null);
            strongest.program().resume();
            Driver.Round theirs = round(strongest.program().name(), number, theirDriver, ourDriver);
            strongest.program().pause();
            double untracedPerSpan = untraced == null ? 0 : untraced(number, untraced);
            pairs.add(new Pair(mine.cost(), theirs.cost(), untracedPerSpan));
          }
          Pair median = ratio("cpu_ratio", pairs);
          summary.put("our_cpu_ns_per_span", median.minePerSpan());
          summary.put("collector_cpu_ns_per_span", median.theirsPerSpan());
          if (untraced != null) {
            summary.put("our_application_cpu_ns_per_span", median.addedBy(median.mine));
            summary.put("collector_application_cpu_ns_per_span", median.addedBy(median.theirs));
            summary.put("untraced_cpu_ns_per_span", median.untracedPerSpan);
          }
          summary.put("our_spans_per_second", median.mine.spansPerSecond());
          summary.put("collector_spans_per_second", median.theirs.spansPerSecond());
          summary.put("our_mb", memory(ourDriver));
          strongest.program().resume();
          summary.put("collector_mb", memory(theirDriver));
          strongest.program().pause();
          if (!quick && from == From.SENDER) {
            againstDefault(plain, ourDriver);
          }
          if (scrapedSeries > 0 && from == From.SENDER) {
            scrapes(OURS, "our", ourDriver);
            strongest.program().resume();
            scrapes(strongest.program().name(), "collector", theirDriver);
          }
        }
      }
    }
  }

  private static String name(int gogc) {
    return "collector-" + gogc;
  }

  private void runWithEdges(Path data) throws Exception {
    LinkedExports exports = new LinkedExports(REQUESTS);
    load = ExportLoad.linked(exports, Driver.UNANSWERED);
    summary.put("halves_per_span", exports.halvesPerSpan());
    try (TraceEtl with =
            TraceEtl.withEdges(
                data.resolve("with"), ports, installed, SpanStream.DIMENSIONS, WINDOW, EDGES);
        TraceEtl without =
            new TraceEtl(
                data.resolve("without"), ports, installed, SpanStream.DIMENSIONS, WINDOW, null);
        Collector theirs =
            collector.withEdges(data, ports, name(STRONGEST_GOGC), STRONGEST_GOGC, EDGES)) {
      with.start(http);
      without.start(http);
      theirs.start(http);
      try (Driver withDriver = driver(with, data, null);
          Driver withoutDriver = driver(without, data, null);
          Driver theirDriver = driver(theirs, data, null)) {
        Duration warmUp = Duration.ofSeconds(warmUpSeconds);
        withDriver.page();
        row("warm-up", OURS_WITH_EDGES, 0, withDriver, withDriver.warmUp(warmUp));
        withoutDriver.page();
        row("warm-up", OURS, 0, withoutDriver, withoutDriver.warmUp(warmUp));
        theirDriver.load(Duration.ofSeconds(5));
        theirs.program().pause();
        List<Pair> onAndOff = new ArrayList<>();
        List<Pair> onAndTheirs = new ArrayList<>();
        for (int number = 1; number <= rounds; number++) {
          Driver.Cost on = round(OURS_WITH_EDGES, number, withDriver, withoutDriver).cost();
          Driver.Cost off = round(OURS, number, withoutDriver, withDriver).cost();
          theirs.program().resume();
          Driver.Cost their =
              round(theirs.program().name(), number, theirDriver, withDriver).cost();
          theirs.program().pause();
          onAndOff.add(new Pair(on, off, 0));
          onAndTheirs.add(new Pair(on, their, 0));
        }
        ratio("edges_ratio", onAndOff);
        Pair median = ratio("cpu_ratio", onAndTheirs);
        summary.put("our_cpu_ns_per_span", median.minePerSpan());
        summary.put("collector_cpu_ns_per_span", median.theirsPerSpan());
        summary.put("our_spans_per_second", median.mine.spansPerSecond());
        summary.put("collector_spans_per_second", median.theirs.spansPerSecond());
        summary.put("our_mb", memory(withDriver));
        summary.put("our_requests_counted", requestsCounted(withDriver, exports));
        theirs.program().resume();
        summary.put("collector_mb", memory(theirDriver));
        summary.put("collector_requests_counted", requestsCounted(theirDriver, exports));
      }
    }
    new OpenHalves(installed, collector, ports, http, quick ? QUICK_OPEN_HALVES : OPEN_HALVES)
        .measure(data.resolve("open"), results, summary);
  }

  private Pair ratio(String name, List<Pair> pairs) {
    Pair median = Results.median(pairs, Pair::ratio);
    summary.put(name + "_median", median.ratio());
    summary.put(name + "_least", pairs.getFirst().ratio());
    summary.put(name + "_most", pairs.getLast().ratio());
    return median;
  }

  /** Returns the share of the requests between the sent spans that the page has. */
  private static double requestsCounted(Driver driver, LinkedExports exports) throws Exception {
    Scrape page = driver.page();
    return page.requests() / (page.calls() * exports.requestsPerSpan());
  }

  /**
   * Returns a driver of a started contender.
   *
   * @param rings where an application's spans go; null: they go by OTLP
   */
  private Driver driver(Contender contender, Path data, Path rings) throws IOException {
    if (from == From.SENDER) {
      return new Driver(contender, load, http);
    }
    List<String> options = installed.jvmOptions(Application.NAME);
    Application application =
        rings == null
            ? Application.otlp(options, rate, data, contender.otlpPort())
            : Application.ring(options, rate, data, rings);
    return new Driver(contender, application, http);
  }

  private Application untraced(Path data) throws IOException {
    return Application.untraced(installed.jvmOptions(Application.NAME), rate, data);
  }

  /** Runs the untraced work for a window, and returns its CPU, in nanoseconds per span. */
  private double untraced(int number, Application application) throws IOException {
    Usage usage = application.programs().get(Application.NAME);
    long cpuBefore = usage.cpuNanos();
    long startNanos = System.nanoTime();
    long spans = application.send(WINDOW.toNanos(), rate).spans();
    double seconds = (System.nanoTime() - startNanos) / 1e9;
    double perSpan = (double) (usage.cpuNanos() - cpuBefore) / spans;
    Map<String, Object> values = new HashMap<>();
    values.put("phase", "spans");
    values.put("contender", "untraced");
    values.put("round", number);
    values.put("spans", spans);
    values.put("seconds", seconds);
    values.put("spans_per_second", spans / seconds);
    values.put("cpu_ns_per_span", perSpan);
    values.put("application_cpu_ns_per_span", perSpan);
    values.put("memory_mb", usage.anonymousBytes() / 1e6);
    results.row(values);
    requireRate("untraced work", spans / seconds);
    return perSpan;
  }

  private void againstDefault(Collector plain, Driver idle) throws Exception {
    plain.start(http);
    try (Driver driver = new Driver(plain, load, http)) {
      driver.load(Duration.ofSeconds(5));
      Driver.Round round = round(plain.program().name(), 1, driver, idle);
      summary.put("collector_gogc100_cpu_ns_per_span", round.cost().cpuPerSpan());
      summary.put("collector_gogc100_spans_per_second", round.cost().spansPerSecond());
      summary.put("collector_gogc100_mb", memory(driver));
    } finally {
      plain.close();
    }
  }

  /**
   * Runs one round.
   *
   * @param idle the contender that idles meanwhile; null if all others are stopped
   */
  private Driver.Round round(String contender, int number, Driver driver, Driver idle)
      throws Exception {
    Map<String, Long> idleBefore = idle == null ? Map.of() : idle.cpuNanos();
    long startNanos = System.nanoTime();
    Driver.Round round = driver.round(LEAST, WINDOW);
    double idleNanos = idle == null ? 0 : Driver.sum(idle.since(idleBefore));
    double cores = idleNanos / (System.nanoTime() - startNanos);
    Map<String, Object> values = values("spans", contender, number, driver, round.cost());
    values.put("others_cores", cores);
    values.put("page_samples", round.page().samples());
    values.put("page_wire_bytes", round.page().bytes());
    values.put("page_seconds", round.page().nanos() / 1e9);
    values.put("page_cpu_seconds", round.pageNanos() / 1e9);
    results.row(values);
    if (from == From.APPLICATION) {
      requireRate(contender, round.cost().spansPerSecond());
    }
    return round;
  }

  private void requireRate(String contender, double spansPerSecond) throws IOException {
    if (!quick && spansPerSecond < rate * LEAST_SHARE_OF_RATE) {
      throw new IOException(
          ("the application of %s reached %.0f of %d spans/s, so its cost cannot be compared."
                  + " Set a lower --rate, or measure on a quiet machine")
              .formatted(contender, spansPerSecond, rate));
    }
  }

  /** Measures the cost of scraping a million samples, and its effect on senders. */
  private void scrapes(String contender, String prefix, Driver driver) throws Exception {
    OtlpExport export = new OtlpExport();
    List<RenumberedExport> requests =
        new SpanStream(8, 30, 50 + scrapedSeries / 30)
            .everyOperation(512).stream()
                .map(batch -> new RenumberedExport(export.of(batch)))
                .toList();
    driver.loadOnce(requests, 1);
    Scrape page = driver.page();
    summary.put(prefix + "_page_samples", page.samples());
    for (boolean gzip : List.of(false, true)) {
      // The first request creates the page; Prometheus repeats its requests.
      Scrape.taken(http, driver.pageUri(), gzip);
      Map<String, Long> before = driver.cpuNanos();
      Scrape taken = Scrape.taken(http, driver.pageUri(), gzip);
      double cpuSeconds = Driver.sum(driver.since(before)) / 1e9;
      String name = prefix + (gzip ? "_gzip" : "_plain");
      summary.put(name + "_bytes", taken.bytes());
      summary.put(name + "_seconds", taken.nanos() / 1e9);
      summary.put(name + "_cpu_seconds", cpuSeconds);
      results.row(
          Map.of(
              "phase",
              gzip ? "page-gzip" : "page-plain",
              "contender",
              contender,
              "round",
              1,
              "memory_mb",
              memory(driver),
              "page_samples",
              page.samples(),
              "page_wire_bytes",
              taken.bytes(),
              "page_seconds",
              taken.nanos() / 1e9,
              "page_cpu_seconds",
              cpuSeconds));
    }
    Duration length = quick ? Duration.ofSeconds(5) : WINDOW.multipliedBy(2);
    Driver.Cost before = unscraped(contender, 1, driver, length);
    Driver.Cost scraped = scraped(contender, driver, length);
    Driver.Cost after = unscraped(contender, 2, driver, length);
    double unscraped = (before.spansPerSecond() + after.spansPerSecond()) / 2;
    summary.put(prefix + "_ingest_scraped_ratio", scraped.spansPerSecond() / unscraped);
    summary.put(prefix + "_mb_scraped", memory(driver));
  }

  private Driver.Cost unscraped(String contender, int number, Driver driver, Duration length)
      throws Exception {
    Driver.Cost cost = driver.load(length);
    row("not-scraped", contender, number, driver, cost);
    return cost;
  }

  private Driver.Cost scraped(String contender, Driver driver, Duration length) throws Exception {
    try (ScheduledExecutorService scraper = Executors.newSingleThreadScheduledExecutor()) {
      Future<?> scrapes =
          scraper.scheduleAtFixedRate(
              () -> {
                try {
                  Scrape.taken(http, driver.pageUri(), true);
                } catch (IOException | InterruptedException e) {
                  throw new IllegalStateException("a scrape under load failed", e);
                }
              },
              0,
              SCRAPE_INTERVAL.toMillis(),
              TimeUnit.MILLISECONDS);
      Driver.Cost cost = driver.load(length);
      if (scrapes.isDone()) {
        scrapes.get();
      }
      scraper.shutdown();
      row("scraped-every-5s", contender, 1, driver, cost);
      return cost;
    } catch (ExecutionException e) {
      throw new IOException(contender + " was not scraped", e.getCause());
    }
  }

  private static double memory(Driver driver) {
    return driver.memoryMegabytes().values().stream().mapToDouble(megabytes -> megabytes).sum();
  }

  private void row(String phase, String contender, int round, Driver driver, Driver.Cost cost) {
    results.row(values(phase, contender, round, driver, cost));
  }

  private Map<String, Object> values(
      String phase, String contender, int round, Driver driver, Driver.Cost cost) {
    Map<String, Object> values = new HashMap<>();
    values.put("phase", phase);
    values.put("contender", contender);
    values.put("round", round);
    values.put("spans", cost.sent().spans());
    values.put("seconds", cost.seconds());
    values.put("spans_per_second", cost.spansPerSecond());
    values.put("cpu_ns_per_span", cost.cpuPerSpan());
    if (contender.startsWith(OURS)) {
      for (String program : List.of("agent", "broker", "server")) {
        values.put(program + "_cpu_ns_per_span", cost.cpuPerSpan(program));
      }
    }
    if (from == From.SENDER) {
      values.put("sender_cpu_ns_per_span", cost.senderPerSpan());
    } else {
      values.put("application_cpu_ns_per_span", cost.cpuPerSpan(Application.NAME));
    }
    if (contender.startsWith(OURS) || from == From.APPLICATION) {
      values.put("compiler_cpu_ns_per_span", cost.compilerPerSpan());
    }
    values.put("memory_mb", memory(driver));
    values.put("requests_refused", cost.sent().refused());
    return values;
  }
}
