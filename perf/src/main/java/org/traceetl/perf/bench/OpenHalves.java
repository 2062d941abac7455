package org.traceetl.perf.bench;

import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.traceetl.perf.bench.load.ExportLoad;
import org.traceetl.perf.bench.load.LinkedExports;
import org.traceetl.perf.bench.load.RenumberedExport;
import org.traceetl.perf.bench.load.SpanStream;
import org.traceetl.perf.bench.process.LiveHeap;
import org.traceetl.perf.bench.process.Usage;
import org.traceetl.perf.bench.report.Results;
import org.traceetl.testkit.Ports;
import org.traceetl.testkit.Program;

/** Measures the memory of half-edges that wait, in trace-etl's server and in the Collector. */
final class OpenHalves {
  private static final Duration WINDOW = Duration.ofSeconds(15);

  /** No half-edge expires during the measurement, and there is room for all. */
  private static final EdgeLimits LIMITS =
      new EdgeLimits(Duration.ofMinutes(10), 2_000_000, WINDOW);

  /** All requests are sent repeatedly, with new trace IDs. */
  private static final int REQUESTS = 64;

  private final Installed installed;
  private final BuiltCollector collector;
  private final Ports ports;
  private final HttpClient http;
  private final int least;
  private final List<RenumberedExport> requests = LinkedExports.unanswered(REQUESTS);

  /**
   * @param least half-edges
   */
  OpenHalves(
      Installed installed, BuiltCollector collector, Ports ports, HttpClient http, int least) {
    this.installed = installed;
    this.collector = collector;
    this.ports = ports;
    this.http = http;
    this.least = least;
  }

  /** Writes rows with the memory of both before and while half-edges wait. */
  void measure(Path data, Results results, Map<String, Object> summary)
      throws IOException, InterruptedException {
    try (TraceEtl ours =
            TraceEtl.withEdges(data, ports, installed, SpanStream.DIMENSIONS, WINDOW, LIMITS);
        Collector theirs =
            collector.withEdges(data, ports, "collector", BuiltCollector.GO_GOGC, LIMITS)) {
      ours.start(http);
      measure(ours, ours.server(), "our", results, summary);
      theirs.start(http);
      measure(theirs, theirs.program(), "collector", results, summary);
    }
  }

  private void measure(
      Contender contender,
      Program holder,
      String prefix,
      Results results,
      Map<String, Object> summary)
      throws IOException, InterruptedException {
    int spans = requests.stream().mapToInt(RenumberedExport::spans).sum();
    try (Driver driver = new Driver(contender, new ExportLoad(requests, 1), http)) {
      // The first sending creates the series.
      driver.loadOnce(requests, 1);
      driver.page();
      double before = row(contender, holder, 0, results);
      long open = 0;
      for (long number = 2; open < least; number++) {
        driver.loadOnce(requests, number);
        open += spans;
      }
      driver.page();
      double after = row(contender, holder, open, results);
      summary.put(prefix + "_open_halves", open);
      summary.put(prefix + "_bytes_per_open_half", (after - before) / open);
    }
  }

  /**
   * Writes a row.
   *
   * @param open half-edges, without those of the first sending
   * @return the memory that the program uses: of a JVM the live heap, else what is resident
   */
  private static double row(Contender contender, Program holder, long open, Results results)
      throws IOException, InterruptedException {
    double bytes = new Usage(holder.pid()).anonymousBytes();
    Map<String, Object> values = new HashMap<>();
    values.put("phase", "open-halves");
    values.put("contender", holder.name());
    values.put("open_halves", open);
    values.put("memory_mb", bytes / 1e6);
    if (contender instanceof TraceEtl) {
      bytes = LiveHeap.bytes(holder.pid());
      values.put("live_heap_mb", bytes / 1e6);
    }
    results.row(values);
    return bytes;
  }
}
