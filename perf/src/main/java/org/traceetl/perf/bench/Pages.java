package org.traceetl.perf.bench;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.traceetl.perf.report.Results;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What pages cost: to build and to send one, and to record spans while one is scraped. */
@Command(
    name = "pages",
    description = {
      "Measures pages: built and sent, in turns with Prometheus' client libraries, and scraped while"
          + " spans are recorded."
    })
public final class Pages implements Callable<Integer> {
  @Mixin private Results results;

  @Option(names = "--samples", description = "Samples of a page (default: ${DEFAULT-VALUE}).")
  private int samples = 1_000_000;

  @Option(
      names = "--touched",
      split = ",",
      description = "Shares of the series with spans in a window (default: ${DEFAULT-VALUE}).")
  private List<Double> touched = List.of(1.0, 0.1, 0.01);

  @Option(
      names = "--rounds",
      description = "Rounds of pages, after those that warm up (default: ${DEFAULT-VALUE}).")
  private int rounds = 3;

  @Option(
      names = "--scrape-rounds",
      description = "Rounds of recording while being scraped or not (default: ${DEFAULT-VALUE}).")
  private int scrapeRounds = 3;

  @Option(names = "--help", usageHelp = true, description = "Show this.")
  private boolean help;

  public static void main(String... arguments) {
    System.exit(new CommandLine(new Pages()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    results.columns(
        "what", "touched_percent", "series", "wall_ms", "cpu_ms", "bytes", "spans_per_second");
    Map<String, Object> summary = new LinkedHashMap<>();
    new BuiltPages(samples, touched, rounds, results).measure(summary);
    // One worker leaves the other core to the pages: what is in its way is memory and locks.
    new ScrapedIngest(1, Duration.ofSeconds(1), Duration.ofSeconds(6), scrapeRounds, results)
        .measure("one_worker_", List.of(5, 1), summary);
    // As shipped: a worker for each core, and pages made beside them every 15 seconds.
    new ScrapedIngest(
            Runtime.getRuntime().availableProcessors(),
            Duration.ofSeconds(15),
            Duration.ofSeconds(15),
            scrapeRounds,
            results)
        .measure("all_cores_", List.of(5), summary);
    results.summary("pages", summary);
    return 0;
  }
}
