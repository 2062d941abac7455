package org.traceetl.perf.bench;

import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.traceetl.perf.bench.load.ExportLoad;
import org.traceetl.perf.bench.load.RenumberedExport;
import org.traceetl.perf.bench.load.SpanStream;
import org.traceetl.perf.bench.report.Durations;
import org.traceetl.perf.bench.report.Results;
import org.traceetl.testkit.Ports;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Measures the whole path from OTLP to the page: agent, RocketMQ and server, as real processes on
 * this machine. First, spans are sent as fast as the agent answers, in rounds that end when the
 * server's page has every span exactly once. Then they are sent at a steady rate, and the time from
 * sending a span until a scrape shows it is measured.
 */
@Command(
    name = "path",
    description = {
      "Measures the whole path: CPU per span of each process, and the time from sending a span to"
          + " seeing it on the page.",
      ""
    })
final class WholePath extends Measurement {
  private static final Duration LEAST = Duration.ofSeconds(8);
  private static final Duration SECOND = Duration.ofSeconds(1);

  @Mixin private Installed installed;
  @Mixin private FailedShare failed;
  @Mixin private RunFolder folder;

  @Option(
      names = "--warm-up",
      paramLabel = "SECONDS",
      description = "Maximum load before the first round (default: ${DEFAULT-VALUE}).")
  private int warmUpSeconds = 90;

  @Option(names = "--rounds", description = "Rounds at full speed (default: ${DEFAULT-VALUE}).")
  private int rounds = 3;

  @Option(
      names = "--window",
      paramLabel = "SECONDS",
      description = "The server's window (default: ${DEFAULT-VALUE}).")
  private int windowSeconds = 15;

  @Option(
      names = "--rate",
      description = "Spans per second of the steady load; 0: none (default: ${DEFAULT-VALUE}).")
  private int rate = 50_000;

  @Option(names = "--threads", description = "Prints which threads used the CPU.")
  private boolean threads;

  private final HttpClient http = HttpClient.newHttpClient();

  @Override
  protected void measure() throws Exception {
    results.columns(
        "phase round spans seconds spans_per_second agent_cpu_ns_per_span"
            + " broker_cpu_ns_per_span server_cpu_ns_per_span path_cpu_ns_per_span"
            + " compiler_cpu_ns_per_span sender_cpu_ns_per_span agent_mb broker_mb server_mb"
            + " page_samples page_wire_bytes page_cpu_ms requests_refused seen_p50_ms"
            + " seen_p99_ms seen_max_ms");
    Map<String, Object> summary = new LinkedHashMap<>();
    summary.put("detail", installed.detail());
    summary.put("bundles", installed.bundles());
    folder.run("path", data -> run(data, summary));
    results.summary("path", summary);
  }

  private void run(Path data, Map<String, Object> summary) throws Exception {
    try {
      atFullSpeed(data.resolve("full-speed"), summary);
      if (rate > 0) {
        atSteadyRate(data, Duration.ofSeconds(windowSeconds), summary);
        atSteadyRate(data, SECOND, summary);
      }
    } finally {
      http.shutdownNow();
    }
  }

  private void atFullSpeed(Path data, Map<String, Object> summary) throws Exception {
    Duration window = Duration.ofSeconds(windowSeconds);
    ExportLoad load = new ExportLoad(requests(512), Driver.UNANSWERED);
    try (TraceEtl path =
        new TraceEtl(data, new Ports(), installed, SpanStream.DIMENSIONS, window, null)) {
      path.start(http);
      try (Driver driver = new Driver(path, load, http)) {
        // The first request makes the server keep the page up to date.
        driver.page();
        if (warmUpSeconds > 0) {
          row("warm-up", 0, driver, driver.warmUp(Duration.ofSeconds(warmUpSeconds)), Map.of());
        }
        List<Driver.Round> all = new ArrayList<>();
        for (int round = 1; round <= rounds; round++) {
          Map<String, Map<String, Long>> before = threads(driver);
          Driver.Round result = driver.round(LEAST, window);
          row(
              "full-speed",
              round,
              driver,
              result.cost(),
              Map.of(
                  "page_samples", result.page().samples(),
                  "page_wire_bytes", result.page().bytes(),
                  "page_cpu_ms", result.pageNanos() / 1e6));
          printThreads(before, threads(driver), result.cost().sent().spans());
          all.add(result);
        }
        Driver.Cost median = Results.median(all, round -> round.cost().cpuPerSpan()).cost();
        summary.put("spans_per_second", median.spansPerSecond());
        summary.put("path_cpu_ns_per_span", median.cpuPerSpan());
        summary.put("agent_cpu_ns_per_span", median.cpuPerSpan("agent"));
        summary.put("broker_cpu_ns_per_span", median.cpuPerSpan("broker"));
        summary.put("server_cpu_ns_per_span", median.cpuPerSpan("server"));
        summary.put("series", all.getFirst().page().series());
        driver
            .memoryMegabytes()
            .forEach((program, memory) -> summary.put(program.replace('-', '_') + "_mb", memory));
      }
    }
  }

  private List<RenumberedExport> requests(int count) {
    return ExportLoad.realisticRequests(count, failed.percent());
  }

  /** Uses few series, so that polling the page costs little. */
  private void atSteadyRate(Path data, Duration window, Map<String, Object> summary)
      throws Exception {
    String phase = "window-" + window.toSeconds() + "s";
    ExportLoad load = new ExportLoad(requests(128), Driver.UNANSWERED);
    Duration length = window.multipliedBy(2).compareTo(LEAST) > 0 ? window.multipliedBy(2) : LEAST;
    try (TraceEtl path =
            new TraceEtl(data.resolve(phase), new Ports(), installed, List.of(), window, null);
        ExecutorService sending = Executors.newSingleThreadExecutor()) {
      path.start(http);
      try (Driver driver = new Driver(path, load, http)) {
        driver.load(LEAST);
        Future<Driver.Cost> cost = sending.submit(() -> driver.load(length.plusSeconds(1), rate));
        Durations seen = new Visibility(http, path.page(), driver.sender(), window).measure(length);
        Map<String, Object> millis = new LinkedHashMap<>();
        millis.put("seen_p50_ms", seen.percentile(50) / 1e6);
        millis.put("seen_p99_ms", seen.percentile(99) / 1e6);
        millis.put("seen_max_ms", seen.percentile(100) / 1e6);
        row(phase, 1, driver, cost.get(), millis);
        millis.forEach(
            (name, value) -> summary.put("window_" + window.toSeconds() + "s_" + name, value));
      } catch (ExecutionException e) {
        throw new IllegalStateException("the steady load ended early; see " + data, e.getCause());
      }
    }
  }

  private void row(
      String phase, int round, Driver driver, Driver.Cost cost, Map<String, Object> more) {
    Map<String, Object> values = new HashMap<>(more);
    values.put("phase", phase);
    values.put("round", round);
    values.put("spans", cost.sent().spans());
    values.put("seconds", cost.seconds());
    values.put("spans_per_second", cost.spansPerSecond());
    for (String program : List.of("agent", "broker", "server")) {
      values.put(program + "_cpu_ns_per_span", cost.cpuPerSpan(program));
      values.put(program + "_mb", driver.memoryMegabytes().get(program));
    }
    values.put("path_cpu_ns_per_span", cost.cpuPerSpan());
    values.put("compiler_cpu_ns_per_span", cost.compilerPerSpan());
    values.put("sender_cpu_ns_per_span", cost.senderPerSpan());
    values.put("requests_refused", cost.sent().refused());
    results.row(values);
  }

  private Map<String, Map<String, Long>> threads(Driver driver) {
    Map<String, Map<String, Long>> all = new LinkedHashMap<>();
    if (threads) {
      driver.cpuNanos().keySet().forEach(program -> all.put(program, driver.threads(program)));
    }
    return all;
  }

  private static void printThreads(
      Map<String, Map<String, Long>> before, Map<String, Map<String, Long>> after, long spans) {
    after.forEach((program, cpu) -> {
      cpu.replaceAll((thread, nanos) -> nanos - before.get(program).getOrDefault(thread, 0L));
      System.out.println(
          "# %s, ns per span: %s"
              .formatted(
                  program,
                  cpu.entrySet().stream()
                      .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
                      .filter(thread -> thread.getValue() > spans)
                      .map(thread ->
                          String.format(
                              Locale.ROOT,
                              "%s=%d",
                              thread.getKey().replace(' ', '-'),
                              thread.getValue() / spans))
                      .collect(Collectors.joining(" "))));
    });
  }
}
